// Custom rules that go by the path, over a real port with the real engine: they find what the gates find, however the
// path is spelled, and leave alone what is not meant.
import t from 'tap';
import { categoryKeys } from '#settings';
import { knownSpellings } from '../admit/testing/path-spellings.js';
import { configOf, startBackend, startPlane, testMsMax } from './harness.js';
import { sendRaw, statusOf } from './raw-client.js';
import { realArtifact, realEngine, withoutRules } from './real-rules.js';

t.setTimeout(testMsMax);

interface Row {
  readonly rule: object;
  readonly refused: readonly string[];
  readonly kept: readonly string[];
}

/** Others are no request. */
const isSent = (path: string): boolean => /^\/[\x21-\xff]*$/.test(path);
const spellings = knownSpellings.filter(isSent);
const neighbours = [
  '/',
  '/auth',
  '/public/authed',
  '/caf%C3%A9',
  '/%D0%BA%D0%B0%D1%82/x',
  '/x?p=/authed',
  '/a+b',
  '/a;b=c',
];

/** Of those that are known, which mean the path itself: nothing of it is a further segment. */
const isThePath = (path: string): boolean => !/[/\\]x(?:$|\.)|=1\/y$|\/y$/i.test(path);

/** Ways to ask for a path that frameworks and servers answer alike. */
const served = (path: string): string[] => [
  path,
  `${path}/`,
  `${path}//`,
  `${path}/?x=1`,
  `${path}?`,
  `${path}.json`,
  `${path}.css`,
  `${path}.tar.gz`,
  `${path}.a.b.c.d.e`,
  `${path}.json/`,
  `${path}%2f`,
  `${path}%2F%2f`,
  `${path}/x/..`,
  `${path}/x/../`,
  `${path}/%2e`,
  `${path}/.`,
  `${path}/;`,
  `${path}/;a=b`,
  `${path};/`,
  `${path}/%20`,
  `${path.toUpperCase()}/`,
  `/x/..${path}/`,
  `/;v=1${path}.json`,
  `${path}%5c`,
  `${path}%2ejson`,
];
const below = { operator: 'rx', value: '^/authed(?:[/.]|$)' };

const rows: Readonly<Record<string, Row>> = {
  'an expression for a path and what is below it': {
    rule: { variable: 'REQUEST_FILENAME', ...below },
    refused: spellings,
    kept: [...neighbours, '/authed2', '/authedx.css'],
  },
  'the same over the address': {
    rule: { variable: 'REQUEST_URI', ...below },
    refused: spellings,
    kept: [...neighbours, '/authed2'],
  },
  'the beginning of the path as it came': {
    rule: { variable: 'REQUEST_URI_RAW', operator: 'beginsWith', value: '/authed' },
    refused: [...spellings, '/authed2'],
    kept: neighbours,
  },
  'a part, with another variable and a transformation': {
    rule: {
      variable: 'ARGS:x|REQUEST_FILENAME',
      operator: 'contains',
      value: '/authed',
      transformations: ['lowercase'],
    },
    refused: [...spellings, '/y?x=/authed'],
    kept: ['/', '/auth', '/y?x=auth'],
  },
  'a path with capitals': {
    rule: { variable: 'REQUEST_FILENAME', operator: 'streq', value: '/Admin/Login' },
    refused: [
      '/Admin/Login',
      '/admin/login',
      '/;/Admin/Login',
      '/Admin/%4cogin',
      '/x/../admin/LOGIN',
      '/Admin/Login%20',
    ],
    kept: [...neighbours, '/Admin', '/Admin/Login/x', '/x/Admin/Login'],
  },
  'one path': {
    rule: { variable: 'REQUEST_FILENAME', operator: 'streq', value: '/authed' },
    refused: [...spellings.filter(isThePath), ...served('/authed')],
    kept: [...neighbours, '/authed2', '/authed/y', '/authed/x/y', '/x/authed', '/.authed', '/authed/.x'],
  },
  'one address': {
    rule: { variable: 'REQUEST_URI', operator: 'rx', value: '^/authed$' },
    refused: [...spellings.filter(isThePath), ...served('/authed')],
    kept: [...neighbours, '/authed2', '/authed/y'],
  },
  'numbers at the end': {
    rule: { variable: 'REQUEST_FILENAME', operator: 'rx', value: '^/rxadm/[0-9]+$' },
    refused: served('/rxadm/5'),
    kept: [...neighbours, '/rxadm', '/rxadm/', '/rxadm/5/x', '/rxadm/x'],
  },
  'an end': {
    rule: { variable: 'REQUEST_FILENAME', operator: 'endsWith', value: '.bak' },
    refused: served('/a.bak'),
    kept: [...neighbours, '/a.bakery', '/bak', '/a.bak/x'],
  },
  'an end of the name': {
    rule: { variable: 'REQUEST_BASENAME', operator: 'endsWith', value: '.bak' },
    refused: served('/x/a.bak'),
    kept: [...neighbours, '/a.bakery', '/a.bak/x'],
  },
  'one of several': {
    rule: { variable: 'REQUEST_FILENAME', operator: 'within', value: '/first /authed /last' },
    refused: ['/authed', '/authed/', '/authed.json', '/last/'],
    kept: ['/other', '/authed2', '/authed/y'],
  },
  'a path with a blank': {
    rule: { variable: 'REQUEST_FILENAME', operator: 'beginsWith', value: '/my area/' },
    refused: ['/my%20area/x', '/my+area/x', '/my%2barea/x', '/;/my+area/x', '/MY%20AREA/x'],
    kept: [...neighbours, '/my++area/x', '/my'],
  },
  'the name of a file': {
    rule: { variable: 'REQUEST_BASENAME', operator: 'streq', value: 'install.php' },
    refused: [
      '/install.php',
      '/a/install.php',
      '/install.php;x=1',
      '/install%2ephp',
      '/install.php%00.css',
      '/install.php/.',
    ],
    kept: [...neighbours, '/install.php2', '/a/uninstall.php', '/install.php/x'],
  },
  'everything but a path': {
    rule: { variable: 'REQUEST_FILENAME', operator: '!beginsWith', value: '/public/' },
    refused: [
      '/',
      '/x',
      '/public',
      '/public/../x',
      '/public/%2e%2e/x',
      '/public/..;/x',
      '/public/..%5cx',
      '/public/%252e./x',
    ],
    kept: [
      '/public/',
      '/public/x',
      '/public/caf%C3%A9',
      '/public/a;b=c',
      '/public/a+b',
      '/public/a%20b',
      '/public/x/../y',
    ],
  },
  'the page at the top': {
    rule: { variable: 'REQUEST_FILENAME', operator: 'streq', value: '/' },
    refused: ['/', '/?x', '/;x', '/./', '/x/..'],
    kept: ['/x', '/%D0%BA', '/%E6%97%A5%E6%9C%AC', '/caf%C3%A9', '/a+b'],
  },
  'two slashes': {
    rule: { variable: 'REQUEST_FILENAME', operator: 'contains', value: '//' },
    refused: ['//x', '/a//b', '/a%2f/b'],
    kept: ['/', '/%D0%BA/x', '/a/%E6%97%A5/b', '/a/b/'],
  },
};

for (const [what, { rule, refused, kept }] of Object.entries(rows)) {
  t.test(`B1: a custom rule for ${what}`, { skip: withoutRules }, async (t) => {
    const custom = { id: 1_000_001, name: 'path', kind: 'visual', action: 'block', phase: 1, ...rule };
    const artifact = await realArtifact({
      mode: 'On',
      custom_rules: [custom],
      categories: Object.fromEntries(categoryKeys.map((key) => [key, { enabled: false }])),
    });
    const { url } = await startBackend(t, (_request, response) => response.end('ok'));
    const sites = [{ name: 'shop', prefix: '/', upstream: url, protected: true }];
    const { inspectionModule } = realEngine(artifact, {});
    // the self-test wants attacks seen, and this rule alone sees none
    const plane = await startPlane(
      t,
      'net',
      {},
      { inspectionModule, initial: { config: configOf({ sites }), artifact, selfTest: 'skip' } },
    );
    const ask = async (path: string): Promise<number> =>
      statusOf((await sendRaw(plane.ports.http, `GET ${path} HTTP/1.1\r\nhost: shop.example\r\n\r\n`)).text);
    for (const path of refused) t.equal(await ask(path), 403, `${JSON.stringify(path)} is refused`);
    for (const path of kept) t.equal(await ask(path), 200, `${JSON.stringify(path)} is not`);
    const unreadable = await ask(`/x/${'%2561;%u0061%5c..//'.repeat(300)}`);
    t.equal(unreadable, 'operator' in rule && String(rule.operator).startsWith('!') ? 403 : 400, 'none can tell');
  });
}
