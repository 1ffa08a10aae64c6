// P2: GraphQL by itself: transports, what rules see, introspection, limits, bounds.
import t from 'tap';
import type { RequestHead } from '#engine';
import { performance } from 'node:perf_hooks';
import { dataPlaneDefaults } from '#settings';
import { documentBounds, operationName, operationNameByWords, readDocument } from './document.js';
import { measure } from './measures.js';
import type { GraphqlConfig } from './endpoints.js';
import { graphqlStep } from './step.js';

const { graphqlLimits, graphqlPaths } = dataPlaneDefaults();
const off: GraphqlConfig = { graphqlProtect: false, graphqlLimits, graphqlPaths };
const on: GraphqlConfig = { ...off, graphqlProtect: true };
const shop = { name: 'shop', prefix: '' };
const headOf = (uri: string, type: string | null, method = 'POST'): RequestHead => ({
  ...{ method, uri, protocol: 'HTTP/1.1', clientIp: '192.0.2.1', clientPort: 1, serverIp: '', serverPort: 80 },
  headers: type === null ? [] : ['Content-Type', type],
});
const json = 'application/json';

function post(body: string, { uri = '/graphql', type = json, config = off } = {}) {
  const step = graphqlStep(config, shop, headOf(uri, type), true);
  const bytes = Buffer.from(body, 'utf8');
  const seen = step?.seenBody(bytes, true) ?? bytes;
  const decision = step?.decide() ?? null;
  const id = decision?.rule?.id ?? null;
  return { seen: seen.toString('utf8'), id, operation: step?.operation ?? null, isSame: seen === bytes };
}
function get(query: string, config = off, path = '/graphql') {
  const step = graphqlStep(config, shop, headOf(`${path}?${query}`, null, 'GET'), false);
  const uri = step?.seenHead().uri ?? `${path}?${query}`;
  return { uri, id: step?.decide()?.rule?.id ?? null, operation: step?.operation ?? null };
}
const sent = (query: string, over: object = {}): string => JSON.stringify({ query, ...over });

t.test('P2: rules see strings, comments and variables in the place of a document', async (t) => {
  const query = 'query A($x: Int) { a(b: "one", c: """two\n "x\\"""" """, d: "\\u0027 OR 1") { id } } # three';
  const { seen, operation } = post(`{"operationName":"A", "query" : ${JSON.stringify(query)},"variables":{"x":"é"}}`);
  t.equal(
    seen,
    '{"operationName":"A", "query" : "one",' +
      '"query":"two\\n\\"x\\"\\"\\"\\" ","query":"\' OR 1","query":" three","variables":{"x":"é"}}',
  );
  t.equal(operation, 'query:A');
  t.equal(post(sent('{ a }')).seen, '{"query":""}');
  t.equal(post(sent('"d" query { a(x: "s") }')).seen, '{"query":"d","query":"s"}', 'and descriptions');
  t.equal(post(sent('query ($a: String = "v" $b: Int) { a(x: $a) }')).seen, '{"query":"v"}', 'no description');
  t.equal(post(sent('mutation { a(x: "s") }')).operation, 'mutation:anonymous');
  t.equal(post('query { a(x: "s", y: "t") } # c', { type: 'application/graphql' }).seen, 's\nt\n c', 'the whole body');
  t.equal(
    post('query=%7Ba(x%3A%22s+t%22)%7D&z=1', { type: 'application/x-www-form-urlencoded' }).seen,
    'query=s%20t&z=1',
  );
  t.equal(get('a=1&query={a(x:"s",y:"t%26")}&variables={}').uri, '/graphql?a=1&query=s&query=t%26&variables={}');
  t.equal(get('query=query+B{a}').operation, 'query:B');
  t.equal(post(`[${sent('{a(x:"1")}')},${sent('{b(x:"2")}')}]`).seen, '[{"query":"1"},{"query":"2"}]');
  const declared = { ...off, graphqlDeclared: [{ site: 'shop', path: '/api/' }] };
  t.equal(post(sent('{a(x:"1")}'), { uri: '/api', config: declared }).seen, '{"query":"1"}', 'declared');
  // It was enough that a value looked like a document. Now nobody hides from rules by the shape of what he sends.
  t.ok(post(sent('{a(x:"1")}'), { uri: '/api' }).isSame, 'a value that is shaped like a document');
  const many = `{${Array.from({ length: 40 }, (_, index) => `a${index}(x: "t${index}")`).join(' ')}}`;
  const { seen: few } = post(sent(many));
  t.equal(few.split('"query":').length - 1, 32);
  for (let index = 0; index < 40; index += 1) t.ok(few.includes(`t${index}`), 'nothing is lost');
});

t.test('P2: what is no document stays as it came', async (t) => {
  for (const query of [
    'red shoes',
    "' OR 1=1",
    '{ a',
    "query { a(b: 'x') }",
    '"red shoes"',
    '"a" "b" query',
    'query ($a: String = "x" $b: Int) { a',
    '{ a; b }',
    'type A { b: Int }',
    '',
    '{}',
  ])
    t.ok(post(sent(query)).isSame, query);
  t.ok(post('{"query":"{a}","query":"{b(x:\\"1\\")}"}').isSame, 'one name twice: nobody knows which one is taken');
  t.ok(post('{"query":"{a}"').isSame, 'no JSON');
  t.ok(post('{"query":5}').isSame);
  t.equal(get('query={a}&query={b}').uri, '/graphql?query={a}&query={b}');
  t.ok(post('{"a":"{b}"}', { uri: '/api' }).isSame);
  const step = graphqlStep(off, shop, headOf('/api', json), true);
  const body = Buffer.from('{"quer');
  t.equal(step?.seenBody(body, false), body, 'only the beginning of it');
  t.equal(graphqlStep(off, shop, headOf('/orders?a=1', null, 'GET'), false), null, 'others pay nothing');
  t.equal(graphqlStep(off, shop, headOf('/orders', 'multipart/form-data'), true), null);
  t.equal(graphqlStep(off, shop, headOf('/graphqlx', 'text/plain'), true), null, 'whole segments');
});

t.test('P2: introspection in every transport, and nothing like it', async (t) => {
  const introspection = 1_006_510;
  const bad = [
    '{ __schema { types { name } } }',
    'query I { x: __type(name: "User") { name } }',
    'query { ...F } fragment F on Query { __schema { types { name } } }',
    '{ ... on Query { ... { __schema { types { name } } } } }',
    '{ __schema # comment\n { types { name } } }',
    '{ a, __type (name:"x") { name } }',
    // descriptions are of the specification of September 2025
    '"d" query { __schema { types { name } } }',
    '"" query { __schema { types { name } } }',
    '"""d""" query Q { a { id } __schema { types { name } } }',
    '# c\n "d" subscription { __type(name: "x") { name } }',
    'query ("d" $a: Int = 1, """e""" $b: [String] = ["x"] $c: Int) { __schema { types { name } } }',
    '{ ...F } "d" fragment F on Query { __schema { types { name } } }',
    'type A { b: Int } query { __schema { types { name } } }',
    'extend type A { b: Int } { __schema { types { name } } }',
  ];
  const good = [
    '{ a { __typename id } }',
    '{ __typename }',
    '{ a(x: "__schema") }',
    '{ __schemas }',
    '{ __type2 }',
    '{ __schema: a }',
    '"__schema" query { a }',
    'query ("__type" $a: Int) { a(x: $a) }',
  ];
  const whole = encodeURIComponent;
  for (const [queries, wanted] of [
    [bad, introspection],
    [good, null],
  ] as const)
    for (const query of queries) {
      t.equal(post(sent(query), { config: on }).id, wanted, `JSON ${query}`);
      t.equal(post(sent(query), { config: on, uri: '/api/data' }).id, wanted, `another path ${query}`);
      t.equal(post(`[${sent('{a}')},${sent(query)}]`, { config: on }).id, wanted, `batch ${query}`);
      t.equal(post(query, { config: on, type: 'application/graphql' }).id, wanted, `whole ${query}`);
      t.equal(post(query, { config: on, type: 'application/graphql', uri: '/x' }).id, wanted, `by type ${query}`);
      t.equal(
        post(`query=${whole(query)}`, { config: on, type: 'application/x-www-form-urlencoded' }).id,
        wanted,
        'form',
      );
      t.equal(get(`query=${whole(query)}`, on).id, wanted, `GET ${query}`);
      t.equal(get(`a=1&query=${whole(query)}`, on, '/api').id, wanted, `GET at another path ${query}`);
      t.equal(post(sent(query), { config: off }).id, null, 'off by default');
    }
  const first = bad[0] as string;
  t.equal(post(`{"query":"{a}","query":${JSON.stringify(first)}}`, { config: on }).id, introspection, 'twice');
  t.equal(
    post(`{"qu\\u0065ry":${JSON.stringify(first)}}`, { config: on, uri: '/x' }).id,
    introspection,
    'an escaped name',
  );
  t.equal(post(sent(first).replace('__schema', '__\\u0073chema'), { config: on }).id, introspection, 'escaped');
  t.equal(post(sent(first), { config: on, uri: '/Graph%71L/' }).id, introspection, 'another spelling of the path');
  t.equal(get(`%71uery=${whole(first)}`, on).id, introspection, 'an encoded name');
  t.equal(post(sent(`${first} @`), { config: on }).id, introspection, 'a document with faults');
  t.equal(post(`\ufeff${sent(first)}`, { config: on }).id, introspection, 'a byte order mark');
  t.equal(post(sent(first), { config: on, type: 'text/plain' }).id, introspection, 'another media type');
  t.equal(
    post(`--b\r\n\r\n{"query":"${first}"}\r\n--b--`, { config: on, type: 'multipart/form-data; boundary=b' }).id,
    introspection,
  );
});

t.test('P2: the name of an operation by its first words is the one that reading gives, or none', async (t) => {
  const documents: readonly (readonly [string, string | null, boolean])[] = [
    ['query GetUser { a }', null, true],
    [' ,query GetUser($a: Int) { a(b: $a) }\n', null, true],
    ['mutation Pay @live { pay }', 'Pay', true],
    ['query A { a } query B { b }', null, true],
    ['query A { a } query B { b }', 'B', false],
    ['{ a }', null, false],
    ['query { a }', null, false],
    ['# query A { a }\nquery B { b }', null, false],
    ['fragment F on Q { a } query A { ...F }', null, false],
    ['query A { a', null, false],
    ['query builder, and (more)', null, false],
  ];
  for (const [text, wanted, isTold] of documents) {
    const told = operationNameByWords(text, wanted);
    t.equal(told !== null, isTold, text);
    const read = readDocument(text);
    if (told !== null) t.equal(read.kind === 'read' && operationName(read.document, wanted), told, text);
  }
});

t.test('P2: bounds hold for a document that is read again, and on both sides of what is surely small', async (t) => {
  const nested = (levels: number) => `${'{a'.repeat(levels)}${'}'.repeat(levels)}`;
  const many = (tokens: number) => `{${'a '.repeat(tokens)}}`;
  for (const [text, kind] of [
    [nested(100), 'read'],
    [nested(101), 'too-large'],
    [many(4990), 'read'],
    [many(5001), 'too-large'],
    [`{a(b: "${'('.repeat(200)}")}`, 'read'],
    [`{a(b: "${'x'.repeat(9000)}")}`, 'read'],
    ['{', 'unreadable'],
  ] as const)
    for (const time of ['first', 'second']) t.equal(readDocument(text).kind, kind, `${text.slice(0, 20)} ${time}`);
});

t.test('P2: limits', async (t) => {
  const limits = 1_006_511;
  const config = {
    graphqlProtect: true,
    graphqlPaths,
    graphqlLimits: { ...graphqlLimits, depthMax: 4, aliasesMax: 3, costMax: 100, batchMax: 2 },
  };
  const ask = (body: string, given = config) => post(body, { config: given }).id;
  t.equal(ask(sent('{a{b{c{d}}}}')), null);
  t.equal(ask(sent('{a{b{c{d{e}}}}}')), limits);
  t.equal(ask(sent('{a{...F}} fragment F on A{b{c{d{e}}}}')), limits, 'through fragments');
  t.equal(ask(sent('{x:a y:a z:a}')), null);
  t.equal(ask(sent('{x:a y:a z:a w:a}')), limits);
  t.equal(ask(sent('{...F ...F} fragment F on Q{x:a y:a}')), limits, 'a fragment as often as it is spread');
  t.equal(ask(sent('"d" query{a{b{c{d}}}}')), null);
  t.equal(ask(sent('"d" query{a{b{c{d{e}}}}}')), limits, 'described');
  t.equal(ask(sent('query("d" $a:Int){x:a y:a z:a w:a}')), limits, 'with a described variable');
  t.equal(ask(sent('{a{b{c{d{e}}}}} @')), limits, 'with faults');
  t.equal(ask(sent('query{x:a y:a z:a w:a} @')), limits, 'with faults');
  t.equal(ask(sent('{a{b(x:{c:{d:{e:1}}})}} @')), null, 'values are no selections');
  t.equal(ask(sent('{a(first:99){b}}')), null);
  t.equal(ask(sent('{a(first:50){b c}}')), limits);
  t.equal(ask(sent('query($n:Int){a(first:$n){b}}', { variables: { n: 5000 } })), limits, 'of a variable');
  t.equal(ask(sent('{a(first:20){b(first:20){c}}}')), limits, 'multiplied');
  t.equal(ask(sent('{...F} fragment F on Q{a{...F}}')), limits, 'a fragment in itself');
  t.equal(ask(`[${[1, 2].map(() => sent('{a}')).join(',')}]`), null);
  t.equal(ask(`[${[1, 2, 3].map(() => sent('{a}')).join(',')}]`), limits);
  t.equal(ask('[{"query":"red"},{"query":"blue"},{"query":"green"}]'), null, 'a list of something else');
  t.equal(ask(sent('{a{b{c{d{e}}}}}'), { ...config, graphqlProtect: false }), null);
  const bomb = Array.from({ length: 40 }, (_, index) => `fragment F${index} on Q{...F${index + 1} ...F${index + 1}}`);
  t.equal(ask(sent(`{...F0} ${bomb.join(' ')} fragment F40 on Q{a}`)), limits, 'two to the fortieth is told at once');
});

t.test('P2: bounds', async (t) => {
  const hostile: string[] = [
    '{a'.repeat(30_000),
    `{${'a '.repeat(30_000)}}`,
    `{a(x:${'['.repeat(20_000)}${']'.repeat(20_000)})}`,
    `{a(x:"${'\\u0041'.repeat(10_000)}")}`,
    `#${'x'.repeat(60_000)}\n{a}`,
    '#\n'.repeat(30_000),
    `{a(x:"""${'\\"""'.repeat(15_000)}""")}`,
    '"'.repeat(60_000),
    `{${'...F '.repeat(2000)}} fragment F on Q {${'a '.repeat(2000)}}`,
    `query(${'$a:A '.repeat(1200)}){a}`,
    `query(${'""$a:A '.repeat(9000)}){a}`,
    '""query{a}'.repeat(6000),
  ];
  for (const text of hostile) {
    const startedMs = performance.now();
    const read = readDocument(text);
    if (read.kind === 'read') measure(read.document);
    const tookMs = performance.now() - startedMs;
    t.ok(tookMs < 500, `${text.slice(0, 20)}: ${read.kind} in ${tookMs.toFixed(1)} ms`);
  }
  const large = `{a(x:"${'y'.repeat(documentBounds.charsMax)}")}`;
  t.ok(post(sent(large)).isSame, 'inspected as it came');
  t.equal(post(sent(large), { config: on }).id, 1_006_512, 'what cannot be judged is refused where introspection is');
  t.equal(post(sent('{a{b'.repeat(60)), { config: on }).id, 1_006_512);
});

t.test('U5: only at endpoints texts stand for a document', async (t) => {
  const dressed = '{ a UNION ALL SELECT password FROM users }';
  const config: GraphqlConfig = {
    ...off,
    graphqlPaths: ['/graphql', '/deep/er/'],
    graphqlDeclared: [
      { site: 'shop', path: '/declared' },
      { site: 'other', path: '/of-another-site' },
    ],
  };
  const form = 'application/x-www-form-urlencoded';
  const isShown = (uri: string, site: { name: string; prefix: string } | null = shop): boolean[] => {
    const seen = (type: string, body: string): boolean => {
      const bytes = Buffer.from(body);
      return graphqlStep(config, site, headOf(uri, type), true)?.seenBody(bytes, true)?.includes('UNION') ?? true;
    };
    const target = `${uri}${uri.includes('?') ? '&' : '?'}query=${encodeURIComponent(dressed)}`;
    const step = graphqlStep(config, site, headOf(target, null, 'GET'), false);
    return [
      seen(json, sent(dressed)),
      seen(json, `[${sent(dressed)},${sent(dressed)}]`),
      seen('application/graphql', dressed),
      seen('application/vnd.graphql+json', sent(dressed)),
      seen('text/plain', sent(dressed)),
      seen(form, `query=${encodeURIComponent(dressed)}`),
      (step?.seenHead().uri ?? target).includes('UNION'),
    ];
  };
  const isAll = (wanted: boolean, uri: string, site?: { name: string; prefix: string } | null) =>
    t.ok(
      isShown(uri, site).every((one) => one === wanted),
      `${uri} ${isShown(uri, site).join(' ')}`,
    );
  for (const uri of ['/graphql', '/graphql/', '/graphql?a=1', '/deep/er', '/declared', '/declared/']) isAll(false, uri);
  isAll(false, '/pre/graphql', { name: 'x', prefix: '/pre' });
  for (const uri of [
    '/search',
    '/search.php/graphql',
    '/search/graphql',
    '/graphql/search',
    '/graphql/../search',
    '/graphql/%2e%2e/search',
    '/graphql;/../search',
    '/search;/graphql',
    '//graphql',
    '/./graphql',
    '/Graph%71l',
    '/GRAPHQL',
    '/graphql\\..\\search',
    '/graphql%00',
    '/graphqlx',
    '/of-another-site',
    '/',
  ])
    isAll(true, uri);
  isAll(true, '/graphql', null);
  isAll(true, '/graphql', { name: 'x', prefix: '/pre' });
  isAll(true, '/other/graphql', { name: 'x', prefix: '/pre' });
  isAll(true, '/prefix/graphql', { name: 'x', prefix: '/pre' });
});

t.test('B1: what protects is not got around by a spelling of the endpoint', async (t) => {
  const own: GraphqlConfig = { ...on, graphqlPaths: ['/api/q'], graphqlDeclared: [{ site: 'shop', path: '/v1/q' }] };
  const form = 'application/x-www-form-urlencoded';
  const body = 'query=%7B__schema%7Btypes%7Bname%7D%7D%7D';
  const refused = (uri: string, type = form): boolean => post(body, { uri, type, config: own }).id !== null;
  for (const uri of [
    '/api/q',
    '/api/q/',
    '/API/Q',
    '/api//q',
    '/;/api/q',
    '/x/..;/api/q',
    '/api/q;a=b',
    '/api/%71',
    '/api/%2571',
    '/api/q.json',
    '/api/q%00',
    '/%ef%bd%81pi/q',
    '/index.php/api/q',
    '/V1/q',
    '/v1/./q',
    '/gra%2570hql',
    '/%ef%bd%87raphql',
    '/graphql.json',
    '/graph%ffql',
    '/%67%72%61phql',
  ])
    t.ok(refused(uri), uri);
  for (const uri of ['/api/q2', '/api/q/upload', '/api', '/x/api/q', '/search', '/caf%C3%A9', '/graphqlx', '/v1/q/x'])
    t.notOk(refused(uri), uri);
  t.ok(post(sent('{a(x:"1")}'), { uri: '/API/q', config: own }).isSame, 'and nothing is hidden from rules by one');
});
