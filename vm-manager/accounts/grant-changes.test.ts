// Who may give and take which rights, over HTTP: somebody who may set grants and little else gives nobody more than
// they have, themselves included, and takes from nobody what they do not have.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const admin = new Client(at, (await at.user('admin')).token);
  await admin.call('POST', '/rbac/roles', { name: 'desk', permissions: ['view_users', 'manage_roles'] });
  await admin.call('POST', '/rbac/roles', { name: 'lead', permissions: ['view_users', 'manage_gates'] });
  const deskItems = [{ scope: 'org', role: 'desk' }];
  const account = async (role: 'viewer' | 'operator' | 'admin', items: readonly Json[], confined: boolean) => {
    const user = await at.user(role);
    const set = await admin.call('PUT', `/rbac/grants/${user.id}`, { items, confined });
    t.equal(set.status, 200);
    return { id: user.id, client: new Client(at, user.token) };
  };
  const put = (client: Client, id: string, body: Json) => client.call('PUT', `/rbac/grants/${id}`, body);
  const refused = (what: string) => ({ status: 403, body: { detail: new RegExp(`^You cannot ${what} `) } });

  await t.test('22: who is confined does not free themselves, nor others', async (t) => {
    const own = await account('operator', deskItems, true);
    const other = await account('operator', [], true);
    const may = async () =>
      (await own.client.call('POST', '/rbac/check', { permission: 'manage_gates' })).body['allowed'];
    t.equal(await may(), false);
    t.match(await put(own.client, own.id, { items: deskItems, confined: false }), refused('hand on'));
    t.match(await put(own.client, other.id, { items: [], confined: false }), refused('hand on'));
    t.match(
      await own.client.call('PUT', '/rbac/grants', { principal: own.id, items: [], confined: false }),
      refused('hand on'),
    );
    t.equal(await may(), false, 'nothing has changed');
    t.match(await put(own.client, own.id, { items: deskItems }), { status: 200, body: { confined: true } });
    t.match(await put(own.client, own.id, { items: deskItems, confined: true }), { status: 200 });
  });

  await t.test('22: nobody takes away what they do not have', async (t) => {
    const desk = await account('viewer', deskItems, true);
    const [operator, chief] = [await account('operator', [], false), await account('admin', [], false)];
    for (const { id } of [operator, chief])
      t.match(await put(desk.client, id, { items: [], confined: true }), refused('take away'));
    const lead = { scope: 'org', role: 'lead' };
    const led = await account('viewer', [lead, ...deskItems], true);
    t.match(await put(desk.client, led.id, { items: deskItems }), refused('take away'));
    t.match(
      await put(desk.client, led.id, { items: [{ ...lead, scope: 'application', scope_id: '1' }] }),
      refused('hand on'),
    );
    t.match(await admin.call('GET', `/rbac/grants/${led.id}`), { body: { items: deskItems.concat(lead) } });
    t.match(await put(admin, led.id, { items: deskItems }), { status: 200, body: { items: deskItems } });
    t.match(await put(desk.client, led.id, { items: [] }), { status: 200, body: { items: [] } }, 'their own they may');
    const project = String((await admin.call('POST', '/projects', { name: 'shop' })).body['id']);
    const members = (client: Client, items: readonly Json[]) =>
      client.call('PUT', `/projects/${project}/members`, { items });
    t.equal((await members(admin, [{ user_id: led.id, roles: ['lead', 'desk'] }])).status, 200);
    t.match(await members(desk.client, []), refused('take away'));
    t.match(await members(desk.client, [{ user_id: led.id, roles: ['desk'] }]), refused('take away'));
    t.equal((await members(admin, [{ user_id: led.id, roles: ['desk'] }])).status, 200);
    t.match(await members(desk.client, []), { status: 200, body: { items: [] } });
  });

  await t.test('22: nor by changing a role', async (t) => {
    const desk = await account('viewer', deskItems, true);
    const made = await admin.call('POST', '/rbac/roles', {
      name: 'gates',
      permissions: ['view_users', 'manage_gates'],
    });
    const role = `/rbac/roles/${made.body['id']}`;
    t.match(await desk.client.call('PATCH', role, { permissions: ['view_users'] }), refused('take away'));
    t.equal((await admin.call('PATCH', role, { permissions: ['view_users'] })).status, 200);
    t.equal((await desk.client.call('PATCH', role, { permissions: ['manage_roles'] })).status, 200);
  });
}

await onBothDatabases(t, '22: rights that are given and taken', suite);
