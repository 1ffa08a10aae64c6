// A pack: items → files with a manifest, sums and signatures, as one archive. Everything that verification asks stands
// in the archive itself; what it is compared with stands in the database and the audit log.
import { createHash } from 'node:crypto';
import { readme, verifyScript } from './script.js';
import { minisign, minisignKey, signBytes, type SigningKey } from './signing.js';
import { writeZip, type ZipEntry } from './zip.js';

export const contentBytesMax = 256 * 1024 * 1024;
export const packBytesMax = 64 * 1024 * 1024;
export const formatOfPacks = 'evidence-pack/1';

export const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

/** A file of a pack, and where it came from. */
export interface Item {
  readonly path: string;
  readonly content: Buffer;
  /** Which part of the program, or who. */
  readonly source: string;
  readonly about: string;
  readonly collectedAt: Date;
  readonly rows: number | null;
  /** There was more than a pack holds. */
  readonly isCut: boolean;
  /** framework:number */
  readonly controls: readonly string[];
}

export interface ManifestItem {
  readonly path: string;
  readonly source: string;
  readonly about: string;
  readonly collected_at: string;
  readonly rows: number | null;
  readonly cut: boolean;
  readonly controls: readonly string[];
  readonly bytes: number;
  readonly sha256: string;
}

export interface PackFacts {
  readonly id: string;
  readonly title: string;
  readonly brand: string;
  readonly framework: string | null;
  readonly scope: string;
  readonly period: { readonly from: string; readonly to: string };
  readonly created_at: string;
  readonly created_by: string;
  readonly audit_log: unknown;
  /** `root` of the pack before this one; null: it is the first that there is. */
  readonly previous: string | null;
}

export const itemsOf = (items: readonly Item[]): ManifestItem[] =>
  items.map(({ path, source, about, collectedAt, rows, isCut, controls, content }) => ({
    path,
    source,
    about,
    collected_at: collectedAt.toISOString(),
    rows,
    cut: isCut,
    controls,
    bytes: content.length,
    sha256: sha256(content),
  }));

export interface BuiltPack {
  readonly content: Buffer;
  /** SHA-256 of SHA256SUMS: it stands for every byte of the pack. */
  readonly root: string;
  readonly sha256: string;
  readonly items: readonly ManifestItem[];
}

/** Rejects with words for people where it would be too large. */
export async function buildPack(facts: PackFacts, items: readonly Item[], key: SigningKey): Promise<BuiltPack> {
  const manifest = { format: formatOfPacks, ...facts, key: key.id, items: itemsOf(items) };
  const listed: ZipEntry[] = [
    { path: 'manifest.json', content: Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`) },
    { path: 'README.txt', content: Buffer.from(readme(facts.brand, key.id)) },
    { path: 'verify.sh', content: Buffer.from(verifyScript) },
    { path: 'public-key.pem', content: Buffer.from(key.publicPem) },
    { path: 'public-key.minisign', content: Buffer.from(minisignKey(key.publicPem)) },
    ...items.map(({ path, content }) => ({ path, content })),
  ];
  const sums = Buffer.from(listed.map(({ path, content }) => `${sha256(content)}  ${path}\n`).join(''));
  const signature = signBytes(key, sums);
  const comment = `evidence pack ${facts.id}, ${facts.created_at}`;
  const content = await writeZip([
    ...listed,
    { path: 'SHA256SUMS', content: sums },
    { path: 'SHA256SUMS.sig', content: signature },
    { path: 'SHA256SUMS.minisig', content: Buffer.from(minisign(key, sums, comment)) },
  ]);
  if (content.length > packBytesMax)
    throw new Error(`The pack would have ${content.length} bytes; ${packBytesMax} at most. Take a shorter period.`);
  return { content, root: sha256(sums), sha256: sha256(content), items: manifest.items };
}
