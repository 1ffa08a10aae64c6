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
  t.same(await read(), [], 'those of the environment are not in the settings');
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
  t.equal((await at.call('GET', '/api/sites', { token })).body['port'], 8080, 'X4: where nobody sets WAF_PORT');
  await at.close();
  const moved = await startTestApp(database, { wafPort: 9090 });
  const other = await moved.user('viewer', 'other@example.org');
  t.equal((await moved.call('GET', '/api/sites', { token: other.token })).body['port'], 9090, 'X4: the real port');
  await moved.close();
}

t.test('U12: sites', (t) => onBothDatabases(t, 'U12: sites as they are meant', sites));
