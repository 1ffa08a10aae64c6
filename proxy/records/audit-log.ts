// data/log/audit.jsonl: one line per event, in ModSecurity's JSON audit layout so that existing tools read it. Written
// in batches off the request road; when the disk is slow or full, events are dropped and counted, traffic goes on.
import { mkdir, open, rename, stat, unlink, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { SecurityEvent } from '../contract.js';
import { maskEvent } from '../masking/mask.js';

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

const engineStates = { On: 'Enabled', DetectionOnly: 'DetectionOnly' } as const;
const retryAfterMs = 5_000; // after a write failed: a full disk does not empty in a millisecond

/** Headers as an object; a repeated name keeps all its values, joined as HTTP joins them. */
function headerObject(flat: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let index = 0; index < flat.length; index += 2) {
    const name = flat[index] as string;
    const value = flat[index + 1] as string;
    fields[name] = Object.hasOwn(fields, name) ? `${fields[name]}, ${value}` : value;
  }
  return fields;
}

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** asctime style, UTC: `Sat Nov 21 02:54:00 2026`. */
export function asctime(atMs: number): string {
  const at = new Date(atMs);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${days[at.getUTCDay()]} ${months[at.getUTCMonth()]} ${String(at.getUTCDate()).padStart(2, ' ')} ${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())} ${at.getUTCFullYear()}`;
}

/** One line of the audit log, without its line feed. */
export function formatAuditLine(event: SecurityEvent, serverId: string): string {
  return JSON.stringify({
    transaction: {
      client_ip: event.clientIp,
      time_stamp: asctime(event.atMs),
      server_id: serverId,
      client_port: event.clientPort,
      host_ip: event.serverIp,
      host_port: event.serverPort,
      unique_id: event.requestId,
      request: {
        method: event.method,
        http_version: event.protocol.startsWith('HTTP/') ? event.protocol.slice(5) : event.protocol,
        uri: event.uri,
        headers: headerObject(event.requestHeaders),
        ...(event.requestBody === null ? {} : { body: event.requestBody }),
      },
      response: { http_code: event.status, headers: headerObject(event.responseHeaders) },
      producer: { modsecurity: '', connector: 'gatehouse', secrules_engine: engineStates[event.mode], components: [] },
      messages: event.messages.map((message) => ({
        message: message.message,
        details: {
          match: message.match,
          reference: '',
          ruleId: String(message.ruleId),
          file: message.file,
          lineNumber: String(message.lineNumber),
          data: message.data,
          severity: message.severity,
          ver: message.ver,
          rev: message.rev,
          tags: message.tags,
          maturity: message.maturity,
          accuracy: message.accuracy,
        },
      })),
    },
    gatehouse: {
      verdict: event.verdict,
      inbound_score: event.inboundScore,
      outbound_score: event.outboundScore,
      site: event.site,
      generation: event.generation,
      phases: event.phases,
      us: event.inspectionUs,
      truncated: event.truncated,
      ...(event.interruption === null ? {} : { interruption: event.interruption }),
      ...(event.error === null ? {} : { error: event.error }),
    },
  });
}

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
        await mkdir(dirname(this.options.path), { recursive: true });
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
        `cannot write ${this.options.path}: ${error instanceof Error ? error.message : String(error)}; ${lines.length} events were dropped, next try in ${retryAfterMs / 1000} s`,
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
