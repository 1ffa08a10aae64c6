// A custom rule as the console edits it; the shape is that of the settings.
import { rulesText as text } from '../../texts/rules.js';

export interface RuleTest {
  readonly name: string;
  readonly expect: 'match' | 'no_match';
  readonly method: string;
  readonly uri: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

export interface CustomRule {
  readonly id?: number;
  readonly name: string;
  readonly enabled: boolean;
  readonly kind: 'visual' | 'raw';
  readonly variable: string;
  readonly operator: string;
  readonly value: string;
  readonly action: string;
  readonly phase: number;
  readonly transformations: readonly string[];
  readonly redirect_url: string;
  readonly seclang: string;
  readonly tests: readonly RuleTest[];
}

export const blankRule: CustomRule = {
  name: '',
  enabled: true,
  kind: 'visual',
  variable: 'ARGS',
  operator: 'contains',
  value: '',
  action: 'block',
  phase: 2,
  transformations: [],
  redirect_url: '',
  seclang: '',
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

export const actions = ['block', 'deny', 'drop', 'redirect', 'allow', 'log', 'pass'] as const;

export const phases = [
  ['1', text.n1RequestHead],
  ['2', text.n2RequestBody],
  ['3', text.n3AnswerHead],
  ['4', text.n4AnswerBody],
  ['5', text.n5Logging],
] as const;
