// Verifying a signed token (JWT, RFC 7519, in the compact form of JWS, RFC 7515) within a request: synchronous, because
// a gate is. What is accepted is pinned by the settings: the algorithm is never the token's choice (RFC 8725 section
// 3.1), and a key is only used with algorithms of its own type, so that no public key serves as a shared secret.
import { constants, createHmac, timingSafeEqual, verify } from 'node:crypto';
import type { SiteKey, TokenAlgorithm } from './key-set.js';

const tokenBytesMax = 8192;
/** Keys that are tried for a token that names none. */
const candidatesMax = 4;

export interface TokenPolicy {
  readonly algorithm: TokenAlgorithm;
  /** '' = any. */
  readonly issuer: string;
  /** '' = any. */
  readonly audience: string;
  readonly skewSeconds: number;
  /** A token without `exp` is refused. */
  readonly requiresExpiry: boolean;
  /** `exp` further ahead than that is refused; 0 = any. */
  readonly lifeSecondsMax: number;
}

export type Claims = Readonly<Record<string, unknown>>;

export type TokenProblem =
  | 'malformed'
  | 'algorithm'
  | 'extension'
  | 'unknown key'
  | 'signature'
  | 'expired'
  | 'no expiry'
  | 'expiry too far ahead'
  | 'not yet valid'
  | 'issuer'
  | 'audience';

export type TokenAnswer =
  | { readonly kind: 'valid'; readonly claims: Claims }
  | { readonly kind: 'refused'; readonly problem: TokenProblem };

const refused = (problem: TokenProblem): TokenAnswer => ({ kind: 'refused', problem });

function decodeObject(part: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null; // what is no JSON is malformed
  }
}

/** Letters of base64url only: Buffer would read past anything else, and two texts would be one token. */
function isBase64Url(part: string): boolean {
  for (let at = 0; at < part.length; at += 1) {
    const code = part.charCodeAt(at);
    const isLetter = (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
    if (!isLetter && !(code >= 0x30 && code <= 0x39) && code !== 0x2d && code !== 0x5f) return false;
  }
  return part.length % 4 !== 1;
}

/** `keys`: a shared secret for HS256, a set of public keys for the others. */
export function checkToken(
  token: string,
  keys: Buffer | readonly SiteKey[],
  policy: TokenPolicy,
  nowSeconds: number,
): TokenAnswer {
  if (token.length > tokenBytesMax) return refused('malformed');
  const parts = token.split('.', 4);
  const [head = '', body = '', signature = ''] = parts;
  if (parts.length !== 3 || head === '' || !parts.every(isBase64Url)) return refused('malformed');
  const header = decodeObject(head);
  if (header === null) return refused('malformed');
  if (header['alg'] !== policy.algorithm) return refused('algorithm');
  // RFC 7515 section 4.1.11: what must be understood and is not; RFC 7797 section 6: `b64` has to be named there
  if ('crit' in header || 'b64' in header) return refused('extension');
  const signed = Buffer.from(`${head}.${body}`, 'latin1');
  const problem = checkSignature(signed, Buffer.from(signature, 'base64url'), header['kid'], keys, policy.algorithm);
  if (problem !== null) return refused(problem);
  const claims = decodeObject(body);
  return claims === null ? refused('malformed') : checkClaims(claims, policy, nowSeconds);
}

function checkSignature(
  signed: Buffer,
  signature: Buffer,
  kid: unknown,
  keys: Buffer | readonly SiteKey[],
  algorithm: TokenAlgorithm,
): TokenProblem | null {
  if (Buffer.isBuffer(keys)) {
    if (algorithm !== 'HS256') return 'algorithm';
    const expected = createHmac('sha256', keys).update(signed).digest();
    return signature.length === expected.length && timingSafeEqual(signature, expected) ? null : 'signature';
  }
  const fitting = keys.filter((key) => key.algorithms.includes(algorithm) && (kid === undefined || key.kid === kid));
  if (fitting.length === 0) return 'unknown key';
  const isSigned = fitting.slice(0, candidatesMax).some(({ key }) => {
    switch (algorithm) {
      case 'RS256':
      case 'RS384':
      case 'RS512':
        return verify(`sha${algorithm.slice(2)}`, signed, key, signature);
      case 'PS256':
        return verify('sha256', signed, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }, signature);
      case 'ES256':
      case 'ES384':
        return verify(`sha${algorithm.slice(2)}`, signed, { key, dsaEncoding: 'ieee-p1363' }, signature);
      case 'EdDSA':
        return verify(null, signed, key, signature);
      case 'HS256':
        return false; // a public key is no secret
    }
  });
  return isSigned ? null : 'signature';
}

/** Of a token that is signed; again for one that was seen before, because time goes on. */
export function checkClaims(claims: Claims, policy: TokenPolicy, nowSeconds: number): TokenAnswer {
  const { exp, nbf, iat, iss, aud } = claims;
  const { skewSeconds: skew } = policy;
  for (const moment of [exp, nbf, iat])
    if (moment !== undefined && (typeof moment !== 'number' || !Number.isFinite(moment))) return refused('malformed');
  if (exp === undefined && policy.requiresExpiry) return refused('no expiry');
  if (typeof exp === 'number' && policy.lifeSecondsMax > 0 && exp - skew > nowSeconds + policy.lifeSecondsMax)
    return refused('expiry too far ahead');
  if (typeof exp === 'number' && exp + skew <= nowSeconds) return refused('expired');
  if (typeof nbf === 'number' && nbf - skew > nowSeconds) return refused('not yet valid');
  if (typeof iat === 'number' && iat - skew > nowSeconds) return refused('not yet valid');
  if (policy.issuer !== '' && iss !== policy.issuer) return refused('issuer');
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (policy.audience !== '' && !audiences.includes(policy.audience)) return refused('audience');
  return { kind: 'valid', claims };
}
