import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './directories.js';

/** The version of this release. */
export function release(): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}
