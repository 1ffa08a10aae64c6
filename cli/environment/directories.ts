// Where things lie: the checkout, what is written at run time, what of it may be thrown away.
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the checkout: this file runs from build/cli/environment/. */
export const root = resolve(fileURLToPath(new URL('.', import.meta.url)), '../../..');

/** The program that starts every command, for child processes. */
export const program = join(root, 'bin/gatehouse');

/** A path as a person would write it from here: relative inside the checkout, whole outside of it. */
export function shown(path: string): string {
  const inside = relative(root, path);
  return inside.startsWith('..') ? path : inside;
}

/** Everything that is written at run time; GATEHOUSE_DATA moves it. */
export function dataDirectory(): string {
  return resolve(root, process.env['GATEHOUSE_DATA'] || 'data');
}

/** Compiled Hyperscan databases by content. */
export function automataCacheDirectory(): string {
  return join(dataDirectory(), 'cache/automata');
}

/** The folder of corpora that are no part of this repository. */
export function sharedDirectory(): string {
  return resolve(root, process.env['GATEHOUSE_SHARED'] ?? '../shared');
}
