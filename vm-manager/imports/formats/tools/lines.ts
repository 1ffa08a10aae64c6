// Formats that several tools write: Checkstyle XML, and lines of compilers (`file:line:column: level: text [rule]`);
// and ShellCheck's own JSON. Which tool it is comes from the names of its rules.
import { unfit } from '../../../kit/endpoint.js';
import { cwesOf, list, obj, pos, reportPath, str, type Json } from '../../normalize.js';
import { record, unread, type Item } from '../../record.js';
import { readJson, readLines } from '../../reading/report-file.js';
import { readXml } from '../../reading/xml.js';
import { readSeverity } from '../../severity/read.js';
import { toolScales } from '../../severity/words.js';
import type { Format } from '../format.js';

interface Line {
  readonly tool: string;
  readonly rule: string;
  readonly level: string;
  readonly text: string;
  readonly path: string;
  readonly line: unknown;
  readonly column: unknown;
}

function toRecord({ tool, rule, level, text, path, line, column }: Line): Item {
  return record({
    title: text || rule,
    ...readSeverity(level, { scale: toolScales.linter }),
    cwes: cwesOf([text.match(/\[CWE-\d{1,5}\]/i)?.[0]]),
    source: 'sast',
    ruleId: rule,
    tool,
    location: {
      kind: 'code',
      path: reportPath(path) || 'unknown',
      ...(pos(line) === undefined ? {} : { line: pos(line) as number }),
      ...(pos(column) === undefined ? {} : { column: pos(column) as number }),
    },
  });
}

/** Names of rules → the tool; the first that fits counts. */
const tools: readonly (readonly [rule: RegExp, tool: string])[] = [
  [/^(?:ShellCheck\.)?SC\d{4}$/, 'ShellCheck'],
  [/^DL\d{4}$/, 'Hadolint'],
  [/^eslint\.rules\./, 'ESLint'],
  [/^com\.puppycrawl\.|^checkstyle\./, 'checkstyle'],
  [
    new RegExp(
      '^clang-analyzer-|^clang-diagnostic-|^(?:bugprone|cert|cppcoreguidelines|hicpp|misc|modernize|rea' +
        'dability|performance)-',
      '',
    ),
    'clang-tidy',
  ],
  [/^(?:core|security|unix|cplusplus|deadcode|alpha|nullability|optin|valist|nullptr)\./, 'Clang Static Analyzer'],
  [/^-W/, 'C compiler'],
];
const toolOf = (rule: string): string | null => tools.find(([names]) => names.test(rule))?.[1] ?? null;
const bare = (rule: string): string => rule.replace(/^(?:ShellCheck\.|eslint\.rules\.)/, '');

export const checkstyle: Format = {
  name: 'checkstyle',
  label: 'Checkstyle XML (ShellCheck, Hadolint, ESLint and others)',
  detection: '<checkstyle>',
  detect: (beginning) => /<checkstyle[\s>]/.test(beginning),
  async *read(file, facts) {
    facts.tool = 'Checkstyle report';
    let isReport = false;
    for await (const [element, [top]] of readXml(file, (name) => name === 'file' || name === 'checkstyle', [
      'checkstyle',
    ])) {
      isReport ||= element.name === 'checkstyle' || top?.name === 'checkstyle';
      if (element.name !== 'file') continue;
      const path = element.attributes['name'] ?? '';
      for (const one of element.children.filter(({ name }) => name === 'error')) {
        const { line, column, severity: level = '', message: text = '', source = '' } = one.attributes;
        const tool = toolOf(source) ?? 'Checkstyle report';
        facts.tool = tool;
        yield toRecord({ tool, rule: bare(source), level, text, path, line, column });
      }
    }
    if (!isReport) throw unfit('file', 'is no Checkstyle report');
    facts.complete = true;
  },
};

const place = '((?:[A-Za-z]:)?[^:\\n]{1,1000}):(\\d{1,9}):(?:(\\d{1,9}):)?';
const levels = '(fatal error|error|warning|note|info|style)';
const compilerLine = new RegExp(`^${place} ${levels}: (.*?) \\[([^[\\]]{1,200})\\]$`);

export const gcc: Format = {
  name: 'gcc',
  label: 'Lines of compilers (ShellCheck, Clang, GCC)',
  detection: 'lines such as "a.sh:3:1: warning: text [SC2086]"',
  detect: (beginning) =>
    beginning.split(/\r?\n/, 50).some((line) => toolOf(compilerLine.exec(line)?.[6] ?? '') !== null),
  async *read(file, facts) {
    facts.tool = 'Compiler';
    for await (const [number, text] of readLines(file)) {
      const [, path = '', line, column, level = '', message = '', names = ''] = compilerLine.exec(text) ?? [];
      // excerpts of the source and notes stand between the lines; a line that looks like one and has no rule is unread
      if (names === '') {
        if (/^[^:\n]{1,1000}:\d{1,9}:(?:\d{1,9}:)? (?:fatal error|error): /.test(text)) {
          facts.complete = false;
          yield unread('has no rule', `line ${number}`);
        }
        continue;
      }
      const [rule = ''] = names.split(',');
      const tool = toolOf(rule) ?? 'Compiler';
      facts.tool = tool;
      yield toRecord({ tool, rule: bare(rule), level, text: message, path, line, column });
    }
  },
};

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
  const made = toRecord({
    tool: 'ShellCheck',
    rule,
    level: str(one['level']),
    text: str(one['message']),
    path: str(one['file']),
    line: one['line'],
    column: one['column'],
  });
  return 'dropped' in made || typeof one['fix'] !== 'object' || one['fix'] === null
    ? made
    : { ...made, fix: { state: 'fixed_available' } };
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
