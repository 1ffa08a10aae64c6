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

  await t.test('22 Q11: `confined` is set by who sets grants alone: no way through other roles lifts it', async (t) => {
    const own = `own${Date.now()}`;
    await client.call('POST', '/rbac/roles', { name: own, permissions: ['view_findings', 'view_assets'] });
    const [one, two] = [await client.application(), await client.application()];
    const items = [{ scope: 'application', scope_id: one, role: 'viewer' }];
    for (const way of [
      ['viewer'],
      ['viewer', 'operator'],
      ['auditor', 'viewer'],
      ['auditor', 'operator'],
      ['developer', 'auditor', own, 'viewer'],
      [own, 'sensor', 'operator'],
    ]) {
      const user = await at.user('viewer');
      await client.call('PUT', `/rbac/grants/${user.id}`, { items, confined: true });
      for (const role of way)
        t.match(await client.call('PATCH', `/users/${user.id}`, { role }), { status: 200, body: { role } });
      t.match(await client.call('GET', `/rbac/grants/${user.id}`), { body: { items, confined: true } }, way.join(', '));
      // another role of the account ends its sessions
      const token = String((await at.logIn(user.email)).body['token']);
      const shown = (await new Client(at, token).call('GET', '/applications?limit=500')).body['items'] as Json[];
      t.same(
        shown.map((row) => row['id']).filter((id) => id === one || id === two),
        [one],
        way.join(', '),
      );
    }
    const free = await at.user('viewer');
    for (const role of ['auditor', 'viewer']) await client.call('PATCH', `/users/${free.id}`, { role });
    t.match(await client.call('GET', `/rbac/grants/${free.id}`), { body: { items: [], confined: false } });
    await client.call('PATCH', `/users/${free.id}`, { role: 'auditor' });
    await client.call('PUT', `/rbac/grants/${free.id}`, { items: [] });
    await client.call('PATCH', `/users/${free.id}`, { role: 'viewer' });
    t.match(await client.call('GET', `/rbac/grants/${free.id}`), { body: { confined: false } }, 'nobody has set it');
    const wrong = { items: [{ scope: 'org', role: 'nobody' }] };
    t.match(await client.call('PUT', `/rbac/grants/${free.id}`, wrong), {
      status: 422,
      body: { detail: /rbac\/roles/ },
    });
    for (const role of ['viewer', 'admin', 'sensor']) {
      const patch = await client.call('PATCH', `/rbac/roles/${role}`, { permissions: ['view_findings'] });
      t.match(patch, { status: 409, body: { detail: /built-in/ } }, role);
      t.match(await client.call('DELETE', `/rbac/roles/${role}`), { status: 409, body: { detail: /built-in/ } }, role);
    }
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

  await t.test(
    '22 E: an account is made with a role of the organisation, or given one, and may that at once',
    async (t) => {
      const name = `triage${Date.now()}`;
      const permissions = ['view_findings', 'manage_mutes'];
      const made = await client.call('POST', '/rbac/roles', { name, permissions });
      const mayDo = async (token: string, permission: string) =>
        (await new Client(at, token).call('POST', '/rbac/check', { permission })).body['allowed'];
      const password = 'Quiet-river-stone-41';
      const email = `${name}@example.org`;
      const user = await client.call('POST', '/users', { email, role: name, password });
      t.match(user, { status: 201, body: { role: name } });
      const id = String(user.body['id']);
      const first = String((await at.logIn(email, password)).body['token']);
      const next = 'Slow-meadow-cloud-73';
      await new Client(at, first).call('POST', '/auth/password/change', { current: password, new: next });
      const token = async () => String((await at.logIn(email, next)).body['token']);
      const held = await token();
      t.same(
        await Promise.all(
          ['view_findings', 'manage_mutes', 'view_assets', 'manage_roles'].map((one) => mayDo(held, one)),
        ),
        [true, true, false, false],
        'what the role says, and nothing of a viewer beside it',
      );
      t.match(await client.call('GET', `/users?role=${name}`), { body: { total: 1, items: [{ id, role: name }] } });
      t.equal((await client.call('DELETE', `/rbac/roles/${String(made.body['id'])}`)).status, 409, 'a user has it');
      const patch = { permissions: ['view_findings', 'view_assets'] };
      t.equal((await client.call('PATCH', `/rbac/roles/${String(made.body['id'])}`, patch)).status, 200);
      t.same([await mayDo(held, 'manage_mutes'), await mayDo(held, 'view_assets')], [false, true], 'at once');
      for (const [role, seen] of [
        ['auditor', { view_audit: true, manage_mutes: false }],
        ['operator', { view_audit: false, manage_mutes: true }],
        [name, { view_audit: false, manage_mutes: false, view_assets: true }],
        ['viewer', { view_sla: true, manage_mutes: false }],
      ] as const) {
        t.match(await client.call('PATCH', `/users/${id}`, { role }), { status: 200, body: { role } }, role);
        t.match(await client.call('GET', `/users/${id}`), { body: { role } });
        const now = await token();
        for (const [permission, allowed] of Object.entries(seen))
          t.equal(await mayDo(now, permission), allowed, `${role}: ${permission}`);
      }
      t.match(
        await client.call('GET', `/rbac/grants/${id}`),
        { body: { items: [], confined: false } },
        'nothing is left',
      );
      t.equal((await client.call('PATCH', `/users/${id}`, { role: 'no-such' })).status, 422);
      t.equal((await client.call('DELETE', `/rbac/roles/${String(made.body['id'])}`)).status, 204);
    },
  );

  await t.test('22 E: a caller gives no role with more permissions than their own', async (t) => {
    const [helper, chief] = [`helper${Date.now()}`, `chief${Date.now()}`];
    await client.call('POST', '/rbac/roles', { name: helper, permissions: ['view_users', 'manage_users'] });
    await client.call('POST', '/rbac/roles', { name: chief, permissions: ['view_users', 'override_gate'] });
    const someone = await at.user('viewer');
    await client.call('PUT', `/rbac/grants/${someone.id}`, { items: [{ scope: 'org', role: helper }] });
    const own = new Client(at, someone.token);
    t.equal((await own.call('POST', '/users', { email: `x${chief}@example.org`, role: chief })).status, 403);
    const over = await client.call('POST', '/users', { email: `y${chief}@example.org`, role: chief });
    const id = String(over.body['id']);
    t.equal((await own.call('PATCH', `/users/${id}`, { name: 'Z' })).status, 403);
    t.equal((await own.call('PATCH', `/users/${id}`, { role: 'viewer' })).status, 403);
    t.equal((await own.call('DELETE', `/users/${id}`)).status, 403);
    t.equal((await own.call('POST', `/users/${id}/reset-password`)).status, 403);
    t.match(await client.call('GET', `/users/${id}`), { body: { role: chief } });
  });
}

t.test('22 Q11: rights add up', (t) => onBothDatabases(t, 'rights', suite));
