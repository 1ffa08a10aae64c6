// Where GraphQL documents stand in a request: in a JSON object or a list of them, in a query or a form, as the whole
// body (the GraphQL over HTTP draft, and what servers took before it), and in messages over WebSocket. What is found
// can be written anew with other texts in the documents' places; everything around them stays byte by byte.
import { membersAt, objectsOf, textAt, type MemberPlace } from './json-members.js';

export interface SentDocument {
  readonly text: string;
  readonly operationName: string | null;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Of the value, in the latin1 text; null: it is not replaced (another one of the same name, or a message). */
  readonly place: { readonly from: number; readonly to: number } | null;
}

export interface Sent {
  readonly documents: readonly SentDocument[];
  /** Of a list: how many operations are asked for at once. */
  readonly batch: number;
  /** How a text is written in such a place. */
  readonly write: (text: string) => string;
  /** What stands between two texts, where one place needs several: the member or the pair begins anew. */
  readonly between: string;
}

const asMap = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

const bytesOf = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** `latin1`: a body. null: it is no JSON, or holds no document. */
export function documentsInJson(latin1: string): Sent | null {
  try {
    JSON.parse(
      Buffer.from(latin1, 'latin1')
        .toString('utf8')
        .replace(/^\ufeff/, ''),
    );
  } catch {
    return null;
  }
  const found = objectsOf(latin1);
  if (found === null) return null;
  const documents = found.objects.flatMap((members) => [
    ...documentsOfObject(latin1, members),
    ...payloadsOf(latin1, members)
      .flatMap((inner) => documentsOfObject(latin1, inner))
      .map(unreplaced),
  ]);
  if (documents.length === 0) return null;
  const write = (text: string): string => bytesOf(JSON.stringify(text));
  return { documents, batch: found.isList ? found.objects.length : 1, write, between: ',"query":' };
}

/** It is judged, and rules look at it as it came. */
const unreplaced = (document: SentDocument): SentDocument => ({ ...document, place: null });

/** Both protocols over WebSocket put the operation of a message into its `payload`. */
const payloadsOf = (latin1: string, members: readonly MemberPlace[]): readonly MemberPlace[][] =>
  members.flatMap(({ name, from }) => (name === 'payload' ? [membersAt(latin1, from) ?? []] : []));

function documentsOfObject(latin1: string, members: readonly MemberPlace[]): SentDocument[] {
  const valueOf = (member: MemberPlace | undefined): unknown =>
    member === undefined ? undefined : (JSON.parse(textAt(latin1, member)) as unknown);
  const queries = members.filter(({ name }) => name === 'query');
  const operation = valueOf(members.find(({ name }) => name === 'operationName'));
  return queries.flatMap((member) => {
    const text = valueOf(member);
    if (typeof text !== 'string') return [];
    return [
      {
        text,
        operationName: typeof operation === 'string' ? operation : null,
        variables: asMap(valueOf(members.find(({ name }) => name === 'variables'))),
        place: queries.length === 1 ? member : null,
      },
    ];
  });
}

/** Percent-encoded UTF-8 with + for a space; null: it is none. */
function decoded(text: string): string | null {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return null;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

function parsedMap(text: string): Readonly<Record<string, unknown>> {
  try {
    return asMap(JSON.parse(text));
  } catch {
    return {};
  }
}

/** `latin1` from `start` on is a query string or a form. null: no document is in it. */
export function documentsInPairs(latin1: string, start: number): Sent | null {
  const queries: { readonly text: string; readonly from: number; readonly to: number }[] = [];
  let operationName: string | null = null;
  let variables: Readonly<Record<string, unknown>> = {};
  for (let from = start; from < latin1.length; ) {
    const ampersand = latin1.indexOf('&', from);
    const end = ampersand === -1 ? latin1.length : ampersand;
    const equals = latin1.indexOf('=', from);
    const at = equals === -1 || equals > end ? end : equals;
    const name = decoded(latin1.slice(from, at));
    if (name === 'query' || name === 'operationName' || name === 'variables') {
      const value = decoded(latin1.slice(at + 1, end));
      if (value === null) return null;
      if (name === 'query') queries.push({ text: value, from: at + 1, to: end });
      else if (name === 'operationName') operationName = value;
      else variables = parsedMap(value);
    }
    from = end + 1;
  }
  if (queries.length === 0) return null;
  const documents = queries.map(({ text, from, to }) => ({
    ...{ text, operationName, variables },
    place: queries.length === 1 ? { from, to } : null,
  }));
  return { documents, batch: 1, write: encodeURIComponent, between: '&query=' };
}

/** `application/graphql`: the body is the document. */
export function documentAsWhole(latin1: string): Sent {
  const text = Buffer.from(latin1, 'latin1').toString('utf8');
  const place = { from: 0, to: latin1.length };
  const document: SentDocument = { text, operationName: null, variables: {}, place };
  return { documents: [document], batch: 1, write: bytesOf, between: '\n' };
}

/** Texts of one place beyond this many are written as one. */
const textsMax = 32;

/**
 * The same with `textsOf` each document in its place; null leaves a document as it is. Every text keeps the name of the
 * member or the parameter, so that rules and exclusions for it mean what they meant.
 */
export function rewritten(
  latin1: string,
  { documents, write, between }: Sent,
  textsOf: (document: SentDocument) => readonly string[] | null,
): string {
  // Each document is asked for, also one that stays as it is; the last is replaced first, so that places hold.
  const found = documents.map((document) => ({ place: document.place, texts: textsOf(document) }));
  let text = latin1;
  for (const { place, texts } of found.reverse()) {
    if (place === null || texts === null) continue;
    const few =
      texts.length <= textsMax ? texts : [...texts.slice(0, textsMax - 1), texts.slice(textsMax - 1).join('\n')];
    const value = few.length === 0 ? write('') : few.map(write).join(between);
    text = text.slice(0, place.from) + value + text.slice(place.to);
  }
  return text;
}
