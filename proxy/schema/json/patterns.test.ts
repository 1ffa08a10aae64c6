// E2: the tables of states against RE2, their slow twin: random patterns and texts, and rows for what is easy to get
// wrong (anchors in alternatives, bounds, characters beyond ASCII, line ends).
import fc from 'fast-check';
import RE2 from 're2';
import t from 'tap';
import { compilePattern } from './patterns.js';

const seed = Number(process.env['SEED'] ?? 7);

const atom = fc.constantFrom(
  'a',
  'b',
  '-',
  '.',
  '[ab]',
  '[^a]',
  '[a-c-]',
  '\\d',
  '\\w',
  '\\s',
  '\\.',
  '\\-',
  '[\\]x]',
  ' ',
);
const sign = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{0,2}', '{1,3}', '{2,}', '+?', '{0}');
const body = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.tuple(atom, sign).map((two) => two.join('')),
    fc.array(tie('any'), { maxLength: 4 }).map((parts) => parts.join('')),
    fc
      .tuple(fc.constantFrom('(', '(?:'), fc.array(tie('any'), { minLength: 1, maxLength: 3 }), sign)
      .map(([open, parts, count]) => `${open}${parts.join('|')})${count}`),
  ),
})).any;
const pattern = fc
  .tuple(fc.constantFrom('^', '^', ''), body, fc.constantFrom('$', '$', ''))
  .map((parts) => parts.join(''));
const word = fc
  .array(fc.constantFrom('a', 'b', 'c', 'x', '-', '.', '1', '_', ' ', ']', '\n', '\r', '\t', 'é', '😀', '\u2028'), {
    maxLength: 7,
  })
  .map((chars) => chars.join(''));

t.test('S2: random patterns mean what they mean to RE2', async (t) => {
  let [fast, fits, refused] = [0, 0, 0];
  fc.assert(
    fc.property(pattern, fc.array(word, { minLength: 12, maxLength: 12 }), (source, texts) => {
      const ours = compilePattern(source);
      if (!ours.isFast) return;
      fast += 1;
      const twin = new RE2(source, 'u');
      for (const text of texts) {
        const expected = twin.test(text);
        if (ours.test(text) !== expected) throw new Error(`${expected} ${source} ${JSON.stringify(text)}`);
        if (expected) fits += 1;
        else refused += 1;
      }
    }),
    { numRuns: 400, seed, endOnFailure: true },
  );
  t.ok(fast > 200 && fits > 500 && refused > 500, `${fast} tables, ${fits} fit, ${refused} do not`);
});

/** What stands in real documents, and whether a table is expected of it. */
const known: readonly (readonly [source: string, isFast: boolean, fits: readonly string[], not: readonly string[]])[] =
  [
    ['^[a-z0-9-]{1,64}$', true, ['a', 'a-1', 'x'.repeat(64)], ['', 'A', 'x'.repeat(65), 'a\n', 'é']],
    ['^[A-Z]{2}-[0-9]{4,8}$', true, ['AB-1234', 'AB-12345678'], ['AB-123', 'AB-123456789', 'ab-1234', ' AB-1234']],
    ['^[a-z0-9]+(?:-[a-z0-9]+)*$', true, ['a', 'a-b-1'], ['-a', 'a-', 'a--b', '']],
    ['^\\d+(\\.\\d{1,2})?$', true, ['1', '1.25'], ['1.', '.5', '1.255', '١']],
    ['^(draft|paid|refunded)$', true, ['draft', 'paid'], ['draf', 'paidx', '']],
    ['^.{1,120}$', true, ['é😀', 'x'.repeat(120), '😀'.repeat(120)], ['', 'a\nb', 'x'.repeat(121), '😀'.repeat(121)]],
    ['^\\+[1-9]\\d{1,14}$', true, ['+4915112345678'], ['+0123', '4915', '+1']],
    ['^https://', true, ['https://a', 'https://'], ['http://a', ' https://']],
    ['tea', true, ['tea', 'a teapot'], ['te', 'eta']],
    ['\\$$', true, ['5$'], ['$5']],
    ['^(a)|(b)$', false, ['ax', 'xb'], ['xax']],
    ['^a|b$', false, ['ax', 'xb'], ['xax']],
    ['[[:alpha:]]', false, ['a'], ['1']],
    ['^\\p{L}+$', false, ['é', 'a'], ['1']],
    ['\\bcat\\b', false, ['a cat'], ['concat']],
    ['^[ab]*a[ab]{9}$', false, ['abbbbbbbbb'], ['bbbbbbbbbb']],
    ['^x{1,1000}$', false, ['x'], ['']],
  ];

t.test('S2: patterns of real documents', async (t) => {
  for (const [source, isFast, fits, not] of known) {
    const compiled = compilePattern(source);
    t.equal(compiled.isFast, isFast, source);
    for (const text of fits) t.ok(compiled.test(text), `${source} ${JSON.stringify(text.slice(0, 70))}`);
    for (const text of not) t.notOk(compiled.test(text), `${source} ${JSON.stringify(text.slice(0, 70))}`);
  }
  t.throws(() => compilePattern('^(?=a)'), 'RE2 has no look-ahead');
});
