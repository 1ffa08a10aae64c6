// Makes an empty embedded database in the directory given and ends; started by create-embedded.ts.
import { setFlagsFromString } from 'node:v8';
import { PGlite } from '@electric-sql/pglite';

// it runs once, for seconds: code by V8's fast compiler of WebAssembly needs 2.8 s of processor time for all of it,
// what the slow one makes on the way 4.7 s
for (const flag of ['--liftoff', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag);

const directory = process.argv[2];
if (directory === undefined) throw new Error('usage: create-embedded-process DIRECTORY');
// nobody would use what is made for a server that is gone
process.once('disconnect', () => process.exit(1));
const db = await PGlite.create({ dataDir: directory });
await db.close();
process.exit(0);
