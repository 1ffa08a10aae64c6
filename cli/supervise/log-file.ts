// The log of a child that `up` supervises. Written synchronously: nobody waits for this process, and what was said last
// is on disk when the child has ended.
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

const bytesMax = 50_000_000; // beyond, it is set aside as `.1`, and the one before is gone
const retryAfterMs = 5_000; // a full disk does not empty in a millisecond

/**
 * A disk that is full or away loses lines, never the child: one whose output nobody reads would stand still at its next
 * line. `say` hears once that lines are lost, and once that they are written again.
 */
export class LogFile {
  constructor(path, say, limits = {}) {
    Object.assign(this, {
      path,
      say,
      bytesMax,
      retryAfterMs,
      ...limits,
      file: null,
      bytes: 0,
      isLosing: false,
      waitsUntilMs: 0,
    });
  }

  write(chunk) {
    if (performance.now() < this.waitsUntilMs) return;
    try {
      if (this.file !== null && this.bytes > this.bytesMax) this.close();
      if (this.file === null) this.open();
      for (let at = 0; at < chunk.length; ) at += writeSync(this.file, chunk, at);
      this.bytes += chunk.length;
      if (this.isLosing) this.say(`${this.path} can be written again`);
      this.isLosing = false;
    } catch (error) {
      if (error?.syscall === undefined) throw error;
      if (!this.isLosing)
        this.say(`${this.path} cannot be written (${error.code}); what goes there is lost until it can`);
      this.isLosing = true;
      this.waitsUntilMs = performance.now() + this.retryAfterMs;
      this.close();
    }
  }

  open() {
    mkdirSync(dirname(this.path), { recursive: true });
    if (existsSync(this.path) && statSync(this.path).size > this.bytesMax) renameSync(this.path, `${this.path}.1`);
    this.file = openSync(this.path, 'a');
    this.bytes = fstatSync(this.file).size;
  }

  close() {
    if (this.file !== null) closeSync(this.file);
    this.file = null;
  }
}
