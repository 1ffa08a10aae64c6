// Enrolment by a shared secret (NODES_JOIN_SECRET), for machines that are made by a program: no token has to be copied,
// and the secret itself never travels. The node learns the CA from the handshake, and believes it after the control
// plane has proved that it knows the secret and means this CA: an HMAC (RFC 2104) over a nonce of the node and the hash
// of the CA. Who stands between them cannot use that proof for a CA of its own. From then on it is a token like others.
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** The id of the token that stands for the secret. */
export const sharedTokenId = 'shared-secret';
export const nonceBytes = 32;

const derived = (secret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `gatehouse join ${purpose}`, 32));

/** What stands between the id and the hash in the token of the secret. */
export const sharedTokenSecret = (secret: string): string => derived(secret, 'token').toString('base64url');

/** The token (`gh1.ID.SECRET.HASH`) for the CA with this hash. */
export const sharedToken = (secret: string, caSha256: string): string =>
  `gh1.${sharedTokenId}.${sharedTokenSecret(secret)}.${caSha256}`;

/** Proves to a node that who answers knows the secret, and that this CA is the one. All texts are base64url. */
export const authorityProof = (secret: string, nonce: string, caSha256: string): string =>
  createHmac('sha256', derived(secret, 'proof')).update(`${nonce}.${caSha256}`).digest('base64url');

export function isAuthorityProof(given: unknown, secret: string, nonce: string, caSha256: string): boolean {
  if (typeof given !== 'string') return false;
  const [one, other] = [Buffer.from(given), Buffer.from(authorityProof(secret, nonce, caSha256))];
  return one.length === other.length && timingSafeEqual(one, other);
}
