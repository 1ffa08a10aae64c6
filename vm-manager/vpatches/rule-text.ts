// The text of a patch: a chain that refuses with 403 where path and value both fit. Everything that comes from a
// finding is written as a pattern of its own characters, so that a path or a name cannot end the text that it stands
// in. The method is left open: an application that takes a parameter in a form often takes it in a query as well.
import { valueTypes, type WeaknessClass } from './weakness-classes.js';

export const strategies = ['positive', 'strict', 'signature'] as const;
export type Strategy = (typeof strategies)[number];

export interface RuleFacts {
  readonly ruleId: number;
  readonly title: string;
  readonly cwe: number | null;
  readonly severity: string;
  /** Path of the request, without a query; null: every path. */
  readonly path: string | null;
  readonly parameter: string | null;
  readonly strategy: Strategy;
  readonly weakness: WeaknessClass | null;
  /** Of a positive rule. */
  readonly valueType: string | null;
}

const severities: Readonly<Record<string, string>> = { critical: 'CRITICAL', high: 'ERROR', medium: 'WARNING' };
const lengthMax = 500;

/** Each byte that is no letter, digit, dash or underscore as `\xHH`. */
const literal = (text: string): string =>
  [...Buffer.from(text, 'utf8')]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9_-]/.test(character) ? character : `\\x${byte.toString(16).padStart(2, '0')}`;
    })
    .join('');

const isVariable = (segment: string): boolean =>
  /^(?:\d+|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{24,64}|\{[^}]*\}|:\w+)$/i.test(segment);

/** A path as a pattern: numbers and identifiers in it stand for any, upper and lower case are alike. */
export function pathPattern(path: string): string {
  const segments = path
    .toLowerCase()
    .split('/')
    .filter((segment) => segment !== '')
    .map((segment) => (isVariable(segment) ? '[^/]{1,200}' : literal(segment)));
  return `^${segments.map((segment) => `/${segment}`).join('')}/*$`;
}

/** The parameter wherever it is sent: in the query, in a form, at any depth of a JSON body. */
function variablesOf({ parameter, weakness }: RuleFacts): string {
  if (parameter === null) return weakness?.anywhere ?? 'ARGS';
  if (!/^[A-Za-z0-9_.-]{1,100}$/.test(parameter)) return 'ARGS|ARGS_NAMES';
  return `ARGS:/(?i)(?:^|[.])${parameter.replaceAll('.', '[.]')}(?:[.]|\\[|$)/`;
}

function valueLink(facts: RuleFacts): readonly [operator: string, transformations: string] {
  const { strategy, weakness, valueType } = facts;
  if (strategy === 'positive') return [`!@rx ^(?:${valueTypes[valueType ?? ''] ?? '.*'})$`, ''];
  if (strategy === 'strict') return [`!@rx ^[${weakness?.ordinary ?? ''}]{0,${lengthMax}}$`, ''];
  if (weakness === null) throw new Error('a signature without a class of weaknesses');
  return weakness.signature;
}

const transform = (names: string): string =>
  ['none', ...names.split(',').filter((name) => name !== '')].map((name) => `t:${name}`).join(',');

/** Words of a finding, for a message: without quotes and control characters. */
const plain = (text: string): string =>
  text
    .replace(/[^\w .,:()/-]+/g, ' ')
    .trim()
    .slice(0, 120);

export function ruleText(facts: RuleFacts): string {
  const { ruleId, title, cwe, severity, path } = facts;
  const [operator, transformations] = valueLink(facts);
  const head = [`id:${ruleId}`, 'phase:2', 'deny', 'status:403', 'log', 'auditlog'];
  const meta = [
    `msg:'Virtual patch: ${plain(title)}'`,
    "tag:'gatehouse/virtual-patch'",
    ...(cwe === null ? [] : [`tag:'CWE-${cwe}'`]),
    `severity:${severities[severity] ?? 'NOTICE'}`,
  ];
  const value = `${variablesOf(facts)} "${operator}"`;
  if (path === null) return `SecRule ${value} \\\n    "${[...head, transform(transformations), ...meta].join(',')}"\n`;
  const first = [...head, transform('urlDecodeUni,normalizePathWin,lowercase'), ...meta, 'chain'];
  return (
    `SecRule REQUEST_FILENAME|PATH_READINGS:path "@rx ${pathPattern(path)}" \\\n    "${first.join(',')}"\n` +
    `    SecRule ${value} \\\n        "${transform(transformations)}"\n`
  );
}
