// Text that no column of the database takes: NUL (PostgreSQL), and halves of surrogate pairs (they have no UTF-8).
// It is refused at the door with its place, so that no route has to think of it. What data-plane nodes send is
// attackers' bytes, and is cleaned instead (events/rows.ts).
import type { FastifyRequest } from 'fastify';
import { ApiError } from './problem.js';
import { escapePointer } from './json-pointer.js';

const unstorable = /[\0\ud800-\udfff]/u; // with the u flag a pair is one character, so only halves match

export const isStorable = (text: string): boolean => !unstorable.test(text);

/**
 * JSON pointer to the first such text, in values or names of members; null when there is none. Recurses: the depth of
 * bodies is limited.
 */
function findUnstorable(value: unknown, path = ''): string | null {
  if (typeof value === 'string') return isStorable(value) ? null : path;
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, inner] of Object.entries(value)) {
    const found = isStorable(name) ? findUnstorable(inner, `${path}/${escapePointer(name)}`) : path;
    if (found !== null) return found;
  }
  return null;
}

function refuse(part: string, path: string): ApiError {
  return new ApiError('validation_failed', `The ${part} has a NUL or half of a character at ${path || '/'}.`, {
    errors: [{ path, reason: 'has a NUL or half of a surrogate pair, which is no text' }],
  });
}

/** Path parameters and query of a request. */
export async function checkStorable(request: FastifyRequest): Promise<void> {
  for (const [part, value] of [
    ['params', request.params],
    ['querystring', request.query],
  ] as const) {
    const path = findUnstorable(value);
    if (path !== null) throw refuse(part, path);
  }
}

/**
 * A parsed body; `text` is what it was parsed from. In JSON both are written as escapes, so nearly every body is spared
 * the walk.
 */
export function refusalOfBody(text: string, body: unknown): ApiError | null {
  if (!text.includes('\\u') || !/\\u(?:0000|d[89a-f])/i.test(text)) return null;
  const path = findUnstorable(body);
  return path === null ? null : refuse('body', path);
}
