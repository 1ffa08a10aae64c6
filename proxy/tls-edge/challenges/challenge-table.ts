// Open challenges of certificate authorities, as the control plane sends them (`PUT :2019/challenges`): the whole table
// each time. A node that has them answers for any host, since the authority may ask any of the nodes.
import { createSecureContext, type SecureContext } from 'node:tls';

/** http-01: what stands at `/.well-known/acme-challenge/TOKEN`. */
export interface HttpChallenge {
  readonly token: string;
  readonly text: string;
}

/** tls-alpn-01 (RFC 8737): the certificate that proves it, PEM. */
export interface AlpnChallenge {
  readonly name: string;
  readonly chain: string;
  readonly key: string;
}

export interface ChallengeTable {
  readonly http: readonly HttpChallenge[];
  readonly alpn: readonly AlpnChallenge[];
}

/** Of one connection that asks for nothing but the proof (RFC 8737 section 3). */
export const challengeProtocol = 'acme-tls/1';

const challengesMax = 10_000;

const isText = (value: unknown, pattern: RegExp, lengthMax: number): value is string =>
  typeof value === 'string' && value.length <= lengthMax && pattern.test(value);

const isHttp = (value: unknown): value is HttpChallenge => {
  const { token, text } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return isText(token, /^[\w-]{1,512}$/, 512) && isText(text, /^[\w.-]+$/, 2048);
};

const isAlpn = (value: unknown): value is AlpnChallenge => {
  const { name, chain, key } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return isText(name, /^[a-z0-9.-]+$/, 253) && isText(chain, /CERTIFICATE/, 65_536) && isText(key, /KEY/, 65_536);
};

/** Throws RangeError for what is no table of challenges; certificates in it can be used. */
export function readChallenges(value: unknown): ChallengeTable {
  const { http, alpn } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(http) || !Array.isArray(alpn) || !http.every(isHttp) || !alpn.every(isAlpn))
    throw new RangeError(
      'send {"http": [{"token": …, "text": its key authorization}], ' +
        '"alpn": [{"name": host, "chain": PEM, "key": PEM}]}',
    );
  if (http.length + alpn.length > challengesMax) throw new RangeError(`at most ${challengesMax} challenges`);
  for (const one of alpn) contextOf(one);
  return {
    http: http.map(({ token, text }) => ({ token, text })),
    alpn: alpn.map(({ name, chain, key }) => ({ name, chain, key })),
  };
}

function contextOf({ name, chain, key }: AlpnChallenge): SecureContext {
  try {
    return createSecureContext({ cert: chain, key, minVersion: 'TLSv1.2' });
  } catch (error) {
    throw new RangeError(`the certificate of the challenge for ${name} cannot be used: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** By name, ready for handshakes. */
export const challengeContexts = ({ alpn }: ChallengeTable): ReadonlyMap<string, SecureContext> =>
  new Map(alpn.map((one) => [one.name, contextOf(one)]));
