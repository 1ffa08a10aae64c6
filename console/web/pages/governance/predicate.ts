// Predicates over findings and applications, as the vulnerability manager takes them: what its fields are, what may be
// said about each, and a predicate as a sentence. A person writes rows that hold together; deeper trees are JSON.
import { governanceText as text } from '../../texts/vm/governance.js';

export interface Leaf {
  readonly field: string;
  readonly op: string;
  readonly value?: unknown;
}
export type Predicate =
  | Leaf
  | { readonly and: readonly Predicate[] }
  | { readonly or: readonly Predicate[] }
  | { readonly not: Predicate };

/** A value as it is typed and read; what is no plain value is JSON. */
export const textOf = (value: unknown): string =>
  value == null ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** As the body of a request holds it. */
export const bodyOf = (predicate: Predicate): { [name: string]: unknown } => ({ ...predicate });

type Kind = 'text' | 'number' | 'boolean' | 'time' | 'list' | 'severity';
export type FieldKinds = Readonly<Record<string, Kind>>;

/** Names of each kind, in one table. */
const fieldsOf = (kinds: readonly (readonly [Kind, readonly string[]])[]): FieldKinds =>
  Object.fromEntries(kinds.flatMap(([kind, names]) => names.map((name) => [name, kind])));

export const findingFields: FieldKinds = fieldsOf([
  ['severity', ['severity']],
  ['text', ['title', 'location', 'tool', 'source', 'rule_id']],
  ['list', ['cwe', 'vuln_id', 'tag']],
  ['text', ['application_id', 'status', 'fix_state', 'assignee']],
  ['number', ['risk', 'priority', 'epss']],
  ['boolean', ['kev', 'reachable', 'exploit_confirmed', 'runtime_confirmed']],
  ['time', ['first_seen', 'last_seen']],
]);

export const applicationFields: FieldKinds = fieldsOf([
  ['text', ['name', 'environment', 'business_criticality', 'exposure', 'owner']],
  ['list', ['tag']],
]);

const operators: Readonly<Record<Kind, readonly string[]>> = {
  text: ['eq', 'ne', 'contains', 'in'],
  number: ['gte', 'lte', 'eq'],
  boolean: ['eq'],
  time: ['older_than_days', 'gte', 'lte'],
  list: ['contains'],
  severity: ['eq', 'gte', 'lte', 'ne', 'in'],
};
/** Numbers of rows and of applications are compared whole. */
const wholes = new Set(['application_id', 'project_id', 'id']);

export const operatorsOf = (fields: FieldKinds, field: string): readonly string[] =>
  operators[fields[field] ?? 'text'].filter((op) => op !== 'contains' || !wholes.has(field));

/** What was typed, as the API takes it; what cannot be is left as it is, and the API says what is wrong with it. */
export function valueOf(fields: FieldKinds, { field, op, value }: Leaf): unknown {
  const typed = textOf(value).trim();
  if (op === 'in') return typed.split(/\s*,\s*/).filter((one) => one !== '');
  const kind = fields[field];
  if (op === 'older_than_days' || kind === 'number') return Number.isFinite(Number(typed)) ? Number(typed) : typed;
  if (kind === 'boolean') return typed === 'true';
  return typed;
}

/** Rows that hold together, as one predicate. */
export function allOfRows(fields: FieldKinds, rows: readonly Leaf[]): Predicate {
  const leaves = rows.map((row) => ({ field: row.field, op: row.op, value: valueOf(fields, row) }));
  const [only] = leaves;
  return leaves.length === 1 && only !== undefined ? only : { and: leaves };
}

/** The rows of a predicate that rows can say; null: it is deeper than that. */
export function rowsOf(predicate: Predicate): readonly Leaf[] | null {
  if ('field' in predicate) return [{ ...predicate, value: shownValue(predicate.value) }];
  if (!('and' in predicate)) return null;
  const rows = predicate.and.map(rowsOf);
  return rows.every((row) => row !== null) ? rows.flat() : null;
}

const shownValue = (value: unknown): string => (Array.isArray(value) ? value.map(textOf).join(', ') : textOf(value));

/** What a person calls the value of a field that names something by its number; null: as it stands. */
export type NameOf = (field: string, value: string) => string | null;
const nobodyNames: NameOf = () => null;

/** `severity is at least high, and tool is trivy`. */
export function sentenceOf(predicate: unknown, nameOf: NameOf = nobodyNames): string {
  const node = (predicate ?? {}) as Partial<Record<string, unknown>>;
  const parts = (joint: string, list: unknown): string =>
    Array.isArray(list) ? list.map((one) => inner(one, nameOf)).join(joint) : '';
  if (Array.isArray(node['and'])) return parts(text.and, node['and']);
  if (Array.isArray(node['or'])) return parts(text.or, node['or']);
  if (node['not'] !== undefined) return text.not(inner(node['not'], nameOf));
  if (typeof node['field'] !== 'string') return text.everything;
  const op = text.operators[node['op'] as keyof typeof text.operators] ?? textOf(node['op']);
  const { field } = node as { readonly field: string };
  const [name, value] = named(field, node['value'], nameOf);
  return `${name} ${op} ${value}`;
}

/** A field and its value in words: `application is Ledger`, not the number of the application. */
function named(field: string, value: unknown, nameOf: NameOf): readonly [string, string] {
  const values = Array.isArray(value) ? value.map(textOf) : [textOf(value)];
  const names = values.map((one) => nameOf(field, one));
  const word = names.some((one) => one !== null) ? field.replace(/_id$/, '') : field;
  return [word.replaceAll('_', ' '), values.map((one, at) => names[at] ?? one).join(', ')];
}

function inner(predicate: unknown, nameOf: NameOf): string {
  const said = sentenceOf(predicate, nameOf);
  const isTree = typeof predicate === 'object' && predicate !== null && ('and' in predicate || 'or' in predicate);
  return isTree ? `(${said})` : said;
}

/** Filters of the address that the predicates have under another name, or in another form. */
const asPredicate: Readonly<Record<string, (value: string) => Predicate>> = {
  q: (value) => ({
    or: [
      { field: 'title', op: 'contains', value },
      { field: 'location', op: 'contains', value },
    ],
  }),
  cwe: (value) => ({ field: 'cwe', op: 'contains', value: Number(value.replace(/\D/g, '')) }),
  cve: (value) => ({ field: 'vuln_id', op: 'contains', value: value.toUpperCase() }),
  tag: (value) => ({ field: 'tag', op: 'contains', value }),
  epss_gte: (value) => ({ field: 'epss', op: 'gte', value: Number(value) }),
  first_seen_gte: (value) => ({ field: 'first_seen', op: 'gte', value }),
  assignee: (value) =>
    value === 'none' ? { field: 'assignee', op: 'exists', value: false } : { field: 'assignee', op: 'eq', value },
};
const states = {
  open: ['new', 'triaged', 'confirmed', 'in_progress', 'fix_pending', 'reopened'],
  closed: ['resolved', 'false_positive', 'risk_accepted', 'muted', 'duplicate', 'out_of_scope'],
} as const;

/** A filter of findings as a predicate; undefined: predicates cannot say it. */
export function predicateOfFilter(name: string, value: string): Predicate | undefined {
  const special = asPredicate[name];
  if (special !== undefined) return special(value);
  if (name === 'status' && (value === 'open' || value === 'closed'))
    return { field: 'status', op: 'in', value: states[value] };
  if (!Object.hasOwn(findingFields, name) && name !== 'project_id') return undefined;
  const isTruth = findingFields[name] === 'boolean';
  return { field: name, op: 'eq', value: isTruth ? value === 'true' : value };
}
