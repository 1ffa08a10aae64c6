// U2: a document made of traffic is read by the reader of uploads, and a patch from an uploaded document to reality
// leaves no endpoint that it does not declare.
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import type { Observation } from '#proxy/contract';
import type { Database } from '../../db/client.js';
import type { Endpoint } from '../../inventory/store.js';
import { reportSite } from '../../posture/gaps/report.js';
import { startTestApp } from '../../testing/app.js';
import { onBothDatabases } from '../../testing/databases.js';
import { basePathsOf, type ApiOperation } from '../document/model.js';
import { arrayOf } from '../document/problem.js';
import { readSpecification, type Specification } from '../document/read.js';
import { templatesOf } from '../plan.js';
import { applyAdditions, documentOf, patchOf } from './document.js';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const segment = fc.constantFrom('orders', 'v1', 'users', '{id}', '{orderId}', 'a~b', 'x%7By', 'search:do', 'graphql');
const template = fc
  .array(segment, { minLength: 0, maxLength: 4 })
  .filter(
    (all) => new Set(all.filter((one) => one.startsWith('{'))).size === all.filter((one) => one.startsWith('{')).length,
  )
  .map((all) => `/${all.join('/')}`);
const kinds = fc.constantFrom(
  'integer',
  'number',
  'boolean',
  'string',
  'uuid',
  'date',
  'null',
  'array',
  'object',
  'email',
);
const counted = (names: fc.Arbitrary<string>) => fc.dictionary(names, fc.constant(1), { maxKeys: 2 });
const endpoint = fc
  .record({
    template: fc.oneof(template, fc.constantFrom('/graphql/query:GetUser', '/graphql/mutation:Save')),
    method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'PROPFIND'),
    parameters: fc.dictionary(
      fc.constantFrom(
        'query:page',
        'query:f[a]',
        'query:a/b',
        'body:/a',
        'body:/a/b',
        'body:/l/*/n',
        'body:/m/{uuid}/n',
      ),
      counted(kinds),
      { maxKeys: 5 },
    ),
    request_types: counted(fc.constantFrom('application/json', 'application/x-www-form-urlencoded', 'image/png')),
    response_types: counted(fc.constantFrom('application/json', 'text/html')),
    statuses: counted(fc.constantFrom('200', '204', '302', '404', '500')),
    credentials: fc.dictionary(
      fc.constantFrom('none', 'jwt', 'basic', 'api_key', 'session', 'mtls', 'other'),
      fc.constantFrom([1, 0, 0] as [number, number, number], [0, 1, 0] as [number, number, number]),
      { maxKeys: 3 },
    ),
  })
  .map(
    ({ template: path, method, ...stats }) =>
      ({
        ...{ site: 'shop', method, template: path, hits: 3, firstSeen: new Date(nowMs), lastSeen: new Date(nowMs) },
        ...{ shadow: null, auth: 'unknown', access: 'external', classification: 'Public', band: 'low', risk: 0 },
        segments: path
          .split('/')
          .slice(1)
          .map((text) => ({ text, evidence: text.startsWith('{') ? { kinds: { integer: 2 }, place: '' } : null })),
        ...{ parts: [], categories: [], sensitive: false },
        stats: { ...{ count: 3, clients: {}, sources: {}, pii: {}, request_bytes: 0 }, ...stats },
      }) as unknown as Endpoint,
  );
/** As the inventory has them: one of a method and shape, parameters of one place by one name. */
const shape = ({ method, template: path }: Endpoint): string => `${method} ${path.replace(/\{[^}]*\}/g, '{}')}`;
const endpoints = fc.uniqueArray(endpoint, { minLength: 1, maxLength: 25, selector: shape });

const read = (document: unknown): Specification => {
  const result = readSpecification(JSON.stringify(document));
  if (result.kind === 'refused') throw new Error(JSON.stringify([result.problems.slice(0, 3), document]));
  return result.specification;
};
const shadowsOf = (document: unknown, base: string | null, prefix: string, seen: readonly Endpoint[]): string[] => {
  const { model } = read(document);
  const own = (operation: ApiOperation) => templatesOf(operation, base, prefix);
  const specification = { name: 'default', version: 1, model, templatesOf: own };
  const { shadow } = reportSite([specification], { site: 'shop', endpoints: seen, refused: [] }, nowMs);
  return shadow.map(({ endpoint: { method, template: path } }) => `${method} ${path}`);
};

t.test('U2: a generated document is valid, and declares all that was seen', async (t) => {
  let operations = 0;
  fc.assert(
    fc.property(endpoints, fc.constantFrom('', '/shop'), (given, prefix) => {
      const seen = given.map((one) => ({ ...one, template: `${prefix}${one.template}` }));
      const made = documentOf('shop', prefix, seen);
      if (made.operations === 0) return;
      operations += made.operations;
      const left = new Set(made.leftOut.map(({ method, template: path }) => `${method} ${path}`));
      const shadows = shadowsOf(made.document, null, prefix, seen).filter((one) => !left.has(one));
      if (shadows.length > 0) throw new Error(JSON.stringify(shadows));
      if ([...left].some((one) => !one.startsWith('PROPFIND'))) throw new Error([...left].join());
    }),
    { numRuns: 60, seed: Number(process.env['SEED'] ?? 11) },
  );
  t.ok(operations > 200, `${operations} operations`);
});

t.test('U2: a patch from a document to reality leaves no shadow', async (t) => {
  let added = 0;
  const servers = fc.constantFrom(undefined, [{ url: 'https://x.example/v1' }], [{ url: '/v1' }, { url: '/' }]);
  const declared = fc.uniqueArray(endpoint, { minLength: 1, maxLength: 10, selector: shape });
  const cases = fc.tuple(declared, endpoints, servers, fc.constantFrom(null, '/v1'), fc.constantFrom('', '/shop'));
  fc.assert(
    fc.property(cases, ([known, given, wanted, base, prefix]) => {
      const made = documentOf('shop', '', known);
      if (made.operations === 0) return;
      const document = { ...made.document, ...(wanted === undefined ? {} : { servers: wanted }) };
      const { model } = read(document);
      const seen = given.map((one) => ({ ...one, template: `${prefix}${one.template}` }));
      const { patch, operations, leftOut } = patchOf(
        {
          ...{ document, model, prefix, isBaseFixed: base !== null },
          rootBases: basePathsOf(arrayOf(document['servers' as never])),
          templatesOf: (operation) => templatesOf(operation, base, prefix),
        },
        seen,
      );
      added += operations;
      const patched = applyAdditions(document, patch);
      // operations of GraphQL share one path, and HEAD is what GET is
      const plain = (method: string, path: string): string =>
        `${method === 'HEAD' ? 'GET' : method} ${path.replace(/\/(query|mutation):.*$/, '')}`;
      const left = new Set(leftOut.map((one) => plain(one.method, one.template)));
      const shadows = shadowsOf(patched, base, prefix, seen).filter((one) => {
        const [method = '', path = ''] = one.split(' ');
        return !left.has(plain(method, path));
      });
      if (shadows.length > 0) throw new Error(JSON.stringify([shadows, patch, document]));
      const again = patchOf(
        {
          ...{ document: patched, model: read(patched).model, prefix, isBaseFixed: base !== null },
          rootBases: basePathsOf(arrayOf(patched['servers'])),
          templatesOf: (operation) => templatesOf(operation, base, prefix),
        },
        seen,
      );
      if (again.patch.length > 0) throw new Error(`a second patch ${JSON.stringify(again.patch)}`);
    }),
    { numRuns: 100, seed: Number(process.env['SEED'] ?? 12) },
  );
  t.ok(added > 150, `${added} operations were added`);
});

async function overHttp(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('operator');
  const observation = (over: Partial<Observation>): Observation => ({
    ...{ site: 'customer', method: 'GET', path: '/orders', count: 1, first_ms: nowMs, last_ms: nowMs },
    ...{ statuses: { 200: 1 }, credentials: { jwt: [1, 0, 0] }, clients: { external: 1 }, parameters: {} },
    ...{ request_types: {}, response_types: { 'application/json': 1 }, pii: {}, request_bytes: 1, response_bytes: 1 },
    ...{ latency_us: 1, latency_us_max: 1 },
    ...over,
  });
  t.match(await at.call('GET', '/api/spec/generated?site=customer', { token }), { status: 404 });
  const observations = [
    observation({ parameters: { 'query:page': { integer: 1 } } }),
    observation({
      ...{ method: 'POST', request_types: { 'application/json': 1 }, statuses: { 201: 1 } },
      parameters: { 'body:/lines/*/sku': { string: 1 }, 'body:/lines/*/price': { number: 1, integer: 1 } },
    }),
    observation({ path: '/orders/7' }),
    observation({ path: '/orders/8' }),
  ];
  const batch = { batch_id: 'g1', observations, sightings: [], relations: [], dropped: 0 };
  const body = { node: 'n1', batch };
  t.equal((await at.call('POST', '/api/dataplane/observations', { token: 'c'.repeat(40), body })).status, 200);
  const yaml = await at.call('GET', '/api/spec/generated?site=customer', { token });
  t.match(yaml.headers['content-type'], /^application\/yaml/);
  const generated = {
    openapi: '3.1.0',
    paths: {
      '/orders': {
        get: {
          parameters: [{ name: 'page', in: 'query', schema: { type: 'integer' } }],
          responses: { 200: { content: { 'application/json': {} } } },
          security: [{ bearer: [] }],
        },
        post: {
          requestBody: {
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  properties: {
                    lines: {
                      type: 'array',
                      items: { properties: { price: { type: 'number' }, sku: { type: 'string' } } },
                    },
                  },
                },
              },
            },
          },
        },
      },
      '/orders/{id}': { get: { parameters: [{ name: 'id', schema: { type: 'integer' } }] } },
    },
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
  };
  t.match(parse(yaml.text), generated, yaml.text);
  const json = await at.call('GET', '/api/spec/generated?site=customer&format=json', { token });
  t.match(json.headers['content-type'], /^application\/json/);
  t.match(JSON.parse(json.text), generated);

  const small =
    'openapi: 3.0.3\ninfo: {title: S, version: "1"}\npaths: {/orders: {get: {responses: {"200": {description: x}}}}}\n';
  const headers = { 'content-type': 'application/yaml' };
  const upload = async (text: string) =>
    (await at.call('POST', '/api/spec?site=customer', { token, body: text, headers })).body['specification']
      .id as number;
  const gaps = async () => (await at.call('GET', '/api/posture-gaps?site=customer', { token })).body['totals'].shadow;
  const id = await upload(small);
  t.equal(await gaps(), 2);
  const reality = await at.call('GET', `/api/spec/${id}/reality?document=true`, { token });
  t.match(reality, { status: 200, body: { operations: 2, parameters: 1, applies_to: 'uploaded', left_out: [] } });
  t.ok((reality.body['patch'] as { path: string }[]).some(({ path }) => path === '/paths/~1orders/get/parameters'));
  await upload(JSON.stringify(reality.body['document']));
  t.equal(await gaps(), 0, 'applied, it leaves no shadow');
  await upload(yaml.text);
  t.equal(await gaps(), 0, 'nor does what was generated');
  t.match(await at.call('GET', '/api/spec/999/reality', { token }), { status: 404 });
}

t.test('U2: over HTTP', (t) => onBothDatabases(t, 'reality', overHttp));
