// The contract of a many-pattern matcher. Two implementations: Hyperscan (native addon) and RE2 (the slow twin), run
// through the same contract suite (matcher.contract.ts).

/** One pattern of a database. `source` is PCRE syntax over bytes (latin1). */
export interface PatternSpec {
  readonly id: number; // 0 … 65535, unique in its database
  readonly source: string;
  readonly caseless: boolean;
  readonly dotAll: boolean; // `.` matches \n
  readonly multiline: boolean; // ^ and $ at every line
  /** Hyperscan may over-approximate (a hit must then be confirmed); set when the exact pattern is refused. */
  readonly prefilter: boolean;
}

/** Why a pattern cannot be in a Hyperscan database; the planner then tries `prefilter`, then RE2. */
export class PatternRefused extends Error {
  constructor(
    readonly patternId: number,
    message: string,
  ) {
    super(message);
  }
}

/** Bytes that this library or CPU will not load (foreign version, other platform, damage): rebuild from the sources. */
export class DatabaseRefused extends Error {}

/** An immutable compiled database, shared by all threads of the process; `release` when the last Ruleset drops it. */
export interface Database {
  readonly bytes: number; // memory
  release(): void;
}

export interface MatcherLibrary {
  readonly name: 'hyperscan' | 're2';
  readonly version: string;
  /** Synchronous and slow (seconds): call in a worker thread. Throws PatternRefused. Returns serialised bytes. */
  compile(patterns: readonly PatternSpec[]): Uint8Array;
  /**
   * `key` names equal bytes (their hash): a database already loaded under it in this process is shared. Throws
   * DatabaseRefused. `isVerified`: these very bytes were held against a checksum already, and are not looked through.
   */
  load(bytes: Uint8Array, key: string, isVerified?: boolean): Database;
  /** A per-thread scanner over several databases with its own scratch space. */
  createScanner(databases: readonly Database[]): Scanner;
}

export interface Scanner {
  /**
   * Scans `jobCount` slices in one call. `jobs` holds triples (database index, byte offset in `data`, byte length).
   * Writes pairs (job index, pattern id) into `hits`, each pattern at most once per job, and returns the number of
   * pairs.
   * When `hits` is too small returns −1 − (pairs found): grow and call again.
   */
  scan(data: Uint8Array, jobs: Int32Array, jobCount: number, hits: Int32Array): number;
  release(): void;
}
