// U14: a filter that nothing can fit is refused with what would fit, on every list.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';

const records = ['/api/requests', '/api/events'];
const lists = [
  ...records,
  '/api/audit',
  '/api/threat-intel',
  '/api/vpatch/catalog',
  '/api/rules',
  '/api/rules/categories',
  '/api/rules/evidence',
  '/api/fp-suggestions',
  '/api/config/versions',
  '/api/users',
  '/api/nodes',
  '/api/settings',
  '/api/settings/schema',
  '/api/license',
  '/api/policy/stats',
];

async function unknownFilters(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { token } = await at.user('admin');
  const refused = async (url: string, path: string, reason: RegExp) =>
    t.match(await at.call('GET', url, { token }), { status: 400, body: { errors: [{ path, reason }] } }, url);
  await t.test('names', async (t) => {
    for (const url of lists) {
      t.equal((await at.call('GET', url, { token })).status, 200, url);
      const reply = await at.call('GET', `${url}?verdcit=block`, { token });
      t.match(reply, { status: 400, body: { errors: [{ path: '/verdcit', reason: /not a known field/ }] } }, url);
    }
    t.equal((await at.call('GET', '/api/health?_=1', {})).status, 200, 'monitors may add what they like');
  });
  await t.test('values', async () => {
    for (const list of records) {
      await refused(`${list}?verdict=bad`, '/verdict', /must be one of pass, flag, block/);
      await refused(`${list}?verdict=Block`, '/verdict', /must be one of/);
      await refused(`${list}?verdict=`, '/verdict', /must be one of/);
      for (const several of ['verdict=pass&verdict=bad', 'verdict=pass,bad'])
        await refused(`${list}?${several}`, '/verdict', /must be/);
      await refused(`${list}?rule_id=942100&rule_id=942110`, '/rule_id', /must be/);
      await refused(`${list}?status=abc`, '/status', /must be/);
      await refused(`${list}?status=1000`, '/status', /must be/);
      await refused(`${list}?rule_id=x`, '/rule_id', /must be/);
      await refused(`${list}?client_ip=localhost`, '/client_ip', /not an IPv4 or IPv6 address/);
      await refused(`${list}?client_ip=192.0.2.300`, '/client_ip', /not an IPv4/);
      await refused(`${list}?method=GE%20T`, '/method', /form/);
      await refused(`${list}?from=yesterday`, '/from', /form/);
      await refused(`${list}?from=2026-02-30T25:00:00Z`, '/from', /moment/);
      await refused(`${list}?from=2026-02-02&to=2026-02-01`, '/to', /not after/);
      await refused(`${list}?limit=0`, '/limit', /must be/);
      await refused(`${list}?limit=many`, '/limit', /must be/);
    }
    await refused('/api/events?verdict=refused', '/verdict', /pass, flag, block, engine-error/);
    await refused('/api/audit?action=bad', '/action', /login/);
    await refused('/api/audit?action=bad.', '/action', /login/);
    await refused('/api/audit?role=root', '/role', /viewer, operator, admin/);
    await refused('/api/audit?source_ip=here', '/source_ip', /address/);
    await refused('/api/audit/export?action=bad', '/action', /login/);
    await refused('/api/threat-intel?source=bad', '/source', /manual, tor, feed, managed/);
    await refused('/api/vpatch/catalog?severity=bad', '/severity', /critical, high, medium/);
  });
  await t.test('cursors', async (t) => {
    for (const url of [...records, '/api/audit', '/api/threat-intel', '/api/config/versions', '/api/users'])
      for (const cursor of [
        'x',
        Buffer.from('["a","b","c"]').toString('base64url'),
        Buffer.from('{}').toString('base64url'),
      ])
        t.match(
          await at.call('GET', `${url}?cursor=${cursor}`, { token }),
          { status: 400, body: { code: 'bad_cursor' } },
          `${url} ${cursor}`,
        );
  });
  for (const url of [
    '/api/requests?verdict=blocked',
    '/api/events?verdict=engine-error&client_ip=::1',
    '/api/audit?action=rule.&role=none',
  ])
    t.match(await at.call('GET', url, { token }), { status: 200, body: { items: [] } }, url);
  await at.close();
}

t.test('U14: filters that nothing fits', (t) => onBothDatabases(t, 'unknown filters', unknownFilters));
