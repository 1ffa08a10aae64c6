// What a fresh process would translate again: every regular expression of the rule set, for RE2 and for the automata
// (half of a compile that finds its automata in the cache). The translations lie in one entry of that cache, whose
// checksum makes a damaged one a miss. Its key names whatever they depend on besides the pattern: the code that
// translates, the release of RE2 that accepted them, Node.js. A pattern that is not in the cache is translated and
// tried as ever, so the worst that a missing cache costs is time.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { useAcceptedForms, type AcceptedForms } from '#engine/compile';
import type { CompileCache } from '../plan/database-compiler.js';
import { useWrittenPatterns, type WrittenPattern } from '../plan/patterns.js';

type Forms = Parameters<AcceptedForms['keep']>[1];
interface Page {
  readonly forms: Record<string, Forms>;
  readonly patterns: Record<string, WrittenPattern>;
}

/** New translations that are worth writing the entry again (2 MB); a few custom rules are translated in no time. */
const newMin = 16;
/** Rule sets come and go: an entry larger than this is begun anew. */
const pageBytesMax = 16 * 1024 * 1024;

/** One hash over all scripts and packages among `files` and directly in `folders`. Takes 2 ms. */
export function versionOf(folders: readonly string[], files: readonly string[]): string {
  const hash = createHash('sha256').update(`${process.version} ${process.arch}\n`);
  const all = [
    ...folders.flatMap((folder) =>
      readdirSync(folder)
        .sort()
        .map((name) => join(folder, name)),
    ),
    ...files,
  ];
  for (const path of all)
    if (/\.(?:js|json)$/.test(path)) hash.update(`${basename(path)}\n`).update(readFileSync(path));
  return hash.digest('hex');
}

/** Of this build and the RE2 installed beside it. */
function translationVersion(): string {
  const build = fileURLToPath(new URL('../..', import.meta.url)); // this file runs from build/compiler/disk/
  const re2 = join(dirname(createRequire(import.meta.url).resolve('re2')), 'package.json');
  return versionOf(
    [join(build, 'engine/regex')],
    [join(build, 'engine/native/re2-pattern.js'), join(build, 'compiler/plan/patterns.js'), re2],
  );
}

export interface PatternCache {
  /** Writes what came to it, if that is worth it. */
  close(): void;
}

/** Opens the cache for this thread: translations are taken from it and go into it until it is closed. */
export function openPatternCache(cache: CompileCache, version = translationVersion()): PatternCache {
  const key = createHash('sha256').update(`patterns ${version}`).digest('hex');
  const page = readPage(cache.find(key));
  let added = 0;
  const store = <T>(entries: Map<string, T>) => ({
    find: (name: string): T | null => entries.get(name) ?? null,
    keep(name: string, entry: T): void {
      added += 1;
      entries.set(name, entry);
    },
  });
  const forms = new Map(Object.entries(page.forms));
  const patterns = new Map(Object.entries(page.patterns));
  useAcceptedForms(store(forms));
  useWrittenPatterns(store(patterns));
  return {
    close() {
      useAcceptedForms(null);
      useWrittenPatterns(null);
      if (added < newMin) return;
      cache.keep(
        key,
        Buffer.from(
          JSON.stringify({ forms: Object.fromEntries(forms), patterns: Object.fromEntries(patterns) } satisfies Page),
          'latin1',
        ),
      );
    },
  };
}

function readPage(bytes: Uint8Array | null): Page {
  if (bytes === null || bytes.length > pageBytesMax) return { forms: {}, patterns: {} };
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')) as Page;
}
