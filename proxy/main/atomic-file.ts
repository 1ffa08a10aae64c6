import { open, rename, rm } from 'node:fs/promises';

/** Written whole or not at all: to a temporary name, flushed, renamed. */
export async function writeAtomically(path: string, bytes: Uint8Array | string): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const file = await open(temporary, 'w', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }); // on a full disk half a file would be in the way of the next
    throw error;
  }
}
