// Rights of accounts over HTTP: grants add to the role of the account, and built-in and own roles are given alike.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);

  await t.test('22 Q11: a grant adds rights; only `confined` takes the role of the account away', async (t) => {
    const [one, two] = [await client.application(), await client.application()];
    const viewer = await at.user('viewer');
    const seen = async () => {
      const rows = (await new Client(at, viewer.token).call('GET', '/applications?limit=500')).body['items'] as Json[];
      return [one, two].filter((id) => rows.some((row) => row['id'] === id));
    };
    t.same(await seen(), [one, two]);
    const items = [{ scope: 'application', scope_id: one, role: 'developer' }];
    const put = (body: Json) => client.call('PUT', `/rbac/grants/${viewer.id}`, body);
    t.match(await put({ items }), { status: 200, body: { confined: false } });
    t.same(await seen(), [one, two], 'one more grant takes nothing away');
    t.match(await put({ items, confined: true }), { body: { confined: true } });
    t.same(await seen(), [one]);
    t.match(await put({ items: [] }), { body: { confined: true, items: [] } });
    const nothing = await new Client(at, viewer.token).call('GET', '/applications');
    t.equal(nothing.status, 403, 'without a grant nothing is left');
    await put({ items: [], confined: false });
    t.same(await seen(), [one, two]);
  });

  await t.test('22 E: the built-in roles are listed, and own ones are given', async (t) => {
    const own = { name: `own${Date.now()}`, permissions: ['view_findings'] };
    t.equal((await client.call('POST', '/rbac/roles', own)).status, 201);
    const { items } = (await client.call('GET', '/rbac/roles?limit=500')).body as { items: Json[] };
    for (const name of ['admin', 'operator', 'viewer', 'auditor', 'developer', 'sensor'])
      t.match(
        items.find((role) => role['name'] === name),
        { built_in: true, permissions: [String] },
        name,
      );
    t.match(
      items.find((role) => role['name'] === own.name),
      { built_in: false },
    );
    t.match((await client.call('GET', '/rbac/roles/viewer')).body, { name: 'viewer', built_in: true });
    const someone = await at.user('viewer');
    const given = { items: [{ scope: 'org', role: own.name }] };
    t.match(await client.call('PUT', `/rbac/grants/${someone.id}`, given), { status: 200, body: given });
  });
}

t.test('22 Q11: rights add up', (t) => onBothDatabases(t, 'rights', suite));
