// Makes an empty embedded database in the directory given and ends; started by create-embedded.ts.
import { PGlite } from '@electric-sql/pglite';

const directory = process.argv[2];
if (directory === undefined) throw new Error('usage: create-embedded-process DIRECTORY');
// nobody would use what is made for a server that is gone
process.once('disconnect', () => process.exit(1));
const db = await PGlite.create({ dataDir: directory });
await db.close();
process.exit(0);
