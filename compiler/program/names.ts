// What names mean to the compiler: which variables exist and from which phase they are filled, which operators exist
// and what they take, and which names are refused and why. Spelling follows the ModSecurity v3 reference, case ignored.
import type { Phase } from '#engine/compile';
import type { DiagnosticCode } from '../diagnostics/codes.js';

export interface VariableEntry {
  /** Has members: `NAME:member` and `&NAME` count them. */
  readonly collection: boolean;
  /** First phase in which it can have a value. */
  readonly phase: Phase;
}

const scalar = (phase: Phase, ...names: string[]): [string, VariableEntry][] =>
  names.map((name) => [name, { collection: false, phase }]);
const collection = (phase: Phase, ...names: string[]): [string, VariableEntry][] =>
  names.map((name) => [name, { collection: true, phase }]);

/** Every variable a rule may name. ARGS and ARGS_NAMES hold the query string in phase 1. */
export const variables: ReadonlyMap<string, VariableEntry> = new Map([
  ...collection(1, 'ARGS', 'ARGS_GET', 'ARGS_GET_NAMES', 'ARGS_NAMES'),
  ...collection(1, 'REQUEST_COOKIES', 'REQUEST_COOKIES_NAMES', 'REQUEST_HEADERS', 'REQUEST_HEADERS_NAMES'),
  ...collection(1, 'PATH_READINGS'),
  ...collection(1, 'ENV', 'GEO', 'RULE', 'TX', 'MATCHED_VARS', 'MATCHED_VARS_NAMES'),
  ...collection(1, 'IP', 'GLOBAL', 'RESOURCE', 'SESSION', 'USER'),
  ...collection(
    2,
    'ARGS_POST',
    'ARGS_POST_NAMES',
    'FILES',
    'FILES_NAMES',
    'FILES_SIZES',
    'FILES_TMPNAMES',
    'FILES_TMP_CONTENT',
  ),
  ...collection(2, 'MULTIPART_FILENAME', 'MULTIPART_NAME', 'MULTIPART_PART_HEADERS', 'XML'),
  ...collection(3, 'RESPONSE_HEADERS', 'RESPONSE_HEADERS_NAMES'),
  ...scalar(
    1,
    'ARGS_COMBINED_SIZE',
    'AUTH_TYPE',
    'DURATION',
    'HIGHEST_SEVERITY',
    'INBOUND_DATA_ERROR',
    'MATCHED_VAR',
    'MATCHED_VAR_NAME',
    'MODSEC_BUILD',
  ),
  ...scalar(
    1,
    'MSC_PCRE_ERROR',
    'MSC_PCRE_LIMITS_EXCEEDED',
    'PATH_INFO',
    'QUERY_STRING',
    'REMOTE_ADDR',
    'REMOTE_HOST',
    'REMOTE_PORT',
    'REMOTE_USER',
  ),
  ...scalar(
    1,
    'REQUEST_BASENAME',
    'REQUEST_FILENAME',
    'REQUEST_LINE',
    'REQUEST_METHOD',
    'REQUEST_PROTOCOL',
    'REQUEST_URI',
    'REQUEST_URI_RAW',
  ),
  ...scalar(
    1,
    'REQBODY_PROCESSOR',
    'SERVER_ADDR',
    'SERVER_NAME',
    'SERVER_PORT',
    'SESSIONID',
    'STATUS',
    'UNIQUE_ID',
    'URLENCODED_ERROR',
    'USERID',
    'WEBAPPID',
  ),
  ...scalar(
    1,
    'TIME',
    'TIME_DAY',
    'TIME_EPOCH',
    'TIME_HOUR',
    'TIME_MIN',
    'TIME_MON',
    'TIME_SEC',
    'TIME_WDAY',
    'TIME_YEAR',
  ),
  ...scalar(
    2,
    'FILES_COMBINED_SIZE',
    'FULL_REQUEST',
    'FULL_REQUEST_LENGTH',
    'REQBODY_ERROR',
    'REQBODY_ERROR_MSG',
    'REQBODY_PROCESSOR_ERROR',
  ),
  ...scalar(2, 'REQBODY_PROCESSOR_ERROR_MSG', 'REQUEST_BODY', 'REQUEST_BODY_LENGTH', 'XML_EXTERNAL'),
  ...scalar(
    2,
    'MULTIPART_BOUNDARY_QUOTED',
    'MULTIPART_BOUNDARY_WHITESPACE',
    'MULTIPART_CRLF_LF_LINES',
    'MULTIPART_DATA_AFTER',
    'MULTIPART_DATA_BEFORE',
  ),
  ...scalar(
    2,
    'MULTIPART_FILE_LIMIT_EXCEEDED',
    'MULTIPART_HEADER_FOLDING',
    'MULTIPART_INVALID_HEADER_FOLDING',
    'MULTIPART_INVALID_PART',
  ),
  ...scalar(
    2,
    'MULTIPART_INVALID_QUOTING',
    'MULTIPART_LF_LINE',
    'MULTIPART_MISSING_SEMICOLON',
    'MULTIPART_STRICT_ERROR',
    'MULTIPART_UNMATCHED_BOUNDARY',
  ),
  ...scalar(
    3,
    'OUTBOUND_DATA_ERROR',
    'RESPONSE_CONTENT_LENGTH',
    'RESPONSE_CONTENT_TYPE',
    'RESPONSE_PROTOCOL',
    'RESPONSE_STATUS',
    'STATUS_LINE',
  ),
  ...scalar(4, 'RESPONSE_BODY'),
]);

/** Longer and older spellings. */
const variableAliases: ReadonlyMap<string, string> = new Map([
  ['MULTIPART_CRLF_LF_LINE', 'MULTIPART_CRLF_LF_LINES'],
  ['REQBODY_PROCESSOR_ERROR_MESSAGE', 'REQBODY_PROCESSOR_ERROR_MSG'],
]);

/** Variables of other engines, with what stands in the way. */
export const refusedVariables: ReadonlyMap<string, string> = new Map([
  ['WEBSERVER_ERROR_LOG', 'there is no web server whose error log a proxy could read'],
  ['PERF_ALL', 'performance counters of ModSecurity 2 do not exist here'],
  ['SCRIPT_BASENAME', 'the file behind a request is unknown to a proxy'],
  ['SCRIPT_FILENAME', 'the file behind a request is unknown to a proxy'],
  ['SCRIPT_GID', 'the file behind a request is unknown to a proxy'],
  ['SCRIPT_GROUPNAME', 'the file behind a request is unknown to a proxy'],
  ['SCRIPT_MODE', 'the file behind a request is unknown to a proxy'],
  ['SCRIPT_UID', 'the file behind a request is unknown to a proxy'],
  ['SCRIPT_USERNAME', 'the file behind a request is unknown to a proxy'],
  ['STREAM_INPUT_BODY', 'bodies are not rewritten'],
  ['STREAM_OUTPUT_BODY', 'bodies are not rewritten'],
  ['USERAGENT_IP', 'use REMOTE_ADDR, which follows the trusted proxies of the settings'],
]);

/** Canonical (upper-case) name, or null when there is no such variable. */
export function canonicalVariableName(name: string): string | null {
  const upper = name.toUpperCase();
  const canonical = variableAliases.get(upper) ?? upper;
  return variables.has(canonical) ? canonical : null;
}

/** What an operator's argument may be. */
export type ArgumentKind = 'none' | 'text' | 'optional' | 'regex' | 'phrases' | 'phrase-files' | 'network-files';

/** Operators by lower-case spelling: canonical name and argument. */
const operators: ReadonlyMap<string, { readonly name: string; readonly argument: ArgumentKind }> = new Map(
  (
    [
      [
        'none',
        ['detectSQLi', 'detectXSS', 'noMatch', 'unconditionalMatch', 'validateUrlEncoding', 'validateUtf8Encoding'],
      ],
      [
        'optional',
        [
          'beginsWith',
          'contains',
          'containsWord',
          'endsWith',
          'streq',
          'strmatch',
          'within',
          'eq',
          'ge',
          'gt',
          'le',
          'lt',
        ],
      ],
      ['text', ['ipMatch', 'pathBelow', 'validateByteRange']],
      ['regex', ['rx', 'rxGlobal', 'verifyCC', 'verifyCPF', 'verifySSN', 'verifySVNR']],
      ['phrases', ['pm']],
      ['phrase-files', ['pmFromFile']],
      ['network-files', ['ipMatchFromFile']],
    ] as const satisfies readonly (readonly [ArgumentKind, readonly string[]])[]
  ).flatMap(([argument, names]) => names.map((name) => [name.toLowerCase(), { name, argument }] as const)),
);

const operatorAliases: ReadonlyMap<string, string> = new Map([
  ['pmf', 'pmfromfile'],
  ['ipmatchf', 'ipmatchfromfile'],
]);

/** Operator by any spelling, or null. */
export function findOperator(name: string): { readonly name: string; readonly argument: ArgumentKind } | null {
  const lower = name.toLowerCase();
  return operators.get(operatorAliases.get(lower) ?? lower) ?? null;
}

export interface Refusal {
  readonly code: DiagnosticCode;
  readonly reason: string;
}

export const refusedOperators: ReadonlyMap<string, Refusal> = new Map<string, Refusal>([
  ['inspectfile', { code: 'GH-C6001', reason: 'it runs a program for every request' }],
  ['rbl', { code: 'GH-C6002', reason: 'it asks a name server for every request' }],
  ['gsblookup', { code: 'GH-C6002', reason: "it needs a third party's database" }],
  ['fuzzyhash', { code: 'GH-C6004', reason: 'fuzzy hashing is not built in' }],
  ['geolookup', { code: 'GH-C6004', reason: 'no geographic database is bundled' }],
  ['validatedtd', { code: 'GH-C6004', reason: 'documents are never validated against external definitions' }],
  ['validateschema', { code: 'GH-C6004', reason: 'documents are never validated against external definitions' }],
  ['validatehash', { code: 'GH-C6004', reason: 'link hashing is not supported' }],
  ['rsub', { code: 'GH-C6004', reason: 'bodies are not rewritten' }],
]);
