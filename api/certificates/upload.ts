// A certificate that people bring: whether it can serve, and if not, why, in words.
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { ApiError } from '../http-kit/index.js';

export interface ReadCertificate {
  /** Leaf first, PEM. */
  readonly chain: string;
  /** PEM, not encrypted. */
  readonly key: string;
  readonly names: readonly string[];
  readonly issuer: string;
  readonly serial: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

class Unusable extends Error {
  constructor(
    readonly path: '/chain' | '/key',
    reason: string,
  ) {
    super(reason);
  }
}

const certificateBlocks = (text: string): string[] =>
  text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];

function readChain(text: string): X509Certificate[] {
  const blocks = certificateBlocks(text);
  if (/PRIVATE KEY-----/.test(text))
    throw new Unusable('/chain', 'holds a private key: put it into the field for the key and only certificates here');
  if (blocks.length === 0)
    throw new Unusable('/chain', 'holds no certificate: it begins with -----BEGIN CERTIFICATE----- (PEM)');
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch (error) {
      throw new Unusable('/chain', `certificate ${index + 1} cannot be read: ${(error as Error).message}`);
    }
  });
}

function readKey(text: string): KeyObject {
  if (/ENCRYPTED/.test(text))
    throw new Unusable(
      '/key',
      'is encrypted: take the passphrase off first (openssl pkey -in key.pem -out plain.pem); it is sealed here',
    );
  if (!/-----BEGIN ([A-Z]+ )?PRIVATE KEY-----/.test(text))
    throw new Unusable('/key', 'holds no private key: it begins with -----BEGIN PRIVATE KEY----- (PEM)');
  try {
    return createPrivateKey(text);
  } catch (error) {
    throw new Unusable('/key', `cannot be read: ${(error as Error).message}`);
  }
}

/** Of subjectAltName; browsers look at nothing else (RFC 6125 section 6.4.4). */
export const namesOf = (certificate: X509Certificate): string[] =>
  (certificate.subjectAltName ?? '')
    .split(', ')
    .map((part) => /^DNS:(.+)$/.exec(part)?.[1]?.toLowerCase())
    .filter((name) => name !== undefined)
    .sort();

function checkOrder(chain: readonly X509Certificate[]): void {
  const [leaf, ...others] = chain;
  if (leaf?.ca === true)
    throw new Unusable('/chain', 'begins with the certificate of an authority: the one of the host comes first');
  let below = leaf;
  for (const [index, issuer] of others.entries()) {
    // names alone are no proof: an authority that was renewed with another key has the same
    if (below?.checkIssued(issuer) !== true || !below.verify(issuer.publicKey))
      throw new Unusable(
        '/chain',
        `certificate ${index + 2} did not issue certificate ${index + 1}: ` +
          'put them in order, each behind the one it issued',
      );
    below = issuer;
  }
}

/** What a chain says of itself; throws where it has no certificate. */
export function factsOf(chain: string): Omit<ReadCertificate, 'key'> {
  const leaf = new X509Certificate(certificateBlocks(chain)[0] ?? '');
  return {
    chain,
    names: namesOf(leaf),
    issuer: /(?:^|\n)O=(.+)/.exec(leaf.issuer)?.[1] ?? /(?:^|\n)CN=(.+)/.exec(leaf.issuer)?.[1] ?? leaf.issuer,
    serial: leaf.serialNumber,
    notBefore: new Date(leaf.validFrom),
    notAfter: new Date(leaf.validTo),
  };
}

function read(chainText: string, keyText: string, now: Date): ReadCertificate {
  const chain = readChain(chainText);
  const key = readKey(keyText);
  const leaf = chain[0] as X509Certificate;
  checkOrder(chain);
  if (!leaf.checkPrivateKey(key))
    throw new Unusable('/key', 'does not belong to the first certificate: upload the key with which it was ordered');
  const text = `${certificateBlocks(chainText).join('\n')}\n`;
  const facts = factsOf(text);
  if (facts.names.length === 0)
    throw new Unusable('/chain', 'names no host in subjectAltName, so no browser would take it: order it with one');
  if (facts.notAfter <= now) throw new Unusable('/chain', `ended on ${facts.notAfter.toISOString()}: order a new one`);
  if (facts.notBefore.getTime() > now.getTime() + 86_400_000)
    throw new Unusable('/chain', `begins only on ${facts.notBefore.toISOString()}: upload it then`);
  const keyPem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
  try {
    createSecureContext({ cert: text, key: keyPem, minVersion: 'TLSv1.2' });
  } catch (error) {
    throw new Unusable('/chain', `is not taken by OpenSSL: ${(error as Error).message}`);
  }
  return { ...facts, key: keyPem };
}

/** Throws ApiError that says which of the two is wrong and how to fix it. */
export function readUpload(chain: string, key: string, now: Date): ReadCertificate {
  try {
    return read(chain, key, now);
  } catch (error) {
    if (!(error instanceof Unusable)) throw error;
    const what = error.path === '/chain' ? 'The chain of certificates' : 'The private key';
    throw new ApiError('validation_failed', `${what} ${error.message}.`, {
      errors: [{ path: error.path, reason: error.message }],
    });
  }
}
