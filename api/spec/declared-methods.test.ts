// P7: traps T8 and T9 from the upload to the node: what a specification declares passes, what it does not is refused;
// and an upload says which patterns nodes do not enforce.
import t, { type Test } from 'tap';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from '../db/client.js';
import { startRoad } from '../testing/change-road.js';
import { startNode, startUpstream, type TestNode } from '../testing/data-plane.js';
import { onBothDatabases } from '../testing/databases.js';
import { readSpecification } from './document/read.js';

const specification = `openapi: 3.1.0
info: {title: Shop, version: '1'}
paths:
  /orders/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
    put:
      requestBody:
        required: true
        content:
          application/vnd.shop.order+json:
            schema: {type: object, required: [sku], properties: {sku: {type: string}}}
      responses: {default: {description: any}}
`;

/** As rules 911100 and 920420 do, in words of ours: what the policy allows stands in TX. */
const rules = [
  'SecRule REQUEST_METHOD "!@within %{tx.allowed_methods}" "id:911100,phase:1,deny,status:403,log,msg:\'method\'"',
  `SecRule REQUEST_HEADERS:Content-Type "@rx ^[^;\\s]+" "id:920420,phase:1,deny,status:403,log,capture,` +
    `msg:'type',t:lowercase,setvar:'tx.content_type=|%{tx.0}|',chain"`,
  '  SecRule TX:content_type "!@within %{tx.allowed_request_content_type}" "t:none"',
];

async function send(node: TestNode, method: string, path: string, type: string, body: string): Promise<number> {
  const headers = { connection: 'close', 'content-type': type };
  return (await fetch(`http://127.0.0.1:${node.http}${path}`, { method, headers, body })).status;
}

async function declared(t: Test, database: Database): Promise<void> {
  const upstream = await startUpstream(t);
  const node = await startNode(t, { upstream });
  const road = await startRoad(t, database, upstream, [node.url], async (directory) => {
    await appendFile(join(directory, 'rules', 'REQUEST-901-INITIALIZATION.conf'), `${rules.join('\n')}\n`);
  });
  const type = 'application/vnd.shop.order+json';
  const put = (path = '/orders/1', body = '{"sku":"a"}', own = type) => send(node, 'PUT', path, own, body);
  t.equal((await road.apply()).status, 200);
  t.equal(await put(), 403, 'nothing is declared: PUT is no method of the rule set');
  const headers = { 'content-type': 'application/yaml' };
  const upload = await road.call('POST', '/api/spec', { token: road.admin, body: specification, headers });
  t.equal(upload.status, 200, upload.text);
  t.equal((await road.patch({ schema_action: 'block' })).status, 200);
  const applied = await road.apply();
  t.equal(applied.status, 200, applied.text);
  t.equal(await put(), 200, 'the declared method with the declared media type');
  t.equal(await put('/orders/1', '{"sku":"a"}', 'application/vnd.other+json'), 403, 'another media type');
  t.equal(await put('/orders/1', '{"sku":"a","admin":1}'), 403, 'a member that nobody declares');
  t.equal(await put('/orders/x'), 403, 'a parameter of another type');
  t.equal(await send(node, 'DELETE', '/orders/1', type, ''), 403, 'a method that nobody declares');
  t.equal((await road.patch({ api_specs: [] })).status, 200);
  t.equal((await road.apply()).status, 200);
  t.equal(await put(), 403, 'taken out again, it allows nothing');
}

t.test('P7: declared methods and media types', (t) => onBothDatabases(t, 'declared methods', declared));

t.test('P7: patterns that are not enforced', async (t) => {
  const read = readSpecification(`openapi: 3.1.0
info: {title: x, version: '1'}
paths:
  /a:
    post:
      parameters:
        - {name: q, in: query, schema: {type: string, pattern: '^(?=.*x).+$'}}
      requestBody:
        content:
          application/json:
            schema:
              type: object
              properties:
                pattern: {type: string, pattern: '^[a-z]+$'}
                other: {type: string, pattern: '(.)\\1'}
              patternProperties: {'^(?!x)': {}}
              example: {pattern: '(?=a)'}
      responses: {default: {description: any}}
`);
  t.match(read, { kind: 'read' });
  const problems = read.kind === 'read' ? read.specification.problems : [];
  t.same(
    problems.map(({ severity, line }) => `${severity} ${line}`),
    ['warning 7', 'warning 15', 'warning 16'],
  );
  t.match(problems[0], { path: '/paths/~1a/post/parameters/0/schema/pattern', reason: /no pattern of RE2/ });
});
