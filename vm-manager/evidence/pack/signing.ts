// The key that packs are signed by: Ed25519 (RFC 8032), made on the first use and sealed by the server. A signature
// stands in two forms: 64 bytes for openssl, and minisign's (prehashed by BLAKE2b-512).
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
  type KeyObject,
} from 'node:crypto';
import type { Sql } from '../../database.js';
import type { Host } from '../../host.js';

export interface PublicKeyRow {
  readonly id: string;
  /** PEM. */
  readonly public_key: string;
  readonly created_at: Date;
}
export interface SigningKey {
  readonly id: string;
  readonly publicPem: string;
  readonly secret: KeyObject;
}

const placeOf = (id: string): string => `vm:evidence-key:${id}`;

/** The 32 bytes of the key stand at the end of its DER form (RFC 8410). */
const rawOf = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' }).subarray(-32);

/** The first 16 bytes of SHA-256 over the key, hexadecimal: what people compare. */
export const keyIdOf = (publicPem: string): string =>
  createHash('sha256')
    .update(rawOf(createPublicKey(publicPem)))
    .digest('hex')
    .slice(0, 32);

export const publicKeys = (sql: Sql) =>
  sql<PublicKeyRow[]>`select id, public_key, created_at from vm_evidence_keys order by created_at desc, id limit 100`;

function openKey(host: Pick<Host, 'secrets'>, row: PublicKeyRow & { readonly sealed: string }): SigningKey | null {
  try {
    const secret = createPrivateKey(host.secrets.open(row.sealed, placeOf(row.id)));
    return { id: row.id, publicPem: row.public_key, secret };
  } catch {
    // of another installation, whose backup was restored here without its key
    return null;
  }
}

/** The newest key that opens here; where there is none, one is made. */
export async function signingKey(host: Pick<Host, 'sql' | 'secrets' | 'now'>): Promise<SigningKey> {
  const rows = await host.sql<(PublicKeyRow & { sealed: string })[]>`
    select * from vm_evidence_keys order by created_at desc, id limit 100`;
  for (const row of rows) {
    const key = openKey(host, row);
    if (key !== null) return key;
  }
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const publicPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const id = keyIdOf(publicPem);
  const sealed = host.secrets.seal(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), placeOf(id));
  const row = { id, public_key: publicPem, sealed, created_at: new Date(host.now()) };
  await host.sql`insert into vm_evidence_keys ${host.sql(row)}`;
  return { id, publicPem, secret: privateKey };
}

export const signBytes = ({ secret }: SigningKey, bytes: Buffer): Buffer => sign(null, bytes, secret);

export function isSignedBy(publicPem: string, bytes: Buffer, signature: Buffer): boolean {
  return signature.length === 64 && verify(null, bytes, createPublicKey(publicPem), signature);
}

/** Eight bytes that tell minisign's keys apart. */
const minisignId = (publicPem: string): Buffer => Buffer.from(keyIdOf(publicPem), 'hex').subarray(0, 8);
const prehash = (bytes: Buffer): Buffer => createHash('blake2b512').update(bytes).digest();

export const minisignKey = (publicPem: string): string =>
  `untrusted comment: minisign public key\n${Buffer.concat([
    Buffer.from('Ed'),
    minisignId(publicPem),
    rawOf(createPublicKey(publicPem)),
  ]).toString('base64')}\n`;

/** A detached signature in minisign's form; `comment` is one line, which is signed as well. */
export function minisign(key: SigningKey, bytes: Buffer, comment: string): string {
  const signature = sign(null, prehash(bytes), key.secret);
  const whole = sign(null, Buffer.concat([signature, Buffer.from(comment)]), key.secret);
  return [
    'untrusted comment: signature of a pack of evidence',
    Buffer.concat([Buffer.from('ED'), minisignId(key.publicPem), signature]).toString('base64'),
    `trusted comment: ${comment}`,
    whole.toString('base64'),
    '',
  ].join('\n');
}
