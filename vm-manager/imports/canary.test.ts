// A secret in every text of a report of every format: no table and no answer has it afterwards. Identities stay, also
// of rows from before.
import { createHash, randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { dump, holds, infect, infectedText } from '../testing/canary.js';
import { Client } from '../testing/import-client.js';
import { others } from '../testing/reports-of-tools.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const secret = (): string => `ghp_${randomBytes(18).toString('hex')}`;

const leaky = (canary: string, root = '') => ({
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'checker', rules: [{ id: 'r', shortDescription: { text: 'Rule' } }] } },
      results: ['a.ts', 'b.ts'].map((path) => ({
        ruleId: 'r',
        message: { text: `found ${canary}` },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: `${root}${path}` },
              region: { startLine: 3, snippet: { text: `const token = "${canary}";` } },
              contextRegion: { snippet: { text: canary } },
            },
          },
        ],
        fixes: [{ description: { text: `remove ${canary}` } }],
        codeFlows: [
          {
            threadFlows: [
              {
                locations: [
                  {
                    location: {
                      physicalLocation: {
                        artifactLocation: { uri: `x/${canary}` },
                        region: { startLine: 1, snippet: { text: canary } },
                      },
                    },
                  },
                ],
              },
            ],
          },
        ],
      })),
    },
  ],
});

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const { sql } = database;

  await t.test('Q5: no table and no way out has a secret of any importer', async (t) => {
    const canary = secret();
    const reports: [string, unknown][] = [['sarif', leaky(canary)]];
    for (const [name, [report]] of Object.entries(others))
      reports.push([name, typeof report === 'string' ? infectedText(report, canary) : infect(report, canary)]);
    reports.push([
      'csv',
      `title,severity,description,file,note\nfound ${canary},high,see ${canary},a/${canary}.ts,${canary}\n`,
    ]);
    reports.push([
      'gitleaks',
      [
        {
          RuleID: 'x',
          Secret: 'p4ss-w0rd.long',
          Match: 'k=p4ss-w0rd.long',
          File: 'a',
          Description: 'it is p4ss-w0rd.long',
          Tags: ['p4ss-w0rd.long'],
          Commit: 'p4ss-w0rd.long',
        },
      ],
    ]);
    let taken = 0;
    for (const [format, report] of reports) {
      const app = await client.application();
      const preview = await client.send(app, report, { format }, '/imports/preview');
      const done = await client.send(app, report, { format });
      taken += done.status === 202 ? 1 : 0;
      t.equal(done.status, 202, `${format}: ${JSON.stringify(done.body).slice(0, 300)}`);
      t.ok(done.body['report']?.['created'] > 0, `${format} makes findings`);
      holds(t, JSON.stringify([preview, done, await client.findings(app)]), canary, format);
    }
    t.equal(taken, reports.length);
    const all = await dump(sql);
    holds(t, all, canary, 'the database');
    holds(t, all, 'p4ss-w0rd.long', 'the database');
    const hashed = createHash('sha256').update('p4ss-w0rd.long').digest('hex');
    holds(t, all, hashed, 'the database, of the digest without a key');
    for (const format of ['csv', 'json', 'sarif'])
      holds(t, (await client.call('GET', `/findings/export?format=${format}`)).text, canary, `the export as ${format}`);
    holds(
      t,
      (await client.call('GET', `/findings?q=${canary}`)).text.replaceAll(`q=${canary}`, ''),
      canary,
      'the search',
    );
  });

  await t.test('Q5: what cannot be read does not quote a secret', async (t) => {
    const canary = secret();
    const app = await client.application();
    for (const [format, text] of [
      ['sarif', `{"version":"2.1.0","runs":[{"results":[{"x":"${canary}" "y"}]}]}`],
      ['semgrep', `{"results": ${canary}}`],
      ['gitleaks', `[{"a":${canary}}]`],
      ['csv', `title,severity\n"${canary}"x,high\n`],
      ['zap-xml', `<a><${canary}></b></a>`],
    ] as const) {
      const { status, body } = await client.send(app, text, { format });
      t.ok(status >= 400, `${format}: ${status}`);
      holds(t, JSON.stringify(body), canary.slice(4, 14), format);
    }
  });

  await t.test('Q5: the same leak stays the same finding, also one from before', async (t) => {
    const canary = secret();
    const app = await client.application();
    const other = await client.application();
    for (const one of [app, other]) t.equal((await client.send(one, leaky(canary))).body['report']['created'], 2);
    t.match((await client.send(app, leaky(canary), { mode: 'sync' })).body['report'], {
      created: 0,
      unchanged: 2,
      closed: 0,
    });
    // as the release before has stored it
    const place = (path: string): string[] => ['code', 'r', path, `const token = "${canary}";`, ''];
    for (const path of ['a.ts', 'b.ts']) {
      const hash = oldHash(place(path));
      const [row] = await sql<{ id: number }[]>`
        update vm_findings set is_masked = false, fingerprint = ${hash}, title = ${`leak ${canary}`}
        where application_id = ${app} and location like ${`${path}%`} returning id`;
      t.ok(row !== undefined);
      const id = row?.id ?? 0;
      const location = { kind: 'code', path, line: 3, snippet: `const token = "${canary}";` };
      await sql`
        update vm_occurrences set tool_key = ${hash}, location = ${sql.json(location)}, raw_hash = 'x'
        where finding_id = ${id}`;
      await sql`
        update vm_finding_details set description = ${canary}, location = ${sql.json(location)}
        where finding_id = ${id}`;
    }
    await sql`delete from vm_masked_tables`;
    const problems = [{ at: 'x', detail: `no ${canary}` }];
    await sql`update vm_runs set problems = ${sql.json(problems)} where application_id = ${app}`;
    t.match((await client.send(app, leaky(canary), { mode: 'sync' })).body['report'], {
      created: 0,
      updated: 2,
      closed: 0,
    });
    await at.jobs
      .find(({ name }) => name === 'vm-masking')
      ?.run({ nowMs: at.clock.nowMs, signal: new AbortController().signal });
    holds(t, await dump(sql), canary, 'the database');
  });
}

function oldHash(fields: readonly string[]): string {
  const hash = createHash('sha256').update('v1');
  for (const field of fields) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(Buffer.byteLength(field));
    hash.update(length).update(field);
  }
  return hash.digest('hex');
}

t.test('secrets of reports', (t) => onBothDatabases(t, 'canary', suite));
