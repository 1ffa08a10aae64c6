// E1: documents that are taken and documents that are refused, with the line of what is wrong.
import t from 'tap';
import { readSpecification, type Specification } from './read.js';

const yaml = `openapi: 3.0.3
info: {title: Shop, version: '1'}
servers: [{url: 'https://api.example.com/v1/'}]
security: [{key: []}]
paths:
  /orders/{id}:
    parameters:
      - {name: id, in: path, required: true, schema: {type: integer, minimum: 0, exclusiveMinimum: true}}
    get:
      operationId: getOrder
      security: []
      responses:
        200:
          description: fine
          content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}
    put:
      requestBody:
        required: true
        content: {'application/json; charset=utf-8': {schema: {$ref: '#/components/schemas/Order'}}}
      responses: {default: {description: any}}
components:
  securitySchemes: {key: {type: apiKey, name: X-API-Key, in: header}}
  schemas:
    Order:
      type: object
      required: [id]
      properties:
        id: {type: integer, readOnly: true}
        note: {type: string, nullable: true}
        parent: {$ref: '#/components/schemas/Order'}
`;

function read(text: string): Specification {
  const result = readSpecification(text);
  if (result.kind === 'refused') throw new Error(JSON.stringify(result.problems));
  return result.specification;
}

t.test('E1: YAML of 3.0: everything inherited is written out', async (t) => {
  const { model, format } = read(yaml);
  t.equal(format, 'yaml');
  t.match(model, { title: 'Shop', openapi: '3.0.3' });
  t.match(
    model.operations.map(({ method, path, basePaths, security }) => ({ method, path, basePaths, security })),
    [
      { method: 'GET', path: '/orders/{id}', basePaths: ['/v1'], security: [] },
      { method: 'PUT', path: '/orders/{id}', basePaths: ['/v1'], security: [['key']] },
    ],
  );
  t.match(model.operations[0]?.parameters, [
    { name: 'id', in: 'path', required: true, style: 'simple', explode: false },
  ]);
  t.same(model.operations[0]?.parameters[0]?.schema, { type: 'integer', exclusiveMinimum: 0 });
  t.match(model.operations[1]?.body, { required: true, content: { 'application/json': {} } });
  t.match(model.definitions['#/components/schemas/Order'], {
    properties: { note: { type: ['string', 'null'] }, parent: { $ref: '#/components/schemas/Order' } },
  });
  t.same(Object.keys(model.operations[0]?.responses ?? {}), ['200']);
});

t.test('E1: the same as JSON, and as 3.1', async (t) => {
  const { document, model } = read(yaml);
  const again = read(JSON.stringify(document, null, 2));
  t.equal(again.format, 'json');
  t.same(again.model, model);
  const newer = read(
    JSON.stringify({
      openapi: '3.1.1',
      info: { title: 'x', version: '2' },
      paths: {
        '/a': { post: { requestBody: { content: { 'application/json': { schema: { type: ['string', 'null'] } } } } } },
      },
    }),
  );
  t.same(newer.model.operations[0]?.body?.content['application/json']?.schema, { type: ['string', 'null'] });
});

t.test('E1: Swagger 2.0 is converted', async (t) => {
  const { model } = read(`swagger: '2.0'
info: {title: Old, version: '1'}
host: api.example.com
basePath: /v2
schemes: [https]
consumes: [application/json]
parameters:
  Body: {name: pet, in: body, required: true, schema: {$ref: '#/definitions/Pet'}}
  Page: {name: page, in: query, type: integer, maximum: 9}
securityDefinitions: {login: {type: basic}}
paths:
  /pets:
    get:
      parameters:
        - {$ref: '#/parameters/Page'}
        - {name: tags, in: query, type: array, items: {type: string}, collectionFormat: multi}
        - {name: ids, in: query, type: array, items: {type: integer}}
      produces: [application/json]
      responses: {200: {description: all, schema: {type: array, items: {$ref: '#/definitions/Pet'}}}}
    post:
      parameters: [{$ref: '#/parameters/Body'}]
      responses: {201: {description: made}}
  /pets/{id}/photo:
    post:
      parameters:
        - {name: id, in: path, required: true, type: string}
        - {name: photo, in: formData, type: file, required: true}
        - {name: title, in: formData, type: string}
      consumes: [multipart/form-data]
      responses: {default: {description: any}}
definitions:
  Pet: {type: object, properties: {name: {type: string}}}
`);
  const [list, make, photo] = model.operations;
  t.match(list, { basePaths: ['/v2'], responses: { 200: { 'application/json': {} } } });
  t.match(list?.parameters, [
    { name: 'page', schema: { type: 'integer', maximum: 9 } },
    { name: 'tags', style: 'form', explode: true },
    { name: 'ids', style: 'form', explode: false },
  ]);
  t.same(make?.body, {
    required: true,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' }, encoding: {} } },
  });
  t.match(photo?.body, {
    required: true,
    content: {
      'multipart/form-data': { schema: { required: ['photo'], properties: { photo: { format: 'binary' } } } },
    },
  });
  t.match(model.definitions['#/components/schemas/Pet'], { type: 'object' });
});

const head = `openapi: 3.1.0\ninfo: {title: x, version: '1'}\npaths:\n`;
const circle = `${head}  /a: {get: {responses: {}}}\nx-a: {}
components:\n  schemas:\n    A:\n      $ref: '#/components/schemas/A'`;
const twin = (name: string): string =>
  `  /a/{${name}}:\n    get: {parameters: [{name: ${name}, in: path, required: true, schema: {}}]}\n`;
const twins = `${head}${twin('b')}${twin('c')}`;
const misspelt = `openapi: 3.0.0\ninfo: {title: x, version: '1'}\npaths:
  /a:\n    get:\n      responses: {default: {description: any}}\n      requestbody: {}`;
const refused: readonly (readonly [name: string, text: string, line: number, reason: RegExp])[] = [
  ['nothing', ' ', 1, /is empty/],
  ['a list', '[1]', 1, /not an OpenAPI document/],
  ['broken YAML', 'openapi: 3.0.0\ninfo: {title: [\npaths: {}', 3, /not valid YAML or JSON/],
  ['broken JSON', '{\n "openapi": "3.0.0",\n "info" "x"\n}', 3, /not valid YAML or JSON/],
  ['a name twice', 'openapi: 3.1.0\ninfo: {title: x, version: "1"}\ninfo: {}\npaths: {}', 3, /unique/],
  ['an unknown version', 'info: {}\nopenapi: 4.0.0', 2, /none of the versions/],
  ['no operation', `${head}  {}`, 3, /declares no operation/],
  ['a file', `${head}  /a:\n    $ref: other.yaml#/a`, 5, /not a reference within this document/],
  ['an address', `${head}  /a:\n    $ref: http://169.254.169.254/x`, 5, /not a reference within/],
  [
    'a reference to nothing',
    `${head}  /a:\n    get:\n      responses:\n        200:\n          $ref: '#/x/y'`,
    8,
    /leads nowhere/,
  ],
  ['a circle', circle, 9, /back to itself/],
  ['a path without a slash', `${head}  a:\n    get: {}`, 4, /does not begin with/],
  ['two spellings of one path', twins, 6, /is the same path as/],
  ['a parameter that nobody declares', `${head}  /a/{b}:\n    get:\n      responses: {}`, 5, /does not declare \{b\}/],
  ['one id twice', `${head}  /a:\n    get: {operationId: x}\n    put:\n      operationId: x`, 7, /is that of GET/],
  [
    'what the published schema refuses',
    `${head}  /a:\n    get:\n      parameters:\n        - {name: q, in: somewhere, schema: {}}`,
    7,
    /must be equal to one of/,
  ],
  ['what the published schema of 3.0 refuses', misspelt, 7, /not a known member/],
];

t.test('E1: what is wrong is told with its line', async (t) => {
  for (const [name, text, line, reason] of refused) {
    const result = readSpecification(text);
    if (result.kind === 'read') t.fail(`${name} was taken`);
    else t.match(result.problems[0], { line, reason, fix: /\S/, severity: 'error' }, name);
  }
});

t.test('E1: a document that would be gigabytes is refused', async (t) => {
  const levels = Array.from({ length: 12 }, (_, index) =>
    index === 0 ? 'x0: &x0 [a,a,a,a,a,a,a,a,a]' : `x${index}: &x${index} [${`*x${index - 1},`.repeat(9)}]`,
  );
  const result = readSpecification(`openapi: 3.1.0\n${levels.join('\n')}`);
  t.match(result, { kind: 'refused', problems: [{ reason: /cannot be expanded/ }] });
  t.match(readSpecification(`openapi: 3.1.0\nx: ${'['.repeat(5000)}${']'.repeat(5000)}`), { kind: 'refused' });
  t.match(readSpecification(`{"openapi":"3.1.0","x":${'['.repeat(300)}${']'.repeat(300)}}`), { kind: 'refused' });
});
