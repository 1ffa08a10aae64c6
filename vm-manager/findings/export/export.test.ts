// Findings as files, on both databases: everything that fits, nothing else, and back through the importer.
import { parse } from 'csv-parse/sync';
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, adds, type Json } from '../../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

async function exported(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const admin = await at.user('admin');
  const client = new Client(at, admin.token);
  const shop = await client.application();
  const write = async (application: string, more: Json): Promise<string> =>
    String((await client.call('POST', '/vulnerabilities', { application_id: application, ...more })).body['id']);
  const formula = '=HYPERLINK("x","y"),\n"two"';
  const hostile = await write(shop, {
    title: formula,
    severity: 'critical',
    cwe: ['CWE-89'],
    location: 'src/ä b.ts:7',
  });
  const closed = await write(shop, { title: 'Not ours', severity: 'low' });
  await client.call('POST', `/vulnerabilities/${closed}/transition`, {
    to: 'false_positive',
    reason: 'test',
    justification: 'component_not_present',
  });
  // more than one read of the database, with a remainder
  await database.sql`
    insert into vm_findings (application_id, title, severity, source, effective_risk, priority_score, fingerprint,
      sla_start, first_seen, last_seen, created_at, updated_at)
    select ${shop}, 'Finding ' || n, n % 5, 'sast', 1, 1, 'f' || n, now(), now(), now(), now(), now()
    from generate_series(1, 2300) n`;
  const file = async (query: string, token = client.token) => {
    const url = `/api/v1/findings/export${query}`;
    const reply = await at.app.inject({ method: 'GET', url, headers: { authorization: `Bearer ${token}` } });
    return { status: reply.statusCode, type: String(reply.headers['content-type']), text: reply.body, reply };
  };

  await t.test('X1: CSV has every finding once, and no cell that a spreadsheet runs', async (t) => {
    const { status, type, text, reply } = await file('');
    t.match({ status, type }, { status: 200, type: 'text/csv; charset=utf-8' });
    t.match(reply.headers['content-disposition'], /^attachment; filename="findings-\d{4}-\d\d-\d\d\.csv"$/);
    const rows = parse<Record<string, string>>(text, { columns: true });
    t.equal(rows.length, 2302);
    t.equal(new Set(rows.map(({ id }) => id)).size, 2302);
    t.match(
      rows.find(({ id }) => id === hostile),
      { title: `'${formula}`, severity: 'critical', cwe: 'CWE-89', status: 'new' },
    );
  });

  await t.test('X1: JSON holds what the list shows, under its filters', async (t) => {
    const all = JSON.parse((await file('?format=json')).text) as Json;
    t.equal(all['items'].length, 2302);
    const some = JSON.parse((await file('?format=json&severity=critical&status=open')).text) as Json;
    const { body } = await client.call('GET', '/findings?severity=critical&status=open&sort=id&limit=500');
    t.same(some['items'], body['items']);
    t.same((JSON.parse((await file('?format=json&q=nothing-of-the-kind')).text) as Json)['items'], []);
  });

  await t.test('X1: SARIF goes back through the importer without loss', async (t) => {
    const { text, type } = await file('?format=sarif');
    t.match(type, /^application\/sarif\+json/);
    const results = (JSON.parse(text) as Json)['runs'][0].results as Json[];
    t.match(
      results.find((one) => one['properties'].finding_id === hostile),
      {
        level: 'error',
        locations: [{ physicalLocation: { artifactLocation: { uri: 'src/%C3%A4%20b.ts' }, region: { startLine: 7 } } }],
      },
    );
    t.match(
      results.find((one) => one['properties'].finding_id === closed),
      { suppressions: [{ justification: 'false_positive' }] },
    );
    const other = await client.application();
    const { body } = await client.send(other, text);
    adds(t, body['report']);
    t.match(body['report'], { parsed: 2302, created: 2301, dropped: 1 }, 'what people set aside is not imported anew');
    const counts = async (application: string) =>
      (await client.call('GET', `/findings/stats?application_id=${application}`)).body['open'];
    t.same(await counts(other), await counts(shop));
  });

  await t.test('X1: whoever sees less gets less; wrong questions', async (t) => {
    const person = await at.user('operator');
    const other = await client.application();
    await write(other, { title: 'Mine', severity: 'high' });
    await client.call('PUT', `/rbac/grants/${person.id}`, {
      confined: true,
      items: [{ scope: 'application', scope_id: other, role: 'developer' }],
    });
    const own = JSON.parse((await file('?format=json', person.token)).text) as Json;
    t.match(own['items'], [{ title: 'Mine' }]);
    t.equal(own['items'].length, 1);
    for (const wrong of ['?format=xlsx', '?severity=x', '?limit=5']) t.equal((await file(wrong)).status, 422, wrong);
    t.equal((await file('', 'apt_wrong')).status, 401);
  });
}
void onBothDatabases(t, 'X1 export of findings', exported);
