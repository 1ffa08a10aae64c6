// A matched rule as one line of ModSecurity's error log, the text that the CRS regression suite searches.
import type { MatchedRule, Transaction } from '#engine';
import { expand } from '#engine/compile';

/** Control bytes and quotes as ModSecurity writes them: `\x0a`, `\"`. */
function escapeForLog(text: string): string {
  let escaped = '';
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    escaped +=
      code < 0x20 || code > 0x7e
        ? `\\x${code.toString(16).padStart(2, '0')}`
        : code === 0x22
          ? '\\"'
          : (text[index] as string);
  }
  return escaped;
}

/** Names of operators in the log, where capitalising the first letter is not enough. */
const logNames: Readonly<Record<string, string>> = { streq: 'StrEq', strmatch: 'StrMatch' };

function logName(operator: string): string {
  return logNames[operator] ?? operator.charAt(0).toUpperCase() + operator.slice(1);
}

const valueCharactersMax = 200;
const cut = (text: string): string => text.slice(0, valueCharactersMax);

/** `files` are Program.files, for [file]. One line without its line end. */
export function formatErrorLog(matched: MatchedRule, files: readonly string[], transaction: Transaction): string {
  const { rule } = matched;
  const head = rule.links[0];
  const operator = rule.links[rule.links.length - 1]?.operator ?? null;
  // As in ModSecurity: what the macros stand for now, at the time of logging.
  const argument =
    operator === null ? '' : operator.template === null ? operator.argument : expand(operator.template, transaction);
  const action =
    transaction.interruption !== null && transaction.interruption.ruleId === rule.id
      ? `Access denied with code ${transaction.interruption.status} (phase ${matched.phase}).`
      : 'Warning.';
  const what =
    operator === null
      ? 'Unconditional match in SecAction.'
      : `Matched "Operator \`${logName(operator.name)}' with parameter \`${escapeForLog(cut(argument))}' ` +
        `against variable \`${escapeForLog(matched.variable)}' (Value: \`${escapeForLog(cut(matched.value))}' )`;
  const fields: (readonly [string, string])[] = [
    ['file', head === undefined ? '' : (files[head.file] ?? '')],
    ['line', String(head?.line ?? 0)],
    ['id', String(rule.id)],
    ['rev', rule.rev ?? ''],
    ['msg', matched.msg],
    ['data', matched.logdata],
    ['severity', String(rule.severity ?? 0)],
    ['ver', rule.ver ?? ''],
    ['maturity', String(rule.maturity ?? 0)],
    ['accuracy', String(rule.accuracy ?? 0)],
    ...matched.tags.map((tag) => ['tag', tag] as const),
    ['hostname', transaction.request.serverIp],
    ['uri', transaction.requestFilename],
    ['unique_id', transaction.environment.uniqueId],
  ];
  const told = fields.map(([name, value]) => `[${name} "${escapeForLog(value)}"]`);
  return `ModSecurity: ${action} ${what} ${told.join(' ')}`;
}
