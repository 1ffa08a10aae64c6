// The control plane's own CA: the only place that signs. Its key is in the database, sealed, so that every control
// plane issues from the same CA. Node.js can check certificates and cannot make them; @peculiar/x509 does that (X.509
// v3, RFC 5280), with the keys of WebCrypto.
import { createPublicKey, randomBytes, webcrypto, X509Certificate as NodeCertificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { controlPlaneName } from '#proxy/contract';
import type { Sealing } from '../auth/sealing.js';
import type { Queryable } from '../db/client.js';

const { subtle } = webcrypto;
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const sealPlace = 'node_authority:/key';

const dayMs = 86_400_000;
const caDays = 3650;
/** Renewed by nodes after two thirds: ten days without any control plane cost nothing. */
const nodeCertificateMs = 30 * dayMs;
const serverCertificateMs = 7 * dayMs;
/** Clocks of nodes may be behind; of a short life it is a tenth. */
const earlierMs = 3_600_000;

export interface Issued {
  /** PEM. */
  readonly certificate: string;
  /** Hexadecimal, lower case. */
  readonly serial: string;
  readonly expiresAt: Date;
}

export interface Authority {
  /** PEM. */
  readonly certificate: string;
  /** SHA-256 of the certificate (DER), base64url: what tokens carry. */
  readonly fingerprint: string;
  /** For a node. Throws RangeError where the key is not an ECDSA key on P-256. */
  issueForNode(name: string, publicKeyPem: string, now: Date): Promise<Issued>;
  /** For the node port of this control plane, with a key of its own. */
  issueForServer(now: Date): Promise<Issued & { readonly key: string }>;
}

interface AuthorityRow {
  readonly certificate: string;
  readonly key_sealed: string;
}

/**
 * The CA of this installation; it is made where there is none. `nodeLifeMs`: of certificates of nodes. Throws Error
 * where its key does not open.
 */
export async function openAuthority(
  sql: Queryable,
  sealing: Sealing,
  now: Date,
  nodeLifeMs = nodeCertificateMs,
): Promise<Authority> {
  const read = (): Promise<AuthorityRow[]> => sql<AuthorityRow[]>`select certificate, key_sealed from node_authority`;
  if ((await read()).length === 0) {
    const { certificate, key } = await makeAuthority(now);
    await sql`
      insert into node_authority (id, certificate, key_sealed, created_at)
      values (1, ${certificate}, ${sealing.seal(key, sealPlace)}, ${now}) on conflict (id) do nothing`;
  }
  const [row] = await read();
  if (row === undefined) throw new Error('the CA of nodes was not stored');
  const pkcs8 = x509.PemConverter.decodeFirst(sealing.open(row.key_sealed, sealPlace));
  const signingKey = await subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign']);
  return authorityOf(row.certificate, signingKey, nodeLifeMs);
}

async function makeAuthority(now: Date): Promise<{ readonly certificate: string; readonly key: string }> {
  const keys = await subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    name: 'CN=Gatehouse nodes',
    notBefore: new Date(now.getTime() - earlierMs),
    notAfter: new Date(now.getTime() + caDays * dayMs),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const pkcs8 = await subtle.exportKey('pkcs8', keys.privateKey);
  return { certificate: certificate.toString('pem'), key: x509.PemConverter.encode(pkcs8, 'PRIVATE KEY') };
}

function authorityOf(certificate: string, signingKey: webcrypto.CryptoKey, nodeLifeMs: number): Authority {
  const ca = new x509.X509Certificate(certificate);
  const issue = async (
    publicKey: webcrypto.CryptoKey,
    now: Date,
    lifeMs: number,
    subject: x509.JsonName,
    extensions: readonly x509.Extension[],
  ): Promise<Issued> => {
    const expiresAt = new Date(now.getTime() + lifeMs);
    const made = await x509.X509CertificateGenerator.create({
      serialNumber: newSerial(),
      issuer: ca.subject,
      subject,
      notBefore: new Date(now.getTime() - Math.min(earlierMs, lifeMs / 10)),
      notAfter: expiresAt,
      signingAlgorithm: algorithm,
      publicKey,
      signingKey,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        await x509.AuthorityKeyIdentifierExtension.create(ca.publicKey),
        ...extensions,
      ],
    });
    const pem = made.toString('pem');
    return { certificate: pem, serial: new NodeCertificate(pem).serialNumber.toLowerCase(), expiresAt };
  };
  return {
    certificate,
    fingerprint: Buffer.from(new NodeCertificate(certificate).fingerprint256.replaceAll(':', ''), 'hex').toString(
      'base64url',
    ),
    async issueForNode(name, publicKeyPem, now) {
      return issue(
        await importNodeKey(publicKeyPem),
        now,
        nodeLifeMs,
        [{ CN: [name] }],
        [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])],
      );
    },
    async issueForServer(now) {
      const keys = await subtle.generateKey(algorithm, true, ['sign', 'verify']);
      const issued = await issue(
        keys.publicKey,
        now,
        serverCertificateMs,
        [{ CN: ['Gatehouse control plane'] }],
        [
          new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
          new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: controlPlaneName }]),
        ],
      );
      const pkcs8 = await subtle.exportKey('pkcs8', keys.privateKey);
      return { ...issued, key: x509.PemConverter.encode(pkcs8, 'PRIVATE KEY') };
    },
  };
}

/** Positive, 127 bits of chance (RFC 5280 section 4.1.2.2 allows 20 bytes). */
function newSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40; // no leading zero: both readers print it alike
  return bytes.toString('hex');
}

/** Through node:crypto first: what a stranger sends is parsed by OpenSSL alone. */
async function importNodeKey(pem: string): Promise<webcrypto.CryptoKey> {
  try {
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
      throw new RangeError('not P-256');
    const spki = key.export({ type: 'spki', format: 'der' });
    return await subtle.importKey('spki', new Uint8Array(spki), algorithm, true, ['verify']);
  } catch (cause) {
    throw new RangeError('public_key must be an ECDSA key on P-256, as PEM (SubjectPublicKeyInfo)', { cause });
  }
}
