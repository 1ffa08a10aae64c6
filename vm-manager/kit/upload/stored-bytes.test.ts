import { createHash } from 'node:crypto';
import t from 'tap';
import { onBothDatabases } from '#api/testing/databases';
import { storeBytes } from './stored-bytes.js';

const mib = 1024 * 1024;
const sizes = [0, 1, mib - 1, mib, mib + 1, 2 * mib, 3 * mib + 7];

void onBothDatabases(t, 'bytes are stored as they are, whatever their size', async (t, { sql }) => {
  await sql`create table stored_bytes (size integer, content bytea not null)`;
  t.teardown(() => sql`drop table stored_bytes`);
  const bytesOf = (size: number): Buffer => Buffer.from(Uint8Array.from({ length: size }, (_, at) => (at * 31) >>> 3));
  // several in one transaction: none gets parts of another
  await sql.begin(async (tx) => {
    for (const size of sizes)
      await storeBytes(tx, bytesOf(size), (whole) => tx`insert into stored_bytes values (${size}, ${whole})`);
  });
  const rows = await sql<{ size: number; content: Buffer }[]>`select * from stored_bytes order by size`;
  const sums = (contents: readonly Uint8Array[]): string[] =>
    contents.map((content) => createHash('sha256').update(content).digest('hex'));
  t.same(
    rows.map(({ size }) => size),
    sizes,
  );
  t.same(sums(rows.map(({ content }) => content)), sums(sizes.map(bytesOf)));
});
