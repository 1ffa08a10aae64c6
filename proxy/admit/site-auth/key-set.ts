// Public keys of a site's tokens, as JSON Web Keys (RFC 7517), made ready for verifying. The control plane fetches the
// set (api/edge/site-keys.ts) and gives it to nodes; nothing here asks a network.
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';

/** What is read of a key; private members are never kept. */
const publicMembers = ['kty', 'crv', 'x', 'y', 'n', 'e'] as const;
const keysMax = 100;
const rsaBitsMin = 2048;

/** A key set on its way to the workers. */
export interface KeySetMessage {
  readonly url: string;
  /** Wall clock. */
  readonly fetchedAtMs: number;
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

export type TokenAlgorithm = 'HS256' | 'RS256' | 'RS384' | 'RS512' | 'PS256' | 'ES256' | 'ES384' | 'EdDSA';

export interface SiteKey {
  /** '' = it has none. */
  readonly kid: string;
  readonly key: KeyObject;
  /** The only algorithms that a key of this type may be used with. */
  readonly algorithms: readonly TokenAlgorithm[];
}

export interface KeySet {
  readonly url: string;
  readonly fetchedAtMs: number;
  readonly keys: readonly SiteKey[];
}

function algorithmsOf(key: KeyObject): readonly TokenAlgorithm[] {
  const { namedCurve, modulusLength } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'rsa' && (modulusLength ?? 0) >= rsaBitsMin)
    return ['RS256', 'RS384', 'RS512', 'PS256'];
  if (key.asymmetricKeyType === 'ec' && namedCurve === 'prime256v1') return ['ES256'];
  if (key.asymmetricKeyType === 'ec' && namedCurve === 'secp384r1') return ['ES384'];
  return key.asymmetricKeyType === 'ed25519' ? ['EdDSA'] : [];
}

/** null: not a public key that tokens are verified with (symmetric, for encryption, too short, of another curve). */
function readKey(jwk: Readonly<Record<string, unknown>>): SiteKey | null {
  const { kid, use, key_ops: operations, alg } = jwk;
  if (use !== undefined && use !== 'sig') return null;
  if (Array.isArray(operations) && !operations.includes('verify')) return null;
  const members = Object.fromEntries(publicMembers.flatMap((name) => (name in jwk ? [[name, jwk[name]]] : [])));
  try {
    const key = createPublicKey({ key: members as JsonWebKey, format: 'jwk' });
    const algorithms = algorithmsOf(key).filter((algorithm) => alg === undefined || alg === algorithm);
    return algorithms.length === 0 ? null : { kid: typeof kid === 'string' ? kid : '', key, algorithms };
  } catch {
    return null; // one bad key must not take the good ones beside it away
  }
}

/** Keys that cannot be used are left out; a set without any is a set that verifies nothing. */
export function readKeySet({ url, fetchedAtMs, keys }: KeySetMessage): KeySet {
  return { url, fetchedAtMs, keys: keys.slice(0, keysMax).flatMap((jwk) => readKey(jwk) ?? []) };
}
