// A scan: every file of a source goes to the scanners that want it, in batches, to one process. A file that was not
// read is counted with its reason: a scan with a fault is incomplete, and says so wherever its findings go.
import { together, type NotScanned, type Outcome, type Scanner } from '../contract.js';
import type { ScannerResult, ScanResult } from './result.js';
import { nothing } from '../contract.js';
import { isPassed, type Source, type SourceFile } from '../sources/source.js';
import { noAdditions, type Additions } from '../own/additions.js';
import { EngineGone, HeldEngine } from './held-engine.js';
import { bounded, packagesMax } from './bounded.js';
import type { BatchFile, ToEngine } from './messages.js';

export interface Progress {
  readonly files: number;
  readonly bytes: number;
  /** null: unknown before the end. */
  readonly total: number | null;
}

export interface ScanLimits {
  /** One file, all of its scanners. */
  readonly fileMsMax: number;
  /** What is worked out over all files at the end. */
  readonly endMsMax: number;
  readonly runMsMax: number;
}
export const scanLimits: ScanLimits = { fileMsMax: 5000, endMsMax: 120_000, runMsMax: 3_600_000 };

const batchBytes = 512 * 1024;
const batchFiles = 100;
/** Reasons that are kept one by one; beyond it they are only counted. */
const notScannedMax = 2000;

const stoppedReason = 'it was stopped';

/** What one scanner has so far. */
class Tally {
  readonly scanner: Scanner;
  readonly #outcomes: Outcome[] = [];
  readonly #faulty: NotScanned[] = [];
  readonly #leftOut: NotScanned[] = [];
  readonly #byReason = new Map<string, number>();
  readonly #faults = new Set<string>();
  readonly #lookedAt = new Set<string>();
  #packages = 0;

  constructor(scanner: Scanner) {
    this.scanner = scanner;
  }

  /** Whether its scanner is to see this file. */
  wants({ path, isNamed }: SourceFile): boolean {
    const wanted = (isNamed === true && this.scanner.wantsNamed?.(path) === true) || this.scanner.wants(path);
    if (typeof wanted === 'string') this.pass({ path, reason: wanted, isFault: false });
    else if (wanted && this.scanner.joins?.(path) !== true) this.#lookedAt.add(path);
    return wanted === true;
  }

  take(given: Outcome): void {
    const outcome = bounded(given, packagesMax - this.#packages);
    this.#packages += outcome.packages.length;
    this.#outcomes.push({ ...outcome, notScanned: [] });
    for (const one of outcome.notScanned) this.pass({ ...one, isOfEngine: true });
  }

  pass(one: NotScanned): void {
    this.#lookedAt.delete(one.path);
    if (one.isFault) this.#faults.add(one.reason);
    this.#byReason.set(one.reason, (this.#byReason.get(one.reason) ?? 0) + 1);
    // faults have room of their own: many pictures hide none of them
    const kept = one.isFault ? this.#faulty : this.#leftOut;
    if (kept.length < notScannedMax) kept.push(one);
  }

  end(): ScannerResult {
    const { findings, packages, scanned, objects = [] } = together(this.#outcomes);
    const sorted = [...findings].sort(
      (left, right) => compare(left.path, right.path) || left.line - right.line || compare(left.rule, right.rule),
    );
    return {
      scanner: this.scanner,
      findings: sorted,
      packages,
      objects,
      scanned: [...new Set(scanned)].sort(),
      lookedAt: [...this.#lookedAt].sort(),
      notScanned: [...this.#faulty, ...this.#leftOut],
      notScannedByReason: Object.fromEntries(this.#byReason),
      faultReasons: [...this.#faults],
      complete: this.#faults.size === 0,
    };
  }
}

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

class Scan {
  files = 0;
  bytes = 0;
  readonly #tallies: readonly Tally[];
  readonly #kinds: readonly string[];
  readonly #limits: ScanLimits;
  readonly #additions: Additions;
  #engine: HeldEngine | null = null;
  /** Files that the process of now has taken: what it knows of them ends with it. */
  #taken: BatchFile[] = [];
  #waiting: BatchFile[] = [];
  #waitingBytes = 0;
  #isAsked = false;
  #isStopped = false;

  constructor(scanners: readonly Scanner[], limits: ScanLimits, additions: Additions) {
    this.#tallies = scanners.map((one) => new Tally(one));
    this.#kinds = scanners.map(({ kind }) => kind);
    this.#limits = limits;
    this.#additions = additions;
  }

  async file(file: SourceFile): Promise<void> {
    this.files++;
    const wanting = this.#tallies.filter((tally) => tally.wants(file));
    if (wanting.length === 0) return;
    const small = wanting.filter(({ scanner }) => file.bytes <= scanner.fileBytesMax);
    if (small.length < wanting.length) await this.#passLarge(file, wanting, small);
    if (small.length === 0) return;
    const bytes = await readOf(file);
    if (typeof bytes === 'string') {
      for (const tally of small) tally.pass({ path: file.path, reason: bytes, isFault: true, isOfRun: true });
      return;
    }
    this.bytes += bytes.length;
    this.#waiting.push({ path: file.path, bytes, kinds: small.map(({ scanner }) => scanner.kind) });
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes >= batchBytes || this.#waiting.length >= batchFiles) await this.flush();
  }

  /** A large program or picture hides no text; a large text ought to have been read. */
  async #passLarge(file: SourceFile, wanting: readonly Tally[], small: readonly Tally[]): Promise<void> {
    // an entry of an archive is read once: where another scanner takes all of it, it is text
    const head = small.length === 0 ? await readOf(file, 8192) : '';
    const isBinary = typeof head !== 'string' && head.includes(0);
    for (const tally of wanting.filter((one) => !small.includes(one))) {
      const reason = isBinary ? 'binary files' : `files larger than ${tally.scanner.fileBytesMax} bytes`;
      tally.pass({ path: file.path, reason, isFault: !isBinary });
    }
  }

  passAll(one: NotScanned): void {
    for (const tally of this.#tallies) tally.pass(one);
  }

  /** A batch that ends the process is asked again, file by file, so that the one that did it is known. */
  async flush(): Promise<void> {
    const files = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (files.length === 0) return;
    this.#isAsked = true;
    const { fileMsMax } = this.#limits;
    if ((await this.#ask({ type: 'batch', files }, fileMsMax * 2)) === null)
      return void (this.#taken = [...this.#taken, ...files.map(withoutBytes)]);
    for (const file of files) {
      const why = await this.#ask({ type: 'batch', files: [file] }, fileMsMax);
      if (why === null) this.#taken.push(withoutBytes(file));
      else this.#passFor(file, why);
    }
  }

  async end(): Promise<void> {
    await this.flush();
    // where no file was for it there is nothing to join, and starting it takes longer than all else
    if (!this.#isAsked) return;
    const why = await this.#ask({ type: 'end' }, this.#limits.endMsMax);
    if (why !== null) this.passAll({ path: 'all files together', reason: why, isFault: true, isOfRun: true });
  }

  /** Ends what is asked just now; nothing is asked again, and no engine is started for it. */
  stop(): Promise<void> {
    this.#isStopped = true;
    return this.close();
  }

  /** Asked anew wherever something was waited for. */
  #hasStopped(): boolean {
    return this.#isStopped;
  }

  async close(): Promise<void> {
    await this.#engine?.end();
    this.#engine = null;
  }

  results(): readonly ScannerResult[] {
    return this.#tallies.map((tally) => tally.end());
  }

  #passFor({ path, kinds }: BatchFile, reason: string): void {
    for (const tally of this.#tallies)
      if (kinds.includes(tally.scanner.kind)) tally.pass({ path, reason, isFault: true, isOfRun: true });
  }

  /** Why it could not be asked; null: it answered, and the answer is taken. */
  async #ask(message: ToEngine, msMax: number): Promise<string | null> {
    if (this.#hasStopped()) return stoppedReason;
    try {
      this.#engine ??= await HeldEngine.start(this.#kinds, this.#additions);
      if (this.#hasStopped()) {
        await this.close();
        return stoppedReason;
      }
      const { outcomes } = await this.#engine.ask(message, msMax);
      for (const tally of this.#tallies) tally.take(outcomes[tally.scanner.kind] ?? nothing);
      return null;
    } catch (error) {
      if (!(error instanceof EngineGone)) throw error;
      this.#engine = null;
      // engines that read several files together have forgotten the earlier ones
      const lost = this.#taken.filter(({ kinds }) => kinds.some((kind) => keepsFiles(this.#tallies, kind)));
      this.#taken = [];
      for (const file of lost)
        this.#passFor(
          { ...file, kinds: file.kinds.filter((kind) => keepsFiles(this.#tallies, kind)) },
          'files whose connections were lost when the scanner was ended by another file',
        );
      return error.message;
    }
  }
}

const withoutBytes = (file: BatchFile): BatchFile => ({ ...file, bytes: Buffer.alloc(0) });
const keepsFiles = (tallies: readonly Tally[], kind: string): boolean =>
  tallies.some(({ scanner }) => scanner.kind === kind && scanner.joinsFiles);

/** A text says why it cannot be read. */
async function readOf(file: SourceFile, most?: number): Promise<Buffer | string> {
  try {
    return await file.read(most);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return `files that cannot be read (${(error as NodeJS.ErrnoException).code ?? error.message.slice(0, 100)})`;
  }
}

/**
 * Runs scanners over a source. `progress` is called for every hundredth file. Throws SourceError where the source
 * cannot be read to its end; a stop through `signal` is no error: the result says so, and nothing in it is complete.
 */
export async function scan(
  source: Source,
  scanners: readonly Scanner[],
  progress: (at: Progress) => void,
  signal: AbortSignal,
  limits: ScanLimits = scanLimits,
  additions: Additions = noAdditions,
): Promise<ScanResult> {
  const began = performance.now();
  const running = new Scan(scanners, limits, additions);
  const timeIsOver = AbortSignal.timeout(limits.runMsMax);
  const ends = AbortSignal.any([signal, timeIsOver]);
  const stop = (): void => void running.stop();
  ends.addEventListener('abort', stop, { once: true });
  try {
    for await (const item of source.items(ends)) {
      if (ends.aborted) break;
      if (isPassed(item)) running.passAll({ path: item.path, reason: item.passed, isFault: item.isFault });
      else {
        await running.file(item);
        if (running.files % 100 === 0) progress({ files: running.files, bytes: running.bytes, total: source.total });
      }
    }
    if (running.files === 0) running.passAll({ path: '.', reason: 'there is no file in it', isFault: true });
    if (!ends.aborted) await running.end();
    progress({ files: running.files, bytes: running.bytes, total: running.files });
    const why = timeIsOver.aborted ? `its time of ${limits.runMsMax / 1000} s was over` : stoppedReason;
    if (ends.aborted) running.passAll({ path: 'the rest', reason: why, isFault: true });
    const seconds = (performance.now() - began) / 1000;
    const { files, bytes } = running;
    return { files, bytes, seconds, results: running.results(), stopped: ends.aborted ? why : null };
  } finally {
    ends.removeEventListener('abort', stop);
    await running.close();
  }
}
