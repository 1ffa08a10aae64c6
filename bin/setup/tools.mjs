// @ts-check
// What the steps of the set-up share: words for a person, commands, and stamps that say that nothing changed.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(fileURLToPath(new URL('../..', import.meta.url)));

/** @param {string} text */
export function say(text) {
  console.log(`setup: ${text}`);
}

/**
 * Ends the process with a message for a person: what is wrong, then what to do.
 * @param {string[]} lines
 * @returns {never}
 */
export function fail(...lines) {
  console.error(`setup: ${lines.join('\n')}`);
  process.exit(1);
}

/**
 * Runs a command below the root with its output on ours; returns whether it succeeded.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnSyncOptions} [options]
 */
export function run(command, args, options = {}) {
  return spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], ...options }).status === 0;
}

/**
 * The same beside others: resolves with whether it succeeded.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 * @returns {Promise<boolean>}
 */
export function start(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], ...options });
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
}

/**
 * What a command prints; null when it failed.
 * @param {string} command
 * @param {readonly string[]} args
 */
export function quiet(command, args) {
  const outcome = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  return outcome.status === 0 ? outcome.stdout : null;
}

/** @param {string} command */
export function onPath(command) {
  const directories = (process.env['PATH'] ?? '').split(':').filter((directory) => directory !== '');
  return directories.some((directory) => existsSync(join(directory, command)));
}

/**
 * SHA-256 over files (by content) and words; what a step depends on.
 * @param {readonly string[]} files
 * @param {string[]} words
 */
export function digest(files, ...words) {
  const hash = createHash('sha256');
  for (const file of files) {
    const path = join(root, file);
    hash.update(`${file}\0`).update(existsSync(path) ? readFileSync(path) : '');
  }
  for (const word of words) hash.update('\0').update(word);
  return hash.digest('hex');
}

/** @param {string} step */
const stampOf = (step) => join(root, 'node_modules', `.gatehouse-${step}`);

/**
 * Whether a step was done for the same input.
 * @param {string} step
 * @param {string} key
 */
export function isStamped(step, key) {
  return existsSync(stampOf(step)) && readFileSync(stampOf(step), 'utf8') === key;
}

/**
 * @param {string} step
 * @param {string} key
 */
export function stamp(step, key) {
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(stampOf(step), key);
}
