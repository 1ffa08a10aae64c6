// One condition of a custom rule as the parts of rules: what is looked at, how it is compared.
import { conditionFields, type ConditionField, type RuleCondition } from '#settings';
import { pathConditionOf } from '../../paths/path-conditions.js';
import { hexEscape, renderOperator, toBytes } from '../../quoting.js';
import type { CustomRule } from '../../settings.js';

/** `SecRule VARIABLES "@OPERATOR ARGUMENT"`, written out, without actions. */
export interface Comparison {
  readonly variables: string;
  readonly operator: string;
}

/** What it takes for a condition to hold: all of these, each about one transaction. */
export type Rendered =
  | { readonly comparisons: readonly Comparison[] }
  /** One of several lists, each of comparisons that all have to hold. */
  | { readonly alternatives: readonly (readonly Comparison[])[] };

/** What is wrong with a condition, and in which member of it. */
export class ConditionFault extends Error {
  constructor(
    readonly member: 'name' | 'operator' | 'values',
    message: string,
  ) {
    super(message);
  }
}

interface Source {
  /** Without the name of a member. */
  readonly variables: readonly string[];
  /** 1: known with the head of the request, 2: with its body. */
  readonly phase: 1 | 2;
}

const sources: Readonly<Record<ConditionField, Source>> = {
  path: { variables: ['REQUEST_FILENAME'], phase: 1 },
  uri: { variables: ['REQUEST_URI'], phase: 1 },
  method: { variables: ['REQUEST_METHOD'], phase: 1 },
  host: { variables: ['REQUEST_HEADERS:Host'], phase: 1 },
  address: { variables: ['REMOTE_ADDR'], phase: 1 },
  operation: { variables: ['REQUEST_METHOD', 'REQUEST_FILENAME'], phase: 1 },
  parameter: { variables: ['ARGS'], phase: 2 },
  query_parameter: { variables: ['ARGS_GET'], phase: 1 },
  body_parameter: { variables: ['ARGS_POST'], phase: 2 },
  header: { variables: ['REQUEST_HEADERS'], phase: 1 },
  cookie: { variables: ['REQUEST_COOKIES'], phase: 1 },
  user_agent: { variables: ['REQUEST_HEADERS:User-Agent'], phase: 1 },
  referer: { variables: ['REQUEST_HEADERS:Referer'], phase: 1 },
  content_type: { variables: ['REQUEST_HEADERS:Content-Type'], phase: 1 },
  body: { variables: ['REQUEST_BODY', 'ARGS_POST', 'ARGS_POST_NAMES', 'XML:/*', 'XML://@*'], phase: 2 },
  body_size: { variables: ['REQUEST_BODY_LENGTH'], phase: 2 },
  file_name: { variables: ['FILES'], phase: 2 },
};

export const phaseOf = ({ field }: RuleCondition): 1 | 2 => sources[field].phase;

const addressPattern = /^(?:\d{1,3}(?:\.\d{1,3}){3}(?:\/\d{1,2})?|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(?:\/\d{1,3})?)$/;

/** A text in any case of its letters: `(?i)` of an expression over bytes knows those of ASCII only. */
const inAnyCase = (value: string): string =>
  [...value]
    .map((sign) => {
      const cases = sign < '\x80' ? [sign] : [...new Set([sign, sign.toLowerCase(), sign.toUpperCase()])];
      const escaped = cases.map((one) => hexEscape(toBytes(one)));
      return escaped.length === 1 ? escaped[0] : `(?:${escaped.join('|')})`;
    })
    .join('');

/** What may stand behind a value and says nothing of it: a port and the root of names; parameters of a media type. */
const behindOf: Readonly<Partial<Record<ConditionField, string>>> = {
  host: '\\x2e?(?:\\x3a[0-9]*)?',
  content_type: '[\\x20\\x09]*(?:\\x3b.*)?',
};

/** `@rx` that fits one of the values, whatever the case of their letters is. */
function textOf({ field, operator, values }: RuleCondition): string {
  const one = values.map(inAnyCase).join('|');
  const isWhole = operator === 'is';
  const before = isWhole || operator === 'begins_with' ? '\\A' : '';
  const behind = isWhole || operator === 'ends_with' ? `${behindOf[field] ?? ''}\\z` : '';
  return `@rx (?i)${before}(?:${one})${behind}`;
}

/** A value that nothing ever has is a rule that holds never, or, negated, always. */
function checkValues({ field, operator, values }: RuleCondition): void {
  const refuse = (wrong: string | undefined, what: string): void => {
    if (wrong !== undefined) throw new ConditionFault('values', `"${wrong.slice(0, 60)}" ${what}`);
  };
  if (operator === 'matches') return;
  if (field === 'host')
    refuse(
      values.find((value) => /[\s/?#@]/.test(value)),
      'is part of no host: write it without scheme and path, such as shop.example.org',
    );
  if (field === 'path' && (operator === 'is' || operator === 'begins_with'))
    refuse(
      values.find((value) => !value.startsWith('/')),
      'is the beginning of no path: paths begin with /',
    );
}

function expressionOf(values: readonly string[]): string {
  const joined = values.length === 1 ? values[0] : values.map((value) => `(?:${value})`).join('|');
  const rendered = renderOperator('rx', toBytes(joined as string));
  if (rendered === null)
    throw new ConditionFault('values', 'holds a line end, or a backslash at its end, which no expression can have');
  return `@rx ${rendered.argument}`;
}

function numberOf([value = '', ...more]: readonly string[]): string {
  if (more.length > 0 || !/^\d{1,15}$/.test(value)) throw new ConditionFault('values', 'has to be one whole number');
  return value;
}

function operatorOf({ field, operator, values }: RuleCondition): string {
  if (operator === 'is_in') {
    const wrong = values.find((value) => !addressPattern.test(value));
    if (wrong !== undefined)
      throw new ConditionFault('values', `"${wrong.slice(0, 60)}" is no address or network such as 203.0.113.0/24`);
    return `@ipMatch ${values.join(',')}`;
  }
  if (operator === 'greater_than') return `@gt ${numberOf(values)}`;
  if (operator === 'less_than') return `@lt ${numberOf(values)}`;
  if (operator === 'matches') return expressionOf(values);
  if (field !== 'method') return textOf({ field, operator, values } as RuleCondition);
  const wrong = values.find((value) => !/^[A-Za-z][A-Za-z0-9_-]{0,31}$/.test(value));
  if (wrong !== undefined) throw new ConditionFault('values', `"${wrong.slice(0, 60)}" is no method such as POST`);
  // methods have a case (RFC 9110 section 9.1), and servers take them as they are
  return `@rx \\A(?:${values.map((value) => hexEscape(value.toUpperCase())).join('|')})\\z`;
}

/** The other spellings of a path that are looked at as well (path-conditions.ts). */
const pathsOf = (action: CustomRule['action'], variable: string, isNot: boolean): string =>
  `${variable}${pathConditionOf({ variable, action, value: '' }, isNot).more}`;

function operationOf(action: CustomRule['action'], value: string, isNot: boolean): readonly Comparison[] {
  const [, method, path] = /^([A-Z]{1,20}) (\/[^\s?#]*)$/.exec(value) ?? [];
  if (method === undefined || path === undefined)
    throw new ConditionFault('values', `"${value.slice(0, 60)}" is no operation such as GET /orders/{id}`);
  const segments = path
    .replace(/\/+$/, '')
    .split(/(\{[^{}/]*\})/)
    .map((part) => (part.startsWith('{') ? '[^/]+' : hexEscape(toBytes(part))));
  // negated, the path as it came and as most servers read it both have to be that of the operation
  const paths =
    isNot && action !== 'allow'
      ? ['REQUEST_FILENAME', 'PATH_READINGS:resolved']
      : [pathsOf(action, 'REQUEST_FILENAME', false)];
  return [
    { variables: 'REQUEST_METHOD', operator: `@rx \\A${hexEscape(method)}\\z` },
    ...paths.map((variables) => ({ variables, operator: `@rx (?i)\\A${segments.join('')}/?\\z` })),
  ];
}

/**
 * A field in every spelling that CGI programs, WSGI, Rack and PHP read as this one (`X_Role` for `X-Role`): who sends
 * another one alone must not get by. What is allowed, or not so, stays with the name itself.
 */
const inEverySpelling = (name: string): string => `/^${name.replace(/[^A-Za-z0-9]/g, '[^a-z0-9]')}$/`;

/** The variables of a condition, of one member where it names one. */
function variablesOf({ field, name, is_not: isNot }: RuleCondition, action: CustomRule['action']): string {
  const { variables } = sources[field];
  if (name === '') return variables.join('|');
  if (field === 'header' && action !== 'allow' && !isNot && /[^A-Za-z0-9]/.test(name))
    return `REQUEST_HEADERS:${inEverySpelling(name)}`;
  // members of a body of JSON are called `json.name`: people and forms call them by their name
  const isInBody = field === 'parameter' || field === 'body_parameter';
  const names = isInBody && !/^json\./i.test(name) ? [name, `json.${name}`] : [name];
  return variables.flatMap((variable) => names.map((one) => `${variable}:${one}`)).join('|');
}

/** That something is there, or is not, is a number of its own in the rule language. */
const isCount = ({ operator }: RuleCondition): boolean => operator === 'exists';
const ofPath: ReadonlySet<ConditionField> = new Set(['path', 'uri']);

/**
 * What a condition becomes, and whether `is_not` is said by it already. Throws ConditionFault. `isStored`: of a rule
 * that is in force, whose values were accepted once, and go on meaning what they did.
 */
export function renderCondition(
  condition: RuleCondition,
  action: CustomRule['action'],
  isStored = false,
): Rendered & { readonly saysNot: boolean } {
  const { field, name, operator, values, is_not: isNot } = condition;
  const facts = conditionFields[field];
  if (!(facts.operators as readonly string[]).includes(operator))
    throw new ConditionFault('operator', `cannot be "${operator}" for ${field}: it is ${facts.operators.join(', ')}`);
  if (name !== '' && !facts.hasName) throw new ConditionFault('name', `has to be empty: ${field} is one value`);
  if (isCount(condition)) {
    if (values.length > 0) throw new ConditionFault('values', 'have to be left out: it is there, or not');
    const counted = variablesOf(condition, action)
      .split('|')
      .map((variable) => `&${variable}`);
    // of several one is enough to be there, and none may be there
    const comparisons = isNot
      ? counted.map((variables) => ({ variables, operator: '@eq 0' }))
      : [{ variables: counted.join('|'), operator: '@gt 0' }];
    return { comparisons, saysNot: true };
  }
  if (values.length === 0) throw new ConditionFault('values', 'are missing: write at least one');
  if (!isStored) checkValues(condition);
  if (field === 'operation')
    return { alternatives: values.map((value) => operationOf(action, value, isNot)), saysNot: false };
  // of many spellings of a path one always differs: negated, it is that of most servers (path-conditions.ts)
  if (ofPath.has(field)) {
    const not = isNot ? '!' : '';
    const variables = pathsOf(action, variablesOf(condition, action), isNot);
    return { comparisons: [{ variables, operator: `${not}${operatorOf(condition)}` }], saysNot: true };
  }
  const comparison = { variables: variablesOf(condition, action), operator: operatorOf(condition) };
  return { comparisons: [comparison], saysNot: !isNot };
}
