// A record of a format that several tools write: of the same kind, severity and place as in the tool's own format.
import { cppcheckSeverity } from '../../kinds/cppcheck.js';
import { ruleOf } from '../../kinds/rule-names.js';
import { withKind } from '../../kinds/sarif-kind.js';
import { cwesOf, pos, reportPath } from '../../normalize.js';
import { record, type FindingRecord } from '../../record.js';
import { readSeverity } from '../../severity/read.js';
import { toolScales } from '../../severity/words.js';

export interface Line {
  /** As the report calls the rule. */
  readonly source: string;
  readonly level: string;
  readonly text: string;
  readonly path: string;
  readonly line: unknown;
  readonly column: unknown;
  /** Where the rule tells of no tool. */
  readonly otherwise: string;
  /** Where the report is of one tool. */
  readonly tool?: string;
}

/** `(preset > rule)` behind the text and `[ID]` before it, as secretlint's formatters for others write it. */
const textOf = (text: string, tool: string, source: string): string => {
  if (tool !== 'secretlint') return text;
  const end = ` (${source.replace(/^eslint\.rules\./, '')})`;
  return (text.endsWith(end) ? text.slice(0, -end.length) : text).replace(/^\[[\w-]+\] /, '');
};

/** Cppcheck's template for compilers calls everything a warning. */
const levelOf = (level: string, tool: string, rule: string): string =>
  tool === 'Cppcheck' && level === 'warning' ? (cppcheckSeverity(rule) ?? level) : level;

export function lintRecord({ source, level, text, path, line, column, otherwise, tool }: Line): FindingRecord {
  const named = ruleOf(source, path, level);
  const own = tool ?? named.tool ?? otherwise;
  const rule = tool === undefined ? named.rule : source;
  const scale = own === 'Cppcheck' ? toolScales.cppcheck : toolScales.linter;
  const made = record({
    title: textOf(text, own, source) || rule,
    ...readSeverity(levelOf(level, own, rule), { scale }),
    cwes: cwesOf([text.match(/\[CWE-\d{1,5}\]/i)?.[0]]),
    source: 'sast',
    ruleId: rule,
    tool: own,
    location: {
      kind: 'code',
      path: reportPath(path) || 'unknown',
      ...(pos(line) === undefined ? {} : { line: pos(line) as number }),
      ...(pos(column) === undefined ? {} : { column: pos(column) as number }),
    },
  });
  const kind = withKind(made, {}, {}, {});
  // what it calls an error or a warning may be a weakness; of the other ids its XML says the same
  return own === 'Cppcheck' && !/error|warning/.test(level) ? { ...kind, source: 'quality' } : kind;
}
