// Who has the embedded database open: a file beside its directory that names the process. Two engines on one directory
// would destroy it, and a process that was killed must not keep it locked.
import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';

/** Creates the directory and locks it; resolves with the way back. Throws when another process has it, or this one twice. */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = `${directory.replace(/\/+$/, '')}.lock`;
  for (let attempt = 0; attempt < 3; attempt++) {
    if (await createWhole(file, String(process.pid))) return () => rm(file, { force: true });
    const found = await readFile(file, 'utf8').catch(absentAs(null));
    if (found === null) continue; // given back meanwhile
    const owner = Number(found);
    if (owner === process.pid) throw new Error(`The embedded database ${directory} is already open in this process (or was in one of the same number that was killed: if no other server has it, remove ${file}).`);
    if (isAlive(owner)) throw new Error(`The embedded database ${directory} is in use by process ${owner}. Stop it, or give this server its own DATA_DIR or a DATABASE_URL.`);
    await removeStale(file, found);
  }
  throw new Error(`The lock file ${file} keeps reappearing: two servers are starting on one directory.`);
}

/** Where a file system has no hard links. */
const noLinks = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

/** With its content or not at all: a server that saw it empty would take it for what a crash left. False when there is one. */
async function createWhole(file: string, text: string): Promise<boolean> {
  const staged = `${file}.${randomUUID()}`;
  await writeFile(staged, text, { mode: 0o600 });
  try {
    await link(staged, file).catch((error: NodeJS.ErrnoException) => {
      if (!noLinks.has(error.code ?? '')) throw error;
      return writeFile(file, text, { mode: 0o600, flag: 'wx' });
    });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    await rm(staged, { force: true });
  }
}

/** Of those who find the same stale lock one at a time looks again and removes it: a new lock must not go in its place. */
async function removeStale(file: string, stale: string): Promise<void> {
  const turn = `${file}.after-${Number(stale)}`;
  if (!(await createWhole(turn, String(process.pid)))) {
    const holder = await readFile(turn, 'utf8').catch(absentAs(String(process.pid)));
    if (!isAlive(Number(holder))) await rm(turn, { force: true }); // it was killed at it
    return;
  }
  if ((await readFile(file, 'utf8').catch(absentAs(null))) === stale) await rm(file, { force: true });
  await rm(turn, { force: true });
}

const absentAs = <T>(value: T) => (error: NodeJS.ErrnoException): T => {
  if (error.code !== 'ENOENT') throw error;
  return value;
};

export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
