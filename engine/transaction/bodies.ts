// Bodies of a transaction: limits, the choice of the body processor, and what of a response is inspected.
import type { BodyLimits } from '../body/body.js';
import { createBodySink } from '../body/empty-sink.js';
import { bodyProcessors, type BodyProcessorName } from '../body/index.js';
import { jsonStart, processJsonBesides } from '../body/json-besides.js';
import type { Phase } from '../program/ir.js';
import { Collection } from './collection.js';
import type { ResponseHead, Transaction } from './transaction.js';

function failBody(transaction: Transaction, message: string): void {
  transaction.reqbodyError = true;
  transaction.reqbodyErrorMsg = message;
}

function bodyLimitsOf({ settings, argsGet, parseXmlIntoArgs }: Transaction): BodyLimits {
  return {
    argumentsMax: Math.max(0, settings.argumentsMax - argsGet.size),
    jsonDepthMax: settings.requestBodyJsonDepthMax,
    noFilesBytesMax: settings.requestBodyNoFilesLimitBytes,
    uploadFilesMax: settings.uploadFilesMax,
    argumentSeparator: settings.argumentSeparator,
    parseXmlIntoArgs,
  };
}

/** Runs the chosen processor over the body that the limits left. */
function parseRequestBody(transaction: Transaction, body: Buffer): void {
  const { requestBodyProcessor: name } = transaction;
  const limits = bodyLimitsOf(transaction);
  if (name === '') {
    parseJsonToo(transaction, body, limits);
    return;
  }
  const processor = bodyProcessors.get(name as BodyProcessorName);
  if (processor === undefined) {
    failBody(transaction, `${name} is not a request body processor of this engine.`);
    return;
  }
  transaction.body = createBodySink();
  const outcome = processor(body, transaction.requestHeaders.find('content-type') ?? '', transaction.body, limits);
  if (outcome.error !== null) failBody(transaction, outcome.error);
  if (outcome.truncated) transaction.inspectionTruncated = true;
  if (outcome.invalidEncoding === true) transaction.urlencodedError = true;
  if (name === 'URLENCODED' && outcome.error === null) parseJsonToo(transaction, body, limits);
}

/** Bodies that are called something else, or nothing, and begin like JSON; see json-besides.ts. */
function parseJsonToo(transaction: Transaction, body: Buffer, limits: BodyLimits): void {
  const start = jsonStart(body);
  if (start < 0) return;
  if (body.length > limits.noFilesBytesMax) {
    transaction.inspectionTruncated = true;
    return;
  }
  if (transaction.body.argsPost.size === 0) transaction.body = createBodySink();
  const outcome = processJsonBesides(body, start, transaction.body, limits);
  if (outcome.truncated) transaction.inspectionTruncated = true;
  if (outcome.error !== null) failBody(transaction, outcome.error);
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
export function takeRequestBody(transaction: Transaction, body: Buffer | null, wireBytes: number): void {
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

export function fillResponseHead(transaction: Transaction, response: ResponseHead): void {
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
export function wantsResponseBody(transaction: Transaction, types: ReadonlySet<string>): boolean {
  if (transaction.engineMode === 'Off' || !transaction.responseBodyAccess) return false;
  const { responseContentType: type } = transaction;
  return types.size === 0 || types.has(type) || types.has(type.toLowerCase());
}

export function takeResponseBody(transaction: Transaction, body: Buffer, wireBytes: number): void {
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
