// POST /applications/import over HTTP, on both databases: a register as CSV and as JSON, each row by itself.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { exercise } from '../testing/api/examples.js';
import { Client, type Json } from '../testing/import-client.js';
import { rowsMax } from './import.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const project = String((await client.call('POST', '/projects', { name: 'Shop' })).body['id']);
  const other = String((await client.call('POST', '/projects', { name: 'Other' })).body['id']);
  const file = (text: string, fields: Record<string, string> = {}, who = client) =>
    who.at.app
      .inject({
        method: 'POST',
        url: `/api/v1/applications/import?${new URLSearchParams(fields).toString()}`,
        headers: { authorization: `Bearer ${who.token}`, 'content-type': 'text/csv' },
        payload: text,
      })
      .then((reply) => ({ status: reply.statusCode, body: JSON.parse(reply.body) as Json }));
  const rows = (items: unknown[], more: Json = {}, who = client) =>
    who.call('POST', '/applications/import', { items, ...more });
  const counts = async (): Promise<number> => (await client.call('GET', '/applications')).body['total'] as number;

  await t.test('30.applications: a register is taken row by row, and again without a change', async (t) => {
    const csv =
      'external_id,Name,environment,business criticality,project,tags,exposure,cost_centre\n' +
      'cmdb-1,Web,prod,critical,shop,pci;web,internet,7\n' +
      'cmdb-2,Ledger,prod,urgent,Shop,,internal,7\n' +
      'cmdb-3,Lost,prod,low,Nowhere,,internal,7\n' +
      'cmdb-1,Web again,prod,low,Shop,,internal,7\n' +
      ',Plain,test,low,Shop,,internal,7\n';
    const tried = await file(csv, { dry_run: 'true' });
    t.match(tried, { status: 200, body: { dry_run: true, rows: 5, created: 2, refused: 3 } });
    t.equal(await counts(), 0, 'a dry run changes nothing');
    const made = await file(csv);
    t.match(made.body, { dry_run: false, created: 2, updated: 0, refused: 3, ignored_columns: ['cost_centre'] });
    t.match(made.body['items'], [
      { row: 2, outcome: 'created', reason: null },
      { row: 3, outcome: 'refused', reason: /business_criticality must be one of critical, high/ },
      { row: 4, outcome: 'refused', reason: /project names no project/ },
      { row: 5, outcome: 'refused', reason: /in row 2/ },
      { row: 6, name: 'Plain', outcome: 'created' },
    ]);
    const web = (await client.call('GET', `/applications/${String(made.body['items'][0].id)}`)).body;
    t.match(web, { name: 'Web', project_id: project, tags: ['pci', 'web'], exposure: 'internet', version: 1 });
    t.match((await file(csv)).body, { created: 0, updated: 0, unchanged: 2, refused: 3 }, 'again');
    const changed = await rows([{ external_id: 'cmdb-1', owner: 'team-a' }, { external_id: 'cmdb-9' }, 'x']);
    t.match(changed.body, { updated: 1, refused: 2 });
    t.match(changed.body['items'], [{ outcome: 'updated' }, { reason: /name/ }, { reason: /no object/ }]);
    t.match((await client.call('GET', `/applications/${web['id']}`)).body, { owner: 'team-a', tags: ['pci', 'web'] });
    const audited = await database.sql<{ summary: string }[]>`
      select summary from audit_entries where action = 'vm.import' order by id`;
    t.match(audited[0]?.summary, /imported applications: 2 created, 0 changed, 3 refused/);
    await exercise(t, client, '/applications/import');
  });

  await t.test('30.applications: what is no register is refused with what to do', async (t) => {
    for (const [text, fields, status, words] of [
      ['a,b\n1,2\n', {}, 422, /no column that is known/],
      ['name\n', {}, 422, /has no rows/],
      ['name\n"x', {}, 400, /no CSV/],
      ['{"a": 1}', {}, 422, /is no list/],
      ['[{"name"', {}, 400, /./],
      [`name\n${'x\n'.repeat(rowsMax + 1)}`, {}, 422, /more than 5000 rows/],
      ['name\nx\n', { format: 'xml' }, 422, /format/],
    ] as const) {
      const reply = await file(text, fields);
      t.equal(reply.status, status, `${text.slice(0, 20)} ${JSON.stringify(reply.body).slice(0, 200)}`);
      t.match(reply.body['detail'], words);
    }
    t.match(await rows([]), { status: 422, body: { detail: /items/ } });
    t.match((await rows([{ name: 'N', colour: 'red' }])).body['items'], [{ outcome: 'refused', reason: /colour/ }]);
    t.match((await file('[{"name": "Of JSON", "project": "Shop"}]')).body, { created: 1 });
  });

  await t.test('30.applications: a row that no column takes is refused by itself', async (t) => {
    const wrong = [
      { name: 'z0', project_id: 'abc' },
      { name: 'z1', project_id: '99999999999999999999' },
      ...['external_id', 'owner', 'environment', 'project'].map((name) => ({ name: 'z2', [name]: 'a\u0000' })),
      ...['tags', 'data_classes'].map((name) => ({ name: 'z3', [name]: ['\u0000'] })),
    ];
    for (const one of wrong) {
      const reply = await file(JSON.stringify([one, { name: `after ${JSON.stringify(one)}`.slice(0, 60) }]));
      t.match(reply, { status: 200, body: { refused: 1 } }, JSON.stringify([one, reply.body]));
    }
  });

  await t.test('30.applications: a site that is said again by who may is confirmed', async (t) => {
    const of = await client.call('POST', '/applications', { name: 'linked', external_id: 'l-1', site: 'web' });
    await database.sql`update vm_applications set site_confirmed = false where id = ${String(of.body['id'])}`;
    const again = [{ external_id: 'l-1', site: 'web' }];
    t.match((await rows(again, { dry_run: true })).body, { updated: 1 });
    t.match((await rows(again)).body, { updated: 1 });
    t.match((await client.call('GET', `/applications/${of.body['id']}`)).body, { site: 'web', site_confirmed: true });
    t.match((await rows(again)).body, { unchanged: 1 });
  });

  await t.test('30.applications: who reaches a part imports into that part', async (t) => {
    const foreign = String(
      (await client.call('POST', '/applications', { name: 'Secret', external_id: 's-1', project_id: other })).body[
        'id'
      ],
    );
    await client.call('POST', '/rbac/roles', { name: 'keeper', permissions: ['view_assets', 'edit_assets'] });
    const person = await at.user('viewer');
    const items = [{ scope: 'project', scope_id: project, role: 'keeper' }];
    await client.call('PUT', `/rbac/grants/${person.id}`, { items, confined: true });
    const keeper = new Client(at, person.token);
    const reply = await rows(
      [
        { external_id: 'k-1', name: 'Mine', project_id: project },
        { external_id: 'k-2', name: 'Theirs', project_id: other },
        { external_id: 'k-3', name: 'Nobody' },
        { external_id: 's-1', owner: 'me' },
        { external_id: 'k-1b', name: 'Named', project: 'Other' },
      ],
      {},
      keeper,
    );
    t.match(reply.body, { created: 1, refused: 4 }, reply.text);
    t.notMatch(reply.text, new RegExp(`"id":"${foreign}"`));
    t.match((await client.call('GET', `/applications/${foreign}`)).body, { owner: '' });
    // nothing is said of what others have, nor of which sites there are
    const probes = await rows(
      ['Secret', 'No such'].map((name) => ({ name, project_id: other })).concat([{ name: 'Of all', project_id: '' }]),
      {},
      keeper,
    );
    const reasons = (probes.body['items'] as Json[]).map(({ reason }) => String(reason));
    t.equal(reasons[0], reasons[1], 'a name of another project is as one that is not there');
    const sites = ['web', 'nowhere'].map((site, n) => ({ name: `s${n}`, project_id: project, site }));
    const linked = (await rows(sites, {}, keeper)).body['items'] as Json[];
    t.match(linked, [{ reason: /Links of applications to sites/ }, { reason: linked[0]?.['reason'] }]);
    const own = String(reply.body['items'][0].id);
    const made = await client.call('POST', '/tokens', { name: 'p', scopes: ['admin'], application_ids: [own] });
    const token = new Client(at, String(made.body['token']));
    const by = await rows(
      [
        { external_id: 'k-1', owner: 'x' },
        { external_id: 'n-1', name: 'New', project_id: project },
      ],
      {},
      token,
    );
    t.match(by.body['items'], [{ outcome: 'updated' }, { outcome: 'refused', reason: /confined/ }]);
    const viewer = new Client(at, (await at.user('viewer')).token);
    t.equal((await rows([{ name: 'x' }], {}, viewer)).status, 403);
  });
}

void onBothDatabases(t, 'import of applications', suite);
