// Certificates from a folder, whatever its files are called: chains and keys are matched by what they hold. So a folder
// of pairs (`shop.crt`, `shop.key`), of single files with both, and of folders as ACME clients keep them
// (`shop/fullchain.pem`, `shop/privkey.pem`) all do.
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { tryCertificate, type CertificateEntry } from './certificate-set.js';

/** Of certificates and keys; nothing else is opened. */
const endings = ['.pem', '.crt', '.cer', '.key'];
const fileBytesMax = 1024 * 1024;
const filesMax = 10_000;

export interface FoundFile {
  readonly path: string;
  /** Changes with the file. */
  readonly mark: string;
}

export interface CertificateProblem {
  readonly source: string;
  readonly message: string;
}

export interface ReadCertificates {
  /** Those for the same name: the one that ends last comes first. */
  readonly entries: readonly CertificateEntry[];
  readonly problems: readonly CertificateProblem[];
}

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Files of the folder and of those in it, in the order of their paths. A folder that is not there is empty. */
export async function findFiles(folder: string, skipped: ReadonlySet<string> = new Set()): Promise<FoundFile[]> {
  const found: FoundFile[] = [];
  const look = async (directory: string, depth: number): Promise<void> => {
    const names = await readdir(directory).catch((error: unknown): string[] => {
      if (isMissing(error)) return [];
      throw error;
    });
    for (const name of names.sort()) {
      const path = join(directory, name);
      // By way of links, which is how ACME clients and Kubernetes place what is current; a dead link is no file.
      const facts = await stat(path).catch(() => null);
      if (facts === null || skipped.has(path) || name.startsWith('.')) continue;
      if (facts.isDirectory() && depth > 0) await look(path, depth - 1);
      else if (facts.isFile() && endings.some((ending) => name.endsWith(ending)) && found.length < filesMax)
        found.push({ path, mark: `${path} ${facts.mtimeMs} ${facts.size} ${facts.ino}` });
    }
  };
  await look(folder, 1);
  return found;
}

const blocks = (text: string, label: string): string[] =>
  text.match(new RegExp(`-----BEGIN ${label}-----[\\s\\S]+?-----END ${label}-----`, 'g')) ?? [];

const keyLabel = '(?:[A-Z]+ )?PRIVATE KEY';

/** Names that a client may ask for: DNS names and addresses, else the common name. */
export function namesOf(certificate: X509Certificate): string[] {
  const alternatives = (certificate.subjectAltName ?? '')
    .split(', ')
    .map((part) => /^(?:DNS|IP Address):(.+)$/.exec(part)?.[1]?.toLowerCase())
    .filter((name) => name !== undefined);
  const common = /(?:^|\n)CN=(.+)/.exec(certificate.subject)?.[1]?.toLowerCase();
  return alternatives.length > 0 || common === undefined ? alternatives : [common];
}

interface Key {
  readonly object: KeyObject;
  readonly pem: string;
}

interface Texts {
  readonly path: string;
  readonly text: string;
}

/** Reads all of them anew. Never throws for what is in a file. */
export async function readCertificates(folder: string, files: readonly FoundFile[]): Promise<ReadCertificates> {
  const problems: CertificateProblem[] = [];
  const shown = (path: string): string => relative(folder, path) || basename(path);
  const texts: Texts[] = [];
  for (const { path } of files) {
    try {
      if ((await stat(path)).size > fileBytesMax) throw new Error(`is larger than ${fileBytesMax} bytes`);
      texts.push({ path, text: await readFile(path, 'latin1') });
    } catch (error) {
      problems.push({ source: shown(path), message: `cannot be read: ${(error as Error).message}` });
    }
  }
  const keys: Key[] = [];
  for (const { path, text } of texts)
    for (const pem of blocks(text, keyLabel)) {
      try {
        keys.push({ object: createPrivateKey(pem), pem });
      } catch (error) {
        const message = `has a key that cannot be used (is it encrypted?): ${(error as Error).message}`;
        problems.push({ source: shown(path), message });
      }
    }
  const entries: CertificateEntry[] = [];
  for (const { path, text } of texts) {
    const chain = blocks(text, 'CERTIFICATE');
    if (chain.length === 0) {
      if (text.trim() === '' || text.includes('-----BEGIN CERTIFICATE'))
        problems.push({ source: shown(path), message: 'is empty, or ends within a certificate' });
      continue;
    }
    try {
      const entry = entryOf(shown(path), chain, keys);
      if (entry !== null) entries.push(entry);
      else if (!isIssuer(chain[0] as string))
        problems.push({ source: shown(path), message: 'has no private key beside it that belongs to it' });
    } catch (error) {
      problems.push({ source: shown(path), message: `cannot be used: ${(error as Error).message}` });
    }
  }
  entries.sort((one, other) => other.notAfterMs - one.notAfterMs || (one.source < other.source ? -1 : 1));
  return { entries, problems };
}

/** A file with certificates of authorities only is no mistake: ACME clients write `chain.pem`. */
const isIssuer = (pem: string): boolean => new X509Certificate(pem).ca;

/** null: its key is not there. Throws where OpenSSL does not take it. */
function entryOf(source: string, chain: readonly string[], keys: readonly Key[]): CertificateEntry | null {
  const certificate = new X509Certificate(chain[0] as string);
  const key = keys.find(({ object }) => certificate.checkPrivateKey(object));
  if (key === undefined) return null;
  const names = namesOf(certificate);
  if (names.length === 0) throw new Error('it names no host');
  const text = `${chain.join('\n')}\n`;
  tryCertificate(text, key.pem);
  return { source, chain: text, key: key.pem, names, notAfterMs: Date.parse(certificate.validTo) };
}
