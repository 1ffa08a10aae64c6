// Which built test files a run takes.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Suites that start whole planes or run whole corpora. */
const slow = /(^|\/)(e2e|bench)\/|(agreement|corpus|regression|wire)[^/]*\.test\.js$/;
export const isSlow = (file: string): boolean => slow.test(file);
/** Tests that start databases or the whole control plane say so by what they import. */
const slowImports = /testing\/(databases|app|rule-set)\.js|PGlite/;
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
    .filter((file) => !selection.quick || !(isSlow(file) || slowImports.test(textOf(file))))
    .filter((file) => !selection.seeded || seeded.test(textOf(file)));
}
