// Rules of an installation's own over a file, in the engine's process.
import RE2 from 're2';
import { nothing, type Finding, type InputFile, type Outcome } from '../contract.js';
import { Lines } from '../lines.js';
import { allowedBy } from '../secrets/allowed.js';
import { masked } from '../secrets/values.js';
import type { OwnRule } from './additions.js';

/** Of one rule in one file; where there are more, the file counts as not read to its end. */
export const findingsMax = 200;
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
  /** By what is shown of them: one more at the top of a file must not make others of those below. */
  const alike = new Map<string, number>();
  for (let match = pattern.exec(lines.text); match !== null; match = pattern.exec(lines.text)) {
    if (match[0] === '') pattern.lastIndex++;
    // one beyond the bound says that there is more
    if (++count > findingsMax + 1) return;
    const line = lines.lineAt(match.index);
    const value = match.groups?.['value'] ?? match[0];
    const allowed = rule.kind === 'secrets' ? allowedBy(path, value) : null;
    const suppressed = allowed === null ? lines.ignored(line, rule.id) : `allowed: ${allowed}`;
    const before = alike.get(masked(value)) ?? 0;
    alike.set(masked(value), before + 1);
    yield {
      ...{ rule: rule.id, path, line, severity: rule.severity },
      endLine: lines.lineAt(match.index + Math.max(0, match[0].length - 1)),
      message: rule.kind === 'secrets' ? `${rule.title}: ${masked(value)}` : rule.title,
      ...(rule.kind === 'secrets'
        ? { fingerprint: `${rule.id}|${path}|${masked(value)}|${before + 1}` }
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
  const found = fitting.map((one) => ({ rule: one.rule, findings: [...matchesOf(one, path, lines)] }));
  const cut = found.filter(({ findings }) => findings.length > findingsMax);
  return {
    ...nothing,
    findings: found.flatMap(({ findings }) => findings.slice(0, findingsMax)),
    // what is not listed is not gone: nothing of the file is closed
    notScanned: cut.map(({ rule }) => ({
      path,
      reason: `files with more than ${findingsMax} matches of ${rule.id}`,
      isFault: true,
    })),
  };
}
