// E2: schemas as closures against ajv, which passes the official suite: on random schemas and values both must say the
// same; what ajv has not (closing what nobody declared, readOnly by direction, pointers, budgets) is told case by case.
import fc from 'fast-check';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import t from 'tap';
import { isMap, Trace } from './check.js';
import { compileSchema, type CompileOptions } from './compile.js';
import type { JsonSchema } from '../plan.js';

const open: CompileOptions = { definitions: {}, closes: false, direction: null };

// not `__proto__`: ajv takes it for a member that every object has and never looks at; it has cases of its own below
const names = fc.constantFrom('a', 'b', 'c', 'x-1');
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      1,
      2,
      3,
      -1,
      1.5,
      10,
      '',
      'a',
      'ab',
      'abc',
      '😀',
      '2026-01-31',
      'x-1',
    ),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.array(fc.tuple(names, tie('any')), { maxLength: 4 }).map((pairs) => JSON.parse(jsonOf(pairs)) as unknown),
  ),
})).any;

const jsonOf = (pairs: readonly (readonly [string, unknown])[]): string =>
  `{${[...new Map(pairs)].map(([name, one]) => `${JSON.stringify(name)}:${JSON.stringify(one)}`).join(',')}}`;

/** One keyword and its value: a schema of all of them at once would fit nothing, and take minutes to make. */
const keywordOf = (keywords: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<[string, unknown]> =>
  fc.oneof(...Object.entries(keywords).map(([name, one]) => fc.tuple(fc.constant(name), one)));

const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object');
const small = fc.nat({ max: 3 });
const schema = fc.letrec<{ any: JsonSchema; map: Record<string, JsonSchema> }>((tie) => ({
  map: fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'x-1'), tie('any')), { maxLength: 3 }).map(Object.fromEntries),
  any: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.boolean(),
    fc.constant({ $ref: '#/$defs/node' }),
    fc
      .array(
        keywordOf({
          type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
          enum: fc.array(value, { minLength: 1, maxLength: 3 }),
          const: value,
          minimum: small,
          exclusiveMaximum: small,
          multipleOf: fc.constantFrom(0.5, 1, 2),
          minLength: small,
          maxLength: small,
          pattern: fc.constantFrom('^a', 'b$', '^[a-c]+$'),
          format: fc.constantFrom('date', 'ipv4', 'uuid'),
          minItems: small,
          maxItems: small,
          uniqueItems: fc.boolean(),
          items: tie('any'),
          prefixItems: fc.array(tie('any'), { minLength: 1, maxLength: 2 }),
          contains: tie('any'),
          minContains: small,
          maxContains: small,
          properties: tie('map'),
          patternProperties: fc.record({ '^x-': tie('any') }, { requiredKeys: [] }),
          additionalProperties: tie('any'),
          propertyNames: tie('any'),
          required: fc.uniqueArray(names, { maxLength: 2 }),
          minProperties: small,
          maxProperties: small,
          dependentRequired: fc.record({ a: fc.constant(['b']) }, { requiredKeys: [] }),
          dependentSchemas: fc.record({ a: tie('any') }, { requiredKeys: [] }),
          allOf: fc.array(tie('any'), { minLength: 1, maxLength: 2 }),
          anyOf: fc.array(tie('any'), { minLength: 1, maxLength: 3 }),
          oneOf: fc.array(tie('any'), { minLength: 1, maxLength: 3 }),
          not: tie('any'),
          if: tie('any'),
          then: tie('any'),
          else: tie('any'),
          unevaluatedProperties: fc.oneof(fc.boolean(), fc.constant({ type: 'string' })),
          unevaluatedItems: fc.boolean(),
        }),
        { minLength: 1, maxLength: 3 },
      )
      .map((pairs) => Object.fromEntries(pairs) as JsonSchema),
  ),
})).any;

/**
 * Where ajv 8 departs from JSON Schema 2020-12: items that only a branch of `anyOf` or `oneOf` which does not hold has
 * looked at count as evaluated (core, section 7.7.1.1), every item counts as evaluated beside `contains` (11.2), and
 * `contains` beside `prefixItems` is not asked of a list that is no longer (section 10.3.1.3). Rows of `listsHere`
 * below say what is right.
 */
const isWrongInAjv = (schema: string): boolean =>
  (schema.includes('"contains"') && /"(?:prefixItems|unevaluatedItems)"/.test(schema)) ||
  (schema.includes('"unevaluatedItems"') && /"(?:any|one)Of"/.test(schema) && /"(?:items|prefixItems)"/.test(schema));

t.test('E2: random schemas: the same as ajv', async (t) => {
  const ajv = new Ajv2020({ strict: false, logger: false, ownProperties: true });
  addFormats.default(ajv);
  let fitting = 0;
  let refused = 0;
  fc.assert(
    fc.property(schema, schema, fc.array(value, { minLength: 8, maxLength: 8 }), (wanted, node, values) => {
      // a node of nothing but references to itself has no meaning
      const inner = isMap(node) ? { ...node, $ref: undefined } : node;
      const root = { $defs: { node: inner }, ...(isMap(wanted) ? wanted : { allOf: [wanted] }) };
      let oracle: (one: unknown) => boolean;
      try {
        oracle = ajv.compile(JSON.parse(JSON.stringify(root)) as object);
      } catch {
        return; // a schema that ajv does not take (`minContains` of nothing, a circle)
      }
      const check = compileSchema(root, {
        ...open,
        definitions: { '#/$defs/node': inner },
      });
      for (const one of values) {
        let expected: boolean;
        try {
          expected = oracle(one);
        } catch {
          continue; // a circle of references in place
        }
        const trace = new Trace();
        const got = trace.holds(check, one);
        if (trace.keyword === 'budget') continue;
        if (got !== expected && !isWrongInAjv(JSON.stringify(root)))
          throw new Error(`${expected} ${trace.keyword} ${JSON.stringify(root)} ${JSON.stringify(one)}`);
        if (got) fitting += 1;
        else refused += 1;
      }
    }),
    { numRuns: 1000, seed: Number(process.env['SEED'] ?? 7), endOnFailure: true },
  );
  t.ok(fitting > 200 && refused > 200, `${fitting} fit, ${refused} do not`);
});

const none = { type: 'null' };
const string = { type: 'string' };
const listsHere: readonly (readonly [schema: JsonSchema, list: readonly unknown[], fits: boolean])[] = [
  [{ oneOf: [true, { items: false }], unevaluatedItems: false }, ['a'], false],
  [{ oneOf: [{}, { items: none }], unevaluatedItems: false }, ['a'], false],
  [{ anyOf: [{}, { items: none }], unevaluatedItems: false }, ['a'], false],
  [{ anyOf: [{}, { prefixItems: [none] }], unevaluatedItems: false }, ['a'], false],
  [{ anyOf: [{}, { contains: none }], unevaluatedItems: false }, ['a'], false],
  [{ anyOf: [{}, { items: string }], unevaluatedItems: false }, ['a'], true],
  [{ oneOf: [false, { prefixItems: [string] }], unevaluatedItems: false }, ['a'], true],
  [{ anyOf: [{}, { contains: string }], unevaluatedItems: false }, ['a'], true],
  [{ contains: string, unevaluatedItems: false }, ['a', 'b'], true],
  [{ contains: string, unevaluatedItems: false }, ['a', 1], false],
  [{ prefixItems: [true], contains: string, unevaluatedItems: false }, [1, 'a'], true],
  [{ prefixItems: [true], contains: string, unevaluatedItems: false }, [1, 2, 'a'], false],
  [{ prefixItems: [true], contains: true }, [], false],
  [{ prefixItems: [true], contains: string }, ['a'], true],
  [{ prefixItems: [true, false], contains: false }, ['a'], false],
  [{ prefixItems: [true], contains: string, minContains: 0 }, [], true],
];
t.test('E2: lists where ajv is no judge', (t) => {
  for (const [schema, list, fits] of listsHere)
    t.equal(new Trace().holds(compileSchema(schema, open), list), fits, JSON.stringify([schema, list]));
  t.end();
});

const text = { type: 'string' };
const thing = { type: 'object', properties: { a: text } };
type Row = readonly [name: string, schema: JsonSchema, value: unknown, pointer: string | null, keyword?: string];
const closed: readonly Row[] = [
  ['undeclared', thing, { a: 'x', z: 1 }, '/z', 'additionalProperties'],
  ['declared', thing, { a: 'x' }, null],
  ['free by word', { ...thing, additionalProperties: true }, { z: 1 }, null],
  ['nothing declared', { type: 'object' }, { z: 1 }, null],
  ['within a list', { type: 'array', items: thing }, [{ a: 'x' }, { z: 1 }], '/1/z', 'additionalProperties'],
  ['by reference', { $ref: '#/thing' }, { z: 1 }, '/z', 'additionalProperties'],
  ['a part of a whole', { allOf: [{ $ref: '#/thing' }, { properties: { b: text } }] }, { a: 'x', b: 'y' }, null],
  [
    'no part of a whole',
    { allOf: [{ $ref: '#/thing' }, { properties: { b: text } }] },
    { c: 1 },
    '/c',
    'additionalProperties',
  ],
  [
    'one of two',
    {
      oneOf: [
        { ...thing, required: ['a'] },
        { properties: { b: text }, required: ['b'] },
      ],
    },
    { b: 'x' },
    null,
  ],
  [
    'of the other',
    {
      oneOf: [
        { ...thing, required: ['a'] },
        { properties: { b: text }, required: ['b'] },
      ],
    },
    { b: 'x', z: 1 },
    '/z',
    'additionalProperties',
  ],
  ['a free alternative', { anyOf: [thing, { type: 'object' }] }, { z: 1 }, null],
  [
    'only demands',
    { ...thing, anyOf: [{ required: ['a'] }, { required: ['z'] }] },
    { z: 1 },
    '/z',
    'additionalProperties',
  ],
  ['a prototype', thing, JSON.parse('{"a":"x","__proto__":{"admin":true}}'), '/__proto__', 'additionalProperties'],
  ['a name of every object', { ...thing, required: ['toString'] }, { a: 'x' }, '/toString', 'required'],
  ['a name with a slash', { type: 'object', properties: { 'a/b~': text } }, { 'a/b~': 1 }, '/a~1b~0', 'type'],
  [
    'read only',
    { type: 'object', properties: { id: { type: 'integer', readOnly: true } }, required: ['id'] },
    { id: 1 },
    '/id',
    'readOnly',
  ],
  ['read only, left out', { type: 'object', properties: { id: { readOnly: true } }, required: ['id'] }, {}, null],
  [
    'the deepest alternative',
    { anyOf: [{ type: 'null' }, { type: 'object', properties: { a: { type: 'object', properties: { b: text } } } }] },
    { a: { b: 1 } },
    '/a/b',
    'type',
  ],
  [
    'told apart',
    { oneOf: [{ $ref: '#/cat' }, { $ref: '#/dog' }], discriminator: { propertyName: 'kind' } },
    { kind: 'dog', bark: 'x' },
    null,
  ],
  [
    'nobody of them',
    { oneOf: [{ $ref: '#/cat' }, { $ref: '#/dog' }], discriminator: { propertyName: 'kind' } },
    { kind: 'cow' },
    '',
    'discriminator',
  ],
];

t.test('E2: what nobody declared is refused, with its place', async (t) => {
  const definitions = {
    '#/thing': thing,
    '#/cat': { type: 'object', properties: { kind: text, meow: text } },
    '#/dog': { type: 'object', properties: { kind: text, bark: text } },
  };
  for (const [name, wanted, given, pointer, keyword] of closed) {
    const check = compileSchema(wanted, { definitions, closes: true, direction: 'request' });
    const trace = new Trace();
    t.equal(trace.holds(check, given), pointer === null, name);
    if (pointer !== null) t.same([trace.pointer, trace.keyword], [pointer, keyword], name);
  }
});

t.test('E2: a schema that contains itself costs no more than its budget', async (t) => {
  const node: JsonSchema = { anyOf: [{ $ref: '#/list' }, { $ref: '#/list' }, { type: 'null' }] };
  const definitions = { '#/node': node, '#/list': { type: 'array', items: { $ref: '#/node' } } };
  const check = compileSchema({ $ref: '#/node' }, { definitions, closes: true, direction: null });
  let deep: unknown = 1;
  for (let level = 0; level < 40; level += 1) deep = [deep];
  const trace = new Trace();
  t.notOk(trace.holds(check, deep));
  t.equal(trace.keyword, 'budget');
  let deeper: unknown = null;
  for (let level = 0; level < 50_000; level += 1) deeper = [deeper];
  t.doesNotThrow(() => new Trace().holds(check, deeper), 'nor the stack');
  const circle = compileSchema(
    { $ref: '#/a' },
    { definitions: { '#/a': { $ref: '#/a' } }, closes: true, direction: null },
  );
  t.notOk(new Trace().holds(circle, 1));
});

t.test('E2: formats', async (t) => {
  const rows: readonly (readonly [string, unknown, boolean])[] = [
    ['date', '2024-02-29', true],
    ['date', '2023-02-29', false],
    ['date-time', '2026-11-22T18:00:00Z', true],
    ['date-time', '2026-11-22T18:00:00.123+05:30', true],
    ['date-time', '2026-11-22', false],
    ['date-time', '1998-12-31T23:59:60Z', true],
    ['date-time', '1998-12-31T22:59:60Z', false],
    ['uuid', '123e4567-e89b-12d3-a456-426614174000', true],
    ['uuid', '123e4567e89b12d3a456426614174000', false],
    ['int32', 2147483648, false],
    ['int64', 2147483648, true],
    ['email', 'a@example.org', true],
    ['email', 'nobody', false],
    ['email', '"joe @ home"@example.org', true],
    ['email', 'müller@bücher.example', true],
    ['email', 'root@[127.0.0.1]', true],
    ['email', 'root@[IPv6:::1]', true],
    ['email', "o'hara+list@mail-1.example.org", true],
    ['email', 'a@localhost', true],
    ['email', '.a@example.org', false],
    ['email', 'a..b@example.org', false],
    ['email', 'a b@example.org', false],
    ['email', 'a@b@example.org', false],
    ['email', 'a@-example.org', false],
    ['email', 'a@example.org.', false],
    ['email', 'a@ex_ample.org', false],
    ['email', 'root@[127.0.0.300]', false],
    ['email', '"a\\"@example.org', false],
    ['ipv6', 'fe80::1%eth0', false],
    ['byte', 'aGk=', true],
    ['byte', 'a', false],
    ['something', '…', true],
  ];
  for (const [format, given, fits] of rows)
    t.equal(compileSchema({ format }, open)(given, new Trace()), fits, `${format} ${String(given)}`);
});
