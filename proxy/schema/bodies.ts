// Bodies: JSON, forms, multipart, plain text. Others (XML, pictures, archives) are held to their media type only.
import { isUtf8 } from 'node:buffer';
import { Trace, type Check } from './json/check.js';
import { parseMultipart } from './multipart.js';
import { parseQuery } from './parameters.js';
import type { JsonSchema, PlannedContent, PlannedEncoding, PlannedMedia } from './plan.js';
import { splitText, textReader, type Compile, type TextReader } from './texts.js';
import { escapeName, type Problem } from './violation.js';

export interface PreparedMedia {
  readonly given: PlannedMedia;
  /** null: anything fits. */
  readonly check: Check | null;
  /** Of a form: how each field is read. */
  readonly fields: ReadonlyMap<string, TextReader>;
  readonly text: TextReader | null;
}

export type PreparedContent = ReadonlyMap<string, PreparedMedia>;

type Definitions = Readonly<Record<string, JsonSchema>>;

export function prepareContent(
  content: PlannedContent,
  definitions: Definitions,
  compile: Compile,
  namesOf: (schema: JsonSchema) => ReadonlyMap<string, JsonSchema>,
): PreparedContent {
  return new Map(
    Object.entries(content).map(([type, given]) => {
      const { schema } = given;
      const isForm = /^(application\/x-www-form-urlencoded|multipart\/)/.test(type);
      const fields = new Map<string, TextReader>();
      if (isForm && schema !== null)
        for (const [name, inner] of namesOf(schema)) fields.set(name, textReader(inner, definitions, compile));
      const text = schema !== null && type.startsWith('text/') ? textReader(schema, definitions, compile) : null;
      return [type, { given, check: schema === null ? null : compile(schema), fields, text }];
    }),
  );
}

export const bareType = (field: string): string => (field.split(';')[0] ?? '').trim().toLowerCase();

/** The most specific entry (OpenAPI 3.1 section 4.8.14.1); null: none. */
export function mediaFor(content: PreparedContent, type: string): PreparedMedia | null {
  const [main = ''] = type.split('/');
  return content.get(type) ?? content.get(`${main}/*`) ?? content.get('*/*') ?? null;
}

const isFormType = (type: string): boolean =>
  type === 'application/x-www-form-urlencoded' || type === 'multipart/form-data';

export const isJsonType = (type: string): boolean => type === 'application/json' || type.endsWith('+json');

/**
 * Members as the text writes them: a name twice means one thing to this reader and another to the application, so what
 * is counted in the text has to be what is in the value.
 */
export function membersInText(bytes: Buffer): number {
  const { length } = bytes;
  let count = 0;
  let at = 0;
  while (at < length) {
    const byte = bytes[at];
    at += 1;
    if (byte === 0x3a) count += 1;
    else if (byte === 0x22) {
      // a loop of its own for what is inside: most of a body is
      for (; at < length && bytes[at] !== 0x22; at += 1) if (bytes[at] === 0x5c) at += 1;
      at += 1;
    }
  }
  return count;
}

function membersInValue(value: unknown): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && item !== null) count += membersInValue(item);
  } else {
    const map = value as Readonly<Record<string, unknown>>;
    for (const name in map) {
      count += 1;
      const member = map[name];
      if (typeof member === 'object' && member !== null) count += membersInValue(member);
    }
  }
  return count;
}

const bodyProblem = (keyword: string, pointer = ''): Problem => ({ pointer: `/body${pointer}`, keyword });

export const jsonBytesMax = 4 * 1024 * 1024;

function checkJson(bytes: Buffer, check: Check): Problem | null {
  if (bytes.length > jsonBytesMax) return bodyProblem('tooLarge');
  if (!isUtf8(bytes)) return bodyProblem('utf8');
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    return bodyProblem('json');
  }
  const trace = new Trace();
  if (!trace.holds(check, value)) return bodyProblem(trace.keyword, trace.pointer);
  if (typeof value === 'object' && value !== null && membersInText(bytes) !== membersInValue(value))
    return bodyProblem('duplicate');
  return null;
}

/** Fields of a form → an object, each read by its schema and encoding. */
function formValue(
  fields: ReadonlyMap<string, readonly string[]>,
  { fields: readers, given }: PreparedMedia,
): { readonly value: Record<string, unknown>; readonly twice: string | null } {
  const value: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  let twice: string | null = null;
  for (const [name, texts] of fields) {
    const reader = readers.get(name);
    const encoding: PlannedEncoding[string] | undefined = given.encoding[name];
    const [first = ''] = texts;
    if (reader === undefined) value[name] = first;
    else if (encoding?.mediaType != null && isJsonType(encoding.mediaType)) value[name] = parsedOr(first);
    else if (reader.takesList && encoding !== undefined && !encoding.explode)
      value[name] = reader.list(splitText(first, { style: encoding.style, explode: false, name }));
    else if (reader.takesList) value[name] = reader.list(texts);
    else if (reader.takesMembers) value[name] = parsedOr(first);
    else {
      value[name] = reader.single(first);
      if (texts.length > 1) twice ??= name;
    }
  }
  return { value, twice };
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function checkForm(fields: ReadonlyMap<string, readonly string[]>, media: PreparedMedia): Problem | null {
  const { value, twice } = formValue(fields, media);
  if (twice !== null) return bodyProblem('duplicate', escapeName(twice));
  const trace = new Trace();
  return media.check === null || trace.holds(media.check, value) ? null : bodyProblem(trace.keyword, trace.pointer);
}

/** `field`: the Content-Type. `bytes` are decoded and not empty; not whole: only the beginning of the body is here. */
export function checkBody(content: PreparedContent, field: string, bytes: Buffer, isWhole: boolean): Problem | null {
  const type = bareType(field);
  const media = mediaFor(content, type);
  if (media === null) return bodyProblem('mediaType');
  if (media.check === null) return null;
  if (!isWhole && (isJsonType(type) || isFormType(type))) return bodyProblem('tooLarge');
  if (isJsonType(type)) return checkJson(bytes, media.check);
  if (type === 'application/x-www-form-urlencoded') {
    const fields = parseQuery(bytes.toString('latin1'));
    return fields === null ? bodyProblem('encoding') : checkForm(fields, media);
  }
  if (type === 'multipart/form-data') {
    const fields = parseMultipart(bytes, field);
    return fields === null ? bodyProblem('multipart') : checkForm(fields, media);
  }
  if (media.text !== null) {
    const trace = new Trace();
    return trace.holds(media.check, media.text.single(bytes.toString('utf8'))) ? null : bodyProblem(trace.keyword);
  }
  return null;
}
