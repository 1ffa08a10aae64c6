// Which files of the data directory are backed up: all but what is made anew (caches, logs), what is elsewhere in the
// backup (the database), and artifacts that no version needs. A file that a later release adds is included without a
// row here.
import { copyFile, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Directories and files at the top of the data directory that are left out, with the reason. */
const leftOut: Readonly<Record<string, string>> = {
  db: 'the database is backed up as tables',
  'db.lock': 'names a process',
  cache: 'compiled automata, made anew',
  log: 'logs of this machine',
  backups: 'backups themselves',
  'current.json': 'what one node serves; the control plane sends it again',
  'control-plane.json': 'since when one node has a control plane',
  serving: 'names a process',
  '.release': 'what an installer of earlier releases noted about this machine',
  '.announced': 'the same',
  '.seeded': 'the same',
};
/** The environment file may lie here, and older ones beside it: secrets travel sealed only. */
const environment = /\.env(?:\.|$)/;
const temporary = /^db\.|\.(?:part|partial|tmp|lock)$|^snapshot-/;

/** Paths below `directory`, with `/`, in alphabetical order. `artifacts`: hashes of those that a version needs. */
export async function listFiles(directory: string, artifacts: ReadonlySet<string>): Promise<string[]> {
  const found: string[] = [];
  const walk = async (below: string): Promise<void> => {
    const entries = await readdir(join(directory, below), { withFileTypes: true }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return [];
        throw error;
      },
    );
    for (const entry of entries) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (below === '' && Object.hasOwn(leftOut, entry.name)) continue;
      if (temporary.test(entry.name) || environment.test(entry.name)) continue;
      if (below === 'artifacts' && !artifacts.has(entry.name)) continue;
      if (entry.isDirectory()) await walk(path);
      else if (entry.isFile()) found.push(path);
    }
  };
  await walk('');
  return found.sort();
}

const keyBytesMax = 1024 * 1024;

/** Whether a file has a private key in it (PEM, RFC 7468): that is a secret as those of the environment are. */
export async function hasPrivateKey(file: string): Promise<boolean> {
  const { size } = await stat(file);
  return size <= keyBytesMax && /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(await readFile(file, 'latin1'));
}

/** Copies with directories; false where the file is gone meanwhile. */
export async function copyInto(from: string, to: string): Promise<boolean> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  try {
    if (!(await stat(from)).isFile()) return false;
    await copyFile(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
