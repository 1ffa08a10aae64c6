// RE2 sets over bytes: the indexes of the patterns that occur, whatever the bytes; equal sets are one.
import t from 'tap';
import { createPatternSet } from './pattern-set.js';

t.test('indexes of the patterns that occur', (t) => {
  const set = createPatternSet(['evil', '^a', '\\x{ff}', '\\x{0}b$']);
  const rows: readonly (readonly [string, readonly number[]])[] = [
    ['nothing', []],
    ['an evil one', [0, 1]],
    ['\xff', [2]],
    ['a\xff\0b', [1, 2, 3]],
    ['', []],
    [`${'x'.repeat(20_000)}evil`, [0]],
  ];
  for (const [text, expected] of rows)
    t.same([...set.match(text, !/[\x80-\xff]/.test(text))].sort(), expected, JSON.stringify(text.slice(0, 20)));
  t.end();
});

t.test('equal sets are one, different ones are not', (t) => {
  t.equal(createPatternSet(['one', 'two']), createPatternSet(['one', 'two']));
  t.not(createPatternSet(['one', 'two']), createPatternSet(['two', 'one']), 'the order is part of it');
  t.not(createPatternSet(['onetwo']), createPatternSet(['one', 'two']));
  const first = createPatternSet(['first']);
  for (let index = 0; index < 40; index += 1) createPatternSet([`other ${index}`]);
  t.not(createPatternSet(['first']), first, 'only the last ones are kept');
  t.same([...first.match('at first', true)], [0], 'who holds one may go on with it');
  t.end();
});
