// @ts-check
// What the files of bin/ share: the way from what runs before anything is built to what is built.
import { existsSync } from 'node:fs';

/**
 * Loads a module of build/. Where there is none, `who` says so and the process ends with 1.
 * @param {string} path below build/
 * @param {string} who begins the message
 * @param {string} [fused] the same below build/, put together (fuse.mjs); taken where it is there
 * @returns {Promise<any>} the module; the caller knows its type
 */
export async function loadBuilt(path, who, fused) {
  for (const wanted of [fused, path]) {
    const file = wanted === undefined ? null : new URL(`../build/${wanted}`, import.meta.url);
    if (file !== null && existsSync(file)) return import(file.href);
  }
  console.error(`${who}: nothing is built yet; run \`make setup\` (or \`node bin/build.mjs\`) first.`);
  process.exit(1);
}
