// Commands on the host of the control plane prove that they may read the environment file, which is all that an
// operator of that host has anyway: a token derived from the session secret, for single purposes that no session has.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { ApiError } from '../http-kit/index.js';

/** 64 hexadecimal digits; the session secret cannot be derived from it. */
export const localTokenOf = (sessionSecret: string): string =>
  createHmac('sha256', sessionSecret).update('gatehouse local commands').digest('hex');

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compared as digests: equal length, no early exit. Throws `not_authenticated`. */
export function requireLocalToken(authorization: string | undefined, token: string): void {
  const given = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
  if (!timingSafeEqual(digest(given), digest(token)))
    throw new ApiError('not_authenticated', 'Only commands of `gatehouse` on this host may do this.', {
      headers: { 'www-authenticate': 'Bearer' },
    });
}
