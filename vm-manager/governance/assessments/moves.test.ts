// Endpoints of the map that change states, and the paths of grants, over HTTP on both databases.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Organisation } from '../../testing/organisation.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

async function run(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const here = new Organisation(at, (await at.user('admin')).token);
  const project = await here.made('/projects', { name: 'p' });
  const shop = await here.application('Shop', { project_id: project });

  await t.test('30.assessments: step by step, and closed once everything is answered', async (t) => {
    const checklist = [{ item: 'WSTG-ATHN-01', result: 'open' }];
    const id = await here.made('/assessments', { application_id: shop, name: 'a', checklist });
    const to = (state: string) => here.call('POST', `/assessments/${id}/transition`, { to: state });
    t.match(await to('closed'), { status: 409, body: { detail: /planned, from which it moves to active/ } });
    t.match(await to('active'), { status: 200, body: { status: 'active', version: 2 } });
    t.match(await to('review'), { status: 200 });
    t.match(await to('closed'), { status: 409, body: { detail: /items of its checklist that nobody has answered/ } });
    const answered = [{ item: 'WSTG-ATHN-01', result: 'pass', note: 'n' }];
    const put = () => here.call('PUT', `/assessments/${id}/checklist`, { checklist: answered });
    t.match(await put(), { status: 200, body: { checklist: answered } });
    t.match(await to('closed'), { status: 200, body: { status: 'closed' } });
    t.match(await put(), { status: 409 });
    t.match(await to('active'), { status: 200 });
  });

  await t.test('30.applications: an archived one leaves chains and comes back', async (t) => {
    await here.finding(shop, 'CWE-918', 'Server-side request forgery', { reachable: true });
    await here.finding(shop, 'CWE-639', 'Statements of others can be read');
    t.equal((await here.chains()).stats['chains'], 1);
    t.match(await here.call('POST', `/applications/${shop}/archive`), { status: 200, body: { status: 'archived' } });
    t.equal((await here.chains()).stats['chains'], 0);
    t.equal((await here.call('POST', `/applications/${shop}/archive`)).status, 409);
    t.match(await here.call('POST', `/applications/${shop}/restore`), { status: 200, body: { status: 'active' } });
    t.equal((await here.chains()).stats['chains'], 1);
  });

  await t.test('30.rbac: grants by the body, and members of a project', async (t) => {
    const person = await at.user('viewer');
    const items = [{ scope: 'application', scope_id: shop, role: 'developer' }];
    const put = await here.call('PUT', '/rbac/grants', { principal: person.id, items, confined: true });
    t.match(put, { status: 200, body: { items, confined: true } });
    t.equal((await here.call('PUT', '/rbac/grants', { principal: 'nobody', items: [] })).status, 404);
    const members = { items: [{ user_id: person.id, roles: ['developer', 'viewer'] }] };
    const path = `/projects/${project}/members`;
    t.match(await here.call('PUT', path, members), { status: 200, body: members });
    t.match(await here.call('GET', path), { body: members });
    const grants = (await here.call('GET', `/rbac/grants/${person.id}`)).body['items'] as unknown[];
    t.equal(grants.length, 3, 'the grant for the application stands');
    for (const wrong of [
      { user_id: 'nobody', roles: ['viewer'] },
      { user_id: person.id, roles: ['no-such-role'] },
    ])
      t.equal((await here.call('PUT', path, { items: [wrong] })).status, 422);
    t.equal((await here.call('PUT', path, { items: [...members.items, ...members.items] })).status, 422);
    t.match(await here.call('PUT', path, { items: [] }), { status: 200, body: { items: [] } });
    t.equal((await here.call('PUT', path, members, person.token)).status, 403);
  });
}

void onBothDatabases(t, 'states and members', run);
