import fc from 'fast-check';
import t from 'tap';
import { findAmong, foundMax, isSearched, menuMax, withFinder, type Choice } from './choices.js';

const seed = Number(process.env['SEED'] ?? 13);
const of = (...titles: string[]): Choice[] => titles.map((title, at) => [String(at), title]);
const titles = (found: readonly Choice[]): string[] => found.map(([, title]) => title);

t.test('what is typed finds titles', async (t) => {
  const choices = of('Billing', 'Card gateway', 'gateway of cards', 'Straße', 'كتاب');
  for (const [words, expected] of [
    ['', titles(choices)],
    ['  ', titles(choices)],
    ['GATE', ['Card gateway', 'gateway of cards']],
    ['card gate', ['Card gateway', 'gateway of cards']],
    ['كت', ['كتاب']],
    ['nothing', []],
  ] as const)
    t.same(titles(findAmong(choices, words)), expected, words);
});

t.test('a menu is for what can be looked through', async (t) => {
  const many = of(...Array.from({ length: menuMax + 1 }, (_, at) => `application ${at}`));
  t.same([isSearched(many.slice(0, menuMax)), isSearched(many)], [false, true]);
  t.equal(findAmong(many, '').length, foundMax);
  const finder = { find: async () => [], titleOf: async () => null };
  t.equal(withFinder(many, finder).finder, finder);
  t.same([...withFinder(many, finder)], many);
});

t.test('every choice is found by its own title, and nothing that was not offered', async () => {
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 40 }), (names) => {
      const choices = of(...names);
      return choices.every((choice) => {
        const found = findAmong(choices, choice[1]);
        const values = choices.map(([value]) => value);
        return found.some(([value]) => value === choice[0]) && found.every(([value]) => values.includes(value));
      });
    }),
    { seed },
  );
});
