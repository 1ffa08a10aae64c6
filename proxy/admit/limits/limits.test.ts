// Limits as clients meet them: 429 with the fields, who is counted, which paths, dry runs. That the counts are exact is
// shared-state/rate-counters.test.ts.
import t from 'tap';
import { renderPrometheus } from '../../metrics/exposition.js';
import { drive, type Drive, type Driven } from '../../road/testing/drive.js';
import { gates } from '../index.js';
import { testGateWorker } from '../testing/gate-worker.js';

/** Requests one after the other through all gates of one worker. */
function client(settings: object, site?: object) {
  const { worker, pass, bans } = testGateWorker();
  const ask = (request: Partial<Drive> = {}): Driven =>
    drive({ gates, worker, settings, ...(site === undefined ? {} : { site }), ...request });
  const statuses = (requests: readonly Partial<Drive>[]): number[] =>
    requests.map((request) => ask(request).answer?.status ?? 200);
  return { ask, statuses, pass, bans };
}

const times = (count: number, request: Partial<Drive> = {}): Partial<Drive>[] =>
  Array.from({ length: count }, () => request);

t.test('1: the default zone: 429 with Retry-After, both RateLimit fields, and a problem document', async (t) => {
  const { ask, statuses, pass } = client({ rl_enabled: true, rl_events: 3, rl_window: '1m' });
  t.strictSame(statuses(times(4)), [200, 200, 200, 429]);
  const { answer, events, metrics } = ask();
  const headers = answer?.headers ?? [];
  const field = (name: string): string | undefined => headers[headers.indexOf(name) + 1];
  t.equal(field('Retry-After'), '20');
  t.equal(field('RateLimit-Policy'), '"default";q=3;w=60');
  t.equal(field('RateLimit'), '"default";r=0;t=20');
  t.equal(field('Content-Type'), 'application/problem+json');
  t.match(JSON.parse(answer?.body ?? ''), {
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Too many requests',
    status: 429,
    'violated-policies': ['default'],
  });
  t.match(events, [{ verdict: 'block', interruption: { ruleId: 1_006_101, action: 'throttle' } }]);
  t.match(events[0]?.messages[0]?.data, /zone=default limit=3 window_seconds=60 remaining=0 retry_after_seconds=20/);
  t.match(
    renderPrometheus(metrics.snapshot(), {}),
    'gatehouse_rate_limited_total{site="shop",zone="default",outcome="enforced"} 1',
  );
  t.equal(ask({ headers: ['Accept', 'text/html'] }).answer?.headers[1], 'text/html; charset=utf-8');
  pass(20_000);
  t.strictSame(statuses(times(2)), [200, 429]);
  t.strictSame(statuses(times(2, { clientIp: '192.0.2.77' })), [200, 200], 'others are not touched');
});

t.test('1: off by default, and nothing of it without the switch', async (t) => {
  t.strictSame(new Set(client({}).statuses(times(700))), new Set([200]));
  const limit = { path: '/', method: '*', events: 1, window: '1m' };
  t.strictSame(client({ rl_enabled: false, endpoint_limits: [limit] }).statuses(times(2)), [200, 200]);
});

t.test('1: an IPv6 client is its /64', async (t) => {
  const { statuses } = client({ rl_enabled: true, rl_events: 2, rl_window: '1m' });
  const from = (clientIp: string) => ({ clientIp });
  t.strictSame(
    statuses([from('2001:db8::1'), from('2001:db8::2:3:4'), from('2001:db8::ffff'), from('2001:db8:0:1::1')]),
    [200, 200, 429, 200],
  );
});

t.test('1: zones by path, header, and all together', async (t) => {
  const zone = { name: 'api', match_path: '/api', key: 'ip', events: 1, window: '1m' };
  const settings = (more: object) => ({ rl_enabled: true, rl_events: 10_000, rl_zones: [{ ...zone, ...more }] });
  const api = (uri: string) => ({ uri });
  for (const uri of [
    '/api',
    '/api/x',
    '/api?x=1',
    '//api',
    '/x/../api',
    '/%61pi/y',
    '/API',
    '/x/%2e%2e/api',
    '/api;v=1',
  ])
    t.strictSame(client(settings({})).statuses([api('/api/1'), api(uri)]), [200, 429], uri);
  for (const uri of ['/apiary', '/ap', '/x/api', '/'])
    t.strictSame(client(settings({})).statuses([api('/api/1'), api(uri)]), [200, 200], uri);
  const keyed = (value: string, clientIp = '192.0.2.1') => ({ uri: '/api', headers: ['x-api-key', value], clientIp });
  t.strictSame(
    client(settings({ key: 'header:X-Api-Key' })).statuses([
      keyed('one'),
      keyed('two'),
      keyed('one', '192.0.2.9'),
      api('/api'),
      api('/api'),
    ]),
    [200, 200, 429, 200, 429],
    'by the field, whoever sends it; without it by client',
  );
  const twice = { uri: '/api', headers: ['X-Tenant', 'one', 'x-tenant', 'two'] };
  const byTenant = settings({ key: 'header:X-Tenant' });
  t.strictSame(client(byTenant).statuses([twice, twice]), [400, 400], '22: which of two counts is nobody to choose');
  t.strictSame(
    client({ ...byTenant, rl_zones: [{ ...zone, key: 'header:X-Tenant', dry_run: true }] }).statuses([twice]),
    [200],
  );
  const hops = { uri: '/api', headers: ['X-Forwarded-For', '1.1.1.1', 'X-Forwarded-For', '2.2.2.2'] };
  t.strictSame(client(settings({ key: 'header:X-Forwarded-For' })).statuses([hops, hops]), [200, 429], 'a list');
  t.strictSame(
    client(settings({ key: 'global' })).statuses([keyed('a', '192.0.2.1'), keyed('b', '192.0.2.2')]),
    [200, 429],
  );
});

t.test('1: endpoints: templates, methods, and every way to write the path', async (t) => {
  const settings = (path: string, method = 'POST') => ({
    rl_enabled: true,
    rl_events: 10_000,
    endpoint_limits: [{ path, method, events: 1, window: '1m' }],
  });
  const post = (uri: string, method = 'POST') => ({ uri, method });
  for (const uri of ['/login', '/login/', '/LOGIN', '//login', '/x/../login', '/%6cogin?next=/', '/login;a=b'])
    t.strictSame(client(settings('/login')).statuses([post('/login'), post(uri)]), [200, 429], uri);
  for (const [uri, method] of [
    ['/login', 'GET'],
    ['/login/x', 'POST'],
    ['/logins', 'POST'],
  ] as const)
    t.strictSame(client(settings('/login')).statuses([post('/login'), post(uri, method)]), [200, 200], uri);
  t.strictSame(
    client(settings('/login')).statuses([post('/login'), post('/login', 'post')]),
    [200, 429],
    'small letters',
  );
  const orders = client(settings('/orders/{id}', '*'));
  t.strictSame(
    orders.statuses([post('/orders/1'), post('/orders/2', 'DELETE'), post('/orders/1/items'), post('/orders')]),
    [200, 429, 200, 200],
  );
  t.strictSame(
    client(settings('/files/*', 'GET')).statuses([post('/files/a/b', 'GET'), post('/files/c', 'HEAD')]),
    [200, 429],
  );
  const odd = client(settings('/caf\u00e9/"x"')).ask({ ...post('/caf%C3%A9/"x"') });
  t.equal(odd.answer, null);
});

t.test('1: endpoints: a method that override fields ask for counts as well', async (t) => {
  const settings = (method: string) => ({
    rl_enabled: true,
    rl_events: 10_000,
    endpoint_limits: [{ path: '/orders/{id}', method, events: 1, window: '1m' }],
  });
  const uri = '/orders/1';
  const remove = { method: 'DELETE', uri };
  const asking: readonly Partial<Drive>[] = [
    ...['X-HTTP-Method-Override', 'x-http-method', 'X-Method-Override', 'X_HTTP_METHOD_OVERRIDE'].flatMap((name) =>
      ['DELETE', 'delete', ' Delete ', 'PUT, DELETE'].map((value) => ({ method: 'POST', uri, headers: [name, value] })),
    ),
    { method: 'POST', uri, headers: ['X-HTTP-Method', 'PUT', 'X-HTTP-Method', 'DELETE'] },
    { method: 'GET', uri, headers: ['X-HTTP-Method-Override', 'DELETE'] },
    ...[
      '_method=DELETE',
      'a=b&_method=delete',
      '%5fmethod=%44ELETE',
      '_METHOD=DELETE',
      '_method=PUT&_method=DELETE',
    ].map((query) => ({ method: 'POST', uri: `${uri}?${query}` })),
    { method: 'POST', uri: '/x/..;/orders/2.json?.method=DELETE' },
    { method: 'POST', uri: `${uri}?+_method[]=DELETE` },
    { method: 'POST', uri: `${uri}?X-HTTP-Method-Override=DELETE` },
    { method: 'POST', uri: `${uri}?x_http_method=delete` },
  ];
  for (const request of asking) {
    const what = JSON.stringify(request);
    t.strictSame(client(settings('DELETE')).statuses([remove, request]), [200, 429], what);
    t.strictSame(client(settings('DELETE')).statuses([request, remove]), [200, 429], `first ${what}`);
    const own = { method: request.method as string, uri };
    t.strictSame(client(settings(own.method)).statuses([own, request]), [200, 429], `its own: ${what}`);
  }
  const others: readonly Partial<Drive>[] = [
    { method: 'POST', uri },
    { method: 'POST', uri, headers: ['X-HTTP-Method-Override', 'PUT'] },
    { method: 'POST', uri, headers: ['X-Other', 'DELETE'] },
    { method: 'POST', uri: `${uri}?method=DELETE` },
    { method: 'POST', uri: `${uri}?x_method=DELETE` },
    { method: 'POST', uri: '/users/1?_method=DELETE' },
  ];
  for (const request of others)
    t.strictSame(client(settings('DELETE')).statuses([remove, request]), [200, 200], JSON.stringify(request));
});

t.test('1: floods: all together on every site, a burst by client on protected ones', async (t) => {
  const open = { protected: false };
  const all = { flood_global_enabled: true, flood_global_events: 2, flood_global_window: '10s' };
  const from = (clientIp: string) => ({ clientIp });
  const three = [from('192.0.2.1'), from('192.0.2.2'), from('192.0.2.3')];
  t.strictSame(client(all).statuses(three), [200, 200, 429]);
  t.strictSame(client(all, open).statuses(three), [200, 200, 429]);
  const burst = { flood_burst_enabled: true, flood_burst_events: 2, flood_burst_window: '1s' };
  t.strictSame(client(burst).statuses([...times(3), from('192.0.2.9')]), [200, 200, 429, 200]);
  t.strictSame(client(burst, open).statuses(times(3)), [200, 200, 200]);
});

t.test(
  '1: a dry run counts and records, and refuses nobody; it does not shield from the zones behind it',
  async (t) => {
    const dry = { name: 'dry', match_path: '/', key: 'ip', events: 1, window: '1m', dry_run: true };
    const { ask, statuses } = client({
      rl_enabled: true,
      rl_events: 1000,
      rl_zones: [dry, { ...dry, name: 'wet', events: 3, dry_run: false }],
    });
    t.strictSame(statuses(times(2)), [200, 200]);
    const { events, isForwarded, metrics } = ask({ hangsUp: true });
    t.ok(isForwarded);
    t.match(events, [{ verdict: 'flag', messages: [{ data: /would_block=true zone=dry/ }] }]);
    t.match(renderPrometheus(metrics.snapshot(), {}), 'zone="dry",outcome="recorded"} 1');
    t.equal(ask().answer?.status, 429);
    for (const settings of [
      { rl_enabled: true, rl_events: 1, rl_dry_run: true },
      { flood_burst_enabled: true, flood_burst_events: 1, flood_dry_run: true },
      { flood_global_enabled: true, flood_global_events: 1, flood_dry_run: true },
    ])
      t.strictSame(client(settings).statuses(times(3)), [200, 200, 200], JSON.stringify(settings));
  },
);

t.test('1: DetectionOnly refuses nobody', async (t) => {
  const { statuses } = client({ rl_enabled: true, rl_events: 1 }, { mode: 'DetectionOnly' });
  t.strictSame(statuses(times(3)), [200, 200, 200]);
});

t.test('1: a flood does not fill the records', async (t) => {
  const { ask } = client({ rl_enabled: true, rl_events: 1 });
  const flood = times(500).map((request) => ask(request).events.length);
  t.equal(
    flood.reduce((sum, count) => sum + count, 0),
    20,
    'twenty a second and worker',
  );
  const { ask: watch } = client({ rl_enabled: true, rl_events: 1 }, { mode: 'DetectionOnly' });
  t.equal(
    times(500).reduce((sum, request) => sum + watch({ ...request, hangsUp: true }).events.length, 0),
    20,
  );
});

t.test('4: a path with too many readings takes a place of every endpoint of its method', async (t) => {
  const odd = `/${'x'.repeat(6000)}/%2e%2e;a%5c..%2f%252e//a;b=c/../login%20.`;
  const settings = {
    rl_enabled: true,
    rl_events: 10_000,
    endpoint_limits: [
      { path: '/login', method: 'POST', events: 2, window: '1m' },
      { path: '/search', method: 'GET', events: 1, window: '1m' },
    ],
  };
  const { worker } = testGateWorker();
  t.equal(worker.paths.readings(odd), null, 'this is one');
  const post = { method: 'POST', uri: odd };
  t.strictSame(client(settings).statuses([post, post, post]), [200, 200, 429]);
  t.strictSame(client(settings).statuses([post, post, { method: 'POST', uri: '/login' }]), [200, 200, 429]);
  t.strictSame(client(settings).statuses([post, { method: 'PUT', uri: odd }, { uri: '/' }]), [200, 200, 200]);
});
