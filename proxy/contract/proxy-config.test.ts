import t from 'tap';
import { dataPlaneDefaults, defaultSettings } from '#settings';
import { chooseSelfTest, followEnvironment, resolveProxyConfig, upstreamDefaults } from './proxy-config.js';
import { checkGenerationRequest } from './check-generation.js';

const demo = upstreamDefaults({});
const defaults = dataPlaneDefaults();
const pathsOf = (settings: unknown): string[] => resolveProxyConfig(settings, demo).problems.map(({ path }) => path);

t.test('no sites: the bundled demo, or the applications of the environment', async (t) => {
  const { config, problems } = resolveProxyConfig(
    { mode: 'DetectionOnly', paranoia_level: 2, sites: [] },
    upstreamDefaults({ UPSTREAM_CUSTOMER: 'http://10.0.0.5:3000', UPSTREAM_PAYMENT: '' }),
  );
  t.strictSame(problems, []);
  t.equal(config?.mode, 'DetectionOnly');
  t.strictSame(
    config?.sites.map(({ name, prefix, upstream }) => [name, prefix, upstream]),
    [
      ['customer', '/', 'http://10.0.0.5:3000'],
      ['payment', '/payment', 'http://127.0.0.1:8000/payment'],
    ],
  );
  t.strictSame(
    checkGenerationRequest({ id: 1, sha256: '', artifactPath: '', config }),
    [],
    'what is resolved satisfies the contract',
  );
});

t.test(
  'DASHBOARD_DOMAIN: the node takes the site of the console, and no other name that settings cannot have',
  async (t) => {
    const upstreams = upstreamDefaults({ DASHBOARD_DOMAIN: 'waf.example.com' });
    for (const settings of [{}, { sites: [{ name: 'shop', prefix: '/', upstream: 'http://10.0.0.5:80' }] }]) {
      const { config } = resolveProxyConfig(settings, upstreams);
      t.equal(config?.sites.at(-1)?.name, '.dashboard');
      t.strictSame(checkGenerationRequest({ id: 1, sha256: '', artifactPath: '', config }), []);
      const sites = config?.sites.map((site) => ({ ...site, name: `.${site.name}` }));
      const paths = checkGenerationRequest({ id: 1, sha256: '', artifactPath: '', config: { ...config, sites } });
      t.ok(paths.some(({ path }) => path === '/config/sites/0/name'));
    }
  },
);

t.test('probes are expected to be blocked unless the settings say otherwise', async (t) => {
  const { categories, inbound_threshold } = defaultSettings();
  const sqli = (change: object) => ({ ...categories, sqli: { ...categories.sqli, ...change } });
  t.equal(chooseSelfTest({ categories, inbound_threshold }), 'inspect');
  t.equal(chooseSelfTest({ categories: sqli({ enabled: false }), inbound_threshold }), 'skip');
  t.equal(chooseSelfTest({ categories: sqli({ path_exclusions: ['/a'] }), inbound_threshold }), 'skip');
  t.equal(chooseSelfTest({ categories, inbound_threshold: 6 }), 'skip');
});

t.test('sites of the environment follow it, those of the settings stay', async (t) => {
  const [before, after] = [
    upstreamDefaults({ UPSTREAM_CUSTOMER: 'http://10.0.0.5:3000' }),
    upstreamDefaults({ UPSTREAM_PAYMENT: 'http://10.0.0.6:4000' }),
  ];
  for (const settings of [{}, { sites: [] }, { mode: 'DetectionOnly' }]) {
    const { config } = resolveProxyConfig(settings, before);
    t.strictSame(config && followEnvironment(config, after), resolveProxyConfig(settings, after).config);
  }
  // the very sites that the environment would give, but named by a person
  const sites = [
    { name: 'customer', prefix: '/', upstream: before.customer },
    { name: 'payment', prefix: '/payment', upstream: before.payment },
  ];
  const { config } = resolveProxyConfig({ sites }, before);
  t.strictSame(config && followEnvironment(config, after), config);
  t.strictSame(
    checkGenerationRequest({
      id: 1,
      sha256: '',
      artifactPath: '',
      config: { ...config, sitesFromEnvironment: 'yes' },
    }).map(({ path }) => path),
    ['/config/sitesFromEnvironment'],
  );
});

t.test('mistakes are told with their place, all at once', async (t) => {
  const site = { name: 'a', prefix: '/', upstream: 'http://a:1', protected: true };
  const rows: [unknown, string[]][] = [
    ['text', ['']],
    [{ sites: {} }, ['/sites']],
    [{ sites: [{ ...site, upstream: 'http://u:p@a/?x#y' }] }, ['/sites/0/upstream']],
    [{ sites: [{ ...site, upstream: 'localhost:1' }], mode: 'on' }, ['/mode', '/sites/0/upstream']],
    [{ sites: [{ prefix: '/' }] }, ['/sites/0/name']],
    // `upstreams` may stand for it, which is known once every member has its form
    [{ sites: [{ name: 'a', prefix: '/' }] }, ['/sites/0/upstream']],
    [{ limits: 5, timeouts: [], replay_sampling: 'all' }, ['/limits', '/timeouts', '/replay_sampling']],
    [{ rl_trust_proxy: true, rl_trusted_proxies: ['10.0.0.0/8', '10.0.0.0/99'] }, ['/rl_trusted_proxies/1']],
  ];
  for (const [candidate, paths] of rows)
    t.strictSame(pathsOf(candidate).sort(), [...paths].sort(), JSON.stringify(candidate));
});

t.test('what is made of several settings', async (t) => {
  const of = (settings: object) => resolveProxyConfig(settings, demo).config;
  t.strictSame(of({ rl_trusted_proxies: ['10.0.0.0/8'] })?.trustedProxies, [], 'listed, and not believed');
  t.strictSame(of({ rl_trust_proxy: true, rl_trusted_proxies: ['10.0.0.0/8'] })?.trustedProxies, ['10.0.0.0/8']);
  t.strictSame(
    of({
      flood_timeouts_enabled: true,
      flood_read_header: '3s',
      flood_read_body: '2m',
      flood_write: '9s',
      flood_idle: '1h',
    })?.timeouts,
    {
      ...defaults.timeouts,
      clientHeadMs: 3000,
      clientBodyIdleMs: 120_000,
      clientIdleMs: 3_600_000,
      clientWriteMs: 9000,
    },
  );
  const named = of({ sites: [{ name: 'a', host: 'Shop.Example', upstream: 'http://a:1' }] });
  t.match(named?.sites, [{ host: 'shop.example', prefix: '/' }]);
  t.notOk(named !== null && 'sitesFromEnvironment' in (named ?? {}));
});

t.test('numbers that are given count, the others have their defaults', async (t) => {
  const { config } = resolveProxyConfig(
    {
      limits: { uri_bytes_max: 4096, request_body_over_limit: 'partial' },
      timeouts: { drain_ms: 1000 },
      replay_sampling: { every: 7 },
    },
    demo,
  );
  t.strictSame(config?.limits, { ...defaults.limits, uriBytesMax: 4096, requestBodyOverLimit: 'partial' });
  t.strictSame(config?.timeouts, { ...defaults.timeouts, drainMs: 1000 });
  t.strictSame(config?.replaySampling, { ...defaults.replaySampling, every: 7 });
});

t.test('a generation request is checked at the door', async (t) => {
  const { config } = resolveProxyConfig({}, demo);
  const paths = (input: unknown): string[] => checkGenerationRequest(input).map(({ path }) => path);
  t.strictSame(paths({ id: 0, sha256: 'a'.repeat(64), artifactPath: '/x', config }), []);
  t.strictSame(paths(null), ['']);
  const { replaySampling, privacyMode, ...older } = config ?? {};
  t.strictSame(
    paths({ id: 0, sha256: '', artifactPath: '', config: older }),
    [],
    `what came after the first release may be absent: ${JSON.stringify([replaySampling, privacyMode])}`,
  );
  t.strictSame(
    paths({ id: 0, sha256: '', artifactPath: '', config: { ...older, privacyMode: 1, replaySampling: { every: -1 } } }),
    ['/config/privacyMode', '/config/replaySampling/every'],
  );
  t.match(
    older,
    { privacyMode: false, replaySampling: defaults.replaySampling },
    'and has its default behind the door',
  );
  const wrong = paths({ id: 1.5, sha256: 'zz', artifactPath: 1, config: {} });
  for (const path of ['/artifactPath', '/id', '/sha256', '/config/sites', '/config/trustedProxies'])
    t.ok(wrong.includes(path), path);
  const badSite = paths({ id: 1, sha256: '', artifactPath: '', config: { ...config, sites: [{}] } });
  t.strictSame(badSite.sort(), ['/config/sites/0/name', '/config/sites/0/upstream']);
  const badProxies = { ...config, trustedProxies: ['10.0.0.0/8', '10.0.0.0/99'] };
  t.strictSame(paths({ id: 1, sha256: '', artifactPath: '', config: badProxies }), ['/config/trustedProxies/1']);
});
