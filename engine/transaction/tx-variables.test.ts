// TX over a shared base behaves like one ordinary map, whatever is written, unset and walked over.
import fc from 'fast-check';
import t from 'tap';
import { TxVariables, type KeySelector } from './tx-variables.js';

const keys = ['a', 'ab', 'b', 'n_a', 'n_b', '0'];
const selectors: readonly KeySelector[] = [
  { takes: (key) => key.startsWith('n_') },
  { takes: () => true },
  { takes: (key) => key === 'a' },
];
const step = fc.tuple(fc.constantFrom('set', 'delete'), fc.constantFrom(...keys), fc.constantFrom('', '1', 'x'));

t.test('equals a plain map', (t) => {
  const seed = Number(process.env['SEED'] ?? 20_261_121);
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom(...keys), fc.constantFrom('', 'base')),
      fc.array(step, { maxLength: 12 }),
      (start, steps) => {
        const base = new Map<string, string>(Object.entries(start));
        const frozen = [...base];
        const tx = new TxVariables(base);
        const model = new Map<string, string>(base);
        for (const [kind, key, value] of steps) {
          if (kind === 'set') {
            tx.set(key, value);
            model.set(key, value);
          } else {
            tx.delete(key);
            model.delete(key);
          }
          const sorted = (pairs: Iterable<[string, string]>): string => JSON.stringify([...pairs].sort());
          if (sorted(tx) !== sorted(model) || tx.sizeMax < model.size) return false;
          for (const name of keys)
            if (tx.get(name) !== model.get(name) || tx.has(name) !== model.has(name)) return false;
          for (const selector of selectors) {
            const chosen = tx.select(selector);
            if (sorted(chosen) !== sorted([...model].filter(([name]) => selector.takes(name)))) return false;
            if (JSON.stringify(chosen) !== JSON.stringify([...tx].filter(([name]) => selector.takes(name))))
              return false;
          }
        }
        return JSON.stringify([...base]) === JSON.stringify(frozen);
      },
    ),
    { seed, numRuns: 500 },
  );
  t.pass(`seed ${seed}`);
  t.end();
});

t.test('transactions do not see each other', (t) => {
  const base = new Map([['pl', '1']]);
  const one = new TxVariables(base);
  const two = new TxVariables(base);
  one.set('pl', '9');
  one.set('own', 'x');
  one.delete('pl');
  t.equal(one.get('pl'), undefined);
  t.same([...two], [['pl', '1']]);
  t.same(two.select({ takes: () => true }), [['pl', '1']]);
  one.set('pl', '2');
  t.equal(one.get('pl'), '2', 'set again after it was unset');
  t.end();
});
