// Verification from the bytes on: every sum is computed anew, signatures are checked by the keys of this installation
// (never by the one that lies in the pack), and the root is looked up in the audit log, whose own chain is checked.
import { createHash } from 'node:crypto';
import type { Host } from '../host.js';
import { packDetails } from './build.js';
import { contentBytesMax, sha256, type ManifestItem } from './pack/pack.js';
import { isSignedBy, publicKeys } from './pack/signing.js';
import { readZip } from './pack/zip.js';
import { findRecord } from './record.js';
import type { PackRow } from './store.js';

export const checkNames = [
  'stored_file',
  'archive',
  'sums',
  'manifest',
  'signature',
  'recorded',
  'previous',
  'audit_excerpt',
  'audit_log',
] as const;
export interface Check {
  readonly name: (typeof checkNames)[number];
  /** null: cannot be said, which is no fault of the pack. */
  readonly ok: boolean | null;
  readonly detail: string;
}

const notInSums = new Set(['SHA256SUMS', 'SHA256SUMS.sig', 'SHA256SUMS.minisig']);
const check = (name: Check['name'], ok: boolean | null, detail: string): Check => ({ name, ok, detail });
type Files = ReadonlyMap<string, Buffer>;
const bytesOf = (files: Files, path: string): Buffer => files.get(path) ?? Buffer.alloc(0);

function checkSums(files: Files): Check {
  const lines = bytesOf(files, 'SHA256SUMS').toString('utf8').split('\n').filter(Boolean);
  const listed = new Map(lines.map((line): [string, string] => [line.slice(66), line.slice(0, 64)]));
  const wrong = [...listed].flatMap(([path, sum]) => {
    const content = files.get(path);
    return content === undefined ? [`${path} is missing`] : sha256(content) === sum ? [] : [`${path} was changed`];
  });
  const more = [...files.keys()].filter((path) => !listed.has(path) && !notInSums.has(path));
  const faults = [...wrong, ...more.map((path) => `${path} was added`)];
  if (listed.size === 0) return check('sums', false, 'SHA256SUMS is missing or empty.');
  if (faults.length === 0) return check('sums', true, `${listed.size} files have the sums that are listed.`);
  return check('sums', false, `${faults.slice(0, 5).join('; ')}${faults.length > 5 ? '; and more' : ''}.`);
}

function checkManifest(files: Files): Check {
  try {
    const { items } = JSON.parse(bytesOf(files, 'manifest.json').toString('utf8')) as { items: ManifestItem[] };
    const wrong = items.filter(({ path, sha256: sum }) => sha256(bytesOf(files, path)) !== sum);
    return wrong.length === 0
      ? check('manifest', true, `${items.length} items are what the manifest says.`)
      : check(
          'manifest',
          false,
          `${wrong
            .map(({ path }) => path)
            .slice(0, 5)
            .join(', ')} differ from the manifest.`,
        );
  } catch {
    return check('manifest', false, 'manifest.json is missing or no JSON.');
  }
}

async function checkSignature({ sql }: Host, files: Files): Promise<Check> {
  const signature = bytesOf(files, 'SHA256SUMS.sig');
  const sums = bytesOf(files, 'SHA256SUMS');
  const key = (await publicKeys(sql)).find((one) => isSignedBy(one.public_key, sums, signature));
  return key === undefined
    ? check('signature', false, 'No key of this installation signed the list of sums as it is.')
    : check('signature', true, `Signed by the key ${key.id}.`);
}

async function checkRecord(host: Host, row: PackRow, root: string): Promise<Check> {
  if (row.root !== root) return check('recorded', false, 'The list of sums is not the one that the database has.');
  const { ok, id } = await findRecord(host, packDetails(row.id, root), row.created_at);
  if (ok === null)
    return check('recorded', null, 'Retention removed the entries of the audit log of that time, its own with them.');
  return ok
    ? check('recorded', true, `Entry ${String(id)} of the audit log has the same root.`)
    : check('recorded', false, 'The audit log has entries of that time, and none of this pack.');
}

async function checkPrevious({ sql }: Host, files: Files, row: PackRow): Promise<Check> {
  const { previous } = JSON.parse(bytesOf(files, 'manifest.json').toString('utf8')) as { previous: string | null };
  if (previous !== row.previous) return check('previous', false, 'The database names another pack before it.');
  if (previous === null) return check('previous', true, 'It is the first pack.');
  const [before] = await sql<{ id: number }[]>`select id from vm_evidence_packs where root = ${previous}`;
  return before === undefined
    ? check('previous', null, 'The pack before it is not stored any more.')
    : check('previous', true, `It follows the pack ${before.id}.`);
}

/** The entries of the excerpt chain, and are those that the audit log has today. */
async function checkExcerpt({ audit }: Host, files: Files): Promise<Check> {
  if (!files.has('items/audit.jsonl')) return check('audit_excerpt', null, 'The pack has no audit log.');
  const lines = bytesOf(files, 'items/audit.jsonl').toString('utf8').split('\n').filter(Boolean);
  const hashes = bytesOf(files, 'items/audit-hashes.txt').toString('utf8').split('\n').filter(Boolean);
  const ids: number[] = [];
  for (const [index, line] of lines.entries()) {
    const fields = JSON.parse(line) as readonly unknown[];
    ids.push(Number(fields[0]));
    if (createHash('sha256').update(line).digest('hex') !== hashes[index])
      return check('audit_excerpt', false, `Entry ${String(fields[0])} does not have its hash.`);
    if (index > 0 && fields.at(-1) !== hashes[index - 1])
      return check('audit_excerpt', false, `Entry ${String(fields[0])} does not follow the one before it.`);
  }
  const today = new Map<number, string>();
  for (let at = 0; at < ids.length; at += 1000)
    for (const [id, hash] of await audit.hashesOf(ids.slice(at, at + 1000))) today.set(id, hash);
  const other = ids.find((id, index) => today.has(id) && today.get(id) !== hashes[index]);
  if (other !== undefined) return check('audit_excerpt', false, `The audit log has another entry ${other} today.`);
  const gone = ids.length - today.size;
  return check(
    'audit_excerpt',
    true,
    `${ids.length} entries chain${gone === 0 ? ' and are in the audit log' : `; ${gone} are not in the log any more`}.`,
  );
}

async function checkLog({ audit }: Host): Promise<Check> {
  const { ok, checked, first_broken } = await audit.verify();
  return ok
    ? check('audit_log', true, `All ${checked} entries of the audit log chain.`)
    : check('audit_log', false, `The audit log is broken: ${JSON.stringify(first_broken)}.`);
}

export interface Verified {
  readonly ok: boolean;
  readonly root: string | null;
  readonly checks: readonly Check[];
}

/** `row` is what the database says of the pack; null: it knows none with this root. */
export async function verifyPack(
  host: Host,
  bytes: Buffer,
  rowOf: (root: string) => Promise<PackRow | null>,
): Promise<Verified> {
  let files: Files;
  try {
    files = await readZip(bytes, contentBytesMax + 16 * 1024 * 1024);
  } catch (error) {
    const words = `The file is no archive that can be read: ${(error as Error).message.slice(0, 200)}.`;
    return { ok: false, root: null, checks: [check('archive', false, words)] };
  }
  const root = sha256(bytesOf(files, 'SHA256SUMS'));
  const row = await rowOf(root);
  const manifest = checkManifest(files);
  const checks = [
    ...(row === null ? [] : [storedFile(row, bytes)]),
    check('archive', true, `${files.size} files could be read.`),
    checkSums(files),
    manifest,
    await checkSignature(host, files),
    row === null
      ? check('recorded', false, 'This installation knows no pack with this root.')
      : await checkRecord(host, row, root),
    ...(row === null || manifest.ok !== true ? [] : [await checkPrevious(host, files, row)]),
    await checkExcerpt(host, files).catch(() => check('audit_excerpt', false, 'The excerpt cannot be read.')),
    await checkLog(host),
  ];
  return { ok: checks.every(({ ok }) => ok !== false), root, checks };
}

const storedFile = (row: PackRow, bytes: Buffer): Check =>
  row.sha256 === sha256(bytes)
    ? check('stored_file', true, `The file has the SHA-256 ${row.sha256}.`)
    : check('stored_file', false, 'The file is not the one that was built: its SHA-256 is another.');
