// The bytes of snapshots, a megabyte a row: each statement is short, so that others are served between them also where
// one connection serves everybody.
import { createHash } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sql } from '../database.js';

const partBytes = 1024 * 1024;

async function* partsOf(file: string): AsyncGenerator<Buffer> {
  const handle = await open(file);
  try {
    for (;;) {
      const bytes = Buffer.allocUnsafe(partBytes);
      const { bytesRead } = await handle.read(bytes, 0, partBytes);
      if (bytesRead > 0) yield bytes.subarray(0, bytesRead);
      // a file is read in whole parts but for its last one
      if (bytesRead < partBytes) return;
    }
  } finally {
    await handle.close();
  }
}

export async function sumOf(file: string): Promise<string> {
  const sum = createHash('sha256');
  for await (const part of partsOf(file)) sum.update(part);
  return sum.digest('hex');
}

export async function storeContent(sql: Sql, snapshot: number, file: string): Promise<void> {
  let n = 0;
  for await (const part of partsOf(file)) {
    const text = part.toString('base64');
    await sql`
      insert into vm_snapshot_parts (snapshot_id, n, part) values (${snapshot}, ${n}, decode(${text}, 'base64'))`;
    n++;
  }
}

export interface Fetched {
  readonly file: string;
  discard(): Promise<void>;
}

/** The archive as a private temporary file; null where its bytes are gone or are not what was sent. */
export async function fetchContent(sql: Sql, snapshot: number, sha256: string): Promise<Fetched | null> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-snapshot-'));
  const file = join(directory, 'file');
  const discard = (): Promise<void> => rm(directory, { recursive: true, force: true });
  try {
    const handle = await open(file, 'wx', 0o600);
    const sum = createHash('sha256');
    try {
      for (let n = 0; ; n++) {
        const [row] = await sql<{ part: Uint8Array }[]>`
          select part from vm_snapshot_parts where snapshot_id = ${snapshot} and n = ${n}`;
        if (row === undefined) break;
        sum.update(row.part);
        await handle.write(row.part);
      }
    } finally {
      await handle.close();
    }
    if (sum.digest('hex') === sha256) return { file, discard };
  } catch (error) {
    await discard();
    throw error;
  }
  await discard();
  return null;
}

/** `discard` of a file that several use: the last one removes it. */
export function shared({ file, discard }: Fetched, users: number): Fetched {
  let left = users;
  return { file, discard: async () => (--left === 0 ? discard() : undefined) };
}
