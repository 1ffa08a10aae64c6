// TEXT: bodies whose media type has no parser of its own (text/plain, text/csv, application/octet-stream, images, …).
// Applications read JSON and forms whatever the type says (Go's json.NewDecoder, a handler that parses the raw input),
// so what is text is a value that rules look at, and what looks like JSON is read as JSON besides.
import type { BodyLimits, BodyOutcome, BodySink } from './body.js';
import { processGraphql } from './graphql.js';
import { processJson } from './json.js';

const fine: BodyOutcome = { error: null, truncated: false };

/** Control bytes that text does not hold: all but tab, line feed, form feed, carriage return and escape. */
function isText(body: Buffer): boolean {
  for (const byte of body)
    if ((byte < 0x20 && byte !== 9 && byte !== 10 && byte !== 12 && byte !== 13 && byte !== 27) || byte === 0x7f)
      return false;
  return true;
}

/** The body without white space and byte order mark in front, where an object or a list begins; else null. */
function jsonIn(body: Buffer): Buffer | null {
  let at = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  while (at < body.length && (body[at] as number) <= 0x20) at += 1;
  return body[at] === 0x7b || body[at] === 0x5b ? body.subarray(at) : null;
}

/**
 * Text → ARGS_POST:body, whole, and once more with its \u escapes resolved; JSON → its members as well, as far as it
 * can be read. Other bytes are opaque. Over `noFilesBytesMax` what looks like JSON is an error, as JSON is; of other
 * text that much is looked at.
 */
export function processText(body: Buffer, contentType: string, sink: BodySink, limits: BodyLimits): BodyOutcome {
  const isLong = body.length > limits.noFilesBytesMax;
  const json = jsonIn(body);
  if (isLong && json !== null)
    return { error: 'Request body excluding files is bigger than the maximum expected.', truncated: true };
  // A document that is no JSON after all is no error here: nobody said that it was.
  if (json !== null) processJson(json, contentType, sink, limits);
  const part = isLong ? body.subarray(0, limits.noFilesBytesMax) : body;
  if (!isText(part)) return fine;
  const outcome = processGraphql(part, contentType, sink, limits, 'body');
  return isLong ? { ...outcome, truncated: true } : outcome;
}
