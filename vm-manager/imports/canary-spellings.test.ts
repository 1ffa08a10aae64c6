// Every spelling of a secret in the fields of reports that quote code, commands and traffic: after an import no answer,
// no export and no table has it. Texts without a secret come out as they went in.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { ordinaryTexts } from '../secrets/spellings/ordinary.js';
import { code, commands } from '../secrets/spellings/spelled.js';
import { languages, settings } from '../secrets/spellings/spelled-settings.js';
import { dump } from '../testing/canary.js';
import { Client } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

/** The number of the spelling is in the secret, so that a failure names it. */
const secretOf = (n: number): string => `Kite${n}xQ9z`;
const pin = /^[^§]*$/;
const spelled = [...commands, ...settings, ...code, ...languages]
  .filter((spelling) => !pin.test(spelling))
  .map((spelling, n) => spelling.replaceAll('§', secretOf(n)));

const sarif = (texts: readonly string[]) => ({
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'checker', rules: [{ id: 'tainted', shortDescription: { text: 'Tainted call' } }] } },
      results: texts.map((text, n) => ({
        ruleId: 'tainted',
        level: 'error',
        message: { text: 'Tainted call' },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: `src/file-${n}.x` },
              region: { startLine: 3, snippet: { text } },
              contextRegion: { startLine: 2, snippet: { text } },
            },
          },
        ],
      })),
    },
  ],
});
const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const csv = (texts: readonly string[]): string =>
  ['title,severity,description,file', ...texts.map((text, n) => `Finding ${n},high,${cell(text)},src/${n}.x`), ''].join(
    '\n',
  );
const semgrep = (texts: readonly string[]) => ({
  version: '1.0',
  errors: [],
  results: texts.map((lines, n) => ({
    check_id: `rules.check-${n}`,
    path: `src/${n}.py`,
    start: { line: 1, col: 1 },
    end: { line: 1, col: 9 },
    extra: {
      message: 'Tainted',
      severity: 'ERROR',
      lines,
      metadata: {},
      metavars: { $X: { abstract_content: lines } },
    },
  })),
});
const nuclei = (texts: readonly string[]): string =>
  texts
    .map((text, n) =>
      JSON.stringify({
        'template-id': `check-${n}`,
        info: { name: `Check ${n}`, severity: 'high', description: 'Found' },
        type: 'http',
        host: 'http://h.example',
        'matched-at': `http://h.example/${n}`,
        'extracted-results': [text],
        request: `GET / HTTP/1.1\r\nHost: h.example\r\n\r\n${text}`,
        response: `HTTP/1.1 200 OK\r\n\r\n${text}`,
      }),
    )
    .join('\n');

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const reports = { sarif, csv, semgrep, nuclei };
  for (const [format, report] of Object.entries(reports))
    await t.test(`22 Q5: spellings in ${format}`, async (t) => {
      const app = await client.application();
      const done = await client.send(app, report(spelled), { format });
      t.equal(done.status, 202, JSON.stringify(done.body).slice(0, 200));
      t.equal(done.body['report']?.['created'], spelled.length, 'each is a finding');
      const listed = await client.call('GET', `/findings?application_id=${app}&limit=200`);
      const exported = await client.call('GET', `/findings/export?format=json&application_id=${app}`);
      const all = JSON.stringify([done, listed.text]) + exported.text + (await dump(database.sql));
      spelled.forEach((spelling, n) => t.notOk(all.includes(secretOf(n)), spelling));
    });
  await t.test('22 Q5: ordinary texts come out as they went in', async (t) => {
    const app = await client.application();
    const done = await client.send(app, sarif(ordinaryTexts), { format: 'sarif' });
    t.equal(done.body['report']?.['created'], ordinaryTexts.length);
    const stored = await dump(database.sql);
    for (const text of ordinaryTexts)
      t.ok(
        stored.includes(JSON.stringify(JSON.stringify(text).slice(1, -1)).slice(1, -1)) ||
          stored.includes(JSON.stringify(text).slice(1, -1)),
        text,
      );
  });
}

t.test('spellings of secrets', (t) => onBothDatabases(t, 'spellings', suite));
