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

  await t.test('30.assessments: PATCH and POST keep the order of the transition', async (t) => {
    const id = await here.made('/assessments', { application_id: shop, name: 'ordered' });
    const patch = (body: object) => here.call('PATCH', `/assessments/${id}`, body);
    for (const status of ['review', 'closed'])
      t.match(await patch({ status }), { status: 409, body: { detail: /planned, from which it moves to active/ } });
    t.match(await patch({ status: 'planned', lead: 'ann' }), { status: 200 }, 'the same is no move');
    t.match(await patch({ status: 'active' }), { status: 200 });
    t.match(await patch({ status: 'closed' }), { status: 409, body: { detail: /planned or review/ } });
    t.match(await patch({ status: 'review' }), { status: 200 });
    t.match(await patch({ status: 'closed' }), { status: 200 });
    t.match(await patch({ checklist: [] }), { status: 409, body: { detail: /is closed/ } });
    const late = { application_id: shop, name: 'late', status: 'closed' };
    t.match(await here.call('POST', '/assessments', late), { status: 409 });
  });

  await t.test('30.assessments: an item that failed raises a finding, once', async (t) => {
    const id = await here.made('/assessments', { application_id: shop, name: 'raising' });
    const put = (checklist: readonly object[]) => here.call('PUT', `/assessments/${id}/checklist`, { checklist });
    const failed = { item: 'Sessions end', result: 'fail', note: 'They do not.' };
    const raise = { severity: 'high', cwe: 613 };
    const refused = await put([{ ...failed, result: 'pass', raise }]);
    t.match(refused, { status: 422, body: { detail: /checklist\/0\/raise is of an item that did not fail/ } });
    const made = await put([
      { ...failed, raise },
      { item: 'Other', result: 'fail' },
    ]);
    t.match(made, { status: 200, body: { checklist: [failed, { item: 'Other', result: 'fail' }] } });
    const list = made.body['checklist'] as readonly { vuln_id?: string; raise?: unknown }[];
    const finding = String(list[0]?.vuln_id);
    t.equal(list[1]?.vuln_id, undefined, 'none that nobody asked for');
    t.match(await here.call('GET', `/vulnerabilities/${finding}`), {
      body: { title: 'Sessions end', severity: 'high', cwe: ['CWE-613'], application_id: shop, source: 'manual' },
    });
    const again = await put([{ ...failed, raise }]);
    t.match(again.body, { checklist: [{ vuln_id: finding }] }, 'it has one');
    const patched = await here.call('PATCH', `/assessments/${id}`, { checklist: [failed] });
    t.match(patched.body, { checklist: [{ vuln_id: finding }] }, 'it stays with its item');
    const other = await here.application('Elsewhere');
    const foreign = await here.finding(other, 'CWE-79', 'XSS');
    t.match(await put([{ ...failed, vuln_id: foreign }]), { status: 422, body: { detail: /another application/ } });
    t.match((await put([{ ...failed, vuln_id: null }])).body, { checklist: [failed] }, 'and is taken away by hand');
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
