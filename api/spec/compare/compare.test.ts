// E1: what of a newer version breaks clients of the older one, and what does not.
import t from 'tap';
import { readSpecification } from '../document/read.js';
import { compareSpecifications } from './compare.js';

const model = (paths: object, schemas: object = {}) => {
  const result = readSpecification(
    JSON.stringify({ openapi: '3.1.0', info: { title: 'x', version: '1' }, paths, components: { schemas } }),
  );
  if (result.kind === 'refused') throw new Error(JSON.stringify(result.problems));
  return result.specification.model;
};
const body = (schema: unknown, more: object = {}) => ({
  '/a': { post: { requestBody: { content: { 'application/json': { schema } } }, ...more } },
});
const answer = (schema: unknown) => ({
  '/a': { get: { responses: { 200: { description: '', content: { 'application/json': { schema } } } } } },
});
const query = (...parameters: object[]) => ({
  '/a/{id}': { get: { parameters: [{ name: 'id', in: 'path', required: true, schema: {} }, ...parameters] } },
});
const q = (over: object) => ({ name: 'q', in: 'query', schema: { type: 'string' }, ...over });
const thing = (properties: object, required: string[] = []) => ({ type: 'object', properties, required });
const text = { type: 'string' };

type Case = readonly [before: object, after: object, expected: readonly string[]];
const cases: readonly Case[] = [
  [body(text), body(text), []],
  [{ ...body(text), '/b': { get: {} } }, body(text), ['breaking operation-removed ']],
  [body(text), { ...body(text), '/b': { get: {} } }, ['compatible operation-added ']],
  [query(), { '/a/{other}': { get: { parameters: [{ name: 'other', in: 'path', required: true, schema: {} }] } } }, []],
  [query(), query(q({})), ['compatible parameter-added /query/q']],
  [query(), query(q({ required: true })), ['breaking parameter-added /query/q']],
  [query(q({})), query(), ['breaking parameter-removed /query/q']],
  [query(q({})), query(q({ required: true })), ['breaking required /query/q']],
  [query(q({})), query(q({ schema: { ...text, maxLength: 3 } })), ['breaking maxLength /query/q']],
  [query(q({ schema: { ...text, minLength: 3 } })), query(q({})), ['compatible minLength /query/q']],
  [body({ enum: ['a', 'b'] }), body({ enum: ['a'] }), ['breaking enum /body/application~1json']],
  [answer({ enum: ['a', 'b'] }), answer({ enum: ['a'] }), ['compatible enum /responses/200/application~1json']],
  [answer({ enum: ['a'] }), answer({ enum: ['a', 'b'] }), ['breaking enum /responses/200/application~1json']],
  [body(thing({ a: text })), body(thing({ a: text }, ['a'])), ['breaking required /body/application~1json/a']],
  [
    answer(thing({ a: text }, ['a'])),
    answer(thing({ a: text })),
    ['breaking required /responses/200/application~1json/a'],
  ],
  [
    body(thing({ a: text, b: text })),
    body(thing({ a: text })),
    ['breaking property-removed /body/application~1json/b'],
  ],
  [body({ type: 'integer' }), body({ type: 'number' }), ['compatible type /body/application~1json']],
  [body({ type: 'number' }), body({ type: 'integer' }), ['breaking type /body/application~1json']],
  [body(text), body(text, { security: [{ key: [] }] }), ['breaking security-added ']],
  [
    body({ type: 'array', items: text }),
    body({ type: 'array', items: { type: 'null' } }),
    ['breaking type /body/application~1json/*', 'compatible type /body/application~1json/*'],
  ],
];

t.test('E1: breaking and compatible changes', async (t) => {
  for (const [before, after, expected] of cases) {
    const found = compareSpecifications(model(before), model(after));
    t.same(
      found.map(({ kind, code, pointer }) => `${kind} ${code} ${pointer}`),
      expected,
      `${JSON.stringify(before)} → ${JSON.stringify(after)}`,
    );
  }
});

t.test('E1: schemas that contain themselves are compared to their end', async (t) => {
  const node = (over: object) => ({
    Node: thing({
      name: text,
      left: { $ref: '#/components/schemas/Node' },
      right: { $ref: '#/components/schemas/Node' },
      ...over,
    }),
  });
  const paths = body({ $ref: '#/components/schemas/Node' });
  t.same(compareSpecifications(model(paths, node({})), model(paths, node({}))), []);
  t.match(compareSpecifications(model(paths, node({ x: text })), model(paths, node({}))), [
    { code: 'property-removed', operation: 'POST /a', pointer: '/body/application~1json/x' },
  ]);
});
