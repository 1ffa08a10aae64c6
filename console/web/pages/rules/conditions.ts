// Conditions of a rule as the builder edits them; what may be chosen is that of the settings (conditions.test.ts).
import { conditionsText as text } from '../../texts/rules/conditions.js';
import type { Condition, CustomRule, Group } from './rule.js';

type Field = Condition['field'];
type Operator = Condition['operator'];

const texts: readonly Operator[] = ['is', 'contains', 'begins_with', 'ends_with', 'matches'];
const named: readonly Operator[] = [...texts, 'exists'];

interface FieldRow {
  readonly operators: readonly Operator[];
  /** One of several can be named: which header, which parameter. */
  readonly hasName: boolean;
}

export const fields: Readonly<Record<Field, FieldRow>> = {
  path: { operators: texts, hasName: false },
  uri: { operators: texts, hasName: false },
  method: { operators: ['is'], hasName: false },
  host: { operators: texts, hasName: false },
  address: { operators: ['is_in'], hasName: false },
  operation: { operators: ['is'], hasName: false },
  parameter: { operators: named, hasName: true },
  query_parameter: { operators: named, hasName: true },
  body_parameter: { operators: named, hasName: true },
  header: { operators: named, hasName: true },
  cookie: { operators: named, hasName: true },
  user_agent: { operators: named, hasName: false },
  referer: { operators: named, hasName: false },
  content_type: { operators: named, hasName: false },
  body: { operators: texts, hasName: false },
  body_size: { operators: ['greater_than', 'less_than'], hasName: false },
  file_name: { operators: texts, hasName: false },
};

export const fieldChoices = Object.keys(fields).map((name) => [name as Field, text.fields[name as Field]] as const);

/** Operators of a field with their negations, as one menu: `contains`, `!contains`. */
export const operatorChoices = (field: Field): readonly (readonly [string, string])[] =>
  fields[field].operators.flatMap((operator) => [
    [operator, text.operators[operator]] as const,
    [`!${operator}`, text.negated[operator]] as const,
  ]);

export const operatorOf = ({ operator, is_not: isNot }: Condition): string => (isNot ? `!${operator}` : operator);

export function withOperator(condition: Condition, chosen: string): Condition {
  const operator = chosen.replace('!', '') as Operator;
  return {
    ...condition,
    operator,
    is_not: chosen.startsWith('!'),
    values: operator === 'exists' ? [] : condition.values,
  };
}

/** Of another field: what both have is kept. */
export function withField(condition: Condition, field: Field): Condition {
  const { operators, hasName } = fields[field];
  const operator = operators.includes(condition.operator) ? condition.operator : (operators[0] ?? 'is');
  const kept = { ...condition, field, operator, name: hasName ? condition.name : '' };
  return operator === 'exists' ? { ...kept, values: [] } : kept;
}

export const blankCondition: Condition = {
  field: 'path',
  name: '',
  operator: 'begins_with',
  values: [],
  is_not: false,
};
export const blankGroup: Group = { all: [blankCondition] };

/** Values as people write them: one a line. */
export const readValues = (typed: string): string[] =>
  typed
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

function sentenceOf(condition: Condition): string {
  const name = condition.name === '' ? '' : ` ${condition.name}`;
  const operator = condition.is_not ? text.negated[condition.operator] : text.operators[condition.operator];
  return `${text.fields[condition.field]}${name} ${operator} ${condition.values.join(', ')}`.trim();
}

/** A rule of conditions as a sentence. */
export const inWords = ({ any }: Pick<CustomRule, 'any'>): string =>
  any.map(({ all }) => all.map(sentenceOf).join(text.and)).join(text.or);
