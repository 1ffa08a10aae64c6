// The committed OpenAPI document of /api/v1 against the one that is made of its endpoints, so that every change of this
// API shows in a review; the console's types are made of it. UPDATE=1 writes it anew.
import t from 'tap';
import { readFile, writeFile } from 'node:fs/promises';
import { endpoints } from '../../endpoints.js';
import { pathsOf, toOpenApi } from './openapi.js';
import { expand, shareSchemas } from './share.js';

const committed = new URL('../../../../vm-manager/openapi.json', import.meta.url); // from build/vm-manager/kit/docs

t.test('the committed document is the one of these endpoints', async (t) => {
  const document: unknown = JSON.parse(JSON.stringify(toOpenApi(endpoints, 'Gatehouse')));
  if (process.env['UPDATE'] === '1') await writeFile(committed, `${JSON.stringify(document, null, 2)}\n`);
  t.same(
    document,
    JSON.parse(await readFile(committed, 'utf8')),
    'if that is what you meant: UPDATE=1 node build/vm-manager/kit/docs/openapi.test.js, and read the difference',
  );
});

t.test('what is said several times is said once, and nothing is lost by it', async (t) => {
  const document = toOpenApi(endpoints, 'Gatehouse');
  const text = JSON.stringify(document);
  t.ok(text.length < 500_000, `${text.length} characters`);
  t.same(expand(document, document['paths']), expand(document, pathsOf(endpoints)), 'references lead to what was said');
  const { schemas } = document['components'] as { schemas: Record<string, unknown> };
  for (const name of Object.keys(schemas)) {
    t.match(name, /^[A-Z][A-Za-z0-9]{2,80}$/);
    t.ok(text.includes(`"#/components/schemas/${name}"`), `${name} is used`);
  }
});

t.test('a list of properties is no schema, whatever its members are called', async (t) => {
  const long = 'x'.repeat(500);
  const inner = {
    type: 'object',
    properties: { type: { type: 'string', description: long }, properties: { type: 'string' } },
  };
  const operation = (id: string) => ({ operationId: id, responses: { '200': { content: { a: { schema: inner } } } } });
  const { paths, schemas } = shareSchemas({ '/a': { get: operation('getA') }, '/b': { get: operation('getB') } });
  t.same(schemas, { GetAAnswerA: inner });
  t.match(paths['/b']?.['get'], { responses: { '200': { content: { a: { schema: { $ref: /GetAAnswerA$/ } } } } } });
  t.throws(() => expand({}, { $ref: '#/components/schemas/Nobody' }), /nothing is called/);
});
