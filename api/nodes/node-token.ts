import { createHash, timingSafeEqual } from 'node:crypto';
import { ApiError } from '../http-kit/index.js';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** The token between the two planes, compared as digests: equal length, no early exit. Throws `not_authenticated`. */
export function requireNodeToken(authorization: string | undefined, token: string): void {
  const given = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
  if (token === '' || !timingSafeEqual(digest(given), digest(token)))
    throw new ApiError('not_authenticated', 'Only data-plane nodes may send this.', {
      headers: { 'www-authenticate': 'Bearer' },
    });
}
