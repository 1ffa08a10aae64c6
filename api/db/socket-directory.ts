// Where the unix socket of the embedded database lies: in a directory of its own that only this user enters, in the
// system's temporary directory, because the path of a socket may have about 100 bytes. It goes with the database or
// with the process; what a process that was killed left goes when the next one opens a database.
import { rmSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from './directory-lock.js';

const prefix = 'gatehouse-db-';
const socketName = '.s.PGSQL.5432'; // the name that clients of PostgreSQL expect

export interface SocketDirectory {
  /** Of the socket. */
  readonly path: string;
  remove(): Promise<void>;
}

const mine = new Set<string>();
process.once('exit', () => {
  for (const directory of mine) rmSync(directory, { recursive: true, force: true });
});

export async function makeSocketDirectory(): Promise<SocketDirectory> {
  await sweep();
  const directory = await mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`));
  mine.add(directory);
  return {
    path: join(directory, socketName),
    async remove() {
      mine.delete(directory);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function sweep(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1];
    const directory = join(tmpdir(), name);
    // a process of another container is not among ours, but it listens
    if (pid === undefined || isAlive(Number(pid)) || (await isListening(join(directory, socketName)))) continue;
    await rm(directory, { recursive: true, force: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EACCES' && error.code !== 'EPERM') throw error; // another user's
    });
  }
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    // refused or absent: left by a process that is gone; anything else is not ours to judge
    socket.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'),
    );
  });
}
