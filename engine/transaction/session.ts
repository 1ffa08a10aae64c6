// What both engines share around the rules: filling a transaction, choosing and running the body processor, limits,
// the order of phases, the verdict. An engine adds one function: run the rules of a phase.
import { bodyProcessors } from '../body/index.js';
import type { BodyLimits } from '../body/body.js';
import { createBodySink } from '../body/empty-sink.js';
import { Collection } from './collection.js';
import type { BodyProcessorName } from '../body/index.js';
import type { Inspector } from './inspector.js';
import type { EngineSettings, Phase, Program } from '../program/ir.js';
import { leadingInteger } from './memory-store.js';
import { parseCookies } from '../parse/cookies.js';
import { splitRequestTarget } from '../parse/request-target.js';
import { parseUrlEncoded } from '../parse/urlencoded.js';
import { RemovalTable } from '../evaluate/removals.js';
import { Transaction } from './transaction.js';
import type { Interruption, RequestHead, ResponseHead, TransactionEnvironment } from './transaction.js';
import type { Verdict } from './verdict.js';

/** Runs the rules of one phase in order; must stop where `phaseIsOver` says so. */
export type PhaseRunner = (transaction: Transaction, phase: Phase, removals: RemovalTable) => void;

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

/** A transaction with everything that the head of the request tells. */
function begin(
  settings: EngineSettings,
  request: RequestHead,
  environment: TransactionEnvironment,
  baseTx: ReadonlyMap<string, string>,
): Transaction {
  const transaction = new Transaction(settings.ruleEngine === 'Off' ? undefined : baseTx);
  transaction.request = request;
  transaction.environment = environment;
  applySettings(transaction, settings);
  if (settings.ruleEngine === 'Off') return transaction;
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
  }
  fillRequestHeaders(transaction, request.headers);
  return transaction;
}

function failBody(transaction: Transaction, message: string): void {
  transaction.reqbodyError = true;
  transaction.reqbodyErrorMsg = message;
}

/** Runs the chosen processor over the body that the limits left. */
function parseRequestBody(transaction: Transaction, body: Buffer): void {
  const { settings, requestBodyProcessor: name } = transaction;
  if (name === '') return;
  const processor = bodyProcessors.get(name as BodyProcessorName);
  if (processor === undefined) {
    failBody(transaction, `${name} is not a request body processor of this engine.`);
    return;
  }
  const limits: BodyLimits = {
    argumentsMax: Math.max(0, settings.argumentsMax - transaction.argsGet.size),
    jsonDepthMax: settings.requestBodyJsonDepthMax,
    noFilesBytesMax: settings.requestBodyNoFilesLimitBytes,
    uploadFilesMax: settings.uploadFilesMax,
    argumentSeparator: settings.argumentSeparator,
    parseXmlIntoArgs: transaction.parseXmlIntoArgs,
  };
  transaction.body = createBodySink();
  const outcome = processor(body, transaction.requestHeaders.find('content-type') ?? '', transaction.body, limits);
  if (outcome.error !== null) failBody(transaction, outcome.error);
  if (outcome.truncated) transaction.inspectionTruncated = true;
  if (outcome.invalidEncoding === true) transaction.urlencodedError = true;
}

/**
 * Interruption of a body that SecRequestBodyLimitAction/SecResponseBodyLimitAction Reject refuses; ModSecurity v3
 * answers 403.
 */
function rejectBody(transaction: Transaction, phase: Phase): void {
  transaction.interruption ??= { ruleId: 0, action: 'deny', status: 403, phase, data: '' };
}

/**
 * Takes the body over, within the limit. Reject interrupts with the engine On; in DetectionOnly, and for
 * ProcessPartial, the first `limit` bytes are inspected. Either way INBOUND_DATA_ERROR is set.
 */
function takeRequestBody(transaction: Transaction, body: Buffer | null, wireBytes: number): void {
  const limit = transaction.requestBodyLimitBytes;
  transaction.requestBodyBytes = wireBytes;
  if (limit > 0 && wireBytes > limit) {
    transaction.inboundDataError = true;
    transaction.inspectionTruncated = true;
    if (transaction.settings.requestBodyLimitAction === 'Reject' && transaction.engineMode === 'On') {
      rejectBody(transaction, 2);
      return;
    }
  } else if (body !== null && wireBytes > body.length) transaction.inspectionTruncated = true;
  if (body === null || body.length === 0 || !transaction.requestBodyAccess) return;
  const kept = limit > 0 && body.length > limit ? body.subarray(0, limit) : body;
  transaction.requestBody = kept;
  parseRequestBody(transaction, kept);
}

function fillResponseHead(transaction: Transaction, response: ResponseHead): void {
  const responseHeaders = new Collection();
  transaction.responseHeaders = responseHeaders;
  transaction.response = response;
  const { headers } = response;
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] as string;
    const value = headers[index + 1] as string;
    responseHeaders.add(name, value);
    if (name.length === 12 && name.toLowerCase() === 'content-type') {
      const semicolon = value.indexOf(';');
      transaction.responseContentType = (semicolon < 0 ? value : value.slice(0, semicolon)).trim();
    }
  }
}

/** Response body access is on and the media type is one of SecResponseBodyMimeType (an empty list means every type). */
function wantsResponseBody(transaction: Transaction, types: ReadonlySet<string>): boolean {
  if (transaction.engineMode === 'Off' || !transaction.responseBodyAccess) return false;
  const { responseContentType: type } = transaction;
  return types.size === 0 || types.has(type) || types.has(type.toLowerCase());
}

function takeResponseBody(transaction: Transaction, body: Buffer, wireBytes: number): void {
  const limit = transaction.responseBodyLimitBytes;
  transaction.responseBodyBytes = wireBytes;
  if (limit > 0 && wireBytes > limit) {
    transaction.outboundDataError = true;
    transaction.inspectionTruncated = true;
    if (transaction.settings.responseBodyLimitAction === 'Reject' && transaction.engineMode === 'On') {
      rejectBody(transaction, 4);
      return;
    }
  }
  transaction.responseBody = limit > 0 && body.length > limit ? body.subarray(0, limit) : body;
}

function score(transaction: Transaction, name: string): number {
  return leadingInteger(transaction.tx.get(name) ?? '');
}

function verdictOf(transaction: Transaction): Verdict {
  const { interruption, withheldInterruption } = transaction;
  return {
    kind:
      interruption !== null && interruption.phase !== 5
        ? 'block'
        : (interruption ?? withheldInterruption) !== null
          ? 'flag'
          : 'pass',
    interruption: interruption ?? withheldInterruption,
    matched: transaction.matched,
    inboundScore: score(transaction, 'blocking_inbound_anomaly_score'),
    outboundScore: score(transaction, 'blocking_outbound_anomaly_score'),
    truncated: transaction.inspectionTruncated,
    phases: transaction.phasesRun,
  };
}

/** May phase `phase` run? After an interruption and under `allow` only logging does. */
function enterPhase(transaction: Transaction, phase: Phase): boolean {
  if (transaction.engineMode === 'Off') return false;
  if (transaction.allowed === 'phase') transaction.allowed = 'none';
  if (phase !== 5) {
    if (transaction.interruption !== null || transaction.allowed === 'all') return false;
    if (transaction.allowed === 'request') {
      if (phase <= 2) return false;
      transaction.allowed = 'none';
    }
  }
  transaction.phase = phase;
  transaction.skipRules = 0;
  transaction.skipAfter = null;
  transaction.phasesRun.push(phase);
  return true;
}

/**
 * The Inspector of an engine: `runPhase` is all that differs between the interpreter and the compiled engine. The
 * program must be frozen: removal bitmaps are computed against it once.
 */
export function createSession(
  program: Program,
  runPhase: PhaseRunner,
  baseTx: ReadonlyMap<string, string> = new Map(),
): Inspector {
  const { settings } = program;
  const removals = new RemovalTable(program);
  const responseTypes: ReadonlySet<string> = new Set(settings.responseBodyMimeTypes.map((type) => type.toLowerCase()));
  function run(transaction: Transaction, phase: Phase): Interruption | null {
    if (enterPhase(transaction, phase)) runPhase(transaction, phase, removals);
    return transaction.interruption;
  }
  return {
    begin: (request, environment) => begin(settings, request, environment, baseTx),
    requestHeaders: (transaction) => run(transaction, 1),
    requestBody(transaction, body, wireBytes = body?.length ?? 0) {
      if (transaction.engineMode === 'Off' || transaction.interruption !== null) return transaction.interruption;
      takeRequestBody(transaction, body, wireBytes);
      return run(transaction, 2);
    },
    responseHeaders(transaction, response) {
      if (transaction.interruption !== null) return transaction.interruption;
      if (transaction.response === null) fillResponseHead(transaction, response);
      return run(transaction, 3);
    },
    responseBody(transaction, body, wireBytes = body?.length ?? 0) {
      if (transaction.engineMode === 'Off' || transaction.interruption !== null) return transaction.interruption;
      if (body !== null && wantsResponseBody(transaction, responseTypes))
        takeResponseBody(transaction, body, wireBytes);
      return run(transaction, 4);
    },
    wantsResponseBody: (transaction) => wantsResponseBody(transaction, responseTypes),
    finish(transaction) {
      run(transaction, 5);
      return verdictOf(transaction);
    },
  };
}
