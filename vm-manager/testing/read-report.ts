// A report read without a database: its records as its importer makes them, and what it says of itself.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { findFormat } from '../imports/formats/index.js';
import { inUtf8 } from '../imports/reading/encoding.js';
import { provingAbsence } from '../imports/kinds/faults.js';
import { severalAtOnce, type Item, type ReportFacts } from '../imports/record.js';

export const bytesMax = 1024 * 1024;

export interface Read {
  readonly format: string;
  readonly items: readonly Item[];
  readonly facts: ReportFacts;
}

/** Throws what the importer throws; a file is there until the test has ended. */
export async function read(t: Test, given: unknown, name = 'auto'): Promise<Read> {
  const folder = await mkdtemp(join(tmpdir(), 'unusual-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const bytes = Buffer.isBuffer(given)
    ? given
    : Buffer.from(typeof given === 'string' ? given : JSON.stringify(given), 'utf8');
  const path = join(folder, 'report');
  await writeFile(path, bytes);
  const file = await inUtf8({ path, bytes: bytes.length }, bytesMax);
  const format = await findFormat(name, file);
  const facts: ReportFacts = {
    tool: '',
    version: '',
    complete: true,
    inventory: null,
    scannedAt: null,
    components: null,
  };
  const items: Item[] = [];
  for await (const some of provingAbsence(severalAtOnce(format.read(file, facts)), facts)) items.push(...some);
  return { format: format.name, items, facts };
}
