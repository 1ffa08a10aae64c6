// The log of a child that `up` supervises. Written synchronously: nobody waits for this process, and what was said last
// is on disk when the child has ended.
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { isSystemError } from '../refusal.js';

export interface LogLimits {
  /** Beyond, the file is set aside as `.1`, and the one before is gone. */
  readonly bytesMax: number;
  /** A full disk does not empty in a millisecond. */
  readonly retryAfterMs: number;
}

/** Of what it said last; a line of a log has some hundred bytes. */
const lastBytesMax = 16_384;

const usualLimits: LogLimits = { bytesMax: 50_000_000, retryAfterMs: 5_000 };

/**
 * A disk that is full or away loses lines, never the child: one whose output nobody reads would stand still at its next
 * line. `say` hears once that lines are lost, and once that they are written again.
 */
export class LogFile {
  private readonly limits: LogLimits;
  private last: Buffer = Buffer.alloc(0);
  private file: number | null = null;
  private bytes = 0;
  private isLosing = false;
  private waitsUntilMs = 0;

  constructor(
    private readonly path: string,
    private readonly say: (text: string) => void,
    limits: Partial<LogLimits> = {},
  ) {
    this.limits = { ...usualLimits, ...limits };
  }

  /** What was written last, also what the disk did not take. */
  get lastWords(): string {
    return this.last.toString('utf8').trimEnd();
  }

  write(chunk: Uint8Array): void {
    this.last = Buffer.from(Buffer.concat([this.last, chunk]).subarray(-lastBytesMax));
    if (performance.now() < this.waitsUntilMs) return;
    try {
      if (this.bytes > this.limits.bytesMax) this.close();
      const file = (this.file ??= this.open());
      for (let at = 0; at < chunk.length; ) at += writeSync(file, chunk, at);
      this.bytes += chunk.length;
      if (this.isLosing) this.say(`${this.path} can be written again`);
      this.isLosing = false;
    } catch (error) {
      if (!isSystemError(error)) throw error;
      if (!this.isLosing)
        this.say(`${this.path} cannot be written (${error.code}); what goes there is lost until it can`);
      this.isLosing = true;
      this.waitsUntilMs = performance.now() + this.limits.retryAfterMs;
      this.close();
    }
  }

  private open(): number {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o750 });
    const isLarge = existsSync(this.path) && statSync(this.path).size > this.limits.bytesMax;
    if (isLarge) renameSync(this.path, `${this.path}.1`);
    const file = openSync(this.path, 'a', 0o640);
    this.bytes = fstatSync(file).size;
    return file;
  }

  close(): void {
    if (this.file !== null) closeSync(this.file);
    this.file = null;
  }
}
