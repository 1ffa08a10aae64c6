import t from 'tap';
import {
  chooseSelfTest,
  followEnvironment,
  formatProblems,
  isNetwork,
  limitFields,
  proxySettingNames,
  replaySamplingFields,
  resolveProxyConfig,
  timeoutFields,
  upstreamDefaults,
} from './config.js';
import { defaultLimits, defaultReplaySampling, defaultTimeouts } from './contract.js';
import { checkGenerationRequest } from './check-contract.js';

const demo = upstreamDefaults({});
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

t.test('probes are expected to be blocked unless the settings say otherwise', async (t) => {
  const usual = { isSqliOn: true, sqliExclusions: 0, inboundThreshold: 5 };
  t.equal(chooseSelfTest(usual), 'inspect');
  t.equal(chooseSelfTest({ ...usual, inboundThreshold: undefined }), 'inspect', 'the default');
  for (const change of [{ isSqliOn: false }, { sqliExclusions: 1 }, { inboundThreshold: 6 }])
    t.equal(chooseSelfTest({ ...usual, ...change }), 'skip', JSON.stringify(change));
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
    ['config.sitesFromEnvironment'],
  );
});

t.test('mistakes are told with their place, all at once', async (t) => {
  const site = { name: 'a', prefix: '/', upstream: 'http://a:1', protected: true };
  t.strictSame(pathsOf('text'), ['']);
  t.strictSame(pathsOf({ sites: {} }), ['sites']);
  t.strictSame(pathsOf({ mode: 'on' }), ['mode']);
  t.strictSame(
    pathsOf({
      sites: [
        { ...site, upstream: 'ftp://a' },
        { ...site, name: 'b' },
      ],
    }),
    ['sites[0].upstream', 'sites[1].prefix'],
  );
  t.strictSame(pathsOf({ sites: [{ ...site, upstream: 'localhost:1' }] }), ['sites[0].upstream']);
  t.strictSame(pathsOf({ sites: [{ ...site, upstream: 'not a url' }] }), ['sites[0].upstream']);
  t.strictSame(pathsOf({ sites: [{ ...site, upstream: 'http://u:p@a/?x#y' }] }), [
    'sites[0].upstream',
    'sites[0].upstream',
  ]);
  t.strictSame(pathsOf({ sites: [{ ...site, prefix: 'api' }] }), ['sites[0].prefix']);
  t.strictSame(pathsOf({ sites: [{ ...site, prefix: '/a/../b' }] }), ['sites[0].prefix']);
  t.strictSame(pathsOf({ sites: [{ ...site, protected: 'yes' }] }), ['sites[0].protected']);
  t.strictSame(pathsOf({ sites: [{ ...site, protectd: true }] }), ['sites[0].protectd']);
  t.strictSame(pathsOf({ sites: [{ prefix: '/' }] }).sort(), ['sites[0].name', 'sites[0].name', 'sites[0].upstream']);
  t.strictSame(pathsOf({ sites: [site, { ...site, prefix: '/a' }] }), ['sites[1].name']);
  t.strictSame(
    pathsOf({
      sites: [
        { ...site, prefix: '/a' },
        { ...site, name: 'b', prefix: '/a/' },
      ],
    }),
    ['sites[1].prefix'],
  );
  t.strictSame(pathsOf({ limits: { request_body_bytes_max: 5, nonsense: 1 } }).sort(), [
    'limits.nonsense',
    'limits.request_body_bytes_max',
  ]);
  t.strictSame(pathsOf({ limits: 5, timeouts: [], replay_sampling: 'all' }), ['limits', 'timeouts', 'replay_sampling']);
  t.strictSame(
    pathsOf({
      limits: { request_body_over_limit: 'drop' },
      timeouts: { drain_ms: 1, drain: 1 },
      replay_sampling: { every: -1, per_second_max: 0 },
    }).sort(),
    [
      'limits.request_body_over_limit',
      'replay_sampling.every',
      'replay_sampling.per_second_max',
      'timeouts.drain',
      'timeouts.drain_ms',
    ],
  );
  t.strictSame(pathsOf({ rl_trust_proxy: true }), ['rl_trusted_proxies']);
  t.strictSame(pathsOf({ rl_trust_proxy: true, rl_trusted_proxies: ['10.0.0.0/8', '10.0.0.0/99', 'x'] }), [
    'rl_trusted_proxies[1]',
    'rl_trusted_proxies[2]',
  ]);
  t.match(
    formatProblems(resolveProxyConfig({ mode: 'off' }, demo).problems),
    /^mode: is "off"; choose one of "On", "DetectionOnly"$/,
  );
});

t.test('every field that is said to be read is read, and no other', async (t) => {
  for (const name of proxySettingNames)
    t.strictSame(
      pathsOf({ rl_trust_proxy: true, [name]: null }).filter((path) => path === name),
      [name],
      name,
    );
  t.strictSame(
    pathsOf(Object.fromEntries(['paranoia_level', 'nonsense'].map((name) => [name, null]))),
    [],
    'the compiler and the commands look at these',
  );
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
  t.strictSame(config?.limits, { ...defaultLimits, uriBytesMax: 4096, requestBodyOverLimit: 'partial' });
  t.strictSame(config?.timeouts, { ...defaultTimeouts, drainMs: 1000 });
  t.strictSame(config?.replaySampling, { ...defaultReplaySampling, every: 7 });
  const named = (fields: object): string[] =>
    Object.values(fields as Record<string, readonly [string]>)
      .map(([name]) => name)
      .sort();
  t.strictSame(
    [...named(limitFields), 'requestBodyOverLimit'].sort(),
    Object.keys(defaultLimits).sort(),
    'every limit can be set',
  );
  t.strictSame(named(timeoutFields), Object.keys(defaultTimeouts).sort());
  t.strictSame(named(replaySamplingFields), Object.keys(defaultReplaySampling).sort());
});

t.test('networks', async (t) => {
  for (const good of ['192.0.2.1', '10.0.0.0/8', '::1', '2001:db8::/32']) t.ok(isNetwork(good), good);
  for (const bad of ['', '10.0.0.0/33', '10.0.0', '2001:db8::/129', '10.0.0.0/8/8', '10.0.0.0/x'])
    t.notOk(isNetwork(bad), bad);
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
    ['config.privacyMode', 'config.replaySampling.every', 'config.replaySampling.perSecondMax'],
  );
  t.strictSame(paths({ id: 1.5, sha256: 'zz', artifactPath: 1, config: {} }).slice(0, 3), [
    'artifactPath',
    'id',
    'sha256',
  ]);
  t.strictSame(paths({ id: 1, sha256: '', artifactPath: '', config: { ...config, sites: [{}] } }).length, 9);
});
