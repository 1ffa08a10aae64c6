// The certificate of a node that was given none: made once and kept, so that who has accepted it is not asked again.
import { X509Certificate } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { isIP } from 'node:net';
import { writeAtomically } from '../../main/atomic-file.js';
import type { CertificateEntry } from './certificate-set.js';
import { namesOf } from './certificate-files.js';

const dayMs = 86_400_000;
/** Browsers refuse certificates that are valid for longer. */
const validDays = 397;
/** Made anew when it ends within this time. */
const renewDays = 30;

/** Names in it; `hosts` are those of sites. */
function wantedNames(hosts: readonly string[]): string[] {
  const own = ['localhost', '127.0.0.1', '::1', hostname().toLowerCase()];
  return [...new Set([...own, ...hosts])].filter(
    (name) => isIP(name) !== 0 || /^[a-z0-9*][a-z0-9.-]{0,252}$/.test(name),
  );
}

async function make(names: readonly string[], nowMs: number): Promise<string> {
  const altNames = names.map((name) =>
    isIP(name) === 0 ? ({ type: 2, value: name } as const) : ({ type: 7, ip: name } as const),
  );
  const { default: maker } = await import('selfsigned'); // 0.7 MB of source, once a year
  const made = await maker.generate([{ name: 'commonName', value: 'self-signed' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date(nowMs - dayMs), // clocks differ
    notAfterDate: new Date(nowMs + validDays * dayMs),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames },
    ],
  });
  return `${made.cert.trim()}\n${made.private.trim()}\n`;
}

function parse(text: string): CertificateEntry | null {
  const chain = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/.exec(text)?.[0];
  const key = /-----BEGIN PRIVATE KEY-----[\s\S]+?-----END PRIVATE KEY-----/.exec(text)?.[0];
  if (chain === undefined || key === undefined) return null;
  const certificate = new X509Certificate(chain);
  const notAfterMs = Date.parse(certificate.validTo);
  return { source: 'self-signed', chain: `${chain}\n`, key: `${key}\n`, names: namesOf(certificate), notAfterMs };
}

/** The one in `path` while it is good and has these names; else a new one, which is written there. */
export async function selfSigned(path: string, hosts: readonly string[], nowMs: number): Promise<CertificateEntry> {
  const names = wantedNames(hosts);
  const kept = await readFile(path, 'latin1').then(parse, () => null);
  const isGood =
    kept !== null &&
    kept.notAfterMs > nowMs + renewDays * dayMs &&
    names.every((name) => isIP(name) === 6 || kept.names.includes(name));
  if (isGood) return kept;
  const made = parse(await make(names, nowMs));
  if (made === null) throw new Error('the certificate that was made cannot be read');
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeAtomically(path, made.chain + made.key);
  return made;
}
