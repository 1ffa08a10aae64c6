// Clusters and what the rights in them lead to: dumps are sent as scans over HTTP, on both databases; and the search of
// paths beside a plain one.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { testMsMax, until } from '#api/testing/waiting';
import type { ClusterObject } from '../scanners/contract.js';
import { Client, type Json } from '../testing/import-client.js';
import { pathsOf } from './paths.js';
import { fitsName } from './store.js';

t.setTimeout(testMsMax);
type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const meta = (name: string, namespace?: string, more: Json = {}): Json => ({
  metadata: { name, ...(namespace === undefined ? {} : { namespace }), ...more },
});
const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' };
const rule = (apiGroups: string[], resources: string[], verbs: string[], resourceNames?: string[]): Json => ({
  ...{ apiGroups, resources, verbs },
  ...(resourceNames === undefined ? {} : { resourceNames }),
});
const role = (name: string, namespace: string | undefined, ...rules: Json[]): Json => ({
  ...{ ...rbac, kind: namespace === undefined ? 'ClusterRole' : 'Role', ...meta(name, namespace) },
  rules,
});
const binding = (name: string, namespace: string | undefined, to: string, ...subjects: Json[]): Json => ({
  ...{ ...rbac, kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding', ...meta(name, namespace) },
  roleRef: { kind: to.split('/')[0], name: to.split('/')[1] },
  subjects,
});
const account = (namespace: string, name: string): Json => ({ kind: 'ServiceAccount', namespace, name });
const deployment = (namespace: string, name: string, serviceAccountName: string): Json => ({
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', ...meta(name, namespace) },
  spec: { template: { spec: { serviceAccountName, containers: [{ name: 'c', image: 'shop/web:1' }] } } },
});

/** web runs commands in pods of ops; deployer runs there and may bind any role. */
const dump = [
  deployment('shop', 'web', 'web'),
  deployment('ops', 'deployer', 'deployer'),
  role('runs', 'ops', rule([''], ['pods/exec'], ['create'])),
  binding('web-runs', 'ops', 'Role/runs', account('shop', 'web')),
  role(
    'binder',
    undefined,
    rule(['rbac.authorization.k8s.io'], ['clusterroles', 'clusterrolebindings'], ['bind', 'create']),
  ),
  binding('deployer-binds', undefined, 'ClusterRole/binder', account('ops', 'deployer')),
  binding(
    'admins',
    undefined,
    'ClusterRole/cluster-admin',
    { kind: 'User', name: 'ann' },
    { kind: 'Group', name: 'system:masters' },
  ),
  role('reader', 'shop', rule([''], ['pods'], ['get'])),
  binding('bob-reads', 'shop', 'Role/reader', { kind: 'User', name: 'bob' }),
  binding('lost', 'shop', 'Role/not-there', { kind: 'User', name: 'carl' }),
  {
    apiVersion: 'v1',
    kind: 'Namespace',
    ...meta('safe', undefined, { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } }),
  },
  role('pods', 'safe', rule([''], ['pods'], ['create'])),
  binding('safe-pods', 'safe', 'Role/pods', { kind: 'User', name: 'dora' }),
  { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', ...meta('password', 'shop'), data: { value: 'aHVudGVyMg==' } },
];

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const shop = await client.application();
  const cluster = async (name: string, more: Json = {}): Promise<string> =>
    String((await client.call('POST', '/k8s-posture/clusters', { name, ...more })).body['id']);
  const scan = async (id: string, items: readonly Json[], fields: Record<string, string> = {}): Promise<Json> => {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    const sent = await client.send(shop, list, { cluster_id: id, path: 'dump.json', ...fields }, '/k8s-posture/scans');
    t.equal(sent.status, 202, JSON.stringify(sent.body).slice(0, 300));
    let run: Json = {};
    await until('the scan ends', async () => {
      run = (await client.call('GET', `/k8s-posture/scans/${String(sent.body['id'])}`)).body;
      return run['status'] !== 'queued' && run['status'] !== 'running';
    });
    t.equal(run['status'], 'succeeded', JSON.stringify(run).slice(0, 300));
    return run;
  };
  const paths = async (query: string): Promise<Json> =>
    (await client.call('GET', `/k8s-posture/rbac-paths${query}`)).body;

  await t.test('30.k8s-posture: a dump of a cluster shows who reaches what, and by which bindings', async (t) => {
    const id = await cluster('prod');
    t.match((await paths(`?cluster_id=${id}`))['clusters'], [{ objects: 0, subjects: 0 }], 'nothing was scanned');
    const run = await scan(id, dump);
    t.match(run['result'].cluster, { kept: dump.length - 1, left_out: 0 }, 'all but the secret');
    const found = await paths(`?cluster_id=${id}`);
    const told = (found['items'] as Json[]).map(({ subject, goal }) => `${String(subject.name)} ${String(goal)}`);
    t.same(told.sort(), ['ann cluster-admin', 'deployer cluster-admin', 'web cluster-admin']);
    const web = (found['items'] as Json[]).find(({ subject }) => subject.name === 'web');
    t.match(web, { severity: 'critical', runs: ['Deployment/web'], subject: { kind: 'account', namespace: 'shop' } });
    t.match(web?.['hops'], [
      { from: 'account shop/web', to: 'account ops/deployer', right: 'run commands in pods', namespace: 'ops' },
      { from: 'account ops/deployer', to: 'Every right in the whole cluster', right: 'bind any role', namespace: null },
    ]);
    t.match(web?.['hops'][0].bindings, [/RoleBinding\/ops\/web-runs → Role\/runs/]);
    t.match(found['clusters'], [
      { unknown_roles: [/lost → Role\/not-there/], assumed_roles: ['cluster-admin'], cut: 0 },
    ]);
    t.equal((await paths(`?cluster_id=${id}&system=true`))['total'], 4, 'system:masters, too');
    t.equal((await paths(`?cluster_id=${id}&goal=node`))['total'], 0, 'what is restricted keeps pods off the node');
    t.equal((await paths(`?cluster_id=${id}&q=EPLOY`))['total'], 1);
    const stored = await database.sql<{ detail: unknown }[]>`select detail from vm_cluster_objects`;
    t.notMatch(JSON.stringify(stored), /aHVudGVyMg|hunter2/, 'nothing of a secret');
  });

  await t.test('30.k8s-posture: a part adds, the whole replaces, and a cluster goes with what it had', async (t) => {
    const id = await cluster('stage');
    await scan(id, dump, { mode: 'add' });
    await scan(id, [binding('web-runs', 'ops', 'Role/runs', account('shop', 'other'))], { mode: 'add' });
    t.equal((await paths(`?cluster_id=${id}&q=web`))['total'], 0, 'the binding is of somebody else now');
    t.equal((await paths(`?cluster_id=${id}&q=other`))['total'], 1);
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [deployment('shop', 'web', 'web')] });
    const whole = await client.send(
      shop,
      list,
      { cluster_id: id, path: 'd.json', covers: 'whole' },
      '/k8s-posture/scans',
    );
    t.equal(whole.status, 422, 'a single file is no whole');
    t.equal((await client.call('DELETE', `/k8s-posture/clusters/${id}`)).status, 204);
    t.equal((await client.call('GET', `/k8s-posture/rbac-paths?cluster_id=${id}`)).status, 404);
    const [left] = await database.sql<{ n: number }[]>`
      select count(*)::int as n from vm_cluster_objects where cluster_id = ${id}`;
    t.equal(left?.n, 0);
  });

  await t.test('30.k8s-posture: which application a workload is of', async (t) => {
    const map = [{ namespace: 'shop', workload: 'we*', application_id: shop }];
    const id = await cluster('mapped', { application_map: map });
    const event = { rule: 'r', priority: 'Notice', time: '2026-03-01T11:59:00Z', output: 'o', source: 'syscall' };
    const fields = { 'k8s.ns.name': 'shop', 'k8s.pod.name': 'web-0' };
    const send = (cluster: string) =>
      client.call('POST', `/k8s-runtime/events?cluster=${cluster}`, { events: [{ ...event, output_fields: fields }] });
    t.match((await send('mapped')).body, { accepted: 1, unmapped: 0 });
    t.match((await send('nobody')).body, { accepted: 1, unmapped: 1 });
    const patched = await client.call('PATCH', `/k8s-posture/clusters/${id}`, {
      application_map: [{ namespace: '*', application_id: '999999' }],
    });
    t.match(patched, { status: 404, body: { detail: /no application 999999/ } });
    t.equal((await client.call('POST', '/k8s-posture/clusters', { name: 'mapped' })).status, 409);
  });

  await t.test('30.k8s-posture: a part of the organisation sees no cluster and writes into none', async (t) => {
    const id = await cluster('closed');
    const made = await client.call('POST', '/tokens', { name: 'p', scopes: ['admin'], application_ids: [shop] });
    const part = new Client(at, String(made.body['token']));
    for (const path of ['/k8s-posture/rbac-paths', `/k8s-posture/rbac-paths?cluster_id=${id}`])
      t.equal((await part.call('GET', path)).status, 403);
    t.same((await part.call('GET', '/k8s-posture/clusters')).body['items'], []);
    const sent = await part.send(shop, '{}', { cluster_id: id, path: 'd.json' }, '/k8s-posture/scans');
    t.equal(sent.status, 403);
  });
}

t.test('patterns of names', async (t) => {
  for (const [pattern, name, fits] of [
    ['web', 'web', true],
    ['web', 'web2', false],
    ['web*', 'web2', true],
    ['*', '', true],
    ['a*c', 'abbc', true],
    ['a*c', 'ac', true],
    ['ab*bc', 'abc', false],
    ['*b*', 'abc', true],
    ['*b*d', 'abc', false],
  ] as const)
    t.equal(fitsName(pattern, name), fits, `${pattern} ${name}`);
});

const clusterRole = (name: string, ...rules: Json[]): ClusterObject => ({
  ...{ kind: 'role', type: 'ClusterRole', namespace: '', name },
  detail: {
    rules: rules.map((one) => ({ verbs: ['impersonate'], resources: ['users'], groups: [''], names: [], ...one })),
  },
});
const given = (name: string, to: string, users: readonly string[]): ClusterObject => ({
  ...{ kind: 'binding', type: 'ClusterRoleBinding', namespace: '', name },
  detail: {
    ...{ role_kind: 'ClusterRole', role: to },
    subjects: users.map((user) => ({ kind: 'User', name: user, namespace: '' })),
  },
});
const named = (from: number, count: number): string[] => Array.from({ length: count }, (_, n) => `u${from + n}`);
const many = (subjects: number): ClusterObject[] => [
  clusterRole('imp', {}),
  ...Array.from({ length: subjects / 100 }, (_, n) => given(`all-${n}`, 'imp', named(n * 100, 100))),
  given('adm', 'cluster-admin', ['u0']),
];

t.test('30.k8s-posture: a cluster of many who may become each other holds nobody up', async (t) => {
  let turns = 0;
  const beat = setInterval(() => {
    turns += 1;
  }, 1);
  const { paths, subjects, isPartial } = await pathsOf(many(20_000));
  clearInterval(beat);
  t.equal(subjects, 20_000);
  t.equal(paths.filter(({ goal }) => goal === 'cluster-admin').length, 20_000, 'each becomes u0');
  t.notOk(isPartial);
  t.ok(turns >= 5, `others had ${turns} turns meanwhile`);
});

t.test('30.k8s-posture: at most six rights on the way', async (t) => {
  const everything = { verbs: ['*'], resources: ['*'], groups: ['*'] };
  const chain = (length: number): ClusterObject[] =>
    Array.from({ length }, (_, n): ClusterObject[] => [
      clusterRole(`r${n}`, n === 0 ? everything : { names: [`u${n - 1}`] }),
      given(`b${n}`, `r${n}`, [`u${n}`]),
    ]).flat();
  const { paths } = await pathsOf(chain(10));
  const lengths = paths.filter(({ goal }) => goal === 'cluster-admin').map(({ hops }) => hops.length);
  t.same(lengths.sort(), [1, 2, 3, 4, 5, 6]);
});

void onBothDatabases(t, 'k8s posture', suite);
