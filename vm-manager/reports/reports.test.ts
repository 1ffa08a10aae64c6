// The Attack Chains and Toxic Combinations report: what it says, in each form, and through the API on both databases.
import { inflateSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { application, engineOf, examples, finding } from '../chains/testing/build.js';
import { chainReport } from './chain-report.js';
import { toPdf } from './pdf.js';
import { toCsv, toHtml, toJson, toSection } from './render.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const about = { title: 'Attack Chains and Toxic Combinations', scope: 'The organisation', now: new Date(0) };

const apps = Array.from({ length: 60 }, (_, index) =>
  application(String(index), {
    projectId: null,
    name: index === 59 ? '=cmd|<script>"x"</script>' : `App ${index}`,
    environment: index === 58 ? 'prod' : 'staging',
    criticality: null,
  }),
);
const ranked = engineOf(
  apps,
  apps.flatMap(({ id }) => [
    finding(`${id}e`, { ...examples.entry, applicationId: id, riskScore: Number(id) + 10, reachable: true }),
    finding(`${id}i`, { cwe: 639, applicationId: id, riskScore: 1, exploitConfirmed: id === '0' }),
  ]),
).read();
const report = chainReport(ranked, about);

t.test('R report: the figures count all, the table has the top fifty by score with its tint', (t) => {
  t.strictSame(Object.keys(report.kpis), ['total_chains', 'toxic_combinations', 'danger_chains', 'max_chain_risk']);
  t.match(report.kpis, { total_chains: 60, toxic_combinations: 0, danger_chains: 1, max_chain_risk: Number });
  t.equal(report.chains.length, 50);
  t.notOk(
    report.chains.some((row) => row.application === 'App 0'),
    'proof does not bring a chain into the report',
  );
  const scores = report.chains.map(({ score }) => score);
  t.strictSame(
    scores,
    [...scores].sort((one, other) => other - one),
  );
  for (const { tint, score, application: name } of report.chains)
    t.equal(tint, name === 'App 58' ? 'critical' : score >= 60 ? 'high' : score >= 35 ? 'medium' : 'low');
  t.equal(new Set(report.chains.map(({ tint }) => tint)).size, 4, 'all tints are seen');
  t.match(report.chains[0], { kind: 'kill-chain', stage_path: 'Entry → Impact', name: /^Entry → Impact on / });
  t.end();
});

t.test('R report: JSON, CSV and HTML say the same, and what a finding says is escaped', async (t) => {
  t.strictSame(JSON.parse(toJson(report)), report);
  const lines = toCsv(report).trimEnd().split('\r\n');
  t.equal(lines.length, 51);
  t.equal(lines[0], 'Severity,Chain,Kind,Application,Stage path,Score');
  t.ok(
    lines.some((line) => line.includes('"\'=cmd')),
    'no formula',
  );
  const html = toHtml(report);
  t.equal(html.match(/<tr class="(critical|high|medium|low)">/g)?.length, 50);
  t.notOk(html.includes('<script>'));
  for (const label of ['Total chains', 'Toxic combinations', 'Danger chains', 'Max chain risk'])
    t.ok(html.includes(label));
  t.equal(toHtml(report), html, 'the same bytes');
  t.ok(toSection(chainReport(engineOf([], []).read(), about)).includes('No chains.'));
});

/** The texts of a PDF's pages: hexadecimal strings in deflated streams. */
function textOf(pdf: Buffer): string {
  const pieces: string[] = [];
  for (let at = pdf.indexOf('stream\n'); at >= 0; at = pdf.indexOf('stream\n', at + 7)) {
    if (pdf.subarray(at - 3, at).toString() === 'end') continue;
    const end = pdf.indexOf('endstream', at);
    const content = inflateSync(pdf.subarray(at + 7, end)).toString('latin1');
    for (const [, hex] of content.matchAll(/<([0-9a-f]+)>/g))
      pieces.push(Buffer.from(hex ?? '', 'hex').toString('latin1'));
  }
  return pieces.join('');
}

t.test('R report: PDF has every row, and the same report gives the same bytes', async (t) => {
  const pdf = await toPdf(report);
  t.equal(pdf.subarray(0, 5).toString(), '%PDF-');
  t.ok(pdf.equals(await toPdf(report)));
  const text = textOf(pdf);
  for (const row of report.chains) t.ok(text.includes(row.application.slice(0, 5)), row.application);
  t.ok(text.includes('Max chain risk: '));
  t.ok(textOf(await toPdf(chainReport(engineOf([], []).read(), about))).includes('No chains.'));
});

async function reports(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const call = (method: string, path: string, body?: unknown, who = token) =>
    at.call(method, `/api/v1${path}`, { token: who, body });
  const made = async (path: string, body: object): Promise<string> =>
    String((await call('POST', path, body)).body['id']);
  const project = await made('/projects', { name: 'p' });
  const [one, two] = [
    await made('/applications', { name: 'One', environment: 'prod', project_id: project, tags: ['web'] }),
    await made('/applications', { name: 'Two', environment: 'prod', project_id: project }),
  ];
  for (const [id, cwe] of [
    [one, 'CWE-918'],
    [one, 'CWE-78'],
    [two, 'CWE-89'],
    [two, 'CWE-639'],
  ])
    await made('/vulnerabilities', { application_id: id, cwe: [cwe], title: 'x', severity: 'high', reachable: true });
  const build = async (body: object, who = token) => call('POST', '/reports', { format: 'json', ...body }, who);
  const content = async (body: object) => {
    const { body: row } = await build(body);
    return (await call('GET', `/reports/${String(row['id'])}/download`)).body;
  };

  await t.test('R scope: one application when the scope resolves to exactly one, else the organisation', async (t) => {
    const whole = { scope: 'The organisation', kpis: { total_chains: 3 } };
    t.match(await content({}), whole);
    t.match(await content({ scope: { project_id: project } }), whole);
    t.match(await content({ scope: { application_id: one } }), {
      scope: 'The application One',
      kpis: { total_chains: 2 },
    });
    t.match(await content({ scope: { tag: 'web' } }), { scope: 'The application One' });
    t.match(await content({ scope: { tag: 'none' } }), whole);
    t.match(await build({ scope: { application_id: '999999' } }), { status: 404, body: { detail: String } });
    t.match(await build({ format: 'docx' }), { status: 422, body: { detail: String } });
    t.match(await build({ sections: ['x'] }), { status: 422 });
  });

  await t.test('R formats, preview, list, deletion; others do not read what somebody built', async (t) => {
    const viewer = await at.user('viewer');
    for (const [format, type] of [
      ['html', /text\/html/],
      ['csv', /text\/csv/],
      ['pdf', /application\/pdf/],
      ['json', /application\/json/],
    ] as const) {
      const row = await build({ format, title: `As ${format}` });
      t.match(row, { status: 201, body: { format, title: `As ${format}`, status: 'succeeded' } });
      const file = await call('GET', `/reports/${String(row.body['id'])}/download`);
      t.equal(file.status, 200);
      t.match(String(file.headers['content-type']), type);
      t.match(String(file.headers['content-disposition']), `.${format}"`);
    }
    const preview = await call('POST', '/reports/preview', { section: 'attack-chains' });
    t.match(preview, { status: 200, text: /Max chain risk/ });
    t.match((await call('GET', '/reports/sections')).body, { items: [{ name: 'attack-chains' }] });
    const list = (await call('GET', '/reports?limit=1')).body;
    t.match(list, { limit: 1, items: [{ title: 'As json' }] });
    const [{ id }] = list['items'] as [{ id: string }];
    t.equal((await call('GET', `/reports/${id}`, undefined, viewer.token)).status, 200, 'a viewer sees everything');
    const person = await at.user('operator');
    await call('PUT', `/rbac/grants/${person.id}`, {
      items: [{ scope: 'application', scope_id: one, role: 'auditor' }],
    });
    t.equal((await call('GET', `/reports/${id}`, undefined, person.token)).status, 404);
    t.match((await call('GET', '/reports', undefined, person.token)).body, { total: 0 });
    t.equal((await call('DELETE', `/reports/${id}`)).status, 204);
    t.equal((await call('GET', `/reports/${id}/download`)).status, 404);
  });
}

void onBothDatabases(t, 'vm reports', reports);
