// A preview asks the tables only for keys that may be there: it must find each that is, however many others there are.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../testing/import-client.js';
import { KnownKeys, readKnownKeys } from './known-keys.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const report = (tool: string, from: number, to: number, rule = 'r'): Json => ({
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: tool } },
      results: Array.from({ length: to - from }, (_, index) => ({
        ruleId: rule,
        message: { text: `found ${from + index}` },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: `src/${from + index}.ts` },
              region: { startLine: 3 + from + index, snippet: { text: `call(${from + index});` } },
            },
          },
        ],
      })),
    },
  ],
});

t.test('keys that begin otherwise are not asked for', (t) => {
  const [one, other, third] = ['a', 'b', 'c'].map((letter) => letter.repeat(64)) as [string, string, string];
  const known = new KnownKeys(new Set([one.slice(0, 12), third.slice(0, 12)]), new Set());
  t.same(known.amongSightings([third, other, one]), [third, one], 'in their order');
  t.same(known.amongSightings([`${one.slice(0, 12)}${other}`]), [`${one.slice(0, 12)}${other}`], 'alike is maybe');
  t.same(known.amongFindings([one]), []);
  t.same(new KnownKeys(null, null).amongFindings([one]), [one], 'too many: any may be there');
  t.end();
});

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);

  await t.test('all keys of an application are known, and no others', async (t) => {
    const [app, other] = [await client.application(), await client.application()];
    await client.send(app, report('one', 0, 30), {});
    await client.send(app, report('two', 100, 120), {});
    await client.send(other, report('one', 300, 310), {});
    const { sql } = database;
    const rows = await sql<{ scope_key: string; tool_key: string; fingerprint: string }[]>`
      select o.scope_key, o.tool_key, f.fingerprint from vm_occurrences o join vm_findings f on f.id = o.finding_id
      where f.application_id = ${app}`;
    t.equal(rows.length, 50);
    const { scope_key: scopeKey } = rows[0] ?? { scope_key: '' };
    const scope = { applicationId: Number(app), scopeKey };
    const here = rows.filter((row) => row.scope_key === scopeKey).map((row) => row.tool_key);
    const foreign = await sql<{ fingerprint: string }[]>`
      select fingerprint from vm_findings where application_id = ${other}`;
    for (const most of [200_000, 0]) {
      const known = await readKnownKeys(sql, scope, most);
      t.same(known.amongSightings(here), here, `${most}: each sighting`);
      const fingerprints = rows.map((row) => row.fingerprint);
      t.same(known.amongFindings(fingerprints), fingerprints, `${most}: each finding`);
      const strange = foreign.map((row) => row.fingerprint);
      t.equal(known.amongFindings(strange).length, 0, 'none of another application');
    }
  });

  await t.test('a preview says what the import does, also where others have told of it', async (t) => {
    const numbers = ['parsed', 'created', 'updated', 'unchanged', 'duplicates_in_file', 'dropped'];
    const app = await client.application();
    const steps: readonly [string, Json, Json][] = [
      ['new', report('Semgrep', 0, 30), {}],
      ['the same and others', report('Semgrep', 20, 60), {}],
      ['another branch', report('Semgrep', 10, 80), { branch: 'next' }],
      ['another rule', report('Semgrep', 0, 30, 'other'), {}],
      ['another tool', report('Bandit', 0, 30, 'B101'), {}],
    ];
    for (const [what, given, fields] of steps) {
      const preview = await client.send(app, given, fields, '/imports/preview');
      t.equal(preview.status, 200, what);
      const { report: told } = preview.body as { report: Json };
      const { report: done } = (await client.send(app, given, fields)).body as {
        report: Json;
      };
      for (const name of numbers) t.equal(told[name], done[name], `${what}: ${name}`);
    }
    const semgrep = {
      version: '1.2.3',
      errors: [],
      paths: { scanned: [] },
      results: Array.from({ length: 5 }, (_, index) => ({
        check_id: 'r',
        path: `src/${index}.ts`,
        start: { line: 3 + index, col: 1 },
        end: { line: 3 + index, col: 9 },
        extra: { message: `found ${index}`, severity: 'WARNING', lines: 'other text', metadata: {} },
      })),
    };
    const preview = await client.send(app, semgrep, {}, '/imports/preview');
    const { report: told } = preview.body as { report: Json };
    const { report: done } = (await client.send(app, semgrep, {})).body as { report: Json };
    for (const name of numbers) t.equal(told[name], done[name], `another format: ${name}`);
    t.equal(told['created'], 0, 'the findings of another format of the tool are recognised');
  });
}

t.test('known keys', (t) => onBothDatabases(t, 'known-keys', suite));
