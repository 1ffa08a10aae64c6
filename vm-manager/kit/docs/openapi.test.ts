// The OpenAPI document of /api/v1, as it is made of its endpoints; api/documents/ compares what it offers.
import t from 'tap';
import { endpoints } from '../../endpoints.js';
import { pathsOf, toOpenApi } from './openapi.js';
import { expand, shareSchemas } from './share.js';

t.test('what is said several times is said once, and nothing is lost by it', async (t) => {
  const document = toOpenApi(endpoints, 'Gatehouse');
  const text = JSON.stringify(document);
  t.ok(text.length < 1650 * endpoints.length, `${text.length} characters of ${endpoints.length} operations`);
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
