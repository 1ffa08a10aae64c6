// Compiled Hyperscan databases on disk, one file per content key. Safe with several processes: files are written under a
// temporary name and renamed; a damaged one is refused by the loader's checksum and compiled again.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CompileCache } from '../plan/database-compiler.js';

export function createFileCache(directory: string): CompileCache {
  mkdirSync(directory, { recursive: true });
  return {
    find(key) {
      try {
        return readFileSync(join(directory, key));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
        throw error;
      }
    },
    keep(key, bytes) {
      const path = join(directory, key);
      const temporary = `${path}.${process.pid}.tmp`;
      writeFileSync(temporary, bytes);
      renameSync(temporary, path);
    },
  };
}
