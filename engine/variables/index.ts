// ONE table of the variables that rules can read: name, the phase that knows them first, and how to read them.
// Scalars always exist (with '' when there is nothing to say), as in ModSecurity v3, so `&REQUEST_BODY` is 1.
import { filesCombinedSize, multipartFlagNames } from '../body/index.js';
import type { Collection } from '../transaction/collection.js';
import type { MacroRef, Phase, Template } from '../program/ir.js';
import { expandWith } from './macros.js';
import { createMatcher } from '../operators/index.js';
import type { Matcher } from '../operators/operator.js';
import { requestLine } from '../parse/request-target.js';
import { recordOf } from '../transaction/persistent-records.js';
import type { Transaction } from '../transaction/transaction.js';
import type { KeySelector } from '../transaction/tx-variables.js';

export interface ScalarVariable {
  readonly kind: 'scalar';
  readonly name: string;
  readonly phase: Phase;
  readonly read: (transaction: Transaction) => string;
}
/** Request data with names: one or two collections in order (ARGS = GET, then POST). */
export interface CollectionVariable {
  readonly kind: 'collection';
  readonly name: string;
  readonly phase: Phase;
  readonly first: (transaction: Transaction) => Collection;
  readonly second: ((transaction: Transaction) => Collection) | null;
  /** `name`: the variable's values are the names (ARGS_NAMES). */
  readonly shows: 'value' | 'name';
}
/** Variables that rules write: keys are lower-case. */
export interface RecordVariable {
  readonly kind: 'record';
  readonly name: string;
  readonly phase: Phase;
  readonly find: (transaction: Transaction, key: string) => string | null;
  readonly entries: (transaction: Transaction) => Iterable<readonly [string, string]>;
  /** Members whose key a selector takes, where that is cheaper than looking at all. */
  readonly select?: (transaction: Transaction, selector: KeySelector) => readonly (readonly [string, string])[];
}
/** XML:/* and XML://@*; other expressions are not evaluated and have no values. */
export interface XmlVariable {
  readonly kind: 'xml';
  readonly name: string;
  readonly phase: Phase;
}
export type Variable = ScalarVariable | CollectionVariable | RecordVariable | XmlVariable;

/**
 * MODSEC_BUILD: the ModSecurity release (3.0.14) whose semantics this engine follows; rule sets compare it as a number.
 */
const modsecBuild = '30140100';

function scalar(name: string, phase: Phase, read: (transaction: Transaction) => string): ScalarVariable {
  return { kind: 'scalar', name, phase, read };
}

/**
 * A scalar that costs work proportional to the request: computed once, when first asked for in a phase that knows it.
 */
function cached(name: string, phase: Phase, compute: (transaction: Transaction) => string): ScalarVariable {
  return scalar(name, phase, (transaction) => {
    const known = transaction.scalars.get(name);
    if (known !== undefined) return known;
    const value = compute(transaction);
    // Before its phase the value may still grow (ARGS_COMBINED_SIZE in phase 1).
    if (transaction.phase >= phase) transaction.scalars.set(name, value);
    return value;
  });
}

function values(
  name: string,
  phase: Phase,
  first: (transaction: Transaction) => Collection,
  second: ((transaction: Transaction) => Collection) | null = null,
): CollectionVariable {
  return { kind: 'collection', name, phase, first, second, shows: 'value' };
}
function names(
  name: string,
  phase: Phase,
  first: (transaction: Transaction) => Collection,
  second: ((transaction: Transaction) => Collection) | null = null,
): CollectionVariable {
  return { kind: 'collection', name, phase, first, second, shows: 'name' };
}

const nothing: readonly (readonly [string, string])[] = [];

function persistent(name: string): RecordVariable {
  return {
    kind: 'record',
    name,
    phase: 1,
    find: (transaction, key) => recordOf(transaction, name)?.get(key) ?? null,
    entries: (transaction) => recordOf(transaction, name)?.entries() ?? nothing,
  };
}

function flag(on: boolean): string {
  return on ? '1' : '0';
}

function two(number: number): string {
  return number < 10 ? `0${number}` : String(number);
}
const now = (transaction: Transaction): Date => new Date(transaction.environment.nowMs);

function combinedSize(collections: readonly Collection[], withNames: boolean): number {
  let size = 0;
  for (const collection of collections) {
    for (let index = 0; index < collection.size; index += 1) {
      size += (collection.values[index] as string).length;
      if (withNames) size += (collection.names[index] as string).length;
    }
  }
  return size;
}

/** The header block and the body, as ModSecurity v3 rebuilds them. */
function fullRequest(transaction: Transaction): string {
  const { names: headerNames, values: headerValues } = transaction.requestHeaders;
  let text = '';
  for (let index = 0; index < headerNames.length; index += 1)
    text += `${headerNames[index] as string}: ${headerValues[index] as string}\n`;
  return `${text}\n\n${transaction.requestBody === null ? '' : transaction.requestBody.toString('latin1')}`;
}

/**
 * REQUEST_BODY exists for URLENCODED bodies and where forceRequestBodyVariable asks for it and no other processor took
 * the body, as the reference manual says and the CRS regression suite expects. (ModSecurity v3 always fills it, which
 * CRS lists as a deviation: XML and JSON bodies would be judged twice, once undecoded.)
 */
function requestBody(transaction: Transaction): string {
  const { requestBody: body, requestBodyProcessor: processor } = transaction;
  if (body === null) return '';
  const wanted =
    processor === 'URLENCODED' || processor === 'RAW' || (transaction.forceRequestBodyVariable && processor === '');
  return wanted ? body.toString('latin1') : '';
}

function header(transaction: Transaction, lowerName: string): string {
  return transaction.requestHeaders.find(lowerName) ?? '';
}

/** The user of Basic credentials, else ''. */
function remoteUser(transaction: Transaction): string {
  const value = header(transaction, 'authorization');
  if (value.slice(0, 6).toLowerCase() !== 'basic ') return '';
  const decoded = Buffer.from(value.slice(6), 'base64').toString('latin1');
  const colon = decoded.indexOf(':');
  return colon < 0 ? decoded : decoded.slice(0, colon);
}

function authType(transaction: Transaction): string {
  const value = header(transaction, 'authorization');
  const blank = value.indexOf(' ');
  return blank < 0 ? value : value.slice(0, blank);
}

/** Host without port (an IPv6 literal keeps its brackets). */
function serverName(transaction: Transaction): string {
  const host = header(transaction, 'host');
  if (host.charCodeAt(0) === 0x5b) {
    const end = host.indexOf(']');
    return end < 0 ? host : host.slice(0, end + 1);
  }
  const colon = host.indexOf(':');
  return colon < 0 ? host : host.slice(0, colon);
}

function ruleField(transaction: Transaction, key: string): string | null {
  const { rule } = transaction;
  const head = rule?.links[0];
  if (rule === null || head === undefined) return null;
  const text = (template: Template | null): string | null => (template === null ? null : expand(template, transaction));
  const number = (value: number | null): string | null => (value === null ? null : String(value));
  switch (key) {
    case 'id':
      return String(rule.id);
    case 'rev':
      return rule.rev;
    case 'ver':
      return rule.ver;
    case 'severity':
      return number(rule.severity);
    case 'maturity':
      return number(rule.maturity);
    case 'accuracy':
      return number(rule.accuracy);
    case 'phase':
      return String(rule.phase);
    case 'msg':
      return text(head.msg);
    case 'logdata':
      return text(head.logdata);
    default:
      return null;
  }
}
const ruleKeys = ['id', 'rev', 'ver', 'severity', 'maturity', 'accuracy', 'phase', 'msg', 'logdata'];

function ruleEntries(transaction: Transaction): (readonly [string, string])[] {
  const found: (readonly [string, string])[] = [];
  for (const key of ruleKeys) {
    const value = ruleField(transaction, key);
    if (value !== null) found.push([key, value]);
  }
  return found;
}

const argsGet = (transaction: Transaction): Collection => transaction.argsGet;
const argsPost = (transaction: Transaction): Collection => transaction.body.argsPost;
const requestHeaders = (transaction: Transaction): Collection => transaction.requestHeaders;
const requestCookies = (transaction: Transaction): Collection => transaction.requestCookies;
const responseHeaders = (transaction: Transaction): Collection => transaction.responseHeaders;
const matchedVars = (transaction: Transaction): Collection => transaction.matchedVars;
/** Of the upstream's response; of the reply that an interruption sends instead (for the logging phase). */
function status(transaction: Transaction): string {
  const code = transaction.response?.status ?? transaction.interruption?.status;
  return code === undefined ? '' : String(code);
}

const requestVariables: readonly Variable[] = [
  values('ARGS', 2, argsGet, argsPost),
  names('ARGS_NAMES', 2, argsGet, argsPost),
  values('ARGS_GET', 1, argsGet),
  names('ARGS_GET_NAMES', 1, argsGet),
  values('ARGS_POST', 2, argsPost),
  names('ARGS_POST_NAMES', 2, argsPost),
  cached('ARGS_COMBINED_SIZE', 2, (t) => String(combinedSize([t.argsGet, t.body.argsPost], true))),
  scalar('AUTH_TYPE', 1, authType),
  values('REQUEST_HEADERS', 1, requestHeaders),
  names('REQUEST_HEADERS_NAMES', 1, requestHeaders),
  values('REQUEST_COOKIES', 1, requestCookies),
  names('REQUEST_COOKIES_NAMES', 1, requestCookies),
  scalar('REQUEST_METHOD', 1, (t) => t.request.method),
  scalar('REQUEST_PROTOCOL', 1, (t) => t.request.protocol),
  cached('REQUEST_LINE', 1, (t) => requestLine(t.request.method, t.request.uri, t.request.protocol)),
  scalar('REQUEST_URI', 1, (t) => t.requestUri),
  scalar('REQUEST_URI_RAW', 1, (t) => t.request.uri),
  scalar('REQUEST_FILENAME', 1, (t) => t.requestFilename),
  scalar('REQUEST_BASENAME', 1, (t) => t.requestBasename),
  scalar('PATH_INFO', 1, (t) => t.requestFilename),
  scalar('QUERY_STRING', 1, (t) => t.queryString),
  cached('REQUEST_BODY', 2, requestBody),
  scalar('REQUEST_BODY_LENGTH', 2, (t) => String(t.requestBody?.length ?? 0)),
  cached('FULL_REQUEST', 2, fullRequest),
  cached('FULL_REQUEST_LENGTH', 2, (t) => String(fullRequest(t).length)),
  scalar('REMOTE_ADDR', 1, (t) => t.request.clientIp),
  scalar('REMOTE_HOST', 1, (t) => t.request.clientIp),
  scalar('USERAGENT_IP', 1, (t) => t.request.clientIp),
  scalar('REMOTE_PORT', 1, (t) => String(t.request.clientPort)),
  scalar('REMOTE_USER', 1, remoteUser),
  scalar('SERVER_ADDR', 1, (t) => t.request.serverIp),
  scalar('SERVER_NAME', 1, serverName),
  scalar('SERVER_PORT', 1, (t) => String(t.request.serverPort)),
  scalar('UNIQUE_ID', 1, (t) => t.environment.uniqueId),
];

const bodyVariables: readonly Variable[] = [
  scalar('REQBODY_PROCESSOR', 1, (t) => t.requestBodyProcessor),
  scalar('REQBODY_ERROR', 2, (t) => flag(t.reqbodyError)),
  scalar('REQBODY_ERROR_MSG', 2, (t) => t.reqbodyErrorMsg),
  scalar('REQBODY_PROCESSOR_ERROR', 2, (t) => flag(t.reqbodyError)),
  scalar('REQBODY_PROCESSOR_ERROR_MSG', 2, (t) => t.reqbodyErrorMsg),
  scalar('INBOUND_DATA_ERROR', 2, (t) => flag(t.inboundDataError)),
  scalar('URLENCODED_ERROR', 1, (t) => flag(t.urlencodedError)),
  values('FILES', 2, (t) => t.body.files),
  values('FILES_NAMES', 2, (t) => t.body.filesNames),
  values('FILES_SIZES', 2, (t) => t.body.filesSizes),
  values('FILES_TMPNAMES', 2, (t) => t.body.filesTmpNames),
  values('FILES_TMP_CONTENT', 2, (t) => t.body.filesTmpContent),
  cached('FILES_COMBINED_SIZE', 2, (t) => String(filesCombinedSize(t.body))),
  values('MULTIPART_FILENAME', 2, (t) => t.body.multipartFilename),
  values('MULTIPART_NAME', 2, (t) => t.body.multipartName),
  values('MULTIPART_PART_HEADERS', 2, (t) => t.body.multipartPartHeaders),
  // written by the multipart processor; '0' until then
  ...multipartFlagNames.map((name) => scalar(name, 2, (t) => t.body.multipartFlags.get(name) ?? '0')),
  { kind: 'xml', name: 'XML', phase: 2 },
];

const responseVariables: readonly Variable[] = [
  values('RESPONSE_HEADERS', 3, responseHeaders),
  names('RESPONSE_HEADERS_NAMES', 3, responseHeaders),
  scalar('RESPONSE_STATUS', 3, status),
  scalar('STATUS', 3, status),
  scalar('STATUS_LINE', 3, (t) => (t.response === null ? '' : `${t.response.protocol} ${t.response.status}`)),
  scalar('RESPONSE_PROTOCOL', 3, (t) => t.response?.protocol ?? ''),
  scalar('RESPONSE_CONTENT_TYPE', 3, (t) => t.responseContentType),
  scalar('RESPONSE_CONTENT_LENGTH', 4, (t) => (t.responseBody === null ? '' : String(t.responseBody.length))),
  cached('RESPONSE_BODY', 4, (t) => t.responseBody?.toString('latin1') ?? ''),
  scalar('OUTBOUND_DATA_ERROR', 4, (t) => flag(t.outboundDataError)),
];

const stateVariables: readonly Variable[] = [
  {
    kind: 'record',
    name: 'TX',
    phase: 1,
    find: (t, key) => t.tx.get(key) ?? null,
    entries: (t) => t.tx,
    select: (t, selector) => t.tx.select(selector),
  },
  { kind: 'record', name: 'ENV', phase: 1, find: (t, key) => t.env.get(key) ?? null, entries: (t) => t.env },
  { kind: 'record', name: 'RULE', phase: 1, find: ruleField, entries: ruleEntries },
  // GEO has no data: the engine carries no geolocation database.
  { kind: 'record', name: 'GEO', phase: 1, find: () => null, entries: () => nothing },
  persistent('IP'),
  persistent('GLOBAL'),
  persistent('RESOURCE'),
  persistent('SESSION'),
  persistent('USER'),
  scalar('SESSIONID', 1, (t) => t.sessionId),
  scalar('USERID', 1, (t) => t.userId),
  scalar('WEBAPPID', 1, (t) => t.settings.webAppId),
  scalar('MATCHED_VAR', 1, (t) => t.matchedVar),
  scalar('MATCHED_VAR_NAME', 1, (t) => t.matchedVarName),
  values('MATCHED_VARS', 1, matchedVars),
  names('MATCHED_VARS_NAMES', 1, matchedVars),
  scalar('HIGHEST_SEVERITY', 1, (t) => String(t.highestSeverity)),
  scalar('MODSEC_BUILD', 1, () => modsecBuild),
  // RE2 and Hyperscan have no match limit to exceed.
  scalar('MSC_PCRE_ERROR', 1, () => ''),
  scalar('MSC_PCRE_LIMITS_EXCEEDED', 1, () => '0'),
  scalar('WEBSERVER_ERROR_LOG', 5, () => ''),
];

const timeVariables: readonly Variable[] = [
  scalar('DURATION', 1, (t) => String(Math.round(t.environment.elapsedMs?.() ?? 0))),
  scalar(
    'TIME',
    1,
    (t) => `${two(now(t).getUTCHours())}:${two(now(t).getUTCMinutes())}:${two(now(t).getUTCSeconds())}`,
  ),
  scalar('TIME_DAY', 1, (t) => String(now(t).getUTCDate())),
  scalar('TIME_EPOCH', 1, (t) => String(Math.floor(t.environment.nowMs / 1000))),
  scalar('TIME_HOUR', 1, (t) => String(now(t).getUTCHours())),
  scalar('TIME_MIN', 1, (t) => String(now(t).getUTCMinutes())),
  scalar('TIME_MON', 1, (t) => String(now(t).getUTCMonth())), // 0–11, as in ModSecurity
  scalar('TIME_SEC', 1, (t) => String(now(t).getUTCSeconds())),
  scalar('TIME_WDAY', 1, (t) => String(now(t).getUTCDay())), // 0 = Sunday
  scalar('TIME_YEAR', 1, (t) => String(now(t).getUTCFullYear())),
];

/** Every variable by canonical (upper-case) name. */
export const variables: ReadonlyMap<string, Variable> = new Map(
  [...requestVariables, ...bodyVariables, ...responseVariables, ...stateVariables, ...timeVariables].map((variable) => [
    variable.name,
    variable,
  ]),
);

/**
 * The value a macro stands for: a scalar, the named member, or the first member of a collection; '' when there is none.
 */
function resolveMacro(transaction: Transaction, reference: MacroRef): string {
  const { key } = reference;
  if (reference.variable === 'TX' && key !== null) {
    const value = transaction.tx.get(key);
    if (value !== undefined) return value;
  }
  const variable = variables.get(reference.variable);
  if (variable === undefined) return '';
  switch (variable.kind) {
    case 'scalar':
      return variable.read(transaction);
    case 'record':
      if (key === null) return '';
      return (
        (isPattern(key) ? firstMatching(variable.entries(transaction), key) : variable.find(transaction, key)) ?? ''
      );
    case 'xml':
      return key === '//@*' ? (transaction.body.xmlAttributes[0] ?? '') : (transaction.body.xmlText[0] ?? '');
    case 'collection': {
      const first = variable.first(transaction);
      return (
        memberOf(first, key, variable.shows) ??
        (variable.second === null ? null : memberOf(variable.second(transaction), key, variable.shows)) ??
        ''
      );
    }
  }
}

/** `%{ARGS:/^id/}`: the first member whose name the pattern is found in. */
function isPattern(key: string): boolean {
  return key.length > 2 && key.charCodeAt(0) === 0x2f && key.charCodeAt(key.length - 1) === 0x2f;
}

// Keys of macros come from rules, so there are few.
const keyPatterns = new Map<string, Matcher>();

function firstMatching(entries: Iterable<readonly [string, string]>, key: string): string | null {
  let matcher = keyPatterns.get(key);
  if (matcher === undefined) {
    const argument = `(?i)${key.slice(1, -1)}`;
    matcher = createMatcher({ name: 'rx', negated: false, argument, template: null, phrases: null }, argument);
    keyPatterns.set(key, matcher);
  }
  for (const [name, value] of entries) if (matcher.matches(name)) return value;
  return null;
}

function memberOf(collection: Collection, key: string | null, shows: 'value' | 'name'): string | null {
  const shown = shows === 'name' ? collection.names : collection.values;
  if (key === null) return shown[0] ?? null;
  if (isPattern(key))
    return firstMatching(
      collection.names.map((name, index) => [name, shown[index] as string] as const),
      key,
    );
  for (let index = 0; index < collection.size; index += 1) {
    const name = collection.names[index] as string;
    if (name.length === key.length && name.toLowerCase() === key) return shown[index] as string;
  }
  return null;
}

/** Expands the macros of a template for the transaction's state at this moment. */
export function expand(template: Template, transaction: Transaction): string {
  return expandWith(template, transaction, resolveMacro);
}
