// Compiled Hyperscan databases on disk, one file per content key. Safe with several processes and threads: files are
// written under a temporary name and renamed. Each file begins with the SHA-256 of its content: a damaged one (a full
// disk, a cut copy) is a miss and is compiled again. Without that its bytes would be signed into an artifact, refused
// at every load and rebuilt by every data plane.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import type { CompileCache } from '../plan/database-compiler.js';

const sumBytes = 32;
/** Names the layout: a process of another release never takes this one's bytes for its own. */
const suffix = '.sum';

function sumOf(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

export function createFileCache(directory: string): CompileCache {
  mkdirSync(directory, { recursive: true });
  return {
    find(key) {
      try {
        const stored = readFileSync(join(directory, key + suffix));
        const content = stored.subarray(sumBytes);
        return stored.length >= sumBytes && sumOf(content).equals(stored.subarray(0, sumBytes)) ? content : null;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
        throw error;
      }
    },
    keep(key, bytes) {
      const path = join(directory, key + suffix);
      const temporary = `${path}.${process.pid}.${threadId}.tmp`;
      writeFileSync(temporary, Buffer.concat([sumOf(bytes), bytes]));
      renameSync(temporary, path);
    },
  };
}
