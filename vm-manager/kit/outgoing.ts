// What every call to a system of the operator's needs: an address that may be asked, a signature, and the pause that an
// answer asks for.
import { ApiError } from '#http-kit';
import { createHmac } from 'node:crypto';
import type { WayOut } from '../host.js';
import { unfit } from './endpoint.js';

/**
 * Throws 422 at `path` for an address that may not be asked, and for one without encryption outside OUTBOUND_ALLOW. One
 * that is only away is taken.
 */
export async function checkReceiver(way: WayOut, url: string, path: string, unencrypted: string): Promise<void> {
  try {
    await way.check(url);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 'outbound_refused')
      throw unfit(
        path,
        `may not be asked: ${error.message.replace(/\.$/, '')}`,
        'OUTBOUND_ALLOW, a variable of the control plane, lists what may',
      );
  }
  if (new URL(url).protocol === 'https:') return;
  // a name that does not resolve now is not known to be allow-listed
  if (!(await way.isAllowListed(url).catch(() => false)))
    throw unfit(path, unencrypted, 'choose an encryption (https), or add the host to OUTBOUND_ALLOW');
}

const keyPrefix = 'whsec_';
const keyBytesMin = 16;

/** The key of a secret: what is base64 behind `whsec_`, else its own bytes; never one that anybody can guess. */
function keyOf(secret: string): Buffer {
  const key = secret.startsWith(keyPrefix) ? Buffer.from(secret.slice(keyPrefix.length), 'base64') : null;
  return key === null || key.length < keyBytesMin ? Buffer.from(secret, 'utf8') : key;
}

/** Whether it promises a key behind `whsec_` and has none: everybody could sign with what base64 makes of it. */
export const isHollowSecret = (secret: string): boolean =>
  secret.startsWith(keyPrefix) &&
  (!/^[\w+/-]+={0,2}$/.test(secret.slice(keyPrefix.length)) ||
    Buffer.from(secret.slice(keyPrefix.length), 'base64').length < keyBytesMin);

/** Standard Webhooks: HMAC-SHA256 over `ID.TIMESTAMP.BODY`. A secret that begins with `whsec_` is base64 behind it. */
export function signedHeaders(id: string, atMs: number, body: string, secret: string): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000));
  const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

/** Milliseconds of `Retry-After`, in seconds or as a date (RFC 9110, 10.2.3); null: none is given. */
export function retryAfterMs(given: string | undefined, nowMs: number, mostMs: number): number | null {
  if (given === undefined) return null;
  const asked = /^\d+$/.test(given) ? Number(given) * 1000 : Date.parse(given) - nowMs;
  return Number.isFinite(asked) ? Math.min(Math.max(asked, 1000), mostMs) : null;
}
