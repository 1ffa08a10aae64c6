// Imports that are undone, on both databases: states, sightings, what people did, and who may.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const report = (...rules: string[]) => ({
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'checker' } },
      results: rules.map((ruleId) => ({
        ruleId,
        message: { text: ruleId },
        locations: [{ physicalLocation: { artifactLocation: { uri: `src/${ruleId}.ts` }, region: { startLine: 1 } } }],
      })),
    },
  ],
});

async function rollback(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const sync = { mode: 'sync' };
  const send = async (application: string, rules: string[], fields: Record<string, string> = sync): Promise<string> => {
    at.clock.nowMs += 60_000;
    const { status, body } = await client.send(application, report(...rules), fields);
    if (status !== 202) throw new Error(JSON.stringify(body));
    return String(body['id']);
  };
  const undo = (id: string, token = client.token) =>
    at.call('POST', `/api/v1/imports/${id}/rollback`, { token, body: undefined });
  const states = async (application: string): Promise<Json> =>
    Object.fromEntries((await client.findings(application)).map((one) => [one['rule_id'], one['status']]));

  await t.test('R1: the last import is undone: new ones go, closed ones open, opened ones close', async (t) => {
    const app = await client.application();
    const first = await send(app, ['a', 'b', 'c']);
    await send(app, ['a', 'b']); // c is resolved
    const last = await send(app, ['a', 'c', 'd']); // b is resolved, c opens again, d is new
    t.same(await states(app), { a: 'new', b: 'resolved', c: 'reopened', d: 'new' });
    t.match(await undo(first), { status: 409, body: { detail: /came later/ } });
    t.match(await undo(last), {
      status: 200,
      body: { run: { status: 'rolled_back' }, findings_deleted: 1, findings_reopened: 1, findings_resolved: 1 },
    });
    t.same(await states(app), { a: 'new', b: 'reopened', c: 'resolved' });
    t.match(await undo(last), { status: 409, body: { detail: /is rolled_back/ } });
    const again = await client.send(app, report('a', 'c', 'd'), sync);
    t.match(again.body['report'], { parsed: 3, created: 1, reopened: 1, closed: 1 }, 'as if it had never been');
  });

  await t.test('R1: what people have worked on is not deleted', async (t) => {
    const app = await client.application();
    const run = await send(app, ['a', 'b', 'c']);
    const [a, b] = await client.findings(app);
    await client.call('POST', `/vulnerabilities/${a?.['id']}/transition`, { to: 'triaged' });
    const comment = { entity: 'finding', entity_id: b?.['id'], text: 'Ours.' };
    t.equal((await client.call('POST', '/comments', comment)).status, 201);
    t.match(await undo(run), {
      status: 200,
      body: { sightings_removed: 3, findings_deleted: 1, findings_resolved: 2 },
    });
    t.same(await states(app), { a: 'resolved', b: 'resolved' });
  });

  await t.test('R1: another scope that sees the same keeps it; the one before may be undone next', async (t) => {
    const app = await client.application();
    const other = await send(app, ['a'], { ...sync, scope_key: 'other' });
    const one = await send(app, ['a', 'b']);
    const two = await send(app, ['a', 'b', 'c']);
    t.equal((await undo(two)).status, 200);
    t.equal((await undo(one)).status, 200);
    t.same(await states(app), { a: 'new' });
    t.equal((await undo(other)).status, 200);
    t.same(await states(app), {});
  });

  await t.test('R1: who may not, and what is not there', async (t) => {
    const app = await client.application();
    const run = await send(app, ['a']);
    const viewer = await at.user('viewer');
    t.equal((await undo(run, viewer.token)).status, 403);
    const person = await at.user('operator');
    const elsewhere = await client.application();
    await client.call('PUT', `/rbac/grants/${person.id}`, {
      confined: true,
      items: [{ scope: 'application', scope_id: elsewhere, role: 'operator' }],
    });
    t.equal((await undo(run, person.token)).status, 404);
    for (const wrong of ['999999', '0', 'x']) t.equal((await undo(wrong)).status, 404, wrong);
    t.same(await states(app), { a: 'new' });
    const { body } = await client.call('GET', `/imports?application_id=${app}&status=succeeded`);
    t.equal(body['items'].length, 1);
  });
}
void onBothDatabases(t, 'R1 rollback of imports', rollback);
