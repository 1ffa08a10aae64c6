// Files that the product writes are for its user and its group: logs quote requests, settings name inner addresses,
// artifacts hold the owner's rules.
import { chmodSync, statSync } from 'node:fs';
import { isSystemError } from '../refusal.js';

/** Nobody else may read, and the group may not write: files 0640 and directories 0750, or less. */
const closedBits = 0o027;

/**
 * From here on whatever this process and its children create is closed to others. A stricter mask of whoever started
 * it stays.
 */
export function createPrivately(): void {
  const before = process.umask(closedBits);
  process.umask(before | closedBits);
}

/**
 * Closes a directory that an older release left open, and so everything below it. Leaves alone what is not there and
 * what belongs to somebody else.
 */
export function closeDirectory(path: string): void {
  try {
    const { mode } = statSync(path);
    if ((mode & closedBits) !== 0) chmodSync(path, mode & 0o7777 & ~closedBits);
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}
