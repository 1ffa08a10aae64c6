// No gate that goes by path, and no site, is got around by spelling the path in a way that some server resolves. The
// models are small and written apart from the readings: each says what one family of servers makes of a path.
import fc from 'fast-check';
import t from 'tap';
import { resolveProxyConfig } from '../contract/proxy-config.js';
import { createRouter } from '../road/route.js';
import { drive } from '../road/testing/drive.js';
import { gates } from './index.js';
import { testGateWorker } from './testing/gate-worker.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_124) });
t.setTimeout(3_600_000); // bin/test.mjs has the limit that counts
const spellings = Number(process.env['PATH_SPELLINGS'] ?? 3000);

/** null: the server refuses the path, or leaves it alone. */
type ServerModel = (path: string) => string | null;

const unescape = (text: string): string =>
  text.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
const dots = (path: string): string => {
  const kept: string[] = [];
  for (const segment of path.split('/').slice(1))
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
  return `/${kept.join('/')}`;
};
const merge = (path: string): string => path.replace(/\/+/g, '/');
const last = (path: string, from: RegExp): string => path.replace(from, '');

const servers: Readonly<Record<string, ServerModel>> = {
  tomcat: (path) => dots(merge(unescape(path.replace(/;[^/]*/g, '')))),
  jetty: (path) => merge(dots(unescape(path.replace(/;[^/]*/g, '')))),
  iis: (path) => {
    const unicode = path.replace(/%u([0-9a-f]{4})/gi, (_all, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    const slashed = dots(merge(unescape(unicode).replaceAll('\\', '/')));
    return slashed
      .split('/')
      .map((segment) => last(last(segment, /::?\$.*$/), /[. ]+$/))
      .join('/')
      .toLowerCase();
  },
  'asp.net without cookies': (path) => merge(path.replace(/\/\([A-Z]\([^/()]*\)\)/g, '')).toLowerCase(),
  express: (path) => last(unescape(path), /\/$/).toLowerCase(),
  nginx: (path) => dots(merge(unescape(path))),
  'a server behind nginx that decodes again': (path) => dots(merge(unescape(unescape(path)))),
  apache: (path) => dots(merge(unescape(path))),
  'c strings': (path) => (unescape(path).split('\0')[0] as string).split('\n')[0] as string,
  'php front controller': (path) => path.replace(/^\/index\.php(?=\/)/, ''),
  'php path info': (path) => last(path, /\.php\/.*$/),
  parse_url: (path) => path.replace(/^\/\/[^/]+/, ''),
  'url class': (path) => new URL(path, 'http://h').pathname,
  'spring suffix': (path) => last(unescape(path.replace(/;[^/]*/g, '')), /\.[a-z]+$/),
  'rails format': (path) => last(last(merge(unescape(path)), /\/$/), /\.[a-z]+$/),
  'python strip': (path) => unescape(path).replace(/[\0-\x20\x7f\x85\xa0]+$/, ''),
  'utf-8 strip': (path) => Buffer.from(unescape(path), 'latin1').toString('utf8').trim(),
  'overlong utf-8': (path) =>
    dots(
      unescape(path).replace(/[\xc0\xc1]([\x80-\xbf])/g, (pair) =>
        String.fromCharCode((pair.charCodeAt(0) & 1) * 64 + (pair.charCodeAt(1) & 63)),
      ),
    ),
  'decoders that leave out what they cannot read': (path) => unescape(path).replace(/[\x80-\xff]+/g, ''),
  'hfs+': (path) =>
    Buffer.from(unescape(path), 'latin1')
      .toString('utf8')
      .replace(/[\u200b-\u200f\ufeff]/g, ''),
  nfkc: (path) => Buffer.from(unescape(path), 'latin1').toString('utf8').normalize('NFKC').toLowerCase(),
  'one byte a character': (path) =>
    Buffer.from(Buffer.from(unescape(path), 'latin1').toString('utf8'), 'latin1').toString('latin1'),
};

const isProtected = (path: string): boolean => path === '/authed' || path.startsWith('/authed/');
const resolvers = (path: string): string[] =>
  Object.entries(servers).flatMap(([name, resolve]) => {
    try {
      return isProtected(resolve(path) ?? '') ? [name] : [];
    } catch {
      return []; // `new URL` refuses it
    }
  });

const settings = { auth_enabled: true, auth_protected_paths: ['/authed'] };
const gatesByPath: Readonly<Record<string, object>> = {
  'site authentication': settings,
  challenge: { challenge_enabled: true, challenge_paths: ['/authed'] },
  'endpoint limits': {
    rl_enabled: true,
    rl_events: 100_000,
    endpoint_limits: [{ path: '/authed/*', method: '*', events: 1, window: '1h' }],
  },
  'exact endpoint limits': {
    rl_enabled: true,
    rl_events: 100_000,
    endpoint_limits: [{ path: '/authed', method: '*', events: 1, window: '1h' }],
  },
  'rate zones': {
    rl_enabled: true,
    rl_events: 100_000,
    rl_zones: [{ name: 'z', match_path: '/authed', key: 'ip', events: 1, window: '1h' }],
  },
};

/** The gate asked alone: limits have let one request through before. */
function guards(gate: object, uri: string, site: object = {}): boolean {
  const { worker } = testGateWorker();
  const ask = () => drive({ gates, worker, settings: gate, site, uri });
  if ('rl_enabled' in gate) ask();
  return !ask().isForwarded;
}

const { config } = resolveProxyConfig(
  {
    sites: [
      { name: 'open', prefix: '/', upstream: 'http://a:1', protected: false },
      { name: 'closed', prefix: '/authed', upstream: 'http://a:1', protected: true },
    ],
  },
  { customer: '', payment: '' },
);
if (config === null) throw new Error('the sites of this test are wrong');
const router = createRouter(config);
const siteIsInspected = (uri: string): boolean => {
  const routed = router.match('x', uri);
  return routed === null || routed.site.isProtected || routed.isAmbiguous;
};

const known = [
  '/authed',
  '/authed/',
  '/authed/x',
  '/AUTHED',
  '//authed',
  '/./authed',
  '/x/../authed',
  '/;/authed',
  '/;a=b/authed',
  '/;jsessionid=1/authed',
  '/authed;',
  '/authed/;',
  '/authed;.css',
  '/authed;/x',
  '/x/..;/authed',
  '/authed.',
  '/authed..',
  '/authed.%20',
  '/%u0061uthed',
  '/authed.json',
  '/authed.css',
  '/authed.html',
  '/authed.xml',
  '/authed.tar.gz',
  '/authed%a0',
  '/authed\xa0',
  '/authed\x85',
  '/authed%85',
  '/authed%09',
  '/authed%00.css',
  '/authed%0a',
  '/authed%0d%0ax',
  '/authed%c2%a0',
  '/authed%e2%80%83',
  '/authed%e3%80%80',
  '/authed%ef%bb%bf',
  '/%ef%bd%81uthed',
  '/\xef\xbd\x81uthed',
  '/aut%e1%b8%a3ed',
  '/%c5%a1/../authed',
  '/%c5%a1%c5%b5/..%c0%afauthed',
  '/%2561uthed',
  '/%252e%252e/authed',
  '/x%5c..%5cauthed',
  '\\authed'.replace('\\', '/\\'),
  '/authed\\x',
  '/authed::$DATA',
  '/authed:$I30:$INDEX_ALLOCATION/x',
  '/(S(abc))/authed',
  '/(A(x)F(y))/authed',
  '/aut/(S(x))hed',
  '/index.php/authed',
  '/index.PHP/authed/x',
  '//any.host/authed',
  '//any.host:80/authed',
  '/authed.php/x.css',
  'http://shop.example/authed',
  'http://shop.example/;/authed',
  '/authed%3fx',
  '/authed%23x',
  '/authed?x',
  '/%c1%a1uthed',
  '/%e0%81%a1uthed',
  '/%c5%a1uthed/../authed',
  '/%C5%A1uthed'.replace('%C5%A1', '%C5%A1/../a'),
  '/%61%75%74%68%65%64',
  '/au%u0074hed',
  '/%uff41uthed',
  '/authed%20',
  '/%20authed',
  '/authed/../authed',
  '/auth%c2%aded',
  '/auth%e2%80%8ced',
  '/auth%ffed',
  '/authed%e1%a0%8e',
  '/a/..;/authed',
  '/a/..;x=y/authed',
  '/..;/authed',
  '/.;/authed',
  '/x;/..;/authed',
  '/x/%2e%2e;/authed',
  '/x/..%3b/authed',
  '/authed;x=1/y',
  '/x//../authed',
  '/..../authed',
  '/%%361uthed',
  '/%252561uthed',
  '/authed%2ejson',
  '/authed%252ejson',
  '/%e2%88%95authed',
  '/x%u2215..%u2215authed',
  '/authed%uff0e',
  '/aut\xe2\x84\x8eed',
];

t.test('B1: every known spelling is met by every gate, and by the site', async (t) => {
  for (const uri of known) {
    for (const [name, gate] of Object.entries(gatesByPath)) {
      if (name.startsWith('exact') && !/authed[^/]*$/.test(uri)) continue;
      if (name.startsWith('exact') && /[\\/(]/.test(uri.slice(2))) continue; // something below, or a longer way
      t.ok(guards(gate, uri), `${name} ${JSON.stringify(uri)}`);
    }
    if (uri.startsWith('/')) t.ok(siteIsInspected(uri), `site ${JSON.stringify(uri)}`);
  }
});

t.test('B1: neighbours stay open', async (t) => {
  const neighbours = [
    '/',
    '/authed2',
    '/authedX.css',
    '/public/authed',
    '/auth',
    '/auth.ed',
    '/authe',
    '/x;authed',
    '/authed2.json',
    '/%61uth',
    '/wiki/Authed_(film)',
    '/v1/authed:run',
    '/a.css/authed',
    '/public/authed.json',
    '/?p=/authed',
    '/public//authed',
    '/caf%C3%A9',
    '/public;v=1/authed',
    '/x.php/y',
  ];
  for (const uri of neighbours)
    for (const [name, gate] of Object.entries(gatesByPath)) t.notOk(guards(gate, uri), `${name} ${uri}`);
  for (const uri of ['/authed2', '/authedX.css', '/public/authed', '/a.css/authed'])
    t.notOk(siteIsInspected(uri), `site ${uri}`);
});

t.test('B1: letters beyond ASCII are compared without case, and however they are encoded', async (t) => {
  const gate = { auth_enabled: true, auth_protected_paths: ['/münchen', '/Привет'] };
  for (const uri of [
    '/m%C3%BCnchen',
    '/M%C3%9CNCHEN',
    '/m%FCnchen',
    '/mu%CC%88nchen',
    `/${encodeURIComponent('привет')}/x`,
  ])
    t.ok(guards(gate, uri), uri);
  for (const uri of ['/munchen', '/m%C3%BCnchen2', '/m']) t.notOk(guards(gate, uri), uri);
});

/** Sites that put a base path before the path, and what their upstream gets. */
const rewriting: Readonly<
  Record<string, { site: object; closed: string; uris: readonly string[]; kept: readonly string[] }>
> = {
  'a base path before the whole path': {
    site: { prefix: '/', upstream: 'http://a:1/base', strip_prefix: false },
    closed: '/authed',
    uris: ['/../base/authed', '/x/../../base/authed', '/..%00/base/authed', '/%2e%2e/base/authed', '/..;/base/authed'],
    kept: ['/x/../y', '/base/authed', '/x%20y', '/..x/y', '/caf%C3%A9'],
  },
  'a base path in place of the prefix': {
    site: { prefix: '/shop', upstream: 'http://a:1/shop/v1', strip_prefix: true },
    closed: '/shop/authed',
    uris: ['/shop/../../shop/v1/authed', '/shop/..\\../shop/v1/authed', '/shop/%2e%2e/%2e%2e/shop/v1/authed'],
    kept: ['/shop/x/../y', '/shop/v1/authed', '/shop', '/shop/x%2fy'],
  },
  'no prefix any more': {
    site: { prefix: '/shop', upstream: 'http://a:1/', strip_prefix: true },
    closed: '/shop/authed',
    uris: ['/shop//x/authed', '/shop//x:80/authed/y', '/shop/..%00/authed', '/shop///authed', '/shop/%2e%2e%00/authed'],
    kept: ['/shop/x//authed2', '/shop/authed2', '/shop/x/../y%20z'],
  },
};

t.test('B1: nothing above the base path of a site is reached, and no other way to what is below it', async (t) => {
  const { worker } = testGateWorker();
  for (const [what, { site, closed, uris, kept }] of Object.entries(rewriting)) {
    const gatesOf: Readonly<Record<string, object>> = {
      'site authentication': { auth_enabled: true, auth_protected_paths: [closed] },
      challenge: { challenge_enabled: true, challenge_paths: [closed] },
      'endpoint limits': {
        rl_enabled: true,
        rl_events: 100_000,
        endpoint_limits: [{ path: `${closed}/*`, method: '*', events: 1, window: '1h' }],
      },
      'rate zones': {
        rl_enabled: true,
        rl_events: 100_000,
        rl_zones: [{ name: 'z', match_path: closed, key: 'ip', events: 1, window: '1h' }],
      },
    };
    for (const [name, gate] of Object.entries(gatesOf)) {
      for (const uri of [closed, ...uris]) t.ok(guards(gate, uri, site), `${what}, ${name}: ${JSON.stringify(uri)}`);
      for (const uri of kept) t.notOk(guards(gate, uri, site), `${what}, ${name}: ${uri} stays open`);
    }
    for (const uri of kept) t.ok(drive({ gates, worker, site, uri }).isForwarded, `${what}: ${uri} is the site's`);
  }
});

const pieces = [
  '/',
  '/',
  '/',
  'authed',
  'authed',
  'authed',
  'AuThed',
  'x',
  '..',
  '.',
  ';',
  ';a=b',
  '%2e',
  '%2f',
  '%5c',
  '\\',
  '%61uthed',
  '%u0061uthed',
  '%2561uthed',
  '%c1%a1uthed',
  '\xa0',
  '%a0',
  '\x85',
  '%85',
  '%c2%a0',
  '%09',
  '%20',
  '%00',
  '%0a',
  '.json',
  '.css',
  '.php',
  'index.php',
  '(S(a))',
  '::$DATA',
  ':$I30:$INDEX_ALLOCATION',
  '%c0%af',
  '%252e',
  '%252f',
  '%ef%bd%81uthed',
  '%c5%a1',
  '%ef%bb%bf',
  '%e2%80%8c',
  '%ff',
  '%',
  '%3b',
  '%3f',
  '%23',
];

t.test('B1: what some server resolves to a protected path, each gate and the site protect', async () => {
  const path = fc
    .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 8 })
    .map((parts) => `/${parts.join('')}`);
  fc.assert(
    fc.property(path, (uri) => {
      const by = resolvers(uri);
      if (by.length === 0) return;
      for (const name of ['site authentication', 'challenge', 'endpoint limits', 'rate zones'])
        if (!guards(gatesByPath[name] as object, uri)) throw new Error(`${name}: ${by.join()} serves ${uri}`);
      if (!siteIsInspected(uri)) throw new Error(`the site: ${by.join()} serves ${uri}`);
    }),
    { numRuns: spellings },
  );
});
