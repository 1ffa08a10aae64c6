// The embedded database is made by a process of its own, which ends: making one leaves half a gigabyte of WebAssembly
// memory behind that no allocator gives back (measured: a process that opens a new database stays at 800 MB, one that
// opens an existing one at 300; in a thread that ends it is 400). It is made beside its place and renamed, so a crash
// on the way leaves nothing that could be taken for a database.
import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { environmentFor } from '#settings/environment';

/** Where `directory` cannot be replaced: it is a mount point, or somebody put a file there. */
const keepsItsPlace = new Set(['EBUSY', 'EXDEV', 'ENOTEMPTY', 'EEXIST', 'EPERM', 'EACCES']);

/** Does nothing when there is a database. Whoever calls holds the lock of `directory`. Throws when none can be made. */
export async function createEmbedded(directory: string): Promise<void> {
  if (existsSync(join(directory, 'PG_VERSION'))) return;
  const place = directory.replace(/\/+$/, '');
  const prefix = `${basename(place)}.new-`;
  for (const name of await readdir(dirname(place)))
    if (name.startsWith(prefix)) await rm(join(dirname(place), name), { recursive: true, force: true, maxRetries: 3 });
  let staged: string | null = null;
  try {
    staged = await mkdtemp(join(dirname(place), prefix));
    await makeIn(staged);
    await rename(staged, place); // over an empty directory
  } catch (error) {
    if (staged !== null) await rm(staged, { recursive: true, force: true });
    // made where it stands, by the thread that opens it: that needs more memory and works as well
    if (!keepsItsPlace.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

function makeIn(directory: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const maker = fork(fileURLToPath(new URL('./create-embedded-process.js', import.meta.url)), [directory], {
      execArgv: [],
      env: environmentFor(null, process.env),
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let said = '';
    maker.stderr?.on('data', (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-2000)));
    maker.once('error', reject);
    maker.once('exit', (code, signal) =>
      code === 0
        ? resolve()
        : reject(new Error(`The embedded database could not be made (${signal ?? code}): ${said.trim()}`)),
    );
  });
}
