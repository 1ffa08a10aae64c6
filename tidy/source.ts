// What the checks look at: every text file of the tree, and how its imports and functions are found. A check is a pure
// function from sources to findings; each comes with bad samples (canaries) that it must report, because a check that
// cannot fail is decoration. A finding reads `path:line: what; what to do`.
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

export interface Source {
  readonly path: string; // relative to the root, with "/"
  readonly text: string;
}
export type Check = (sources: readonly Source[]) => string[];

export interface NamedCheck {
  readonly name: string;
  readonly check: Check;
  /** Sources that the check must report, one finding at least each. */
  readonly canaries: readonly (readonly Source[])[];
}

export const source = (path: string, text: string): Source => ({ path, text });

/** Rooms that are transpiled, as bin/build.mjs lists them. */
export const rooms = [
  'settings',
  'engine',
  'compiler',
  'proxy',
  'api',
  'vm-manager',
  'sensor',
  'cli',
  'bench',
  'fixtures',
  'tidy',
  'console',
  'deploy',
] as const;

export const roomOf = (path: string): string => (path.includes('/') ? (path.split('/')[0] ?? '') : '.');
export const lineOf = (text: string, index: number): number => text.slice(0, index).split('\n').length;
export const isCode = (path: string): boolean => /\.(ts|tsx|mjs|cc)$/.test(path);
export const isTest = (path: string): boolean => path.endsWith('.test.ts');

export function isTestTool(path: string): boolean {
  return (
    isTest(path) || /(^|\/)(e2e|testing)\//.test(path) || path.endsWith('.contract.ts') || path.startsWith('tidy/')
  );
}

export function isTypeScript({ path }: Source): boolean {
  return /\.tsx?$/.test(path) && ((rooms as readonly string[]).includes(roomOf(path)) || roomOf(path) === 'console');
}

export interface Import {
  readonly specifier: string;
  readonly line: number;
  readonly isType: boolean;
}

export function importsOf({ text }: Source): Import[] {
  const found: Import[] = [];
  for (const match of text.matchAll(/^(?:import|export)\b([^;'"]*?)\bfrom\s+['"]([^'"]+)['"]/gm)) {
    const clause = match[1] ?? '';
    const names = (/\{([^}]*)\}/.exec(clause)?.[1] ?? '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '');
    const isType = /^\s*type\b/.test(clause) || (names.length > 0 && names.every((name) => name.startsWith('type ')));
    found.push({ specifier: match[2] ?? '', line: lineOf(text, match.index), isType });
  }
  for (const match of text.matchAll(/(?:^import\s+|\bimport\()['"]([^'"]+)['"]/gm))
    found.push({ specifier: match[1] ?? '', line: lineOf(text, match.index), isType: false });
  return found;
}

/** Where a relative import leads, as a source path. */
export function target(from: string, specifier: string): string {
  return normalize(join(dirname(from), specifier)).replace(/\.js$/, '.ts');
}

const skippedFolders = new Set([
  'node_modules',
  'generated',
  'build',
  'data',
  '.git',
  '.tap',
  '.cache',
  'results',
  'dist',
]);
const textual = new RegExp(
  '\\.(ts|tsx|mjs|js|json|md|cc|h|gyp|html|css|sql|conf|lua|sh|yml|yaml|test|txt|data|svg)$' +
    '|^(Makefile|LICENSE|NOTICE|\\.env\\.example|\\.taprc|gatehouse|run)$',
);

/** Every text file below `directory` of the root ('' = all of it). */
export function readTree(directory: string): Source[] {
  return readdirSync(join(root, directory), { withFileTypes: true }).flatMap((entry) => {
    const path = directory === '' ? entry.name : `${directory}/${entry.name}`;
    if (entry.isDirectory()) return skippedFolders.has(entry.name) ? [] : readTree(path);
    const isRead = entry.isFile() && textual.test(entry.name);
    return isRead ? [source(path, readFileSync(join(root, path), 'utf8'))] : [];
  });
}
