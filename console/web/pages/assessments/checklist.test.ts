import fc from 'fast-check';
import t from 'tap';
import { itemLengthMax, progressOf, withAnswer, withLines, type Item } from './checklist.js';

const seed = Number(process.env['SEED'] ?? 13);

const items: readonly Item[] = [
  { item: 'a', result: 'pass', note: 'seen' },
  { item: 'b', result: 'open' },
  { item: 'c', result: 'fail' },
];

t.test('lines become open items, each once', async (t) => {
  for (const [typed, added] of [
    ['', []],
    ['\n  \n', []],
    ['d', ['d']],
    [' d \r\ne\nd\na', ['d', 'e']],
    ['x'.repeat(itemLengthMax + 9), ['x'.repeat(itemLengthMax)]],
  ] as const) {
    const after = withLines(items, typed);
    t.same(after.slice(0, items.length), items, 'what was there stays in its place');
    t.same(
      after.slice(items.length),
      added.map((item) => ({ item, result: 'open' })),
      JSON.stringify(typed),
    );
  }
});

t.test('an answer changes one item, and an empty note is none', async (t) => {
  t.same(withAnswer(items, 1, { result: 'na' })[1], { item: 'b', result: 'na' });
  t.same(withAnswer(items, 0, { note: '  ' })[0], { item: 'a', result: 'pass' });
  t.same(withAnswer(items, 2, { note: ' why ' })[2], { item: 'c', result: 'fail', note: 'why' });
  t.same(withAnswer(items, 7, { result: 'na' }), items);
  t.same(progressOf(items), { answered: 2, failed: 1, all: 3 });
});

t.test('lines are added once, however often they are typed', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.string()), (lines) => {
      const once = withLines(items, lines.join('\n'));
      return withLines(once, lines.join('\n')).length === once.length;
    }),
    { seed },
  );
  t.pass();
});
