// U5: which operations of a specification take GraphQL documents; a search with a parameter `query` is none.
import t from 'tap';
import { graphqlDeclaredIn } from '../change/steps/specifications.js';
import { requireSettings } from '#settings';
import { readSpecification } from './document/read.js';

const body = (type: string, schema: string): string =>
  `post: {requestBody: {content: {${type}: {schema: ${schema}}}}, responses: {default: {description: x}}}`;
const document = `openapi: 3.1.0
info: {title: Data, version: '1'}
servers: [{url: https://data.example/v2}]
components:
  schemas:
    Base: {type: object, properties: {query: {type: string}}}
    Request: {allOf: [{$ref: '#/components/schemas/Base'}, {properties: {variables: {type: object}}}]}
paths:
  /whole: {${body('application/graphql', '{type: string}')}}
  /json: {${body('application/json', "{$ref: '#/components/schemas/Request'}")}}
  /batch: {${body('application/json', "{type: array, items: {$ref: '#/components/schemas/Request'}}")}}
  /get:
    get:
      parameters: [{name: query, in: query, schema: {}}, {name: operationName, in: query, schema: {}}]
      responses: {default: {description: x}}
  /answers:
    get: {responses: {'200': {description: x, content: {application/graphql-response+json: {schema: {}}}}}}
  /search: {${body('application/json', "{$ref: '#/components/schemas/Base'}")}}
  /find: {get: {parameters: [{name: query, in: query, schema: {}}], responses: {default: {description: x}}}}
  /of/{tenant}:
    parameters: [{name: tenant, in: path, required: true, schema: {type: string}}]
    ${body('application/graphql', '{type: string}')}
`;

t.test('U5: endpoints of GraphQL that a specification declares', async (t) => {
  const read = readSpecification(document);
  if (read.kind === 'refused') throw new Error(JSON.stringify(read.problems));
  const settings = requireSettings({
    sites: [{ name: 'shop', prefix: '/', upstream: 'http://127.0.0.1:1' }],
    api_specs: [{ site: 'shop', name: 'default', version: 1 }],
  });
  const [entry] = settings.api_specs;
  const found = [{ entry: entry as NonNullable<typeof entry>, model: read.specification.model }];
  t.same(
    graphqlDeclaredIn(settings, { found, problems: [] }).map(({ site, path }) => `${site} ${path}`),
    ['shop /v2/whole', 'shop /v2/json', 'shop /v2/batch', 'shop /v2/get', 'shop /v2/answers'],
  );
});
