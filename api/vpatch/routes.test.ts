import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { findPatchIn, patchCatalog } from './catalog/index.js';

async function patches(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { token } = await at.user('operator');
  const admin = await at.user('admin', 'boss@example.org');
  const catalog = await at.call('GET', '/api/vpatch/catalog', { token });
  t.match(catalog, { status: 200, body: { total: patchCatalog.length } });
  t.equal((catalog.body['items'] as unknown[]).length, patchCatalog.length);
  t.ok((catalog.body['items'] as { state: string }[]).every(({ state }) => state === 'available'));
  t.match((await at.call('GET', '/api/vpatch/catalog?q=log4', { token })).body['items'], [
    { cve: 'CVE-2021-44228', seclang: /id:1007001/, tests: [{ expect: 'match' }] },
  ]);
  t.match(await at.call('POST', '/api/vpatch', { token, body: { cve: 'CVE-2021-44228' } }), {
    status: 200,
    body: { changed: true, patch: { id: 1_007_001, state: 'enabled' } },
  });
  t.match(await at.call('POST', '/api/vpatch', { token, body: { id: 1_007_001 } }), {
    status: 200,
    body: { changed: false },
  });
  t.match((await at.call('GET', '/api/settings', { token })).body['virtual_patches'], [
    { id: 1_007_001, cve: 'CVE-2021-44228', enabled: true },
  ]);
  const forShop = {
    sites: [{ name: 'shop', prefix: '/shop', upstream: 'http://127.0.0.1:1', protected: true }],
    virtual_patches: [{ id: 1_007_001, cve: 'CVE-2021-44228', sites: ['shop'] }],
  };
  t.match(await at.call('PATCH', '/api/settings', { token: admin.token, body: forShop }), { status: 200 });
  t.match(await at.call('POST', '/api/vpatch', { token, body: { id: 1_007_001, action: 'disable' } }), {
    body: { patch: { state: 'disabled' } },
  });
  t.match(
    (await at.call('GET', '/api/settings', { token })).body['virtual_patches'],
    [{ id: 1_007_001, enabled: false, sites: ['shop'] }],
    '8: a patch for some sites stays one for those',
  );
  t.match(await at.call('POST', '/api/vpatch', { token, body: { id: 1_007_001, action: 'remove' } }), {
    body: { patch: { state: 'available' } },
  });
  for (const body of [{}, { cve: 'CVE-1999-0001' }, { id: 1_007_001, cve: 'CVE-2022-22965' }])
    t.match(await at.call('POST', '/api/vpatch', { token, body }), { status: 404 }, JSON.stringify(body));
  t.same(
    ((await at.call('GET', '/api/audit?action=vpatch.', { token })).body['items'] as { action: string }[]).map(
      ({ action }) => action,
    ),
    ['vpatch.remove', 'vpatch.disable', 'vpatch.apply'],
  );
  t.equal(findPatchIn([])('CVE-2021-44228', 1_007_002), null, 'an id and another CVE are no patch');
  t.match(findPatchIn([])('CVE-2021-44228', 1_007_001), { text: /jndi/ });
  await at.close();
}

t.test('virtual patches', (t) => onBothDatabases(t, 'virtual patches', patches));
