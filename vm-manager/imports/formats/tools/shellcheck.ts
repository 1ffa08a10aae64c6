// ShellCheck's own JSON, as `json` and as `json1`.
import { unfit } from '../../../kit/endpoint.js';
import { list, obj, str, type Json } from '../../normalize.js';
import { unread, type Item } from '../../record.js';
import { readJson } from '../../reading/report-file.js';
import type { Format } from '../format.js';
import { lintRecord } from './lint-record.js';

const commentsOf = (report: unknown): readonly unknown[] | null =>
  Array.isArray(report)
    ? (report as unknown[])
    : Array.isArray(obj(report)['comments'])
      ? list(obj(report)['comments'])
      : null;

function commentItem(one: Json, at: string): Item {
  const code = str(one['code']);
  if (code === '') return unread('has no code', at);
  const rule = /^\d+$/.test(code) ? `SC${code}` : code;
  const made = lintRecord({
    tool: 'ShellCheck',
    otherwise: 'ShellCheck',
    source: rule,
    level: str(one['level']),
    text: str(one['message']),
    path: str(one['file']),
    line: one['line'],
    column: one['column'],
  });
  return typeof one['fix'] !== 'object' || one['fix'] === null ? made : { ...made, fix: { state: 'fixed_available' } };
}

export const shellcheck: Format = {
  name: 'shellcheck',
  label: 'ShellCheck JSON (json, json1)',
  detection: '"file", "line", "level" and a numeric "code"',
  detect: (beginning) =>
    /^\s*(?:\[|\{\s*"comments"\s*:\s*\[)/.test(beginning) &&
    ((/"code"\s*:\s*\d{4}/.test(beginning) && /"endLine"/.test(beginning) && /"level"/.test(beginning)) ||
      /^\s*\{\s*"comments"\s*:\s*\[\s*\]\s*\}\s*$/.test(beginning)),
  async *read(file, facts) {
    const comments = commentsOf(await readJson(file));
    if (comments === null) throw unfit('file', 'is no report of ShellCheck');
    facts.tool = 'ShellCheck';
    for (const [index, one] of comments.entries()) yield commentItem(obj(one), `/${index}`);
  },
};
