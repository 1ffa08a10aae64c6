import fc from 'fast-check';
import t from 'tap';
import { matching, withChoice } from './matching.js';

const seed = Number(process.env['SEED'] ?? 13);

const choices = [
  { value: '1', title: 'https://shop.example/', note: 'Shop' },
  { value: '2', title: 'https://shop.example/api', note: 'Shop' },
  { value: '3', title: 'https://pay.example/api', note: 'Payments' },
];

t.test('choices are found by every word that was typed', async (t) => {
  for (const [typed, max, values, left] of [
    ['', 9, ['1', '2', '3'], 0],
    ['SHOP', 9, ['1', '2'], 0],
    ['api  pay', 9, ['3'], 0],
    ['nothing', 9, [], 0],
    ['', 2, ['1', '2'], 1],
  ] as const) {
    const found = matching(choices, typed, max);
    t.same([found.shown.map(({ value }) => value), found.left], [values, left], JSON.stringify(typed));
  }
});

t.test('what is chosen and not listed stays chosen', async (t) => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string()), fc.string(), fc.boolean(), (chosen, value, isIn) => {
      const after = withChoice(chosen, value, isIn);
      return (
        after.includes(value) === isIn &&
        new Set(after).size === after.length &&
        chosen.every((one) => one === value || after.includes(one))
      );
    }),
    { seed },
  );
  t.pass();
});
