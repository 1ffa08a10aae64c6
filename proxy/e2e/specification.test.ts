// E2: a node holds requests and answers to the specification of a site: blocks, records with the place, lets through.
import t from 'tap';
import { doubleArtifact } from './inspection-double.js';
import { auditLines, configOf, startBackend, startPlane, until } from './harness.js';

const item = { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] };
const plan = {
  name: 'default',
  site: 'shop',
  action: 'block',
  responseAction: 'block',
  unknownPaths: 'ignore',
  definitions: {},
  operations: [
    {
      method: 'POST',
      templates: ['/orders'],
      action: null,
      parameters: [],
      body: { required: true, content: { 'application/json': { schema: item, encoding: {} } } },
      responses: { 200: { 'application/json': { schema: item, encoding: {} } } },
    },
  ],
} as const;

interface Line {
  readonly transaction: { readonly messages: readonly { readonly details: { readonly data: string } }[] };
}

t.test('E2: an undeclared member is refused, in the request and in the answer', async (t) => {
  const backend = await startBackend(t, (incoming, response) => {
    incoming.on('data', (chunk: Buffer) => {
      const isLeaking = chunk.toString().includes('leak');
      response.setHeader('content-type', 'application/json');
      response.end(isLeaking ? '{"sku":"leak","cost":3}' : '{"sku":"a"}');
    });
  });
  const settings = { sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }] };
  const config = { ...configOf({ timeouts: { drain_ms: 500 }, ...settings }), apiSchemas: [plan] };
  const artifact = doubleArtifact({ needles: ["' OR '", 'EVIL'], version: 1 });
  const plane = await startPlane(t, 'net', settings, { initial: { config, artifact } });
  const send = async (body: string) =>
    (
      await fetch(`http://127.0.0.1:${plane.ports.http}/orders`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body,
      })
    ).status;
  t.equal(await send('{"sku":"a"}'), 200);
  t.equal(await send('{"sku":"a","admin":true}'), 403, 'the request');
  t.equal(await send('{"sku":"leak"}'), 403, 'the answer');
  const data = async () =>
    (await auditLines<Line>(plane)).flatMap(({ transaction }) => transaction.messages.map((one) => one.details.data));
  await until(async () => (await data()).length >= 2);
  t.same(await data(), ['/body/admin: additionalProperties', '/response/cost: additionalProperties']);
});
