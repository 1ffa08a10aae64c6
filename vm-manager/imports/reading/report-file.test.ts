// The large list of a document, read in pieces, is what JSON.parse makes of the whole.
import fc from 'fast-check';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { parseElement, readAround, type ReportFile } from './report-file.js';

const seed = Number(process.env['SEED'] ?? 22);
const path = ['runs', '*', 'results', '*'];

async function inFile<T>(text: string, use: (file: ReportFile) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'report-file-'));
  try {
    await writeFile(join(folder, 'report'), text);
    return await use({ path: join(folder, 'report'), bytes: Buffer.byteLength(text) });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function elementsOf(file: ReportFile): Promise<readonly unknown[]> {
  const { rest, elements } = await readAround(file, path);
  const found: unknown[] = [];
  for await (const some of elements()) for (const { at, text } of some) found.push([...at, parseElement(text, 'it')]);
  return [rest, found];
}

/** Lengths around the 65,536 bytes that are read at once, and letters of several bytes that lie across them. */
const result = fc.record({
  a: fc.oneof(
    fc.string(),
    fc.constant('"]},{\\'),
    fc.nat(70_000).map((length) => 'ä'.repeat(length)),
  ),
  b: fc.jsonValue({ maxDepth: 3 }),
});
const runs = fc.array(fc.record({ results: fc.array(fc.oneof(result, fc.jsonValue({ maxDepth: 2 }))), tool: result }));

t.test('elements and what is around them are those of the document', async (t) => {
  await fc.assert(
    fc.asyncProperty(runs, fc.constantFrom(undefined, 1, '\t'), fc.boolean(), async (list, indent, hasMark) => {
      const text =
        (hasMark ? '\ufeff' : '') + JSON.stringify({ version: 1, runs: list, results: [1, 2] }, null, indent);
      const document = JSON.parse(text.replace('\ufeff', '')) as { runs: { results: unknown[] }[] };
      const elements = document.runs.flatMap((run, n) => run.results.map((one, index) => [n, index, one]));
      for (const run of document.runs) run.results = [];
      t.strictSame(await inFile(text, elementsOf), [document, elements]);
    }),
    { numRuns: 60, seed },
  );
});

t.test('what is no JSON, or too much, is refused with the place', async (t) => {
  const many = (count: number): string => `{"runs":[{"results":[${'1,'.repeat(count - 1)}1]}]}`;
  for (const [what, text, wanted] of [
    [
      'a list that does not end',
      '{"runs":[{"results":[{"a":1}',
      { code: 'malformed_request', message: /ends in the middle/ },
    ],
    ['brackets that do not fit', '{"runs":[{"results":[1}]}', { code: 'malformed_request', message: /brackets/ }],
    [
      'an element that is no JSON',
      '{"runs":[{"results":[nope]}]}',
      { code: 'malformed_request', message: /^it is no JSON/ },
    ],
    ['more than any import takes', many(200_001), { code: 'body_too_large', message: /more than 200000 results/ }],
  ] as const)
    await t.rejects(inFile(text, elementsOf), wanted, what);
  t.equal(((await inFile(many(200_000), elementsOf))[1] as unknown[]).length, 200_000);
});
