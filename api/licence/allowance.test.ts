import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { makeKeyPair, signLicence } from './vendor-sign.js';

async function licensing(t: Test, database: Database): Promise<void> {
  const vendor = makeKeyPair(2048);
  const at = await startTestApp(database, { licencePublicKey: vendor.publicKey });
  const { token } = await at.user('admin');
  const sites = (n: number) =>
    Array.from({ length: n }, (_, i) => ({
      name: `s${i}`,
      prefix: i === 0 ? '/' : `/s${i}`,
      upstream: 'http://10.0.0.1',
    }));
  const save = (n: number, over: object = {}) =>
    at.call('PATCH', '/api/settings', { token, body: { sites: sites(n).map((site) => ({ ...site, ...over })) } });
  const key = signLicence(
    {
      customer: 'Example',
      max_domains: 3,
      issued: '2026-01-01T00:00:00Z',
      expires: '2026-04-01T00:00:00Z',
      edition: 'pro',
    },
    vendor.privateKey,
  );
  t.match((await at.call('GET', '/api/license', { token })).body, {
    state: 'trial',
    used_domains: 0,
    allowed_domains: 1,
  });
  t.equal((await save(1)).status, 200);
  t.match(await save(2), { status: 403, body: { code: 'licence_allowance' } });
  const forged = signLicence(
    { customer: 'Example', max_domains: 300, issued: '2026-01-01T00:00:00Z', expires: null, edition: 'pro' },
    makeKeyPair(2048).privateKey,
  );
  t.match(await at.call('POST', '/api/license', { token, body: { key: forged } }), {
    status: 422,
    body: { code: 'licence_rejected' },
  });
  t.match((await at.call('GET', '/api/license', { token })).body, { state: 'trial' });
  t.match(await at.call('POST', '/api/license', { token, body: { key } }), {
    status: 200,
    body: { state: 'valid', allowed_domains: 3, customer: 'Example', edition: 'pro' },
  });
  t.match(await at.call('POST', '/api/license', { token, body: { key: forged } }), { status: 422 });
  t.match(
    (await at.call('GET', '/api/license', { token })).body,
    { state: 'valid' },
    'a forged key does not displace a good one',
  );
  t.equal((await save(3)).status, 200);
  t.equal((await save(4)).status, 403);
  at.clock.nowMs = Date.parse('2026-05-01T00:00:00Z');
  const later = String((await at.logIn('admin1@example.org')).body['token']);
  const put = (body: object) => at.call('PATCH', '/api/settings', { token: later, body });
  t.match((await at.call('GET', '/api/license', { token: later })).body, {
    state: 'expired',
    used_domains: 3,
    allowed_domains: 1,
  });
  t.equal((await put({ paranoia_level: 2 })).status, 200, 'everything else stays editable');
  t.equal(
    (await put({ sites: sites(3).map((s) => ({ ...s, upstream: 'http://10.0.0.2' })) })).status,
    200,
    'existing sites may change',
  );
  t.equal((await at.call('POST', '/api/apply', { token: later })).status, 200, 'and be applied');
  t.equal(at.applied.at(-1)?.version.settings.sites.length, 3, 'all three stay protected');
  t.equal((await put({ sites: sites(2) })).status, 200, 'removing is allowed');
  t.match(await put({ sites: sites(3) }), { status: 403 }, 'adding again is not');
  const versions = (await at.call('GET', '/api/config/versions', { token: later })).body['items'] as { id: number }[];
  t.match(
    await at.call('POST', '/api/config/rollback', { token: later, body: { version: versions[1]?.id } }),
    { status: 403, body: { code: 'licence_allowance' } },
    'not even by rollback',
  );
  await at.close();
}

async function endedKeys(t: Test, database: Database): Promise<void> {
  const vendor = makeKeyPair(2048);
  const at = await startTestApp(database, { licencePublicKey: vendor.publicKey });
  const { token } = await at.user('admin');
  const dayMs = 86_400_000;
  const keyUntil = (days: number | null, max_domains = 3) =>
    signLicence(
      {
        customer: 'Example',
        max_domains,
        issued: '2020-01-01T00:00:00Z',
        expires: days === null ? null : new Date(at.clock.nowMs + days * dayMs).toISOString(),
        edition: 'pro',
      },
      vendor.privateKey,
    );
  const activate = (key: string, more: object = {}) =>
    at.call('POST', '/api/license', { token, body: { key, ...more } });
  const state = async () => (await at.call('GET', '/api/license', { token })).body['state'] as string;
  t.match(await activate(keyUntil(-2)), { status: 200, body: { state: 'expired' } }, 'nothing valid gives way to it');
  t.match(await activate(keyUntil(30)), { status: 200, body: { state: 'valid' } }, 'a valid one replaces an ended one');
  for (const ended of [keyUntil(-1), keyUntil(0), keyUntil(-1, 500)]) {
    t.match(await activate(ended), {
      status: 422,
      body: { code: 'licence_rejected', detail: /ended on .*force/, errors: [{ path: '/key' }] },
    });
    t.equal(await state(), 'valid', 'what was active stays active');
    t.equal((await activate(ended, { force: false })).status, 422);
  }
  t.match(await activate(keyUntil(null)), { status: 200, body: { expires: null } });
  t.match(await activate(keyUntil(-1)), { status: 422 }, 'nor does one without end');
  t.match(await activate(keyUntil(10)), { status: 200, body: { state: 'valid' } }, 'a valid one may be a shorter one');
  t.equal((await activate('GH1.forged', { force: true })).status, 422, 'a forged one is refused also when forced');
  t.match(await activate(keyUntil(-1), { force: true }), { status: 200, body: { state: 'expired' } });
  const audit = await at.call('GET', '/api/audit?action=licence.', { token });
  t.equal((audit.body['items'] as { action: string }[]).filter(({ action }) => action === 'licence.reject').length, 8);
  await at.close();
}

t.test('U8: a key that has ended replaces a valid licence only when that is asked for', (t) =>
  onBothDatabases(t, 'ended keys', endedKeys),
);

t.test('licensing', (t) => onBothDatabases(t, 'licensing', licensing));
