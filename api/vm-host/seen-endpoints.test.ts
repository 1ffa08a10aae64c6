import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { createSeenEndpoints } from './seen-endpoints.js';

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const given = { sites: [{ name: 'front', upstream: 'http://10.0.0.1' }] };
  t.equal((await at.call('PATCH', '/api/settings', { token, body: given })).status, 200);
  const settings = await at.parts.currentSettings();
  const [first] = settings.sites;
  if (first === undefined) throw new Error('the site was saved');
  // the licence of a fresh installation allows one site
  const sites = [
    { ...first, name: 'front', host: 'Shop.example' },
    { ...first, name: 'interface', host: 'shop.example', prefix: '/api' },
    { ...first, name: 'pay', host: 'pay.example' },
    { ...first, name: 'any', host: null },
  ];
  for (const [name, template, hits] of [
    ['front', '/cart', 5],
    ['interface', '/api/{id}', 9],
    ['pay', '/pay', 3],
    ['any', '/any', 3],
  ] as const)
    await database.sql`
      insert into api_endpoints (site, method, template, segments, stats, hits, first_seen, last_seen, access, auth,
        classification, risk, band)
      values (${name}, 'GET', ${template}, '[]', '{}', ${hits}, now(), now(), '', '', '', 0, '')`;
  const seen = createSeenEndpoints({ database, currentSettings: async () => ({ ...settings, sites }) });
  t.same(
    (await seen('shop.example')).map(({ template }) => template),
    ['/api/{id}', '/cart'],
  );
  t.same(await seen('other.example'), [], 'a site for any host may be another application');
}

t.test('scans get what was seen of the host of their target', (t) => onBothDatabases(t, 'seen_endpoints', suite));
