// Signatures that anybody can check: Ed25519 in minisign's format (prehashed: BLAKE2b-512), so that minisign, signify's
// readers and openssl alone can verify them; and DSSE envelopes (in-toto) by the same key.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
  type KeyObject,
} from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ReleaseError } from './commands.js';

/** DER of an Ed25519 public key before its 32 bytes (RFC 8410). */
const publicPrefix = Buffer.from('302a300506032b6570032100', 'hex');
const keyIdBytes = 8;

export interface ReleaseKey {
  readonly secret: KeyObject;
  /** 32 bytes. */
  readonly publicBytes: Buffer;
  readonly id: Buffer;
}

function fromSecret(secret: KeyObject): ReleaseKey {
  const publicBytes = createPublicKey(secret).export({ type: 'spki', format: 'der' }).subarray(publicPrefix.length);
  // minisign draws its ids; one that follows from the key needs no file of its own
  const id = createHash('sha256').update(publicBytes).digest().subarray(0, keyIdBytes);
  return { secret, publicBytes, id };
}

export const createReleaseKey = (): ReleaseKey => fromSecret(generateKeyPairSync('ed25519').privateKey);

/** The key of a PEM file (PKCS #8), made on the first use (mode 0600). Throws ReleaseError for another kind of key. */
export function openReleaseKey(file: string): { readonly key: ReleaseKey; readonly isNew: boolean } {
  if (!existsSync(file)) {
    const key = createReleaseKey();
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, key.secret.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    chmodSync(file, 0o600);
    return { key, isNew: true };
  }
  const secret = createPrivateKey(readFileSync(file));
  if (secret.asymmetricKeyType !== 'ed25519')
    throw new ReleaseError(`${file} is no Ed25519 key; openssl genpkey -algorithm ed25519 makes one.`);
  return { key: fromSecret(secret), isNew: false };
}

const algorithm = { key: Buffer.from('Ed'), prehashed: Buffer.from('ED') } as const;

/** A public key file of minisign. */
export const minisignPublicKey = ({ id, publicBytes }: ReleaseKey): string =>
  `untrusted comment: minisign public key ${Buffer.from(id).reverse().toString('hex').toUpperCase()}\n` +
  `${Buffer.concat([algorithm.key, id, publicBytes]).toString('base64')}\n`;

export const pemPublicKey = ({ publicBytes }: ReleaseKey): string =>
  createPublicKey({ key: Buffer.concat([publicPrefix, publicBytes]), format: 'der', type: 'spki' })
    .export({ type: 'spki', format: 'pem' })
    .toString();

/** A detached signature of minisign over `bytes`; `comment` (one line) is signed as well. */
export function minisign(key: ReleaseKey, bytes: Buffer, comment: string): string {
  const signature = sign(null, createHash('blake2b512').update(bytes).digest(), key.secret);
  const whole = sign(null, Buffer.concat([signature, Buffer.from(comment)]), key.secret);
  return [
    'untrusted comment: signature of a Gatehouse release',
    Buffer.concat([algorithm.prehashed, key.id, signature]).toString('base64'),
    `trusted comment: ${comment}`,
    whole.toString('base64'),
    '',
  ].join('\n');
}

/** What DSSE signs: `DSSEv1 SP length SP type SP length SP body`. */
const preAuthentication = (type: string, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${body.length} `), body]);

export interface Envelope {
  readonly payloadType: string;
  readonly payload: string;
  readonly signatures: readonly { readonly keyid: string; readonly sig: string }[];
}

export function dsse(key: ReleaseKey, type: string, statement: unknown): Envelope {
  const body = Buffer.from(JSON.stringify(statement));
  const sig = sign(null, preAuthentication(type, body), key.secret).toString('base64');
  return { payloadType: type, payload: body.toString('base64'), signatures: [{ keyid: key.id.toString('hex'), sig }] };
}

/** The statement of an envelope whose first signature is by this key; null: it is not. */
export function openEnvelope(envelope: Envelope, publicPem: string): unknown {
  const body = Buffer.from(envelope.payload, 'base64');
  const signature = Buffer.from(envelope.signatures[0]?.sig ?? '', 'base64');
  const isGood = verify(null, preAuthentication(envelope.payloadType, body), createPublicKey(publicPem), signature);
  return isGood ? JSON.parse(body.toString()) : null;
}
