// data/log/audit.jsonl: one line per event (audit-line.ts). Written in batches off the request road; when the disk is
// slow or full, events are dropped and counted, traffic goes on.
import { mkdir, open, rename, stat, unlink, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf } from '../contract/errors.js';
import type { SecurityEvent } from '../contract/index.js';
import { formatAuditLine } from './audit-line.js';
import { maskEvent } from './mask-event.js';

export interface AuditLogOptions {
  readonly path: string;
  /** A file larger than this is set aside as `.1` (older ones move up) before the next batch. */
  readonly rotateBytes: number;
  readonly keepFiles: number;
  /** Waiting text beyond this is dropped. */
  readonly bufferBytesMax: number;
  readonly serverId: string;
  readonly onProblem: (message: string) => void;
}

const retryAfterMs = 5_000; // after a write failed: a full disk does not empty in a millisecond

export class AuditLog {
  dropped = 0;
  written = 0;
  private pending: string[] = [];
  private pendingBytes = 0;
  private writing: Promise<void> | null = null;
  private file: FileHandle | null = null;
  private fileBytes = 0;
  private blockedUntilMs = 0;

  constructor(private readonly options: AuditLogOptions) {}

  /** Never waits and never throws. `isPrivate`: secrets and personal data are masked. */
  append(events: readonly SecurityEvent[], isPrivate = false): void {
    for (const event of events) {
      const line = `${formatAuditLine(isPrivate ? maskEvent(event, 'personal') : event, this.options.serverId)}\n`;
      if (this.pendingBytes + line.length > this.options.bufferBytesMax) {
        this.dropped += 1;
        continue;
      }
      this.pending.push(line);
      this.pendingBytes += line.length;
    }
    this.kick();
  }

  private kick(): void {
    if (this.writing !== null || this.pending.length === 0) return;
    if (performance.now() < this.blockedUntilMs) return;
    this.writing = this.writePending().finally(() => {
      this.writing = null;
      this.kick();
    });
  }

  private async writePending(): Promise<void> {
    const lines = this.pending;
    this.pending = [];
    this.pendingBytes = 0;
    const text = Buffer.from(lines.join(''), 'utf8');
    try {
      await this.letGoIfMoved();
      await this.rotateIfLarge();
      if (this.file === null) {
        await mkdir(dirname(this.options.path), { recursive: true, mode: 0o750 });
        this.file = await open(this.options.path, 'a', 0o640);
        this.fileBytes = (await this.file.stat()).size;
      }
      await this.file.appendFile(text);
      this.fileBytes += text.length;
      this.written += lines.length;
    } catch (error) {
      // Disk full, no permission, directory gone: expected of disks. Said once per attempt, counted, tried again later.
      this.dropped += lines.length;
      this.blockedUntilMs = performance.now() + retryAfterMs;
      this.options.onProblem(
        `cannot write ${this.options.path}: ${messageOf(error)}; ${lines.length} events were dropped, ` +
          `next try in ${retryAfterMs / 1000} s`,
      );
      const { file } = this;
      this.file = null;
      await file
        ?.close()
        .catch((closing: unknown) =>
          this.options.onProblem(`closing the audit log failed as well: ${String(closing)}`),
        );
    }
  }

  private async rotateIfLarge(): Promise<void> {
    const { path, rotateBytes, keepFiles } = this.options;
    if (this.file === null || this.fileBytes < rotateBytes) return;
    await this.file.close();
    this.file = null;
    for (let index = keepFiles; index >= 1; index -= 1) {
      const from = index === 1 ? path : `${path}.${index - 1}`;
      const exists = await stat(from).then(
        () => true,
        () => false, // not that many yet
      );
      if (exists) await rename(from, `${path}.${index}`);
    }
    if (keepFiles === 0) await unlink(path);
  }

  /** A file that somebody moved away or removed (logrotate) gets no more lines; nobody has to signal it. */
  private async letGoIfMoved(): Promise<void> {
    if (this.file === null) return;
    const mine = await this.file.stat();
    // gone, or out of reach: then opening it again says why
    const named = await stat(this.options.path).catch(() => null);
    if (named !== null && named.ino === mine.ino && named.dev === mine.dev) return;
    await this.file.close();
    this.file = null;
  }

  /** Writes what waits, then closes. */
  async close(): Promise<void> {
    this.blockedUntilMs = 0;
    this.kick();
    while (this.writing !== null) await this.writing;
    await this.file?.close();
    this.file = null;
  }
}
