// No gate that goes by path, and no site, is got around by spelling the path in a way that some server resolves. The
// models are small and written apart from the readings: each says what one family of servers makes of a path.
import fc from 'fast-check';
import t from 'tap';
import { resolveProxyConfig } from '../contract/proxy-config.js';
import { createRouter } from '../road/route.js';
import { drive } from '../road/testing/drive.js';
import { gates } from './index.js';
import { testGateWorker } from './testing/gate-worker.js';
import { knownSpellings, spellingPieces } from './testing/path-spellings.js';

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
  'readers of forms': (path) => unescape(path.replaceAll('+', ' ')).trim(),
  'readers of forms behind a decoder': (path) => unescape(unescape(path).replaceAll('+', ' ')).trim(),
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
  'slashes and dots behind such a decoder': (path) => dots(merge(unescape(path).replace(/[\x80-\xff]+/g, ''))),
  'slashes and dots behind what leaves invisible characters out': (path) =>
    dots(
      merge(
        Buffer.from(unescape(path), 'latin1')
          .toString('utf8')
          .replace(/\p{Default_Ignorable_Code_Point}/gu, ''),
      ),
    ),
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

t.test('B1: every known spelling is met by every gate, and by the site', async (t) => {
  for (const uri of knownSpellings) {
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

t.test('B1: a plus sign is itself, and a blank for who reads paths as forms', async (t) => {
  const { worker } = testGateWorker();
  const closes = (closed: string, uri: string): boolean =>
    !drive({ gates, worker, settings: { auth_enabled: true, auth_protected_paths: [closed] }, uri }).isForwarded;
  for (const uri of [
    '/my+area',
    '/my%20area',
    '/my%2barea/x',
    '/my%252Barea',
    '/;/my+area',
    '/my+area+',
    '/MY+area.json',
  ])
    t.ok(closes('/my area', uri), uri);
  for (const uri of ['/c++', '/c++/x', '/c%2b%2b', '/C+%2B/x']) t.ok(closes('/c++', uri), uri);
  t.ok(closes('/my area+b', '/my+area%2bb'), 'one of both');
  for (const uri of ['/my++area', '/my+area2', '/my+', '/a+b', '/myarea', '/x/my+area', '/?q=/my+area'])
    t.notOk(closes('/my area', uri), uri);
  for (const uri of ['/c', '/c+', '/c+++']) t.notOk(closes('/c++', uri), uri);
  t.ok(closes('/my area', `/x/${'+%2561;%u0061\\..//'.repeat(400)}`), 'what cannot be told is taken for protected');
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

t.test('B1: what some server resolves to a protected path, each gate and the site protect', async () => {
  const path = fc
    .array(fc.constantFrom(...spellingPieces), { minLength: 1, maxLength: 8 })
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
