import t from 'tap';
import { typedNumber } from './typed-number.js';

t.test('numbers as people type them', async (t) => {
  for (const [text, expected] of [
    ['0', 0],
    [' 12 ', 12],
    ['0.5', 0.5],
    ['-3', -3],
    ['', Number.NaN],
    ['  ', Number.NaN],
    ['ten', Number.NaN],
  ] as const)
    t.same(typedNumber(text), expected, JSON.stringify(text));
  t.equal(JSON.stringify({ threshold: typedNumber('') }), '{"threshold":null}', 'which no endpoint takes for a number');
});
