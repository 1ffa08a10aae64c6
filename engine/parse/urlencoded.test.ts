import t from 'tap';
import fc from 'fast-check';
import { Collection } from '../transaction/collection.js';
import { decodeUriPath, parseUrlEncoded } from './urlencoded.js';

const parse = (
  text: string,
  max = 1000,
  separator = '&',
): { pairs: string[][]; truncated: boolean; invalidEncoding: boolean } => {
  const into = new Collection();
  const outcome = parseUrlEncoded(text, separator, into, max);
  return { pairs: into.names.map((name, index) => [name, into.values[index] as string]), ...outcome };
};

// [text, expected pairs, invalid encoding], each as libmodsecurity 3.0.9 answers.
const table: readonly (readonly [string, readonly (readonly [string, string])[], boolean])[] = [
  ['', [], false],
  [
    'x=1&y=2',
    [
      ['x', '1'],
      ['y', '2'],
    ],
    false,
  ],
  [
    'x&y',
    [
      ['x', ''],
      ['y', ''],
    ],
    false,
  ],
  [
    'x=&=y',
    [
      ['x', ''],
      ['', 'y'],
    ],
    false,
  ],
  [
    '&&x=1',
    [
      ['', ''],
      ['', ''],
      ['x', '1'],
    ],
    false,
  ],
  ['&', [['', '']], false],
  ['=', [['', '']], false],
  ['x=1&', [['x', '1']], false],
  ['x+y=u+v%20', [['x y', 'u v ']], false],
  ['x%3Dy=u%26v', [['x=y', 'u&v']], false],
  ['x=%zz%4', [['x', '%zz%4']], true],
  ['x=%', [['x', '%']], true],
  ['%=1', [['%', '1']], true],
  [
    'x=%4&y=%41',
    [
      ['x', '%4'],
      ['y', 'A'],
    ],
    true,
  ],
  ['x==y=z', [['x', '=y=z']], false],
  ['x=%u0041', [['x', '%u0041']], true],
  ['x=%00y', [['x', '\0y']], false],
  ['x=%C3%a9', [['x', '\xc3\xa9']], false],
  ['x=1;y=2', [['x', '1;y=2']], false],
  ['x=%%41', [['x', '%A']], true],
];

t.test('arguments are split and decoded as ModSecurity v3 does', async (t) => {
  for (const [text, pairs, invalid] of table) {
    const got = parse(text);
    t.same(got.pairs, pairs, JSON.stringify(text));
    t.equal(got.invalidEncoding, invalid, `invalid encoding of ${JSON.stringify(text)}`);
    t.equal(got.truncated, false);
  }
});

t.test('the separator is a setting', async (t) => {
  t.same(parse('x=1;y=2&z', 10, ';').pairs, [
    ['x', '1'],
    ['y', '2&z'],
  ]);
});

t.test('arguments over the limit are reported and not added', async (t) => {
  t.same(parse('x=1&y=2&z=3', 2), {
    pairs: [
      ['x', '1'],
      ['y', '2'],
    ],
    truncated: true,
    invalidEncoding: false,
  });
  t.equal(parse('x=1&y=2', 2).truncated, false);
  t.equal(parse('x=1', 0).truncated, true);
});

t.test('paths keep a plus and malformed sequences', async (t) => {
  t.equal(decodeUriPath('/a+b%20c%zz%'), '/a+b c%zz%');
});

const latin1 = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
const encode = (text: string): string =>
  [...Buffer.from(text, 'latin1')].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

t.test('properties', async (t) => {
  const seed = Number(process.env['SEED'] ?? 20_261_121);
  t.comment(`seed ${seed}`);
  fc.assert(
    fc.property(fc.array(fc.tuple(latin1, latin1), { maxLength: 8 }), (pairs) => {
      const text = pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
      const got = parse(text);
      return !got.invalidEncoding && JSON.stringify(got.pairs) === JSON.stringify(pairs);
    }),
    { seed },
  );
  fc.assert(
    fc.property(latin1, (text) => {
      const { pairs } = parse(text);
      return (
        pairs.reduce((sum, [name, value]) => sum + (name as string).length + (value as string).length, 0) <= text.length
      );
    }),
    { seed, numRuns: 500 },
  );
  t.pass('held');
});
