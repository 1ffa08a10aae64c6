// A process to be killed: writes rows to the embedded database and reports each acknowledged one to its parent.
import { openEmbedded } from '../../db/client.js';

const directory = process.argv[2];
if (directory === undefined) throw new Error('embedded-writer DIRECTORY');
const database = await openEmbedded(directory);
await database.sql`create table kept (id integer primary key, filler text)`;
for (let id = 1; id <= 100_000; id++) {
  await database.sql`insert into kept values (${id}, ${'x'.repeat(500)})`;
  process.send?.(id);
}
