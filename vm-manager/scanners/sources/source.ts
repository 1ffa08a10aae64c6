// Where files come from: a directory, an archive, one file. Read in one pass, nothing is unpacked to the disk.

/** A file of a source; it can be read until the next one is asked for. */
export interface SourceFile {
  readonly path: string;
  /** As the source says; what comes may be less, never more. */
  readonly bytes: number;
  /** It was named by itself, and did not come with a directory or an archive. */
  readonly isNamed?: true;
  /** What changes whenever the file does, and when that was; of files on the disk. */
  readonly stamp?: { readonly is: string; readonly changedMs: number };
  /** All of it; or no more than its first bytes. */
  read(most?: number): Promise<Buffer>;
}

/** Something that no scanner gets to see. */
export interface Passed {
  readonly path: string;
  readonly passed: string;
  /** It ought to have been read. */
  readonly isFault: boolean;
}

export type SourceItem = SourceFile | Passed;
export const isPassed = (item: SourceItem): item is Passed => 'passed' in item;

export interface Source {
  /** How many files there are, where that is known before they are read. */
  readonly total: number | null;
  /** It is no collection: nothing beside the file is known. */
  readonly isOneFile: boolean;
  items(signal: AbortSignal): AsyncIterable<SourceItem>;
}

/** The source itself is not usable; the message says why, and what to do. */
export class SourceError extends Error {}

export interface SourceLimits {
  readonly entriesMax: number;
  /** Of all files together, unpacked. */
  readonly bytesMax: number;
  /** An archive may become so many times as large as it is. */
  readonly ratioMax: number;
}

export const sourceLimits: SourceLimits = {
  entriesMax: 1_000_000,
  bytesMax: 5 * 1024 ** 3,
  ratioMax: 200,
};

/** Directories that hold what others wrote, or what a tool makes: reported as left out, wherever they are. */
const foreign: ReadonlySet<string> = new Set(
  '.git,.hg,.svn,node_modules,bower_components,.venv,venv,__pycache__,.tox,.terraform,.gradle,.idea'.split(','),
);

/** The directory of a path that is left out; null: none. */
export function foreignPart(path: string): string | null {
  let from = 0;
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', from)) {
    if (foreign.has(path.slice(from, at))) return path.slice(0, at);
    from = at + 1;
  }
  return null;
}

export const isForeign = (name: string): boolean => foreign.has(name);

/** A relative path downwards, with nothing in it that a terminal obeys. */
export function isPlainPath(path: string): boolean {
  // oxlint-disable-next-line no-control-regex
  if (path.length === 0 || path.length > 4096 || /[\u0000-\u001f\u007f\\]/.test(path)) return false;
  return !path.startsWith('/') && !/^[A-Za-z]:/.test(path) && !path.split('/').includes('..');
}

/** A name for people, of a path that is not plain. */
export const shownPath = (path: string): string => JSON.stringify(path.slice(0, 200)).slice(1, -1);

/** Counts entries and bytes; throws SourceError beyond the limits. */
export class Budget {
  #entries = 0;
  #bytes = 0;
  readonly #limits: SourceLimits;
  readonly #packed: number | null;

  /** `packed`: size of the archive; null: nothing is unpacked. */
  constructor(limits: SourceLimits, packed: number | null) {
    this.#limits = limits;
    this.#packed = packed;
  }

  entry(): void {
    if (++this.#entries > this.#limits.entriesMax)
      throw new SourceError(`There are more than ${this.#limits.entriesMax} entries; scan a part at a time.`);
  }

  bytes(more: number): void {
    this.#bytes += more;
    const { bytesMax, ratioMax } = this.#limits;
    if (this.#bytes > bytesMax) throw new SourceError(`There are more than ${bytesMax} bytes; scan a part at a time.`);
    // what is small may be dense: a megabyte of zeros
    if (this.#packed !== null && this.#bytes > 64 * 1024 ** 2 && this.#bytes > this.#packed * ratioMax)
      throw new SourceError(`The archive becomes more than ${ratioMax} times as large when it is unpacked.`);
  }
}
