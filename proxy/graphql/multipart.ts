// GraphQL in parts of a form: uploads of files send the operations as JSON in the part `operations` (the GraphQL
// multipart request specification), others send `query`, `variables` and `operationName` as parts. What is found can be
// written anew; the files stay byte by byte.
import { documentsInJson, type Sent, type SentDocument } from './transports.js';

const partsMax = 200;
const headBytesMax = 4096;
const preambleMax = 65_536;

interface Part {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** The boundary parameter of a media type (RFC 2046 section 5.1.1); null: it has none. */
function boundaryOf(type: string): string | null {
  const found = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(type);
  return found?.[1] ?? found?.[2] ?? null;
}

/** Parts without a file name. `type` may be in lower case: the boundary is looked for as the body has it. */
function partsOf(latin1: string, type: string): Part[] {
  const boundary = boundaryOf(type);
  if (boundary === null) return [];
  const start = latin1.slice(0, preambleMax).toLowerCase().indexOf(`--${boundary.toLowerCase()}`);
  if (start === -1) return [];
  const line = latin1.slice(start, start + 2 + boundary.length);
  const parts: Part[] = [];
  for (let at = start, count = 0; at !== -1 && count < partsMax; count += 1) {
    const head = at + line.length;
    if (latin1.startsWith('--', head)) break;
    const next = latin1.indexOf(`\n${line}`, head);
    const end = headEnd(latin1, head, next === -1 ? latin1.length : next);
    if (end !== null) {
      const name = nameOf(latin1.slice(head, end.head));
      const to = next === -1 ? latin1.length : latin1[next - 1] === '\r' ? next - 1 : next;
      if (name !== null && to >= end.body) parts.push({ name, from: end.body, to });
    }
    at = next === -1 ? -1 : next + 1;
  }
  return parts;
}

/** Lines end with CRLF, or with LF where a sender is lax and readers are. */
function headEnd(latin1: string, from: number, most: number): { readonly head: number; readonly body: number } | null {
  const text = latin1.slice(from, Math.min(most, from + headBytesMax));
  const crlf = text.indexOf('\r\n\r\n');
  const lf = text.indexOf('\n\n');
  const isCrlf = crlf !== -1 && (lf === -1 || crlf < lf);
  const head = isCrlf ? crlf : lf;
  return head === -1 ? null : { head: from + head, body: from + head + (isCrlf ? 4 : 2) };
}

function nameOf(head: string): string | null {
  const line = /^content-disposition\s*:(.*)$/im.exec(head)?.[1] ?? '';
  if (/;\s*filename\*?\s*=/i.test(line)) return null;
  const found = /;\s*name\s*=\s*(?:"([^"]*)"|([^\s;]+))/i.exec(line);
  return found?.[1] ?? found?.[2] ?? null;
}

const textOf = (latin1: string, { from, to }: Part): string =>
  Buffer.from(latin1.slice(from, to), 'latin1').toString('utf8');

/** `type`: the media type with its parameters. null: no part holds a document. */
export function documentsInParts(latin1: string, type: string): Sent | null {
  const parts = partsOf(latin1, type);
  const operations = parts.filter(({ name }) => name === 'operations');
  const [first] = operations;
  if (first !== undefined) {
    const sent = documentsInJson(latin1.slice(first.from, first.to));
    if (sent === null) return null;
    const documents = sent.documents.map(({ place, ...one }) => ({
      ...one,
      place:
        place === null || operations.length > 1 ? null : { from: place.from + first.from, to: place.to + first.from },
    }));
    return { ...sent, documents };
  }
  const queries = parts.filter(({ name }) => name === 'query');
  if (queries.length === 0) return null;
  const operation = parts.find(({ name }) => name === 'operationName');
  const variables = parts.find(({ name }) => name === 'variables');
  const documents = queries.map(
    (part): SentDocument => ({
      text: textOf(latin1, part),
      operationName: operation === undefined ? null : textOf(latin1, operation),
      variables: variables === undefined ? {} : variablesOf(textOf(latin1, variables)),
      place: queries.length === 1 ? { from: part.from, to: part.to } : null,
    }),
  );
  return { documents, batch: 1, write: (text) => Buffer.from(text, 'utf8').toString('latin1'), between: '\n' };
}

function variablesOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {};
  } catch {
    return {};
  }
}
