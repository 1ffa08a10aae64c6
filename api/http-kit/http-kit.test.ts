import t from 'tap';
import fc from 'fast-check';
import { toCsvCell, toCsvLine } from './csv.js';
import { decodeCursor, encodeCursor, toPage } from './page.js';
import { checkIfMatch } from './etag.js';
import { beyondBounds, isNestedDeeper } from './json-depth.js';
import { ApiError, toProblem } from './problem.js';
import { errorTable } from './error-table.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

t.test('cursors survive the round trip and nothing else is accepted', async (t) => {
  fc.assert(
    fc.property(fc.string(), fc.maxSafeInteger(), (s, n) => {
      const [a, b] = decodeCursor(encodeCursor([s, n]), ['string', 'number'] as const);
      return a === s && b === n;
    }),
  );
  for (const bad of [
    '',
    'x',
    '!!',
    encodeCursor(['a']),
    encodeCursor([1, 'a']),
    Buffer.from('[1.5]').toString('base64url'),
    Buffer.from('{}').toString('base64url'),
  ]) {
    t.throws(() => decodeCursor(bad, ['string', 'number'] as const), { code: 'bad_cursor' }, bad);
  }
  t.same(
    toPage([1, 2, 3], 2, (n) => [n], String),
    { items: ['1', '2'], next_cursor: encodeCursor([2]) },
  );
  t.same(
    toPage([1, 2], 2, (n) => [n], String),
    { items: ['1', '2'], next_cursor: null },
  );
});

t.test('If-Match', async (t) => {
  for (const fine of [undefined, '*', '"a"', '"x", "a"']) t.doesNotThrow(() => checkIfMatch(fine, '"a"'));
  for (const stale of ['"b"', 'a', 'W/"a"', ''])
    t.throws(() => checkIfMatch(stale, '"a"'), { code: 'precondition_failed' }, stale);
});

t.test('nesting', async (t) => {
  t.equal(isNestedDeeper('['.repeat(65), 64), true);
  t.equal(isNestedDeeper('['.repeat(64), 64), false);
  t.equal(isNestedDeeper(JSON.stringify('[{'.repeat(100)), 3), false, 'brackets in strings do not count');
  t.equal(isNestedDeeper('{"\\"[[[[":[[]]}', 3), false);
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 40 }),
      fc.integer({ min: 0, max: 40 }),
      (depth, max) => isNestedDeeper('['.repeat(depth) + ']'.repeat(depth), max) === depth > max,
    ),
  );
});

t.test('values of a JSON text are counted before it is parsed, text in strings left out', async (t) => {
  const count = (value: unknown): number =>
    typeof value !== 'object' || value === null
      ? 0
      : Math.max(1, Object.keys(value).length) + Object.values(value).reduce((sum: number, one) => sum + count(one), 0);
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const bounds = { depthMax: Infinity, valuesMax: count(value) };
      t.equal(beyondBounds(JSON.stringify(value), bounds), null);
      if (bounds.valuesMax > 0)
        t.equal(beyondBounds(JSON.stringify(value), { ...bounds, valuesMax: bounds.valuesMax - 1 }), 'values');
    }),
  );
  t.equal(beyondBounds('"{},[],{}"', { depthMax: 0, valuesMax: 0 }), null);
});

t.test('CSV cells', async (t) => {
  const cases: [unknown, string][] = [
    ['plain', 'plain'],
    ['a,b', '"a,b"'],
    ['say "x"', '"say ""x"""'],
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@x', "'@x"],
    ['\t=1', "'\t=1"],
    ['\r=1', '"\'\r=1"'],
    [' =1', "' =1"],
    [-5, '-5'],
    [null, ''],
    ['＝cmd', "'＝cmd"],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
  ];
  for (const [value, cell] of cases) t.equal(toCsvCell(value), cell, JSON.stringify(value));
  t.equal(toCsvLine(['a', 1]), 'a,1\r\n');
  fc.assert(fc.property(fc.string(), (s) => !/^"?[=+@-]/.test(toCsvCell(s))));
});

t.test('the error table', async (t) => {
  t.equal(Object.keys(errorTable).length, 36, 'a new code is a promise: count it here');
  const problem = toProblem(
    new ApiError('validation_failed', 'why', { errors: [{ path: '/a', reason: 'r' }] }),
    'req-1',
  );
  t.same(problem, {
    type: 'urn:gatehouse:problem:validation_failed',
    title: 'The request does not fit the schema',
    status: 400,
    detail: 'why',
    instance: 'req-1',
    code: 'validation_failed',
    errors: [{ path: '/a', reason: 'r' }],
  });
});
