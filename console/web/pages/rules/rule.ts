// A custom rule as the console edits it; the shape is that of the settings.
import type { Body } from '../../client/http.js';
import { rulesText as text } from '../../texts/rules/rules.js';

export const actions = ['block', 'deny', 'drop', 'redirect', 'allow', 'log', 'pass'] as const;
export type RuleAction = (typeof actions)[number];

/** Those with a meaning of their own, and the one that is chosen. */
export const ruleActions = (chosen: RuleAction): readonly RuleAction[] =>
  (['log', 'block', 'deny', 'drop', 'redirect', 'allow', 'pass'] as const).filter(
    (name) => name !== 'pass' || chosen === 'pass',
  );

export interface RuleTest {
  readonly name: string;
  readonly expect: 'match' | 'no_match';
  readonly method: string;
  readonly uri: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

type Sent = Body<'POST /api/rules'>;
type SentGroup = NonNullable<Sent['any']>[number];
type SentCondition = SentGroup['all'][number];
export type Condition = Required<Pick<SentCondition, 'field' | 'operator'>> & {
  readonly name: string;
  readonly values: string[];
  readonly is_not: boolean;
};
export interface Group {
  readonly all: readonly Condition[];
}

export interface CustomRule {
  readonly id?: number;
  readonly name: string;
  readonly enabled: boolean;
  readonly kind: 'visual' | 'conditions' | 'raw';
  readonly variable: string;
  readonly operator: string;
  readonly value: string;
  readonly any: readonly Group[];
  readonly action: RuleAction;
  readonly phase: number;
  readonly transformations: readonly string[];
  readonly redirect_url: string;
  readonly seclang: string;
  /** Names of sites; empty: all. */
  readonly sites: readonly string[];
  readonly tests: readonly RuleTest[];
}

export const blankRule: CustomRule = {
  name: '',
  enabled: true,
  kind: 'conditions',
  variable: 'ARGS',
  operator: 'contains',
  value: '',
  any: [],
  action: 'log',
  phase: 2,
  transformations: [],
  redirect_url: '',
  seclang: '',
  sites: [],
  tests: [],
};

export const blankTest: RuleTest = { name: '', expect: 'match', method: 'GET', uri: '/', headers: [], body: '' };

export const variables = [
  'ARGS',
  'ARGS_NAMES',
  'ARGS_GET',
  'ARGS_POST',
  'REQUEST_URI',
  'REQUEST_FILENAME',
  'REQUEST_METHOD',
  'REQUEST_HEADERS',
  'REQUEST_HEADERS:User-Agent',
  'REQUEST_HEADERS:Referer',
  'REQUEST_COOKIES',
  'REQUEST_BODY',
  'REMOTE_ADDR',
  'FILES_NAMES',
  'RESPONSE_BODY',
  'RESPONSE_HEADERS',
];

export const operators = [
  'contains',
  'containsWord',
  'streq',
  'beginsWith',
  'endsWith',
  'within',
  'rx',
  'pm',
  'eq',
  'gt',
  'lt',
  'ge',
  'le',
  'ipMatch',
  'detectSQLi',
  'detectXSS',
  'validateUrlEncoding',
];

/** Those that people use most; every other one of seclang can be typed. */
export const transformations = [
  'urlDecodeUni',
  'lowercase',
  'htmlEntityDecode',
  'normalizePath',
  'removeNulls',
  'trim',
];

export const phases = [
  ['1', text.n1RequestHead],
  ['2', text.n2RequestBody],
  ['3', text.n3AnswerHead],
  ['4', text.n4AnswerBody],
  ['5', text.n5Logging],
] as const;

export const bodyOf = ({ id: _, ...fields }: CustomRule): Body<'POST /api/rules'> =>
  ({ ...fields, name: fields.name || 'unnamed' }) as unknown as Body<'POST /api/rules'>;
