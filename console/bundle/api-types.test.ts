import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { renderApiTypes, typeOf, type OpenApiDocument } from './api-types.js';

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
    [{ const: 3 }, '3'],
    [{}, 'unknown'],
    [undefined, 'unknown'],
  ];
  for (const [schema, type] of cases) t.equal(typeOf(schema), type);
});

t.test('each route of the control plane has its types', async (t) => {
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const document = JSON.parse(readFileSync(join(root, 'api/openapi.json'), 'utf8')) as OpenApiDocument;
  const text = renderApiTypes(document);
  for (const path of Object.keys(document.paths)) t.ok(text.includes(` ${path}": { params: `), path);
  t.match(text, /"GET \/api\/users\/\{id\}": \{ params: \{ id: string \}/);
  t.notMatch(text, /\bany\b/);
});
