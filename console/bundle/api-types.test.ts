import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { mergeDocuments, renderApiTypes, typeOf, type OpenApiDocument } from './api-types.js';

t.test('schemas become types', async (t) => {
  const cases: [Parameters<typeof typeOf>[0], string][] = [
    [{ type: 'integer' }, 'number'],
    [{ type: 'string', enum: ['a', 'b'] }, '"a" | "b"'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string | null'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } }, '(string | number)[]'],
    [{ type: 'object', additionalProperties: { type: 'boolean' } }, '{ [name: string]: boolean }'],
    [
      { type: 'object', required: ['a'], properties: { a: { type: 'string' }, 'b-c': {} } },
      '{ a: string; "b-c"?: unknown }',
    ],
    [{ $ref: '#/components/schemas/def-0' }, 'Schemas["def_0"]'],
    [{ type: 'object', patternProperties: { '^(.*)$': { type: 'integer' } } }, '{ [name: string]: number }'],
    [{ const: 3 }, '3'],
    [{}, 'unknown'],
    [undefined, 'unknown'],
  ];
  for (const [schema, type] of cases) t.equal(typeOf(schema), type);
});

t.test('each route of the control plane and of the vulnerability manager has its types', async (t) => {
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const documents = ['build/openapi/api.json', 'build/openapi/vm-manager.json'].map(
    (file) => JSON.parse(readFileSync(join(root, file), 'utf8')) as OpenApiDocument,
  );
  const text = renderApiTypes(mergeDocuments(documents));
  for (const path of documents.flatMap(({ paths }) => Object.keys(paths)))
    t.ok(text.includes(` ${path}": { params: `), path);
  t.match(text, /"GET \/api\/users\/\{id\}": \{ params: \{ id: string \}/);
  t.match(text, /"GET \/api\/v1\/vulnerabilities\/\{id\}": \{ params: \{ id: string \}/);
  t.notMatch(text, /\bany\b(?!\??: )/, 'the type, not a member of that name');
  t.throws(() => mergeDocuments([...documents, documents[0] as OpenApiDocument]), /have the path/);
});
