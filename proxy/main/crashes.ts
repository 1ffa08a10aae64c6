// What is known of a worker, or of the whole data plane, that ended without having been told to: why, which request it
// was at, which others were under way. One line of `log/crashes.jsonl` each, so that a request that ends workers again
// and again can be found (and kept out by a rule). Query strings are masked as in every other record.
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../contract/errors.js';
import { maskUri } from '../masking/mask.js';
import { readFlights, type Flight, type Flights } from '../worker/flight-table.js';

/** Of Linux: files in memory. They outlive a process that is killed, and no store into them waits for a disk. */
const memoryFolder = '/dev/shm';
const mapFolderForm = /^gatehouse-[0-9a-f]{32}$/;

const othersMax = 20;
const linePrefix = 'in-flight-';
/** Of the records before, which are read at the start. */
const recalledBytesMax = 256 * 1024;

export interface Crash {
  readonly at: string;
  /** null: the whole process. */
  readonly worker: number | null;
  readonly reason: string;
  readonly current: Flight | null;
  readonly others: readonly Flight[];
}

/** The end of a file of lines, which may grow for years. */
function readLastLines(path: string): string[] {
  if (!existsSync(path)) return [];
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, recalledBytesMax));
    const read = readSync(file, bytes, 0, bytes.length, size - bytes.length);
    const lines = bytes.toString('utf8', 0, read).split('\n');
    return (size > bytes.length ? lines.slice(1) : lines).filter((line) => line.endsWith('}'));
  } finally {
    closeSync(file);
  }
}

const masked = (flight: Flight): Flight => ({ ...flight, uri: maskUri(flight.uri, 'secrets') });

export class Crashes {
  last: Crash | null = null;
  count = 0;
  /** The run before ended without a stop: this one keeps its requests in files for a while. */
  isCautious = false;
  /** The run before ended without a stop, and its control plane had said nothing: this one does not wait for it. */
  wasSilent = false;

  constructor(
    private readonly dataDir: string,
    private readonly onProblem: (message: string) => void,
    private readonly memory = memoryFolder,
  ) {}

  /** Where the tables of this run lie in memory; null = nowhere. */
  private maps: string | null = null;
  private mapped = 0;

  private onRequest: (request: Flight, agoMs: number) => void = () => {};

  private readonly since = new Date().toISOString();

  private get marker(): string {
    return join(this.dataDir, 'serving');
  }

  /** Before anything serves: records how the run before ended, and marks this one as running. */
  begin(): void {
    this.attempt(() => {
      mkdirSync(this.dataDir, { recursive: true });
      const names = readdirSync(this.dataDir);
      const hadCrashed = names.includes('serving');
      const before = hadCrashed ? this.readMarker() : {};
      this.wasSilent = before.silent === true;
      const kept = this.takeMaps(before.maps);
      this.isCautious = hadCrashed && kept.length === 0;
      const files = names.filter((name) => name.startsWith(linePrefix)).map((name) => join(this.dataDir, name));
      const tables = kept.length > 0 ? kept : files.map((path) => readFlights(readFileSync(path)));
      if (hadCrashed) {
        const current = tables.find((table) => table.current !== null)?.current ?? null;
        const others = tables.flatMap((table) =>
          table.current === null || table.current === current ? table.others : [table.current, ...table.others],
        );
        this.record(null, 'the data plane ended without a stop', { current, others });
      }
      for (const name of names) if (name.startsWith(linePrefix)) rmSync(join(this.dataDir, name), { force: true });
      this.openMaps();
      this.mark(this.wasSilent);
    });
  }

  /** What the run before has left; nothing where it cannot be read. */
  private readMarker(): { readonly silent?: unknown; readonly maps?: unknown } {
    try {
      return (JSON.parse(readFileSync(this.marker, 'utf8')) ?? {}) as object;
    } catch {
      return {}; // ended while it was written, or of an older release
    }
  }

  /** The tables that the run before had in memory, which are gone then. */
  private takeMaps(folder: unknown): Flights[] {
    const isOurs =
      typeof folder === 'string' && dirname(folder) === this.memory && mapFolderForm.test(basename(folder));
    if (!isOurs || !existsSync(folder)) return [];
    const tables = readdirSync(folder).map((name) => readFlights(readFileSync(join(folder, name))));
    rmSync(folder, { recursive: true, force: true });
    return tables;
  }

  /** A folder of our own with a name that nobody can guess: anybody may write into the one above. */
  private openMaps(): void {
    const folder = join(this.memory, `gatehouse-${randomBytes(16).toString('hex')}`);
    try {
      mkdirSync(folder, { mode: 0o700 });
      this.maps = folder;
    } catch {
      this.maps = null; // no such system, or not for this user: the files below the data directory remain
    }
  }

  /** Where a worker that starts now has its table in memory: each has its own, also two at the same place. */
  flightMap(worker: number): string | null {
    if (this.maps === null) return null;
    this.mapped += 1;
    return join(this.maps, `${worker}-${this.mapped}`);
  }

  /** The table of a worker; `flights` where it had none in memory. */
  flightsOf(map: string | null, flights: SharedArrayBuffer): Flights {
    try {
      return readFlights(map !== null && existsSync(map) ? readFileSync(map) : flights);
    } catch {
      return readFlights(flights); // what is known of a crash is never worth another one
    }
  }

  /** Its worker is gone. */
  forget(map: string | null): void {
    if (map !== null) rmSync(map, { force: true });
  }

  /** `silent`: the control plane was asked and has not answered yet. */
  private mark(silent: boolean): void {
    const { since, maps } = this;
    writeFileSync(`${this.marker}.new`, `${JSON.stringify({ pid: process.pid, since, silent, maps })}\n`);
    renameSync(`${this.marker}.new`, this.marker);
  }

  /** Whether the control plane answers; a start after a crash goes by it. */
  noteSilence(silent: boolean): void {
    this.attempt(() => this.mark(silent));
  }

  /** Where a worker keeps its table; null = nowhere. */
  flightFile(worker: number): string | null {
    return this.isCautious ? join(this.dataDir, `${linePrefix}${worker}`) : null;
  }

  record(worker: number | null, reason: string, { current, others }: Flights): void {
    this.count += 1;
    const listed = others.slice(0, othersMax).map(masked);
    const crash = { at: new Date().toISOString(), worker, reason, current: current && masked(current), others: listed };
    this.last = crash;
    if (current !== null) this.onRequest(current, 0);
    this.attempt(() => {
      mkdirSync(join(this.dataDir, 'log'), { recursive: true });
      appendFileSync(join(this.dataDir, 'log', 'crashes.jsonl'), `${JSON.stringify(crash)}\n`, { mode: 0o640 });
    });
  }

  /**
   * Tells of requests at which a worker, or a process before this one, ended: at once of those recorded within so many
   * milliseconds, then of each that comes.
   */
  tell(onRequest: (request: Flight, agoMs: number) => void, withinMs: number): void {
    this.onRequest = onRequest;
    this.attempt(() => {
      for (const line of readLastLines(join(this.dataDir, 'log', 'crashes.jsonl'))) {
        const { at, current } = JSON.parse(line) as Crash;
        const agoMs = Date.now() - Date.parse(at);
        if (current !== null && agoMs >= 0 && agoMs < withinMs) this.onRequest(current, agoMs);
      }
    });
  }

  /** It was stopped as it should be. */
  end(): void {
    this.attempt(() => {
      rmSync(this.marker, { force: true });
      if (this.maps !== null) rmSync(this.maps, { recursive: true, force: true });
    });
  }

  private attempt(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.onProblem(`what is known of crashes cannot be kept in ${this.dataDir}: ${messageOf(error)}`);
    }
  }
}
