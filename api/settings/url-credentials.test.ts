// A8: credentials inside URLs are secrets: no reader sees them anywhere, and what was shown can be sent back.
import t from 'tap';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { maskUrl, type UrlKind } from './url-credentials.js';

t.test('A8: what of a URL is hidden', async (t) => {
  for (const [url, kind, shown] of [
    ['https://hooks.test/services/T0/B1/x', 'webhook', 'https://hooks.test/********'],
    ['https://hooks.test:8443/a?b=c#d', 'webhook', 'https://hooks.test:8443/********?b=********#********'],
    ['https://hooks.test', 'webhook', 'https://hooks.test'],
    ['https://hooks.test/', 'webhook', 'https://hooks.test/'],
    ['https://feed.test/lists/bad.txt', 'keyed', 'https://feed.test/lists/bad.txt'],
    ['https://feed.test/lists/4f9a8c1b2d/bad.txt', 'keyed', 'https://feed.test/lists/********/bad.txt'],
    ['https://feed.test/key/abc/bad.txt', 'keyed', 'https://feed.test/key/********/bad.txt'],
    ['https://feed.test/a;token=b/c', 'keyed', 'https://feed.test/********/c'],
    ['https://feed.test/l?k=abc&flag&=z', 'keyed', 'https://feed.test/l?k=********&********&=********'],
    ['https://feed.test?k=abc', 'keyed', 'https://feed.test?k=********'],
    ['https://ann:pw@feed.test/l', 'keyed', 'https://********@feed.test/l'],
    ['https://ann@b:pw@feed.test/l', 'keyed', 'https://********@feed.test/l'],
    ['https://login.test/0f5c8e3a-91b2-4c77/v2.0', 'plain', 'https://login.test/0f5c8e3a-91b2-4c77/v2.0'],
    ['https://login.test/a?code=b', 'plain', 'https://login.test/a?code=********'],
    ['tcp://log.test:514', 'webhook', 'tcp://log.test:514'],
    ['', 'keyed', ''],
  ] as [string, UrlKind, string][]) {
    t.equal(maskUrl(url, kind), shown, url);
    t.equal(maskUrl(shown, kind), shown, 'what is shown is shown the same again');
  }
});

/** Each has the word `tiger` where the credential is. */
const given = {
  siem_webhook_url: 'https://hooks.test/services/T0/B0/tiger',
  ti_feed_url: 'https://feed.test/list.txt?apikey=tiger',
  mrf_url: 'https://feed.test/7f31tiger/rules.json',
  auth_alg: 'RS256',
  auth_jwks_url: 'https://keys.test/token/tiger/jwks.json',
  siem_connectors: [
    {
      name: 'hec',
      kind: 'webhook',
      target: 'https://collect.test/in/tiger',
      token: 'tiger',
      options: {
        shared_key: 'tiger',
        header: 'X-Let-In: tiger',
        login_url: 'https://ann:tiger@login.test/key/tiger?code=tiger',
        table: 'events',
      },
    },
    { name: 'lines', kind: 'syslog', target: 'tls://log.test:6514' },
  ],
};

t.test('A8: credentials in URLs on every road to a reader', (t) =>
  onBothDatabases(t, 'URLs', async (t, database) => {
    const at = await startTestApp(database);
    t.teardown(() => at.close());
    const { token } = await at.user('admin');
    const viewer = await at.user('viewer');
    const saved = await at.call('PATCH', '/api/settings', { token, body: given });
    t.equal(saved.status, 200);
    const changed = { ...given, siem_webhook_url: 'https://hooks.test/services/T0/B0/tiger-2' };
    t.equal(
      (await at.call('PATCH', '/api/settings', { token, body: { siem_webhook_url: changed.siem_webhook_url } })).status,
      200,
    );
    const roads = [
      '/api/settings',
      '/api/config/versions',
      '/api/config/versions/2',
      '/api/config/diff?from=1&to=3',
      '/api/config/diff?from=2&to=3',
      '/api/managed-feed',
      '/api/jobs',
    ];
    for (const road of roads)
      for (const reader of [viewer.token, token]) {
        const reply = await at.call('GET', road, { token: reader });
        t.ok(reply.status === 200 || reply.status === 403, `${road}: ${reply.status}`);
        t.notMatch(reply.text, /tiger/, road);
      }
    t.notMatch((await at.call('GET', '/api/audit', { token })).text, /tiger/);
    t.notMatch(saved.text, /tiger/, 'nor whoever has just set it');
    t.match((await at.call('GET', '/api/config/diff?from=2&to=3', { token })).body, {
      changes: [{ path: '/siem_webhook_url', kind: 'changed', from: 'a secret', to: 'another secret' }],
    });

    const shown = (await at.call('GET', '/api/settings', { token })).body;
    t.match(shown, {
      siem_webhook_url: 'https://hooks.test/********',
      ti_feed_url: 'https://feed.test/list.txt?apikey=********',
      siem_connectors: [
        {
          target: 'https://collect.test/********',
          options: {
            shared_key: '********',
            login_url: 'https://********@login.test/key/********?code=********',
            table: 'events',
          },
        },
        {},
      ],
    });
    const back = await at.call('PUT', '/api/settings', { token, body: shown });
    t.match(back, { status: 200, headers: { 'x-settings-version': '3' } }, 'sent back, nothing is changed');
    const reversed = { siem_connectors: [...shown['siem_connectors']].reverse() };
    t.equal((await at.call('PATCH', '/api/settings', { token, body: reversed })).status, 200);
    const { siem_connectors, siem_webhook_url } = await at.parts.currentSettings();
    t.equal(siem_webhook_url, changed.siem_webhook_url);
    t.match(
      siem_connectors[1],
      { target: given.siem_connectors[0]?.target, options: { shared_key: 'tiger' } },
      'kept by name',
    );

    const half = await at.call('PATCH', '/api/settings', {
      token,
      body: { siem_webhook_url: 'https://elsewhere.test/********' },
    });
    t.match(half, { status: 422, body: { errors: [{ path: '/siem_webhook_url', fix: 'write the whole value' }] } });
    t.notMatch(half.text, /tiger/);
    const wrong = await at.call('PATCH', '/api/settings', { token, body: { ti_feed_url: 'ftp://x.test/tiger' } });
    t.equal(wrong.status, 400);
    t.notMatch(wrong.text, /tiger/, 'an error does not repeat what it refuses');
  }),
);
