// JSON under another type, or under none: curl sends `-d '{…}'` as a form, pages send it as text/plain to do without a
// preflight, and an application that reads JSON often does so whatever the type says.
import { createBodySink } from './empty-sink.js';
import type { BodyLimits, BodyOutcome, BodySink } from './body.js';
import { processJson } from './json.js';

/** Texts within texts within texts are read so far. */
const nestedMax = 3;
/** All documents, one behind the other, are read. */
const sequence = 'application/x-ndjson';

const isJsonSpace = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);

/** Where an object or an array begins behind a byte order mark and white space; -1 = the body begins otherwise. */
export function jsonStart(body: Buffer): number {
  let at = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  while (at < body.length && isJsonSpace(body[at] as number)) at += 1;
  return body[at] === 0x7b || body[at] === 0x5b ? at : -1;
}

function read(body: Buffer, name: string, into: BodySink, limits: BodyLimits, depth: number): BodyOutcome {
  const found = createBodySink();
  const argumentsMax = Math.max(0, limits.argumentsMax - into.argsPost.size);
  const outcome = processJson(body, sequence, found, { ...limits, argumentsMax });
  if (depth > 0 && outcome.error !== null) return outcome;
  const { names, values } = found.argsPost;
  for (const [index, value] of values.entries()) {
    const full = `${name}${(names[index] as string).slice('json'.length)}`;
    const bytes = depth < nestedMax && /^[{[]/.test(value) ? Buffer.from(value, 'latin1') : null;
    // Whoever sends JSON as text within JSON reads it as such: its values are shown, and not its syntax.
    if (bytes === null || read(bytes, full, into, limits, depth + 1).error !== null) into.argsPost.add(full, value);
  }
  return outcome;
}

/**
 * What can be read of a body that begins like JSON → argsPost, named as `processJson` names it. That it is no JSON
 * after all is no error, for nobody said that it was; what is beyond a limit is (`truncated`, with the error).
 */
export function processJsonBesides(body: Buffer, start: number, sink: BodySink, limits: BodyLimits): BodyOutcome {
  const outcome = read(body.subarray(start), 'json', sink, limits, 0);
  return outcome.truncated ? outcome : { error: null, truncated: false };
}
