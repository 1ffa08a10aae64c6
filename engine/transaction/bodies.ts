// Bodies of a transaction: limits, the choice of the body processor, and what of a response is inspected.
import type { BodyLimits } from '../body/body.js';
import { createBodySink } from '../body/empty-sink.js';
import { bodyProcessors, type BodyProcessorName } from '../body/index.js';
import { addMembersOfJson, addTextsOfJson, jsonStart, mayHoldJson, processJsonBesides } from '../body/besides/json.js';
import { asNarrowText } from '../body/besides/wide-text.js';
import { beginsLikeXml, processXmlBesides } from '../body/besides/xml.js';
import type { Phase } from '../program/ir.js';
import { Collection } from './collection.js';
import type { ResponseHead, Transaction } from './transaction.js';

function failBody(transaction: Transaction, message: string): void {
  transaction.reqbodyError = true;
  transaction.reqbodyErrorMsg = message;
}

/** The members of what is JSON in the query (`?filter={"name":"x"}`) → argsGet. */
export function readJsonOfQuery(transaction: Transaction): void {
  if (!mayHoldJson(transaction.argsGet)) return;
  const { argumentsMax } = transaction.settings;
  addMembersOfJson(transaction.argsGet, { ...bodyLimitsOf(transaction), argumentsMax });
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

/** Processors of bodies that applications may read as something else: nothing in them says what they are. */
const loose: ReadonlySet<string> = new Set(['', 'URLENCODED', 'TEXT']);

/** Runs the chosen processor over the body that the limits left. */
function parseRequestBody(transaction: Transaction, sent: Buffer): void {
  const { requestBodyProcessor: name } = transaction;
  const limits = bodyLimitsOf(transaction);
  const body = loose.has(name) ? asNarrowText(sent) : sent;
  if (name !== '') {
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
    // The members of a text that is JSON stand beside it already.
    if (name !== 'TEXT') addMembersOfJson(transaction.body.argsPost, limits);
    if (outcome.error !== null) return;
  }
  if (loose.has(name)) parseBesides(transaction, body, limits);
}

/** Bodies that are called something else, or nothing, and begin like JSON or XML: besides/. */
function parseBesides(transaction: Transaction, body: Buffer, limits: BodyLimits): void {
  // TEXT reads JSON itself.
  const start = transaction.requestBodyProcessor === 'TEXT' ? -1 : jsonStart(body);
  const isXml = start < 0 && beginsLikeXml(body);
  if (start < 0 && !isXml) return;
  if (body.length > limits.noFilesBytesMax) {
    transaction.inspectionTruncated = true;
    return;
  }
  if (transaction.body.argsPost.size === 0) transaction.body = createBodySink();
  const outcome = isXml
    ? processXmlBesides(body, transaction.body, limits)
    : processJsonBesides(body, start, transaction.body, limits);
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
  const { xmlText } = transaction.body;
  if (xmlText.length > 0) addTextsOfJson(xmlText, bodyLimitsOf(transaction));
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
