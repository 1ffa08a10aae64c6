// Which built test files a run takes.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Suites that start whole planes or run whole corpora. */
const slow = /(^|\/)(e2e|bench)\/|(agreement|corpus|regression|wire)[^/]*\.test\.js$/;
export const isSlow = (file: string): boolean => slow.test(file);
/** Tests that start databases, planes or the whole control plane say so by what they import, or by what they start. */
const slowImports = [
  /testing\/(?:databases|database-templates|app|rule-set|data-plane|change-road|processes\/[\w-]+)(?:\.js)?["']/,
  /\be2e\/(?:harness|stack|real-rules|real-servers)\.js["']|\.contract\.js["']|PGlite/,
];
/** Those that take long ask for the time: tap's own limit is thirty seconds. */
const asksForTime = /^(?:t|root|tap)\.setTimeout\(/m;
const isQuick = (file: string, text: string): boolean =>
  !isSlow(file) && !asksForTime.test(text) && !slowImports.some((words) => words.test(text));
/** They try cases that are drawn with a seed. */
const seeded = /process\.env\W+SEED/;

export interface Selection {
  /** A file is taken when its path contains one of them; none = all files. */
  readonly words: readonly string[];
  readonly quick: boolean;
  readonly seeded: boolean;
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(directory, entry.name);
      return entry.isDirectory() ? filesBelow(path) : [path];
    })
    .sort();
}

/** Every script of build/, relative to the root. */
export function builtFiles(root: string): string[] {
  return filesBelow(join(root, 'build'))
    .filter((file) => file.endsWith('.js'))
    .map((file) => relative(root, file));
}

export function selectTests(root: string, selection: Selection): string[] {
  const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');
  return builtFiles(root)
    .filter((file) => file.endsWith('.test.js'))
    .filter((file) => selection.words.length === 0 || selection.words.some((word) => file.includes(word)))
    .filter((file) => !selection.quick || isQuick(file, textOf(file)))
    .filter((file) => !selection.seeded || seeded.test(textOf(file)));
}
