// Records of one report that say the same: the gravest open one counts, whatever their order; rows of a CSV that differ
// in any column are no duplicates. Through POST /imports and the gate.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { adds, Client } from '../testing/import-client.js';

const sarif = (results: readonly object[]) => ({
  version: '2.1.0',
  runs: [{ tool: { driver: { name: 'checker', rules: [{ id: 'R1', properties: { tags: ['security'] } }] } }, results }],
});
const result = (more: object) => ({
  ruleId: 'R1',
  message: { text: 'weak' },
  locations: [{ physicalLocation: { artifactLocation: { uri: 'src/a.js' }, region: { startLine: 3 } } }],
  ...more,
});
const accepted = { suppressions: [{ kind: 'inSource', status: 'accepted' }] };
const csv = (head: string, ...rows: readonly string[]): string => `${[head, ...rows].join('\n')}\n`;
/** More than a batch of other findings. */
const many = Array.from({ length: 600 }, (_, index) => `other ${index},info,b${index}.js,open`);

/** Name → a report in which one finding stands twice, and the severity that counts. */
const twice: Readonly<Record<string, readonly [report: unknown, severity: string]>> = {
  'CSV: fixed, then open': [csv('title,severity,file,status', 'A,high,a.js,fixed', 'A,high,a.js,open'), 'high'],
  'CSV: open, then fixed': [csv('title,severity,file,status', 'A,high,a.js,open', 'A,high,a.js,fixed'), 'high'],
  'CSV: low, then critical': [csv('title,severity,file', 'A,low,a.js', 'A,critical,a.js'), 'critical'],
  'CSV: critical, then low': [csv('title,severity,file', 'A,critical,a.js', 'A,low,a.js'), 'critical'],
  'CSV: low, then critical in another batch': [
    csv('title,severity,file,status', 'A,low,a.js,open', ...many, 'A,critical,a.js,open'),
    'critical',
  ],
  'CSV: fixed, then critical in another batch': [
    csv('title,severity,file,status', 'A,low,a.js,fixed', ...many, 'A,critical,a.js,open'),
    'critical',
  ],
  'SARIF: suppressed, then not': [sarif([result({ level: 'error', ...accepted }), result({ level: 'error' })]), 'high'],
  'SARIF: note, then error': [sarif([result({ level: 'note' }), result({ level: 'error' })]), 'high'],
};

/** Name → a head line, rows that are findings of their own, and how many there are. */
const rows: Readonly<Record<string, readonly [report: string, findings: number]>> = {
  'a column that has no field': [csv('Title,Severity,Widget', 'A,high,one', 'A,high,two'), 2],
  'the name of a file': [csv('Title,Severity,File Name', 'A,high,one.js', 'A,high,two.js'), 2],
  'a resource': [
    csv('Severity,Title,Resource ID,Vulnerability Id', 'high,A,i-1,CVE-2020-1', 'high,A,i-2,CVE-2020-1'),
    2,
  ],
  'a CVE of one plugin': [
    csv(
      'Plugin ID,CVE,Risk,Host,Protocol,Port,Name',
      '1,CVE-2020-1111,High,h1,tcp,443,A',
      '1,CVE-2020-2222,High,h1,tcp,443,A',
    ),
    2,
  ],
  'dates and counts alone': [
    csv('Title,Severity,File,Last Seen,Hit Count', 'A,high,a,2026-01-01,1', 'A,high,a,2026-01-02,2'),
    1,
  ],
};

async function suite(t: Test, client: Client): Promise<void> {
  for (const [name, [report, severity]] of Object.entries(twice))
    await t.test(name, async (t) => {
      const application = await client.application();
      const preview = await client.send(application, report, {}, '/imports/preview');
      adds(t, preview.body['report'] ?? preview.body);
      const { body } = await client.send(application, report, { mode: 'sync', commit: 'c1' });
      adds(t, body['report'] ?? body);
      const found = (await client.call('GET', `/findings?application_id=${application}&severity=${severity}`)).body;
      t.equal(found['total'], 1, 'the gravest open one');
      const gate = await client.call('POST', '/gate/evaluate', { application_id: application, commit: 'c1' });
      t.equal(gate.body['verdict'], 'fail');
      const again = await client.send(application, report, { mode: 'sync', commit: 'c2' });
      adds(t, again.body['report'] ?? again.body);
      const after = (await client.call('GET', `/findings?application_id=${application}&severity=${severity}`)).body;
      t.equal(after['total'], 1, 'and so after the same report');
      t.notMatch(after['items'][0].status, /resolved/);
    });
  await t.test('two reports of one commit do not close what the other found', async (t) => {
    const application = await client.application();
    const send = (report: unknown, commit: string) => client.send(application, report, { mode: 'sync', commit });
    const gate = async (commit: string) =>
      (await client.call('POST', '/gate/evaluate', { application_id: application, commit })).body['verdict'];
    await send(sarif([result({ level: 'error' })]), 'k1');
    for (const other of [sarif([]), sarif([result({ level: 'note', ruleId: 'R2' })])]) {
      const preview = (await client.send(application, other, { mode: 'sync', commit: 'k1' }, '/imports/preview')).body;
      t.match(preview['report'], { closed: 0, unverified_absence: 1 });
      t.match((await send(other, 'k1')).body['report'], { closed: 0, unverified_absence: 1 });
      t.equal(await gate('k1'), 'fail');
    }
    t.match((await send(sarif([]), 'k2')).body['report'], { closed: 2 }, 'another commit may have lost it');
    t.equal(await gate('k2'), 'pass');
  });
  for (const [name, [report, findings]] of Object.entries(rows))
    await t.test(`rows that differ in ${name}`, async (t) => {
      const application = await client.application();
      const { body } = await client.send(application, report, { mode: 'sync', commit: 'c1' });
      t.equal((await client.call('GET', `/findings?application_id=${application}`)).body['total'], findings);
      const again = await client.send(application, report, { mode: 'sync', commit: 'c2' });
      t.equal((again.body['report'] ?? again.body).unchanged, findings, 'the same report changes nothing');
      adds(t, body['report'] ?? body);
    });
}

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

t.test('records that say the same', (t) =>
  onBothDatabases(t, 'same-record', async (t: Test, database: Database) => {
    const at = await startTestApp(database);
    t.teardown(() => at.close());
    await suite(t, new Client(at, (await at.user('admin')).token));
  }),
);
