import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';

async function sites(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { token } = await at.user('admin', 'boss@example.org');
  const viewer = await at.user('viewer', 'eyes@example.org');
  const read = async (): Promise<unknown[]> =>
    (await at.call('GET', '/api/sites', { token: viewer.token })).body['items'] as unknown[];
  const defaults = async (): Promise<unknown> =>
    (await at.call('GET', '/api/sites', { token: viewer.token })).body['defaults'];
  t.same(await read(), [], 'those of the environment are not in the settings');
  t.match(
    await defaults(),
    [
      { name: 'customer', prefix: '/', upstream: 'http://127.0.0.1:8000', protected: true, mode: 'On' },
      { name: 'payment', prefix: '/payment', upstream: 'http://127.0.0.1:8000/payment' },
    ],
    'N1: what is protected before a site is saved',
  );
  const rows: readonly [upstream: string, over: object, expected: object][] = [
    ['http://h:1', {}, { strip_prefix: false, example: { path: '/shop/a', goes_to: 'http://h:1/shop/a' }, mode: 'On' }],
    ['http://h:1/', {}, { strip_prefix: true, example: { goes_to: 'http://h:1/a' }, rules: { policy: 'base' } }],
    [
      'http://h:1',
      { strip_prefix: true, paranoia_level: 3 },
      { strip_prefix: true, example: { goes_to: 'http://h:1/a' }, rules: { policy: /^p/, paranoia_level: 3 } },
    ],
    [
      'http://h:1',
      { categories: { xss: { path_exclusions: ['/shop/editor'] } }, response_body_types: ['text/css'] },
      {
        rules: {
          policy: /^p/,
          path_exclusions: { xss: ['/shop/editor'] },
          response_body_types: ['text/css'],
          response_body_limit_bytes: 1_048_576,
        },
      },
    ],
    [
      'http://h:1/base',
      { strip_prefix: false, mode: 'DetectionOnly' },
      { strip_prefix: false, example: { goes_to: 'http://h:1/base/shop/a' }, mode: 'DetectionOnly' },
    ],
  ];
  for (const [upstream, over, expected] of rows) {
    const site = { name: 'shop', prefix: '/shop', upstream, protected: true, ...over };
    const saved = await at.call('PATCH', '/api/settings', { token, body: { sites: [site] } });
    t.equal(saved.status, 200, saved.text);
    t.match(await read(), [expected], `U12: ${upstream} ${JSON.stringify(over)}`);
  }
  t.same(await defaults(), [], 'N1: a saved site takes their place');
  t.equal((await at.call('GET', '/api/sites', { token })).body['port'], 8080, 'X4: where nobody sets WAF_PORT');
  const emptied = await at.call('PATCH', '/api/settings', { token, body: { sites: [] } });
  t.equal(emptied.status, 200, emptied.text);
  await at.close();
  const moved = await startTestApp(database, {
    wafPort: 9090,
    upstreams: { customer: 'https://me:pass@shop.example:8443/base', payment: 'http://pay.example' },
  });
  const other = await moved.user('viewer', 'other@example.org');
  t.equal((await moved.call('GET', '/api/sites', { token: other.token })).body['port'], 9090, 'X4: the real port');
  t.match(
    (await moved.call('GET', '/api/sites', { token: other.token })).body['defaults'],
    [{ upstream: 'https://shop.example:8443/base' }, { upstream: 'http://pay.example' }],
    'N1: those of this installation, without a password',
  );
  await moved.close();
}

t.test('U12: sites', (t) => onBothDatabases(t, 'U12: sites as they are meant', sites));
