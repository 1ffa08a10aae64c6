// Rules of an installation's own over a file, in the engine's process.
import RE2 from 're2';
import { nothing, type Finding, type InputFile, type Outcome } from '../contract.js';
import { Lines } from '../lines.js';
import { masked } from '../secrets/values.js';
import type { OwnRule } from './additions.js';

const findingsMax = 200;
/** Of a line, as it is shown. */
const snippetMax = 300;

export interface Compiled {
  readonly rule: OwnRule;
  readonly pattern: RE2;
}

export const compile = (rules: readonly OwnRule[]): readonly Compiled[] =>
  rules.map((rule) => ({ rule, pattern: new RE2(rule.pattern, 'gm') }));

const endingOf = (path: string): string => /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';

function* matchesOf({ rule, pattern }: Compiled, path: string, lines: Lines): Generator<Finding> {
  pattern.lastIndex = 0;
  let count = 0;
  for (let match = pattern.exec(lines.text); match !== null; match = pattern.exec(lines.text)) {
    if (match[0] === '') pattern.lastIndex++;
    if (++count > findingsMax) return;
    const line = lines.lineAt(match.index);
    const suppressed = lines.ignored(line, rule.id);
    const value = match.groups?.['value'] ?? match[0];
    yield {
      ...{ rule: rule.id, path, line, severity: rule.severity },
      endLine: lines.lineAt(match.index + Math.max(0, match[0].length - 1)),
      message: rule.kind === 'secrets' ? `${rule.title}: ${masked(value)}` : rule.title,
      ...(rule.kind === 'secrets'
        ? { fingerprint: `${rule.id}|${path}|${masked(value)}|${count}` }
        : { snippet: lines.line(line).slice(0, snippetMax) }),
      ...(suppressed === null ? {} : { suppressed }),
    };
  }
}

/** What they find in one file; nothing in one that is no text. */
export function ownFindings(rules: readonly Compiled[], kind: string, { path, bytes }: InputFile): Outcome {
  const ending = endingOf(path);
  const fitting = rules.filter(
    ({ rule }) => rule.kind === kind && (rule.endings.length === 0 || rule.endings.includes(ending)),
  );
  if (fitting.length === 0 || bytes.subarray(0, 8192).includes(0)) return nothing;
  const lines = new Lines(bytes.toString('utf8'));
  return { ...nothing, findings: fitting.flatMap((one) => [...matchesOf(one, path, lines)]) };
}
