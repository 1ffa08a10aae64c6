// /graph/topology over HTTP, on both databases: traffic that was sent to /api/ingest/mesh becomes edges between
// applications, and who reaches a part sees what goes on in it.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Organisation, type Body } from '../../testing/organisation.js';
import { namesOf } from './names.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const here = new Organisation(at, (await at.user('admin')).token);
  const project = await here.made('/projects', { name: 'Shop' });
  const web = await here.application('web', { project_id: project, external_id: 'shop/web', exposure: 'internet' });
  const pay = await here.application('Pay', { project_id: project, site: 'pay.example' });
  const hidden = await here.application('hidden');
  await here.made('/targets', { application_id: web, url: 'https://web.example:8443/a' });
  await here.finding(web, 'CWE-918', 'SSRF');
  const hop = (source: string, destination: string, more: Body = {}): Body => ({
    ...{ source, destination, method: 'GET', path: '/x', host: destination, status: 200 },
    ...{ timestamp: '2026-03-01T11:00:00Z', ...more },
  });
  const sent = await at.call('POST', '/api/ingest/mesh', {
    token: here.token,
    body: {
      events: [
        hop('web.shop.svc.cluster.local', 'pay'),
        hop('shop/web', 'pay', { status: 500 }),
        hop('shop/web', 'hidden'),
        hop('pay', 'ledger-db'),
        hop('spiffe://x/ns/shop/sa/web', 'nobody'),
      ],
    },
  });
  t.match(sent, { status: 200, body: { accepted: 5 } }, sent.text);
  const cluster = { name: 'prod', application_map: [{ namespace: 'shop', workload: 'pay*', application_id: pay }] };
  const id = await here.made('/k8s-posture/clusters', cluster);
  for (const [name, namespace] of [
    ['pay-api', 'shop'],
    ['other', 'ops'],
  ])
    await database.sql`
      insert into vm_cluster_objects (cluster_id, kind, type, namespace, name, detail, seen_at)
      values (${id}, 'workload', 'Deployment', ${namespace ?? ''}, ${name ?? ''}, '{}', now())`;
  const graph = async (query = '', token?: string) => {
    const reply = await here.call('GET', `/graph/topology${query}`, undefined, token);
    if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
    const { nodes, edges } = reply.body as { nodes: Body[]; edges: Body[] };
    const told = edges.map(({ kind, from, to }) => `${String(kind)} ${String(from)} ${String(to)}`);
    return { nodes, edges, told, body: reply.body };
  };
  const [a, b, c] = [`application:${web}`, `application:${pay}`, `application:${hidden}`];

  await t.test('30.graph: topology of what there is and of what asks what', async (t) => {
    const { nodes, edges, told, body } = await graph();
    for (const edge of [
      `part_of ${a} project:${project}`,
      `serves host:web.example:8443 ${a}`,
      `serves host:pay.example ${b}`,
      `asks ${a} ${b}`,
      `asks ${a} ${c}`,
      `asks ${b} service:ledger-db`,
      `runs workload:prod/shop/pay-api ${b}`,
      'in workload:prod/ops/other cluster:prod',
    ])
      t.ok(told.includes(edge), `${edge} of ${told.join(', ')}`);
    const asked = edges.find(({ from, to, kind }) => kind === 'asks' && from === a && to === b);
    t.match(asked?.['traffic'], { requests: 2, failed: 1, unauthenticated_requests: 2 }, 'two names of one service');
    t.match(
      nodes.find(({ id: node }) => node === a),
      { exposure: 'internet', open_findings: 1 },
    );
    t.match(body, { truncated: false });
    const ids = new Set(nodes.map((node) => node['id']));
    t.ok(
      edges.every(({ from, to }) => ids.has(from) && ids.has(to)),
      'every edge has its ends',
    );
    t.equal(ids.size, nodes.length);
  });

  await t.test('30.graph: topology of a part says nothing of the rest', async (t) => {
    await here.call('POST', '/rbac/roles', { name: 'looker', permissions: ['view_assets'] });
    const person = await at.user('viewer');
    const items = [{ scope: 'project', scope_id: project, role: 'looker' }];
    t.equal((await here.call('PUT', `/rbac/grants/${person.id}`, { items, confined: true })).status, 200);
    const { nodes, told, body } = await graph('', person.token);
    t.ok(told.includes(`asks ${a} ${b}`));
    t.notMatch(JSON.stringify(body), /hidden|ledger|nobody|workload|cluster/);
    t.match(
      nodes.find(({ id: node }) => node === a),
      { open_findings: null },
      'findings are another permission',
    );
    t.match(body, { observed_hops: 1 });
    const one = await graph(`?application_id=${pay}`);
    t.ok(one.told.includes(`asks ${a} ${b}`), 'with its neighbours');
    t.notOk(one.told.includes(`asks ${a} ${c}`));
    t.same((await graph('?project_id=999999')).nodes, []);
    t.equal((await here.call('GET', '/graph/topology?project_id=x')).status, 404);
    await here.call('POST', `/applications/${pay}/archive`, {});
    t.notOk(
      (await graph()).told.some((edge) => edge.includes(b)),
      'what is archived is not shown',
    );
  });

  await t.test('30.graph: nobody of a part becomes a service of others by a name', async (t) => {
    const editor = await at.user('operator');
    const items = [{ scope: 'project', scope_id: project, role: 'operator' }];
    t.equal((await here.call('PUT', `/rbac/grants/${editor.id}`, { items, confined: true })).status, 200);
    const body = { name: 'ledger-db', project_id: project };
    const taken = await here.call('POST', '/applications', body, editor.token);
    t.match(taken, { status: 201, body: { names_confirmed: false } });
    const own = String(taken.body['id']);
    const asks = async (token?: string) => (await graph('', token)).told.filter((edge) => edge.startsWith('asks'));
    t.notMatch((await asks(editor.token)).join(), `application:${own}`, 'the name that they chose shows nothing');
    const renamed = { external_id: 'x/nobody', name: 'nobody' };
    t.match(await here.call('PATCH', `/applications/${own}`, renamed, editor.token), {
      body: { names_confirmed: false },
    });
    t.notMatch((await asks(editor.token)).join(), `application:${own}`, 'nor by a change');
    t.match((await here.call('PATCH', `/applications/${own}`, { name: 'nobody' }, editor.token)).body, {
      names_confirmed: false,
    });
    t.match((await here.call('PATCH', `/applications/${own}`, { name: 'nobody' })).body, { names_confirmed: true });
    t.match((await asks(editor.token)).join(), `asks ${a} application:${own}`, 'somebody of the whole has said so');
    // of two with one name the one that was confirmed counts, for who sees all, too
    await here.call('PATCH', `/applications/${own}`, { name: 'hidden' }, editor.token);
    t.ok((await asks()).includes(`asks ${a} ${c}`), 'and nobody takes the place of another');
    t.equal((await here.call('DELETE', `/applications/${own}?purge=true`)).status < 300, true);
  });

  await t.test('30.graph: a cluster of many workloads and rules, and more targets than are shown', async (t) => {
    const { sql } = database;
    const rules = Array.from({ length: 500 }, (_, n) => ({ namespace: `ns${n}-*`, application_id: web }));
    const made = await here.made('/k8s-posture/clusters', { name: 'large', application_map: rules });
    await sql`
      insert into vm_cluster_objects (cluster_id, kind, type, namespace, name, detail, seen_at)
      select ${made}, 'workload', 'Deployment', 'ns' || i % 500 || '-x', 'w' || i, '{}', now()
      from generate_series(1, 4000) i`;
    t.match((await here.call('GET', '/graph/topology')).body['truncated'], false);
    const begun = performance.now();
    const { nodes } = (await here.call('GET', '/graph/topology')).body;
    const seconds = (performance.now() - begun) / 1000;
    t.equal((nodes as Body[]).filter(({ id }) => String(id).startsWith('workload:large/')).length, 4000);
    t.ok(seconds < 30, `it takes ${seconds} seconds`);
    await sql`
      insert into vm_targets (application_id, url, created_at, updated_at)
      select ${web}, 'https://h' || i || '.example/', now(), now() from generate_series(1, 5001) i`;
    t.equal((await here.call('GET', '/graph/topology')).body['truncated'], true);
  });
}

t.test('names of services', async (t) => {
  for (const [service, id, name] of [
    ['web', 'web', 'web'],
    ['web.shop.svc.cluster.local:8080', 'shop/web', 'web'],
    ['web.shop.svc', 'shop/web', 'web'],
    ['shop/web', 'shop/web', 'web'],
    ['spiffe://td/ns/shop/sa/web', 'shop/web', 'web'],
    ['web.example', 'web.example', 'web.example'],
  ] as const) {
    t.ok(namesOf(service).ids.includes(id), service);
    t.ok(namesOf(service).names.includes(name), service);
  }
});

void onBothDatabases(t, 'topology', suite);
