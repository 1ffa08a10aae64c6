// The beginning of a transaction: everything that the head of the request tells.
import type { BodyProcessorName } from '../body/index.js';
import { parseCookies } from '../parse/cookies.js';
import { splitRequestTarget } from '../parse/request-target.js';
import { parseUrlEncoded } from '../parse/urlencoded.js';
import type { EngineSettings } from '../program/ir.js';
import { readJsonOfQuery } from './bodies.js';
import { Collection } from './collection.js';
import type { RequestHead, Transaction, TransactionEnvironment } from './transaction.js';

function startsWithIgnoringCase(text: string, lower: string): boolean {
  return text.length >= lower.length && text.slice(0, lower.length).toLowerCase() === lower;
}

/**
 * Processors by the beginning of the media type. ModSecurity v3 picks the first two so, the rest is left to
 * ctl:requestBodyProcessor. The other types are let in by the default settings while the usual rules with that ctl do
 * not name them: without a processor no argument would hold what an application may well read as JSON whatever its type
 * (Go's json.NewDecoder does).
 */
const processors: readonly (readonly [string, BodyProcessorName])[] = [
  ['application/x-www-form-urlencoded', 'URLENCODED'],
  ['multipart/form-data', 'MULTIPART'],
  ['application/csp-report', 'JSON'],
  ['application/x-ndjson', 'JSON'],
  ['application/graphql', 'GRAPHQL'],
];

function processorFor(contentType: string): string {
  for (const [type, name] of processors) if (startsWithIgnoringCase(contentType, type)) return name;
  return '';
}

/** Copies flat headers and notices the three that mean something to the engine. */
function fillRequestHeaders(transaction: Transaction, headers: readonly string[]): void {
  const { names, values } = transaction.requestHeaders;
  let cookies: string | null = null;
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] as string;
    const value = headers[index + 1] as string;
    names.push(name);
    values.push(value);
    if (name.length === 6 && name.toLowerCase() === 'cookie')
      cookies = cookies === null ? value : `${cookies}; ${value}`;
    else if (name.length === 12 && name.toLowerCase() === 'content-type')
      transaction.requestBodyProcessor = processorFor(value);
  }
  if (cookies === null) return;
  // Several Cookie headers are one list to a backend (RFC 9113 §8.2.3), and a quoted value may reach from one into the
  // next.
  transaction.requestCookies = new Collection();
  parseCookies(cookies, transaction.requestCookies);
}

function applySettings(transaction: Transaction, settings: EngineSettings): void {
  transaction.settings = settings;
  transaction.engineMode = settings.ruleEngine;
  transaction.auditEngine = settings.auditEngine;
  transaction.auditLogParts = settings.auditLogParts;
  transaction.requestBodyAccess = settings.requestBodyAccess;
  transaction.responseBodyAccess = settings.responseBodyAccess;
  transaction.requestBodyLimitBytes = settings.requestBodyLimitBytes;
  transaction.responseBodyLimitBytes = settings.responseBodyLimitBytes;
}

/** Of TX: the key of the request's policy, set before phase 1. */
export const policyVariable = 'gatehouse_policy';

/** Fills a fresh transaction; with the engine Off nothing is looked at. */
export function beginTransaction<Kind extends Transaction>(
  transaction: Kind,
  settings: EngineSettings,
  request: RequestHead,
  environment: TransactionEnvironment,
): Kind {
  transaction.request = request;
  transaction.environment = environment;
  applySettings(transaction, settings);
  if (settings.ruleEngine === 'Off') return transaction;
  const { policy, secondOpinion = null } = environment;
  if (secondOpinion !== null) {
    transaction.opinionMode = secondOpinion;
    transaction.evidence = [];
  }
  if (policy !== undefined && policy !== null) transaction.tx.set(policyVariable, policy);
  const target = splitRequestTarget(request.uri);
  transaction.requestUri = target.uri;
  transaction.requestFilename = target.filename;
  transaction.requestBasename = target.basename;
  transaction.queryString = target.queryString;
  if (target.queryString !== '') {
    const outcome = parseUrlEncoded(
      target.queryString,
      settings.argumentSeparator,
      transaction.argsGet,
      settings.argumentsMax,
    );
    if (outcome.truncated) transaction.inspectionTruncated = true;
    if (outcome.invalidEncoding) transaction.urlencodedError = true;
    readJsonOfQuery(transaction);
  }
  fillRequestHeaders(transaction, request.headers);
  return transaction;
}
