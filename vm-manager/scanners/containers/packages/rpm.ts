// RPM: headers of packages, and the three forms of the database that holds them.
import { valuesOf } from './berkeley.js';
import { installedMax, type Installed } from './database.js';
import { rowsOf } from './sqlite.js';

const tags = { name: 1000, version: 1001, release: 1002, epoch: 1003, arch: 1022, source: 1044 } as const;
const indexMax = 100_000;

/** A header: two lengths, an index of entries (tag, type, offset, count), data; all big-endian. */
export function readHeader(blob: Buffer): Installed | null {
  const entries = blob.readUInt32BE(0);
  const start = 8 + entries * 16;
  if (entries > indexMax || start + blob.readUInt32BE(4) > blob.length) throw new Error('has a header that is cut off');
  const places = new Map<number, { readonly type: number; readonly at: number }>();
  for (let entry = 0; entry < entries; entry++) {
    const from = 8 + entry * 16;
    const at = start + blob.readUInt32BE(from + 8);
    places.set(blob.readUInt32BE(from), { type: blob.readUInt32BE(from + 4), at });
  }
  const text = (tag: number): string => {
    const found = places.get(tag);
    if (found === undefined || found.at >= blob.length) return '';
    const end = blob.indexOf(0, found.at);
    return blob.toString('utf8', found.at, end === -1 ? blob.length : end);
  };
  const epochAt = places.get(tags.epoch);
  const epoch = epochAt?.type === 4 ? String(blob.readInt32BE(epochAt.at)) : '';
  const name = text(tags.name);
  // keys of signatures are stored like packages
  if (name === '' || name === 'gpg-pubkey') return null;
  const version = `${text(tags.version)}-${text(tags.release)}`;
  return { name, version, arch: text(tags.arch), source: text(tags.source), sourceVersion: '', epoch };
}

function all(blobs: Iterable<Buffer>): Installed[] {
  const found: Installed[] = [];
  for (const blob of blobs) {
    const one = readHeader(blob);
    if (one !== null) found.push(one);
    if (found.length > installedMax) throw new Error(`lists more than ${installedMax} packages`);
  }
  return found;
}

function* blobsOfSqlite(bytes: Buffer): Generator<Buffer> {
  for (const row of rowsOf(bytes, 'Packages')) {
    const blob = row[1];
    if (Buffer.isBuffer(blob)) yield blob;
  }
}

const ndb = { page: 4096, slot: 16, block: 16 } as const;

/** Packages.db: slots of 16 bytes from byte 32 on, each with the place of a blob in blocks. */
function* blobsOfNdb(bytes: Buffer): Generator<Buffer> {
  if (bytes.toString('latin1', 0, 4) !== 'RpmP') throw new Error('is no database of RPM');
  const end = Math.min(bytes.readUInt32LE(12) * ndb.page, bytes.length - ndb.slot);
  for (let at = 32; at <= end - ndb.slot; at += ndb.slot) {
    if (bytes.toString('latin1', at, at + 4) !== 'Slot') throw new Error('has a page of slots that is damaged');
    if (bytes.readUInt32LE(at + 4) === 0) continue;
    const from = bytes.readUInt32LE(at + 8) * ndb.block;
    if (bytes.toString('latin1', from, from + 4) !== 'BlbS') throw new Error('has a slot that leads nowhere');
    const length = bytes.readUInt32LE(from + 12);
    if (from + 16 + length > bytes.length) throw new Error('ends in the middle of a package');
    yield bytes.subarray(from + 16, from + 16 + length);
  }
}

/** The number of the next package is a value of its own, of four bytes. */
function* blobsOfBerkeley(bytes: Buffer): Generator<Buffer> {
  for (const value of valuesOf(bytes)) if (value.length > 16) yield value;
}

export const readRpmBerkeley = (bytes: Buffer): Installed[] => all(blobsOfBerkeley(bytes));
export const readRpmSqlite = (bytes: Buffer): Installed[] => all(blobsOfSqlite(bytes));
export const readRpmNdb = (bytes: Buffer): Installed[] => all(blobsOfNdb(bytes));
