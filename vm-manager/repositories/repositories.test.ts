// Repositories over /api/v1: snapshots are kept as they came, scans of them go the road of every scan, and two
// repositories of one application leave each other's findings alone.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { testMsMax, until } from '#api/testing/waiting';
import { tarOf, zipOf } from '../testing/archives.js';
import { Client, type Json } from '../testing/import-client.js';
import { madeChecked } from '../scanners/testing/made-secrets.js';

t.setTimeout(testMsMax);
type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const token = (seed: number): string => `t = '${madeChecked('ghp_', seed)}'\n`;

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const app = await client.application();
  const repository = async (name: string): Promise<string> => {
    const made = await client.call('POST', '/repositories', { application_id: app, name });
    t.equal(made.status, 201, made.text);
    return String(made.body['id']);
  };
  // the application is the repository's: an upload names none
  const keep = async (id: string, bytes: Buffer, fields: Record<string, string> = {}) => {
    const query = new URLSearchParams(fields).toString();
    const reply = await at.app.inject({
      method: 'POST',
      url: `/api/v1/repositories/${id}/archives?${query}`,
      headers: { authorization: `Bearer ${client.token}`, 'content-type': 'application/octet-stream' },
      payload: bytes,
    });
    return { status: reply.statusCode, body: JSON.parse(reply.body) as Json };
  };
  const scan = async (id: string, body: object): Promise<Json[]> => {
    at.clock.nowMs += 60_000;
    const begun = await client.call('POST', `/repositories/${id}/scan`, body);
    t.equal(begun.status, 202, begun.text);
    const runs = begun.body['items'] as Json[];
    await until('the scans end', async () => {
      for (const run of runs) Object.assign(run, (await client.call('GET', `/runs/${run['id']}`)).body);
      return runs.every(({ status }) => status !== 'queued' && status !== 'running');
    });
    return runs;
  };
  const states = async (): Promise<Json> =>
    Object.fromEntries((await client.findings(app)).map(({ location, status }) => [location, status]));

  await t.test('a repository is written, found and read by its columns', async (t) => {
    const id = await repository('team/shop');
    const body = { name: 'TEAM/shop', application_id: app };
    t.match(await client.call('POST', '/repositories', body), { status: 409 }, 'names differ in more than case');
    const secret = { name: 'x', application_id: app, url: 'https://me:word@git.example/x' };
    t.match(await client.call('POST', '/repositories', secret), { status: 422, body: { detail: /url/ } });
    const url = 'https://git.example/team/shop';
    t.match(await client.call('PATCH', `/repositories/${id}`, { url }), { status: 200, body: { url, version: 2 } });
    const found = await client.call('GET', `/repositories?application_id=${app}&q=shop`);
    t.match(found.body['items'], [{ id, default_branch: 'main', url }]);
    t.match(await client.call('POST', `/repositories/${id}/scan`, {}), {
      status: 409,
      body: { detail: /no snapshot: send an archive/ },
    });
    t.equal((await client.call('DELETE', `/repositories/${id}`)).status, 204);
    t.equal((await client.call('GET', `/repositories/${id}/snapshots`)).status, 404);
  });

  await t.test('a snapshot is kept, scanned by each engine, and closes what is gone', async (t) => {
    const [id, other] = [await repository('one'), await repository('two')];
    const first = await keep(
      id,
      await tarOf([
        { name: 'one-1a2b3c4/a.ts', data: token(1) },
        { name: 'one-1a2b3c4/b.ts', data: token(2) },
        { name: 'one-1a2b3c4/Dockerfile', data: 'FROM debian:12\nUSER root\n' },
      ]),
      { commit: '1a2b3c4' },
    );
    t.match(first, { status: 201, body: { files: 3, root: 'one-1a2b3c4', form: 'tar', branch: 'main' } });
    await keep(other, zipOf([{ name: 'src/a.ts', data: token(3) }]));
    const runs = await scan(id, { engines: ['secrets', 'iac'] });
    t.match(runs, [
      { kind: 'secrets', status: 'succeeded', input: { snapshot_id: first.body['id'], commit: '1a2b3c4' } },
      { kind: 'iac', status: 'succeeded', result: { complete: true } },
    ]);
    await scan(other, { engines: ['secrets'] });
    const before = await states();
    t.match(before, { 'a.ts:1': 'new', 'b.ts:1': 'new', 'src/a.ts:1': 'new' }, 'without the root of the packer');
    const second = await keep(id, await tarOf([{ name: 'one-5d6e7f8/a.ts', data: token(1) }]));
    const [again] = await scan(id, { engines: ['secrets'], covers: 'whole' });
    t.match(again?.['result'], { report: { closed: 1, unchanged: 1 } });
    t.match(await states(), { 'a.ts:1': 'new', 'b.ts:1': 'resolved', 'src/a.ts:1': 'new' }, 'of this repository');
    const listed = await client.call('GET', `/repositories/${id}/snapshots`);
    t.match(listed.body, {
      total: 2,
      items: [
        { id: second.body['id'], state: 'ready', scans: [{ kind: 'secrets', status: 'succeeded', findings: 1 }] },
        { id: first.body['id'], state: 'ready', scans: [{ kind: 'iac' }, { kind: 'secrets', complete: true }] },
      ],
    });
    const old = await scan(id, { engines: ['secrets'], snapshot_id: first.body['id'], covers: 'part' });
    t.match(old, [{ input: { snapshot_id: first.body['id'] }, result: { report: { reopened: 1 } } }]);
    t.match(await client.call('POST', `/repositories/${other}/scan`, { snapshot_id: first.body['id'] }), {
      status: 404,
    });
  });

  await t.test('what no scan could read is refused, and nothing of it is kept', async (t) => {
    const id = await repository('three');
    const whole = zipOf([{ name: 'a.ts', data: 'x' }]);
    t.match(await keep(id, Buffer.from('no archive')), { status: 422, body: { detail: /is no archive/ } });
    t.match(await keep(id, whole.subarray(0, -10)), { status: 422, body: { detail: /cannot be kept/ } });
    t.match(await keep(id, zipOf([])), { status: 422, body: { detail: /no file/ } });
    t.match(await keep(id, whole, { nonsense: '1' }), { status: 422 });
    t.equal((await keep('999999', whole)).status, 404);
    t.match((await client.call('GET', `/repositories/${id}/snapshots`)).body, { total: 0 });
    const [rows] = await database.sql`select count(*)::integer as n from vm_snapshots where repository_id = ${id}`;
    t.equal(rows?.['n'], 0);
  });

  await t.test('the same archive is the same snapshot; five are kept, older ones as rows', async (t) => {
    const id = await repository('four');
    const of = (n: number) => zipOf([{ name: 'four/a.ts', data: `x${n}` }]);
    const first = await keep(id, of(0));
    t.equal((await keep(id, of(0))).body['id'], first.body['id']);
    t.match(await keep(id, of(0), { root: 'keep' }), { status: 201, body: { root: '' } }, 'other paths');
    for (let n = 1; n < 5; n++) t.equal((await keep(id, of(n), { branch: 'topic' })).status, 201);
    const { body } = await client.call('GET', `/repositories/${id}/snapshots`);
    t.equal((body['items'] as Json[]).at(-1)?.['state'], 'dropped');
    t.equal((await client.call('GET', `/repositories/${id}/snapshots?branch=topic`)).body['total'], 4);
    t.match(await client.call('POST', `/repositories/${id}/scan`, { snapshot_id: first.body['id'] }), {
      status: 409,
      body: { detail: /made room/ },
    });
    const parts = await database.sql`
      select 1 from vm_snapshot_parts p join vm_snapshots s on s.id = p.snapshot_id where s.repository_id = ${id}`;
    t.equal(parts.length, 5);
  });

  await t.test('one scan of a kind at a time; it can be canceled, and damaged bytes are noticed', async (t) => {
    const id = await repository('five');
    const many = Array.from({ length: 3000 }, (_, n) => ({ name: `f${n}`, data: 'x = 1;\n'.repeat(500) }));
    const kept = await keep(id, zipOf(many));
    const begun = await client.call('POST', `/repositories/${id}/scan`, { engines: ['secrets'] });
    t.match(await client.call('POST', `/repositories/${id}/scan`, { engines: ['secrets'] }), {
      status: 409,
      body: { detail: /has not ended/ },
    });
    t.equal((await client.call('DELETE', `/repositories/${id}`)).status, 409);
    const run = String((begun.body['items'] as Json[])[0]?.['id']);
    t.equal((await client.call('POST', `/runs/${run}/cancel`)).status, 200);
    await until('it has stopped', async () => {
      const { body } = await client.call('GET', `/runs/${run}`);
      return body['status'] === 'canceled';
    });
    await database.sql`update vm_snapshot_parts set part = 'x' where snapshot_id = ${kept.body['id']} and n = 0`;
    t.match(await client.call('POST', `/repositories/${id}/scan`, {}), { status: 409, body: { detail: /not whole/ } });
  });

  await t.test('manifests need the permission over Kubernetes', async (t) => {
    const id = await repository('six');
    await keep(id, zipOf([{ name: 'p.yaml', data: 'apiVersion: v1\nkind: Pod\nmetadata: { name: p }\n' }]));
    const permissions = ['view_code', 'run_code_scans', 'import_findings'];
    await client.call('POST', '/rbac/roles', { name: 'coder', permissions });
    const user = await at.user('viewer');
    const items = [{ scope: 'application', scope_id: app, role: 'coder' }];
    const granted = await client.call('PUT', `/rbac/grants/${user.id}`, { items, confined: true });
    t.equal(granted.status, 200, granted.text);
    const coder = new Client(at, user.token);
    t.equal((await coder.call('POST', `/repositories/${id}/scan`, { engines: ['k8s'] })).status, 403);
    t.equal((await coder.call('POST', `/repositories/${id}/scan`, { engines: ['secrets'] })).status, 202);
    t.match(await scan(id, { engines: ['k8s'] }), [{ kind: 'k8s', status: 'succeeded' }]);
  });
}

void onBothDatabases(t, 'repositories', suite);
