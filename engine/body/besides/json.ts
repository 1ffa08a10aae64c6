// JSON under another type, or under none: curl sends `-d '{…}'` as a form, pages send it as text/plain to do without a
// preflight, and an application that reads JSON often does so whatever the type says.
import { createBodySink } from '../empty-sink.js';
import type { Collection } from '../../transaction/collection.js';
import type { BodyLimits, BodyOutcome, BodySink } from '../body.js';
import { processJson, trailingGarbage } from '../json.js';
import { repeatedBytesMax } from '../repeated.js';
import { asTolerantText, isTextLike } from './text-like.js';

/** Texts within texts within texts are read so far. */
const nestedMax = 3;
/** All documents, one behind the other, are read. */
const sequence = 'application/x-ndjson';

/** What members of a body are part of: their names are shown like those of members of values (`shownNames`). */
const documentName = 'json';

const isJsonSpace = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);

/** Where an object or an array begins behind a byte order mark and white space; -1 = the body begins otherwise. */
export function jsonStart(body: Buffer): number {
  let at = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  while (at < body.length && isJsonSpace(body[at] as number)) at += 1;
  return body[at] === 0x7b || body[at] === 0x5b ? at : -1;
}

/** How much all values of a request together may still add. */
interface Room {
  members: number;
  nameBytes: number;
}

/** `room` is that of the outermost text: names of members begin with the names of all texts around them. */
function read(
  body: Buffer,
  name: string,
  { into, limits, room }: { into: BodySink; limits: BodyLimits; room: Pick<Room, 'nameBytes'> },
  depth: number,
): BodyOutcome {
  const found = createBodySink();
  const argumentsMax = Math.max(0, limits.argumentsMax - into.argsPost.size);
  const outcome = processJson(body, sequence, found, { ...limits, argumentsMax });
  if (depth > 0 && outcome.error !== null && !outcome.truncated) return outcome;
  const { names, values } = found.argsPost;
  for (const [index, value] of values.entries()) {
    const full = `${name}${(names[index] as string).slice('json'.length)}`;
    const bytes = depth < nestedMax && /^[{[]/.test(value) ? Buffer.from(value, 'latin1') : null;
    // Whoever sends JSON as text within JSON reads it as such: its values are shown, and not its syntax.
    if (bytes !== null && read(bytes, full, { into, limits, room }, depth + 1).error === null) continue;
    room.nameBytes -= full.length;
    if (room.nameBytes < 0) return { error: 'names too long in total', truncated: true };
    into.argsPost.addPart(full, value, documentName);
  }
  return outcome;
}

/** The bytes where they are text; of others what tolerant applications read, where it begins with a whole document. */
function textOrDocument(bytes: Buffer, limits: BodyLimits): Buffer | null {
  if (isTextLike(bytes)) return bytes;
  const tolerant = asTolerantText(bytes);
  const { error, truncated } = processJson(tolerant, '', createBodySink(), limits);
  return error === null || truncated || error.includes(trailingGarbage) ? tolerant : null;
}

/**
 * What can be read of a body that begins like JSON → argsPost, named as `processJson` names it. That it is no JSON
 * after all is no error, for no header declared it; what is beyond a limit is (`truncated`, with the error). Text is
 * read as far as it goes, other bytes (protobuf begins with a line feed and a `{`) only where a whole document begins
 * them.
 */
export function processJsonBesides(body: Buffer, start: number, sink: BodySink, limits: BodyLimits): BodyOutcome {
  const json = textOrDocument(body.subarray(start), limits);
  if (json === null) return { error: null, truncated: false };
  const room = { nameBytes: repeatedBytesMax(json.length) };
  const outcome = read(json, documentName, { into: sink, limits, room }, 0);
  return outcome.truncated ? outcome : { error: null, truncated: false };
}

/** `{` or `[` behind white space. */
function beginsLikeJson(value: string): boolean {
  let at = 0;
  while (at < value.length && value.charCodeAt(at) <= 0x20) at += 1;
  const code = value.charCodeAt(at);
  return code === 0x7b || code === 0x5b;
}

/** Asked of every request: whether `addMembersOfJson` could add anything. */
export function mayHoldJson({ values }: Collection): boolean {
  for (const value of values) if (beginsLikeJson(value)) return true;
  return false;
}

/** Characters of a name that the names of members repeat. */
const shownNameMax = 256;

/**
 * JSON as a value (`filter={"name":"x"}`, a part of a form, a string in JSON): its members are added behind the values
 * that are there, named `filter.name`. The value itself stays. What cannot be read as JSON adds nothing; of what can be
 * read at most half of the arguments that the limit leaves is added, so that nobody is refused for what a value holds.
 */
export function addMembersOfJson(values: Collection, limits: BodyLimits): void {
  const { size } = values;
  const room = roomFor(Math.floor((limits.argumentsMax - size) / 2));
  for (let index = 0; index < size && room.members > 0; index += 1) {
    const value = values.values[index] as string;
    if (!beginsLikeJson(value)) continue;
    const name = values.names[index] as string;
    const add = (member: string, text: string): void => values.addPart(member, text, name);
    addMembers(Buffer.from(value, 'latin1'), name, add, limits, room);
  }
}

const roomFor = (members: number): Room => ({ members, nameBytes: repeatedBytesMax(0) });

/** Calls `add` for each member, as far as there is room; for none where the bytes are no JSON. */
function addMembers(
  json: Buffer,
  name: string,
  add: (member: string, value: string) => void,
  limits: BodyLimits,
  room: Room,
): void {
  const found = createBodySink();
  const bounds = { ...limits, argumentsMax: room.members, nameBytesMax: Math.max(0, room.nameBytes) };
  const outcome = read(json, name.slice(0, shownNameMax), { into: found, limits: bounds, room }, 1);
  if (outcome.error !== null && !outcome.truncated) return;
  const { names, values } = found.argsPost;
  for (const [at, member] of names.entries()) add(member, values[at] as string);
  room.members -= names.length;
}

/**
 * JSON as a text of XML (`<filter>{"name":"x"}</filter>`): its values are added behind the texts that are there, which
 * stay. What cannot be read as JSON adds nothing.
 */
export function addTextsOfJson(texts: string[], limits: BodyLimits): void {
  const { length } = texts;
  const room = roomFor(Math.floor(limits.argumentsMax / 2));
  for (let index = 0; index < length && room.members > 0; index += 1) {
    const text = texts[index] as string;
    if (!beginsLikeJson(text)) continue;
    addMembers(Buffer.from(text, 'latin1'), '', (_member, value) => texts.push(value), limits, room);
  }
}

/** The same of a file `name` that its sender calls JSON. */
export function addMembersOfFile(json: Buffer, name: string, into: Collection, limits: BodyLimits): void {
  const add = (member: string, value: string): void => into.addPart(member, value, name);
  addMembers(json, name, add, limits, roomFor(Math.floor((limits.argumentsMax - into.size) / 2)));
}
