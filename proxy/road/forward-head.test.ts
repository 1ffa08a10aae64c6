import t from 'tap';
import { resolveProxyConfig } from '../contract/proxy-config.js';
import { dashed, fieldsNamedBy, namedFieldsOfSites, type NamedFields } from '../http/alike-fields.js';
import { claimedFields } from '../http/claimed-fields.js';
import { buildForwardHead, type ForwardFacts } from './forward-head.js';
import { createRouter, type Site } from './route.js';

const { config } = resolveProxyConfig(
  { sites: [{ name: 'a', prefix: '/', upstream: 'http://up:81', protected: true }] },
  { customer: '', payment: '' },
);
const site = (config === null ? [] : createRouter(config).sites)[0] as Site;
const facts: ForwardFacts = {
  site,
  target: '/x?y=1',
  requestId: 'ID',
  isFromTrustedProxy: false,
  isTls: false,
  peerIp: '198.51.100.7',
  body: null,
  isUpgrade: false,
  keepsExtensions: false,
  isInspected: false,
  masksReply: false,
  relaysTrailers: false,
  loopMark: '',
};

function build(headers: string[], changes: Partial<ForwardFacts> = {}): string[] {
  const text = buildForwardHead(
    {
      method: 'GET',
      uri: '/x?y=1',
      protocol: 'HTTP/1.1',
      headers,
      clientIp: '',
      clientPort: 0,
      serverIp: '',
      serverPort: 0,
    },
    { ...facts, ...changes },
  );
  t.ok(text.endsWith('\r\n\r\n'));
  return text.split('\r\n').slice(0, -2);
}

t.test('the hop ends, the rest goes on in order and as written', async (t) => {
  t.strictSame(
    build([
      'Host',
      'shop.example',
      'X-B',
      '\xe9',
      'Accept',
      '*/*',
      'accept',
      'a',
      'Keep-Alive',
      '5',
      'TE',
      'trailers',
      'Upgrade',
      'h2c',
      'Proxy-Connection',
      'x',
    ]),
    [
      'GET /x?y=1 HTTP/1.1',
      'Host: shop.example',
      'X-Request-Id: ID',
      'X-Forwarded-For: 198.51.100.7',
      'X-Forwarded-Proto: http',
      'X-Forwarded-Host: shop.example',
      'Connection: keep-alive',
      'X-B: \xe9',
      'Accept: */*',
      'accept: a',
    ],
  );
});

t.test('what a client claims about itself is replaced, what a trusted proxy says is continued', async (t) => {
  const claims = [
    'Host',
    'h',
    'X-Forwarded-For',
    '1.1.1.1',
    'x-forwarded-proto',
    'https',
    'X-Forwarded-Host',
    'evil',
    'X-Request-Id',
    'mine',
    'X_Forwarded_For',
    '2.2.2.2',
    'x-forwarded_for',
    '3.3.3.3',
    'X-Real-IP',
    '4.4.4.4',
    'Forwarded',
    'for=5.5.5.5',
    'X-Original-URL',
    '/admin',
    'x_rewrite-url',
    '/root',
    'X.Forwarded.For',
    '6.6.6.6',
    'X-Real!IP',
    '7.7.7.7',
    'X_Forwarded_User',
    'root',
    'x.forwarded-client_cert',
    'root',
    'Transfer.Encoding',
    'chunked',
    'X.Mine',
    'kept',
  ];
  const plain = build(claims).join('\n');
  t.notMatch(
    plain,
    /1\.1\.1\.1|2\.2\.2\.2|3\.3\.3\.3|4\.4\.4\.4|5\.5\.5\.5|6\.6\.6\.6|7\.7\.7\.7|chunked|admin|root|evil|mine|https/,
  );
  t.match(plain, 'X.Mine: kept', 'an odd name that is none of ours is left alone');
  const trusted = build(claims, { isFromTrustedProxy: true });
  t.ok(trusted.includes('X-Forwarded-For: 1.1.1.1, 198.51.100.7'));
  t.ok(trusted.includes('X-Forwarded-Proto: https'));
  t.ok(
    trusted.includes('X-Real-IP: 4.4.4.4') &&
      trusted.includes('Forwarded: for=5.5.5.5') &&
      trusted.includes('X-Original-URL: /admin'),
  );
  t.notMatch(trusted.join('\n'), /2\.2\.2\.2|6\.6\.6\.6|7\.7\.7\.7|chunked|root|mine/);
});

t.test('Connection cannot strip what matters', async (t) => {
  const lines = build([
    'Host',
    'h',
    'Connection',
    'close, X-Mine, X-Forwarded-For, Cookie, Content-Type, Authorization',
    'X-Mine',
    '1',
    'Cookie',
    'a=b',
    'Content-Type',
    'text/plain',
    'Authorization',
    'x',
  ]);
  t.notOk(lines.includes('X-Mine: 1'));
  for (const kept of ['Cookie: a=b', 'Content-Type: text/plain', 'Authorization: x', 'X-Forwarded-For: 198.51.100.7'])
    t.ok(lines.includes(kept), kept);
});

t.test('several Cookie fields go on as the one list that was inspected', async (t) => {
  for (const [fields, passed] of [
    [['Cookie', 'a=1'], 'Cookie: a=1'],
    [['cookie', 'a="1', 'X', 'y', 'COOKIE', 'b=2"; c=3'], 'Cookie: a="1; b=2"; c=3'],
    [['Cookie', '', 'Cookie', 'a=1'], 'Cookie: ; a=1'],
  ] as const)
    t.strictSame(
      build(['Host', 'h', ...fields]).filter((line) => /^cookie/i.test(line)),
      [passed],
    );
  t.notMatch(build(['Host', 'h']).join('\n'), /cookie/i);
});

t.test('Connection fields are one list', async (t) => {
  const lines = build([
    'Host',
    'h',
    'Connection',
    'X-A',
    'X-A',
    '1',
    'X-B',
    '2',
    'connection',
    'X-B, close',
    'X-C',
    '3',
  ]);
  t.strictSame(
    lines.filter((line) => line.startsWith('X-') && line.length < 8),
    ['X-C: 3'],
  );
});

t.test('an inspected response comes in a coding that can be read', async (t) => {
  const asked = (value: string, isInspected: boolean): string | undefined =>
    build(['Host', 'h', 'Accept-Encoding', value], { isInspected }).find((line) => line.startsWith('Accept-Encoding'));
  for (const [value, passed] of [
    ['gzip, deflate, br, zstd', 'gzip, deflate, br'],
    ['zstd;q=1, gzip;q=0.5', 'gzip;q=0.5'],
    ['zstd', 'identity'],
    ['*', 'identity'],
    ['gzip, *;q=0.1', 'gzip'],
    ['BR', 'BR'],
    ['', ''],
  ] as const) {
    t.equal(asked(value, true), `Accept-Encoding: ${passed}`, value);
    t.equal(asked(value, false), `Accept-Encoding: ${value}`, `${value}, not inspected`);
  }
});

t.test('the body is framed anew', async (t) => {
  t.ok(build(['Host', 'h', 'Transfer-Encoding', 'chunked'], { body: 5 }).includes('Content-Length: 5'));
  t.ok(
    build(['Host', 'h', 'Transfer-Encoding', 'chunked'], { body: 'chunked' }).includes('Transfer-Encoding: chunked'),
  );
  t.ok(
    build(['Host', 'h', 'Content-Length', '0']).includes('Content-Length: 0'),
    'an announced empty body stays announced',
  );
  t.notOk(build(['Host', 'h', 'Expect', '100-continue']).some((line) => line.startsWith('Expect')));
  const upgrade = build(
    ['Host', 'h', 'Connection', 'Upgrade', 'Upgrade', 'websocket', 'Sec-WebSocket-Extensions', 'permessage-deflate'],
    { isUpgrade: true },
  );
  t.ok(upgrade.includes('Upgrade: websocket') && upgrade.includes('Connection: Upgrade'));
  t.notOk(
    upgrade.some((line) => line.startsWith('Sec-WebSocket-Extensions')),
    'nothing is negotiated that a bridge cannot keep',
  );
});

t.test('a client that takes trailers is passed on as one where they can be relayed', async (t) => {
  const takes = ['Host', 'h', 'TE', 'gzip;q=0.5, trailers', 'Connection', 'TE'];
  const passed = build(takes, { relaysTrailers: true });
  t.ok(
    passed.includes('TE: trailers') && passed.includes('Connection: keep-alive, TE'),
    'without the codings, which are of this hop',
  );
  t.notOk(build(takes).some((line) => line.startsWith('TE')));
  t.notOk(build(['Host', 'h', 'TE', 'gzip'], { relaysTrailers: true }).some((line) => line.startsWith('TE')));
});

t.test('O12.1: fields of a trace pass on as they came, unless this request is traced', async (t) => {
  const headers = ['TraceParent', 'theirs', 'traceparent', 'again', 'TraceState', 'a=1', 'traceparent-id', 'x'];
  const kept = (changes: Partial<ForwardFacts>): string[] =>
    build(headers, changes).filter((line) => line.toLowerCase().startsWith('trace'));
  t.same(kept({}), ['TraceParent: theirs', 'traceparent: again', 'TraceState: a=1', 'traceparent-id: x']);
  const begun = { header: '00-ours', isContinued: false };
  t.same(kept({ trace: begun }), ['traceparent: 00-ours', 'traceparent-id: x'], 'one that begins here');
  const continued = { header: '00-ours', isContinued: true };
  t.same(kept({ trace: continued }), ['traceparent: 00-ours', 'TraceState: a=1', 'traceparent-id: x']);
});

t.test('claims go on from trusted proxies alone, by every name of the table', (t) => {
  for (const name of [
    ...claimedFields.map((one) => one.replace('*', 'user')),
    'Remote-User',
    'SM_USER',
    'OIDC_CLAIM_sub',
    'OAM_REMOTE_USER',
    'Proxy-Remote-User',
    '$WSRU',
    'X-Token-User-Name',
    'SMUSER',
    'X-SSL-Cert',
  ]) {
    const of = (isFromTrustedProxy: boolean): string => build([name, 'ada'], { isFromTrustedProxy }).join('\n');
    t.notMatch(of(false), 'ada', `${name} of a stranger`);
    if (!['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'].includes(name))
      t.match(of(true), `${name}: ada`, `${name} of a trusted proxy`);
  }
  for (const name of ['x_remote_user', 'X.Forwarded.User', 'remote_user'])
    t.notMatch(build([name, 'ada'], { isFromTrustedProxy: true }).join('\n'), 'ada', `${name} is taken for another`);
  for (const name of [
    'X-Auth-User',
    'X-Auth-Token',
    'X-Auth-Key',
    'X-Id-Token',
    'X-Access-Token',
    'X-User-Id',
    'Impersonate-User',
    'CF-Ray',
    'X-Ms-Version',
    'Realm',
  ])
    t.match(build([name, 'ada']).join('\n'), `${name}: ada`, `${name} is of clients`);
  t.end();
});

t.test(
  '22: a name that a CGI program reads as another does not go on beside it, nor where something decides',
  async (t) => {
    const sent = (headers: readonly string[], namedFields?: NamedFields): string =>
      build(['Host', 'h', ...headers], namedFields === undefined ? {} : { namedFields }).join('\n');
    const named = fieldsNamedBy({ rlZones: [{ name: 'a', matchPath: '/', key: 'header:X-Tenant' } as never] });
    for (const odd of ['X_Tenant', 'x-tenant'.replace('-', '.'), 'X!Tenant', 'X_TENANT']) {
      t.notMatch(sent(['X-Tenant', 'mine', odd, 'other']), 'other', `${odd}, beside it`);
      t.notMatch(sent([odd, 'other', 'X-Tenant', 'mine']), 'other', `${odd}, before it`);
      t.match(sent([odd, 'other']), 'other', `${odd}, alone`);
      t.notMatch(sent([odd, 'other'], named), 'other', `${odd}, where a rate limit counts by it`);
    }
    t.match(sent(['X-Tenant', 'mine'], named), 'X-Tenant: mine');
    const schema = {
      operations: [
        {
          parameters: [
            { name: 'X_Shop', in: 'header' },
            { name: 'q', in: 'query' },
          ],
        },
      ],
    };
    const declared = fieldsNamedBy({ apiSchemas: [schema as never] });
    t.match(sent(['X_Shop', 'mine'], declared), 'X_Shop: mine', 'as a specification declares it');
    t.notMatch(sent(['X-Shop', 'other'], declared), 'other');
    const both = sent(['X-Shop', 'other', 'X_Shop', 'mine', 'x.shop', 'other'], declared);
    t.match(both, 'X_Shop: mine');
    t.notMatch(both, 'other');
    for (const name of ['Accept_Encoding', 'Content_Encoding', 'If.Match', 'Sec_WebSocket_Extensions', 'X_HTTP_Method'])
      t.notMatch(sent([name, 'other']), 'other', name);
  },
);

t.test('22: what a specification of one site calls a field changes nothing for another site', async (t) => {
  const parameters = [{ name: 'api_key', in: 'header' }];
  const named = namedFieldsOfSites({
    rlZones: [{ name: 'a', matchPath: '/', key: 'header:X-Tenant' } as never],
    apiSchemas: [{ site: 'pets', operations: [{ parameters }] } as never],
  });
  const sent = (site: string, headers: readonly string[]): string =>
    build(['Host', 'h', ...headers], { namedFields: named(site) }).join('\n');
  t.match(sent('pets', ['api_key', 'mine']), 'api_key: mine');
  t.notMatch(sent('pets', ['api-key', 'mine']), 'mine');
  t.match(sent('shop', ['api-key', 'mine']), 'api-key: mine', 'as its clients send it');
  for (const site of ['pets', 'shop']) t.notMatch(sent(site, ['X_Tenant', 'x']), 'X_Tenant', 'zones are of all sites');
});

t.test('22: a long name is read in one pass', async (t) => {
  const name = `x${'_'.repeat(200_000)}`;
  const begun = performance.now();
  t.equal(dashed(name).length, name.length);
  t.ok(performance.now() - begun < 5000, 'a copy for each underscore takes seconds');
});
