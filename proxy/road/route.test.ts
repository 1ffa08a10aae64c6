import fc from 'fast-check';
import t from 'tap';
import { resolveProxyConfig } from '../contract/proxy-config.js';
import { createRouter, type Router } from './route.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

function routerOf(sites: readonly object[]): Router {
  const { config, problems } = resolveProxyConfig({ sites }, { customer: '', payment: '' });
  if (config === null) throw new Error(JSON.stringify(problems));
  return createRouter(config);
}

t.test('sites by host and whole segments', async (t) => {
  const router = routerOf([
    { name: 'root', prefix: '/', upstream: 'http://root:1', protected: true },
    { name: 'api', prefix: '/api', upstream: 'http://api:1', protected: true },
    { name: 'v2', prefix: '/api/v2/', upstream: 'http://v2:1/base', protected: true },
    { name: 'static', prefix: '/static', upstream: 'http://root:1', protected: false },
    { name: 'shop', prefix: '/', host: 'shop.example', upstream: 'http://shop:1/', protected: true },
  ]);
  const cases: readonly [host: string, uri: string, site: string, target: string][] = [
    ['x', '/', 'root', '/'],
    ['x', '/apiary', 'root', '/apiary'],
    ['x', '/api', 'api', '/api'],
    ['x', '/api/?q=/api/v2', 'api', '/api/?q=/api/v2'],
    ['x', '/api/v2', 'v2', '/base'],
    ['x', '/api/v2/x?y', 'v2', '/base/x?y'],
    ['x', '/x/../api/z', 'api', '/x/../api/z'],
    ['x', '/%61pi/z', 'api', '/%61pi/z'],
    ['x', '//api/z', 'api', '//api/z'],
    ['SHOP.example:8080', '/api', 'shop', '/api'],
    ['shop.example.', '/a', 'shop', '/a'],
    ['x', 'http://x/api/q', 'api', '/api/q'],
  ];
  for (const [host, uri, site, target] of cases) {
    const routed = router.match(host, uri);
    t.equal(routed?.site.name, site, `${host} ${uri}`);
    t.equal(routed?.target, target, `${host} ${uri} → target`);
  }
  t.equal(router.match('x', '/x/..;/api/v2/y'), null, 'a rewritten prefix must stand there literally');
  t.equal(router.match('x', '/static/..;/admin')?.isAmbiguous, true);
  t.equal(
    router.match('x', '/static/%2e%2e/static/x')?.isAmbiguous,
    true,
    'an unprotected site reached in a roundabout way',
  );
  t.equal(router.match('x', '/static/a.js')?.isAmbiguous, false);
  t.equal(routerOf([{ name: 'a', prefix: '/a', upstream: 'http://a', protected: true }]).match('x', '/b'), null);
});

t.test('U12: strip_prefix says what becomes of the prefix; null keeps the old meaning', async (t) => {
  const rows: readonly [upstream: string, strip: boolean | null, uri: string, target: string | null][] = [
    ['http://h:1', null, '/shop/a?x=/shop', '/shop/a?x=/shop'],
    ['http://h:1/', null, '/shop/a?x', '/a?x'],
    ['http://h:1/base', null, '/shop/a', '/base/a'],
    ['http://h:1', true, '/shop/a?x', '/a?x'],
    ['http://h:1', true, '/shop', '/'],
    ['http://h:1', true, '/shop?q', '/?q'],
    ['http://h:1/', true, '/shop/a', '/a'],
    ['http://h:1/base/', true, '/shop/', '/base/'],
    ['http://h:1', false, '/shop/a', '/shop/a'],
    ['http://h:1/', false, '/shop/a', '/shop/a'],
    ['http://h:1/', false, '/x/../shop/a', '/x/../shop/a'],
    ['http://h:1/base', false, '/shop/a?q', '/base/shop/a?q'],
    ['http://h:1', true, '/%73hop/a', null],
  ];
  for (const [upstream, strip, uri, target] of rows) {
    const site = { name: 'shop', prefix: '/shop', upstream, protected: true };
    const router = routerOf([strip === null ? site : { ...site, strip_prefix: strip }]);
    t.equal(router.match('x', uri)?.target ?? null, target, `${upstream}, ${strip}: ${uri}`);
  }
  const root = routerOf([
    { name: 'all', prefix: '/', upstream: 'http://h:1/in', protected: true, strip_prefix: false },
  ]);
  t.equal(root.match('x', '/a')?.target, '/in/a');
});

t.test('a path in several readings gets the strictest rules among them', async (t) => {
  const router = routerOf([
    { name: 'root', prefix: '/', upstream: 'http://one:1', protected: true },
    {
      name: 'trial',
      prefix: '/trial',
      upstream: 'http://one:1',
      protected: true,
      mode: 'DetectionOnly',
      fail_mode: 'open',
    },
    { name: 'free', prefix: '/free', upstream: 'http://one:1', protected: false },
  ]);
  const cases: readonly [uri: string, site: string, mode: string, failMode: string][] = [
    ['/trial/a', 'trial', 'DetectionOnly', 'open'],
    ['/trial/a%20b', 'trial', 'DetectionOnly', 'open'],
    ['/trial/%C3%BC;v=1//x', 'trial', 'DetectionOnly', 'open'],
    ['/admin/%2e%2e/trial/x', 'trial', 'On', 'closed'],
    ['/admin/..%2ftrial/x', 'trial', 'On', 'closed'],
    ['/admin/%252e%252e/trial/x', 'trial', 'On', 'closed'],
    ['/admin/..;/trial/x', 'trial', 'On', 'closed'],
    ['/admin\\..\\trial\\x', 'trial', 'On', 'closed'],
    ['//trial/x', 'trial', 'On', 'closed'],
    ['/trial//../x', 'root', 'On', 'closed'],
    ['/free/../trial/x', 'trial', 'DetectionOnly', 'open'],
    ['/Trial/x', 'root', 'On', 'closed'],
  ];
  for (const [uri, site, mode, failMode] of cases) {
    const routed = router.match('h', uri)?.site;
    t.strictSame([routed?.name, routed?.mode, routed?.failMode], [site, mode, failMode], uri);
  }
});

t.test("another site's path for servers that ignore case is no way round its protection", async (t) => {
  const router = routerOf([
    { name: 'root', prefix: '/', upstream: 'http://one:1', protected: false },
    { name: 'api', prefix: '/Api', upstream: 'http://one:1', protected: true },
  ]);
  for (const [uri, site, isAmbiguous] of [
    ['/x', 'root', false],
    ['/Api/x', 'api', false],
    ['/api/x', 'root', true],
    ['/API', 'root', true],
    ['/apiary', 'root', false],
  ] as const) {
    const routed = router.match('h', uri);
    t.strictSame([routed?.site.name, routed?.isAmbiguous], [site, isAmbiguous], uri);
  }
});

t.test('A10: a path that some reader takes to a protected neighbour is inspected', async (t) => {
  const router = routerOf([
    { name: 'open', prefix: '/open', upstream: 'http://root:1', protected: false },
    { name: 'root', prefix: '/', upstream: 'http://root:1', protected: true },
  ]);
  for (const uri of [
    '/open/%u002e%u002e/admin',
    '/open/%uff0e%uff0e/admin',
    '/open/%ef%bc%8e%ef%bc%8e/admin',
    '/open/\xef\xbc\x8e./admin',
    '/open/%c0%ae%c0%ae/admin',
    '/open/..;/admin',
    '/open/%25252e%25252e/admin',
    '/open/..%20/admin',
    '/open/..%00/admin',
    '/open/%09../admin',
    `/open/${'%252e%252e;a='.repeat(500)}`,
  ]) {
    const routed = router.match('x', uri);
    t.ok(routed?.site.isProtected === true || routed?.isAmbiguous === true, uri.slice(0, 60));
  }
  for (const uri of ['/open/a%20b', '/open/%C3%BC', '/open/x/y.z'])
    t.equal(router.match('x', uri)?.site.name, 'open', uri);
});

t.test('SO9: a site wants of the second opinion what it says, else what the installation does', async (t) => {
  const site = (name: string, over: object): object => ({ name, prefix: `/${name}`, upstream: 'http://a:1', ...over });
  const sites = [
    site('usual', {}),
    site('own', { second_opinion: 'enforce' }),
    site('none', { second_opinion: 'off' }),
  ];
  const { config } = resolveProxyConfig({ second_opinion: 'monitor', sites }, { customer: '', payment: '' });
  if (config === null) throw new Error('no configuration');
  const router = createRouter(config);
  const wants = (uri: string): unknown => router.match('x', uri)?.site.secondOpinion;
  t.equal(wants('/usual/a'), 'monitor');
  t.equal(wants('/own/a'), 'enforce');
  t.equal(wants('/none/a'), null);
  t.equal(wants('/own/..%2fnone/a'), null, 'a path of two sites: nothing is overruled that one of them would block');
  const alone = resolveProxyConfig({ second_opinion: 'enforce' }, { customer: 'http://a:1', payment: 'http://b:1' });
  t.same(
    alone.config?.sites.map(({ secondOpinion }) => secondOpinion),
    ['enforce', 'enforce'],
    'sites of the environment, too',
  );
});
