// What scans remember of a directory, in one file of the user's own: outcomes by content, and sums of files that have
// not changed. It is trusted like the program: it lies where nobody else writes, never in what is scanned.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nothing, packVersion, type Outcome } from '../contract.js';
import type { SourceFile } from '../sources/source.js';
import type { Memory } from './remembered.js';

const fileBytesMax = 256 * 1024 * 1024;
/** A file that was written just now may be written again within the same tick of its clock. */
const settledMs = 2000;
const keptMs = 30 * 24 * 3_600_000;

interface Stored {
  readonly version: string;
  readonly sums: Readonly<Record<string, readonly [stamp: string, sum: string]>>;
  /** 1: it was read, and there was nothing in it. */
  readonly outcomes: Readonly<Record<string, Outcome | 1>>;
}

/** Rooms that decide what is found; a release gives all of its files one time, so their contents count. */
const rooms = ['scanners', 'secrets', 'components', 'osv'];

/**
 * Of the scanners as they are installed: with another program, or in another month, everything is read again. `base`:
 * where the rooms are.
 */
export function versionOf(now: Date, base = new URL('../../', import.meta.url)): string {
  const sum = createHash('sha256').update(`${packVersion} ${process.version} ${now.toISOString().slice(0, 7)}`);
  for (const room of rooms) {
    const code = fileURLToPath(new URL(room, base));
    const files = readdirSync(code, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
    for (const name of files.sort()) sum.update(`${room}/${name}\n`).update(readFileSync(join(code, name)));
  }
  return sum.digest('hex');
}

function read(file: string, version: string): Stored | null {
  try {
    if (statSync(file).size > fileBytesMax) return null;
    const found = JSON.parse(readFileSync(file, 'utf8')) as Stored | null;
    if (found?.version !== version || typeof found.sums !== 'object' || typeof found.outcomes !== 'object') return null;
    return found;
  } catch {
    // a memory that is not there, or damaged, is none: everything is read
    return null;
  }
}

const isEmpty = ({ findings, packages, notScanned, scanned, objects = [] }: Outcome): boolean =>
  findings.length + packages.length + notScanned.length + objects.length === 0 && scanned.length === 1;

export class FileMemory implements Memory {
  readonly #file: string;
  readonly #version: string;
  readonly #now: number;
  readonly #before: Stored | null;
  readonly #sums = new Map<string, readonly [string, string]>();
  readonly #outcomes = new Map<string, Outcome | 1>();
  #isNew = false;

  /** `folder` is made with the first thing that is kept in it; `root` is the directory that is scanned. */
  constructor(folder: string, root: string, now: Date) {
    this.#file = join(folder, `${createHash('sha256').update(root).digest('hex').slice(0, 32)}.json`);
    this.#version = versionOf(now);
    this.#now = now.getTime();
    this.#before = read(this.#file, this.#version);
  }

  recall(key: string, path: string): Outcome | null {
    const short = key.slice(0, 32);
    const found = this.#outcomes.get(short) ?? this.#before?.outcomes[short];
    if (found === undefined) return null;
    this.#outcomes.set(short, found);
    return found === 1 ? { ...nothing, scanned: [path] } : found;
  }

  keep(key: string, outcome: Outcome, path: string): void {
    this.#isNew = true;
    this.#outcomes.set(key.slice(0, 32), isEmpty(outcome) && outcome.scanned[0] === path ? 1 : outcome);
  }

  sumOf({ path, stamp }: SourceFile): string | null {
    const known = this.#before?.sums[path];
    if (stamp === undefined || known?.[0] !== stamp.is) return null;
    this.#sums.set(path, known);
    return known[1];
  }

  keepSum({ path, stamp }: SourceFile, sum: string): void {
    if (stamp === undefined || this.#now - stamp.changedMs < settledMs) return;
    this.#isNew = true;
    this.#sums.set(path, [stamp.is, sum]);
  }

  /** Writes what this run has used or learned. Throws the system's error where it cannot. */
  write(): void {
    const were = this.#before === null ? 0 : Object.keys(this.#before.outcomes).length;
    if (!this.#isNew && were === this.#outcomes.size) return;
    const folder = join(this.#file, '..');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const stored: Stored = {
      version: this.#version,
      sums: Object.fromEntries(this.#sums),
      outcomes: Object.fromEntries(this.#outcomes),
    };
    const text = JSON.stringify(stored);
    if (text.length > fileBytesMax) return;
    const made = `${this.#file}.${process.pid}`;
    writeFileSync(made, text, { mode: 0o600 });
    renameSync(made, this.#file);
    this.#dropOld(folder);
  }

  /** Of directories that nobody has scanned for a month. */
  #dropOld(folder: string): void {
    for (const name of readdirSync(folder)) {
      const file = join(folder, name);
      const found = statSync(file, { throwIfNoEntry: false });
      if (/^[0-9a-f]{32}\.json/.test(name) && found !== undefined && this.#now - found.mtimeMs > keptMs)
        unlinkSync(file);
    }
  }
}
