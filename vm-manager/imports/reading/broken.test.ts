// A file that breaks in the middle is refused with its line, whichever reader meets it: never "the server failed", and
// never a request that waits for ever.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client } from '../../testing/import-client.js';
import { readRows } from './csv.js';
import { readLines } from './report-file.js';

const csv = (...rows: string[]): string => ['title,severity', 'A,high', ...rows, ''].join('\n');
const banditHead = 'filename,test_name,test_id,issue_severity,issue_confidence,issue_cwe,issue_text,line_number';
const flawfinderHead =
  'File,Line,Column,DefaultLevel,Level,Category,Name,Warning,Suggestion,Note,CWEs,Context,Fingerprint,RuleId';

/** What is broken → format, file, the words that name the place. */
const broken: readonly (readonly [what: string, format: string, report: string, detail: RegExp])[] = [
  ['a quotation mark in a field', 'csv', csv('A "b" c,high'), /no CSV.*line 3/],
  ['a quotation mark in a field, found out', 'auto', csv('A "b" c,high'), /no CSV.*line 3/],
  ['a quotation mark in the last field', 'csv', csv('A,hi"gh'), /no CSV.*line 3/],
  ['letters behind a quotation', 'csv', csv('"A"b,high'), /no CSV.*line 3/],
  ['a quotation without an end', 'csv', csv('"A,high', 'B,low'), /no CSV.*line \d/],
  ['a field too many', 'csv', csv('A,high,more'), /no CSV.*line 3/],
  ['a field too few', 'csv', csv('A'), /no CSV.*line 3/],
  ['a row that is too long', 'csv', csv(`${'x'.repeat(1_100_000)},high`), /no CSV.*line \d/],
  ['a quotation mark in the head line', 'csv', 'title,seve"rity\nA,high\n', /no CSV.*line 1/],
  ['a column twice', 'csv', 'title,severity,title\nA,high,B\n', /column title twice/],
  ['a quotation mark behind semicolons', 'csv', 'title;severity\nA "b";high\n', /no CSV.*line 2/],
  ['behind the line of Excel', 'csv', 'sep=;\ntitle;severity\nA "b";high\n', /no CSV.*line 3/],
  ['Bandit', 'bandit-csv', `${banditHead}\na.py,n,B1,HIGH,HIGH,x,text "q" x,1\n`, /no CSV.*line 2/],
  ['Flawfinder', 'flawfinder', `${flawfinderHead}\na.c,1,1,4,4,b "x",n,w,s,,CWE-1,c,f,FF1\n`, /no CSV.*line 2/],
  ['XML', 'nmap', '<nmaprun>\n<host></hos>\n</nmaprun>', /no well-formed XML.*2:/],
  ['XML that ends', 'checkstyle', '<checkstyle>\n<file name="a">', /no well-formed XML/],
  ['JSON', 'gitleaks', '[{"RuleID": }]', /no JSON/],
  ['lines of JSON', 'nuclei', '{"template-id":"t","info":{}}\n{"template-id":\n', /Line 2 is no JSON/],
];

void onBothDatabases(t, 'a broken file is refused with its line', async (t, database) => {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const app = await client.application();
  const mapping = { name: 'rows', format: 'csv', fields: { title: 'title', severity: 'severity' } };
  t.equal((await client.call('POST', '/imports/mappings', mapping)).status, 201);
  const all = [...broken, ['a mapping', 'mapping:rows', csv('A "b",high'), /no CSV.*line 3/] as const];
  for (const [what, format, report, detail] of all)
    for (const url of ['/imports', '/imports/preview']) {
      const { status, body } = await client.send(app, report, { format }, url);
      t.match({ status, detail: body['detail'] }, { status: 400, detail }, `${what}, ${url}`);
      t.notMatch(body['detail'], /"q"|xxxx|A "/, `${what}: nothing of the row is repeated`);
    }
  t.strictSame(await client.findings(app), [], 'nothing was kept');
});

t.test('a file that cannot be read ends the reading', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'broken-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const drain = async (rows: AsyncIterable<unknown>): Promise<void> => {
    for await (const row of rows) t.fail(`read ${String(row)}`);
  };
  // a directory can be opened and not read
  await t.rejects(drain(readLines({ path: folder, bytes: 1 })), { code: 'EISDIR' });
  await t.rejects(drain(readLines({ path: join(folder, 'none'), bytes: 1 })), { code: 'ENOENT' });
  await t.rejects(drain(readRows({ path: join(folder, 'none'), bytes: 1 })), { code: 'ENOENT' });
});
