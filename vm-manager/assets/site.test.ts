// Who ties an application to a site of the firewall, at each door, and what links from before show.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { testMsMax } from '#api/testing/waiting';
import { insertOperation } from '../apis/testing/insert-operation.js';
import { Client, type Json } from '../testing/import-client.js';

t.setTimeout(testMsMax);
type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const detail = /Links of applications to sites of the firewall are of the whole organisation/;

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const admin = new Client(at, (await at.user('admin')).token);
  const made = async (path: string, body: object): Promise<string> => {
    const reply = await admin.call('POST', path, body);
    t.equal(reply.status, 201, reply.text);
    return String(reply.body['id']);
  };
  const project = await made('/projects', { name: 'mine' });
  const theirs = await made('/applications', { name: 'theirs', site: 'secret' });
  await insertOperation(database, { site: 'secret', template: '/payroll/{id}' });
  const user = await at.user('operator');
  const items = [{ scope: 'project', scope_id: project, role: 'operator' }];
  await admin.call('PUT', `/rbac/grants/${user.id}`, { items, confined: true });
  const confined = new Client(at, user.token);
  const mine = await made('/applications', { name: 'mine', project_id: project });
  const token = await admin.call('POST', '/tokens', { name: 'c', scopes: ['write'], application_ids: [mine] });
  const asToken = new Client(at, String(token.body['token']));
  const shows = async (who: Client): Promise<boolean> => {
    const lists = ['/api-security/endpoints', '/api-security/posture', '/search?q=payroll'];
    const replies = await Promise.all(lists.map(async (path) => who.call('GET', path)));
    return replies.some(({ text }) => text.includes('payroll'));
  };

  await t.test('whoever reaches a part names no site, by no door', async (t) => {
    const body = { name: 'new', project_id: project, site: 'secret' };
    t.match(await confined.call('POST', '/applications', body), { status: 403, body: { detail } });
    for (const [who, client] of Object.entries({ confined, asToken })) {
      t.match(
        await client.call('PATCH', `/applications/${mine}`, { site: 'secret' }),
        { status: 403, body: { detail } },
        who,
      );
      const put = await client.call('PUT', `/applications/${mine}/site`, { site: 'secret' });
      t.match(put, { status: 403, body: { detail } }, who);
      t.match(await client.call('GET', `/applications/${mine}`), { body: { site: null } }, who);
    }
    t.equal((await confined.call('POST', '/applications', { ...body, name: 'without', site: null })).status, 201);
    t.equal(
      (await confined.call('PATCH', `/applications/${mine}`, { owner: 'o', site: null })).status,
      200,
      'unchanged',
    );
    t.equal(await shows(confined), false);
    t.equal(await shows(admin), true);
  });

  await t.test('nor does anybody name what is kept for applications without one', async (t) => {
    for (const site of [`application-${theirs}`, `~application-${theirs}`, ' ~x', 'Application-1']) {
      const body = { name: `n${site}`, project_id: project, site };
      t.match(
        await admin.call('POST', '/applications', body),
        { status: 422, body: { detail: /site.*kept for/ } },
        site,
      );
      t.equal((await admin.call('PATCH', `/applications/${mine}`, { site })).status, 422, site);
      t.equal((await admin.call('PUT', `/applications/${mine}/site`, { site })).status, 422, site);
    }
  });

  await t.test('a link from before shows its people nothing until it is set again', async (t) => {
    await database.sql`update vm_applications set site = 'secret', site_confirmed = false where id = ${mine}`;
    t.equal(await shows(confined), false);
    t.match(await confined.call('GET', `/applications/${mine}`), { body: { site_confirmed: false } });
    const text =
      'openapi: 3.1.0\ninfo: {title: x, version: "1"}\npaths: {/a: {get: {responses: {"200": {description: x}}}}}\n';
    const sent = await confined.call('POST', '/api-security/specs', { application_id: mine, text });
    t.match(sent, { status: 201, body: { site: `~application-${mine}` } }, 'and no site gets what they send');
    t.equal((await admin.call('PUT', `/applications/${mine}/site`, { site: 'secret' })).status, 200);
    t.match(await confined.call('GET', `/applications/${mine}`), { body: { site_confirmed: true } });
    t.equal(await shows(confined), true, 'somebody of the whole organisation has said so');
    const list: Json = (await confined.call('GET', '/api-security/specs')).body;
    t.match(list, { total: 1 }, 'what was theirs before stays');
    t.equal((await confined.call('PATCH', `/applications/${mine}`, { site: null })).status, 403, 'nor end it');
    t.equal((await confined.call('PATCH', `/applications/${mine}`, { site: 'secret', owner: 'p' })).status, 200);
  });

  await t.test('a target of theirs at a host of others does not make the host theirs', async (t) => {
    const url = 'https://hidden.example/';
    t.equal((await confined.call('POST', '/targets', { application_id: mine, url })).status, 201);
    const run = await admin.call('POST', '/discovery/runs', { seeds: ['hidden.example'], sources: ['site'] });
    t.equal(run.status, 202, run.text);
    for (let status = 'running'; status === 'running'; )
      status = String((await admin.call('GET', `/discovery/runs/${String(run.body['id'])}`)).body['status']);
    t.match((await admin.call('GET', '/discovery/assets?q=hidden')).body, { items: [{ state: 'new' }] });
    t.match((await confined.call('GET', '/discovery/assets')).body, { total: 0 });
  });
}

t.test('sites of applications', (t) => onBothDatabases(t, 'sites_of_applications', suite));
