// Who has the embedded database open: a file beside its directory that names the process. Two engines on one directory
// would destroy it, and a process that was killed must not keep it locked, also where numbers repeat (in a container
// the next life usually has the same one): a process is told by its number, its beginning and its number space.
import { createHash, randomUUID } from 'node:crypto';
import { link, mkdir, readFile, readlink, rm, stat, utimes, writeFile } from 'node:fs/promises';

/**
 * An owner in another container cannot be looked up: it touches the file this often, and counts as gone after several
 * silences.
 */
const touchEveryMs = 3000;
const silenceMsMax = 12_000;

/**
 * Creates the directory and locks it; resolves with the way back. Throws when another process has it, or this one
 * twice.
 */
export async function lockDirectory(directory: string, silenceMs: number = silenceMsMax): Promise<() => Promise<void>> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = `${directory.replace(/\/+$/, '')}.lock`;
  const mine = await describeProcess(process.pid);
  for (let attempt = 0; attempt < 3; attempt++) {
    if (await createWhole(file, mine)) {
      const touching = setInterval(
        () => void utimes(file, new Date(), new Date()).catch(() => undefined),
        touchEveryMs,
      ).unref(); // where the disk refuses, it will be heard of elsewhere
      return async () => {
        clearInterval(touching);
        await rm(file, { force: true });
      };
    }
    const found = await readFile(file, 'utf8').catch(absentAs(null));
    if (found === null) continue; // given back meanwhile
    if (found === mine) throw new Error(`The embedded database ${directory} is already open in this process.`);
    if (await isHeld(file, found, mine, silenceMs))
      throw new Error(
        `The embedded database ${directory} is in use by process ${found.split(' ')[0]}. ` +
          'Stop it, or give this server its own DATA_DIR or a DATABASE_URL.',
      );
    await removeStale(file, found);
  }
  throw new Error(`The lock file ${file} keeps reappearing: two servers are starting on one directory.`);
}

/** `number beginning space`; where the system does not tell the latter two, only the number. */
async function describeProcess(pid: number): Promise<string> {
  const [status, boot, space] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8').catch(absentAs('')),
    readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(absentAs('')),
    readlink('/proc/self/ns/pid').catch(absentAs('')),
  ]);
  // clock ticks since the boot; the name, in brackets, may have spaces
  const beginning = status.slice(status.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  return beginning === '' || boot === '' || space === '' ? String(pid) : `${pid} ${boot.trim()}/${beginning} ${space}`;
}

async function isHeld(file: string, found: string, mine: string, silenceMs: number): Promise<boolean> {
  const [number, , itsSpace] = found.split(' ');
  const ourSpace = mine.split(' ')[2];
  if (itsSpace === undefined || ourSpace === undefined) return isAlive(Number(number));
  if (itsSpace === ourSpace) return (await describeProcess(Number(number))) === found;
  const touchedMs = async (): Promise<number | null> => stat(file).then(({ mtimeMs }) => mtimeMs, absentAs(null));
  const before = await touchedMs();
  await new Promise((resolve) => setTimeout(resolve, silenceMs));
  const after = await touchedMs();
  return after !== null && after !== before;
}

/** Where a file system has no hard links. */
const noLinks = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

/**
 * With its content or not at all: a server that saw it empty would take it for what a crash left. False when there is
 * one.
 */
async function createWhole(file: string, text: string): Promise<boolean> {
  const staged = `${file}.${randomUUID()}`;
  try {
    await writeFile(staged, text, { mode: 0o600 });
    await link(staged, file).catch((error: NodeJS.ErrnoException) => {
      if (!noLinks.has(error.code ?? '')) throw error;
      return writeFile(file, text, { mode: 0o600, flag: 'wx' });
    });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    await rm(staged, { force: true }); // also what a full disk took the name of, and no content
  }
}

/**
 * Of those who find the same stale lock one at a time looks again and removes it: a new lock must not go in its place.
 */
async function removeStale(file: string, stale: string): Promise<void> {
  const turn = `${file}.after-${createHash('sha256').update(stale).digest('hex').slice(0, 16)}`;
  if (!(await createWhole(turn, String(process.pid)))) {
    const holder = await readFile(turn, 'utf8').catch(absentAs(String(process.pid)));
    if (!isAlive(Number(holder))) await rm(turn, { force: true }); // it was killed at it
    return;
  }
  if ((await readFile(file, 'utf8').catch(absentAs(null))) === stale) await rm(file, { force: true });
  await rm(turn, { force: true });
}

const absentAs =
  <T>(value: T) =>
  (error: NodeJS.ErrnoException): T => {
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
