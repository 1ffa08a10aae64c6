// Identities of findings are made of whole texts, secrets included: the same leak stays the same finding. They are
// stored under a key of the installation (HMAC-SHA256), so that nobody who reads the tables can try secrets against
// them. The key is random and stored sealed. Another SETTINGS_ENCRYPTION_SECRET must not make every finding a new one:
// a key that does not open ends the import.
import { hash as digest, randomBytes } from 'node:crypto';
import { ApiError } from '#http-kit';
import type { Queryable } from '../database.js';
import type { Secrets } from '../host.js';
import type { Keyed } from './protect-record.js';

const place = 'vm:identity-key';
const prefix = 'k1:';

export const isKeyed = (hash: string): boolean => hash.startsWith(prefix);

const blockBytes = 64;
const digestBytes = 32;

/**
 * HMAC-SHA256 (RFC 2104) of texts of ASCII, in hexadecimal digits: two digests in one call each. An object of
 * node:crypto for each identity took four times as long, and a report has two identities for each result.
 */
export function hmacHex(key: Buffer): (text: string) => string {
  const block = Buffer.alloc(blockBytes);
  (key.length > blockBytes ? Buffer.from(digest('sha256', key, 'hex'), 'hex') : key).copy(block);
  const inner = Buffer.alloc(blockBytes + 256);
  const outer = Buffer.alloc(blockBytes + digestBytes);
  for (let i = 0; i < blockBytes; i++) {
    inner[i] = (block[i] ?? 0) ^ 0x36;
    outer[i] = (block[i] ?? 0) ^ 0x5c;
  }
  return (text) => {
    const bytes = Buffer.byteLength(text);
    const message =
      bytes <= inner.length - blockBytes
        ? (inner.write(text, blockBytes), inner.subarray(0, blockBytes + bytes))
        : Buffer.concat([inner.subarray(0, blockBytes), Buffer.from(text)]);
    outer.write(digest('sha256', message, 'hex'), blockBytes, 'hex');
    return digest('sha256', outer, 'hex');
  };
}

/** Keyed once: what is keyed already stays. */
export function keyedBy(key: Buffer): Keyed {
  const hmac = hmacHex(key);
  return (hash) => (isKeyed(hash) ? hash : `${prefix}${hmac(hash)}`);
}

/** Throws ApiError 503 where the stored key does not open. */
export async function readIdentityKey(sql: Queryable, secrets: Secrets): Promise<Keyed> {
  const read = async (): Promise<string | undefined> =>
    (await sql<{ sealed: string }[]>`select sealed from vm_identity_key`)[0]?.sealed;
  let sealed = await read();
  if (sealed === undefined) {
    const made = secrets.seal(randomBytes(32).toString('base64'), place);
    await sql`insert into vm_identity_key (sealed) values (${made}) on conflict do nothing`;
    sealed = (await read()) ?? made;
  }
  try {
    return keyedBy(Buffer.from(secrets.open(sealed, place), 'base64'));
  } catch (cause) {
    throw new ApiError(
      'not_ready',
      'The key of the identities of findings does not open: ' +
        'start with the SETTINGS_ENCRYPTION_SECRET that it was stored under.',
      { cause },
    );
  }
}
