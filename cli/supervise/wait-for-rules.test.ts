// R2: the announcement waits for the rules, for a bounded time, and tells what did not come.
import t from 'tap';
import type { Served } from './admin-interface.js';
import { sayWhatIsClosed, tellWhenInForce, waitForRules } from './wait-for-rules.js';

const serving: Served = { ruleset: 'abc', mode: 'On', closed: null, sites: [], sitesFrom: 'settings' };
const closed: Served = { ...serving, ruleset: '', closed: 'the rules are gone' };

/** A data plane that says one thing after the other, and its last word for ever. */
function saying(words: readonly (Served | null)[]) {
  const said: string[] = [];
  let looks = 0;
  return {
    said,
    get looks() {
      return looks;
    },
    look: () => Promise.resolve(words[Math.min(looks++, words.length - 1)] ?? null),
    say: (text: string) => void said.push(text),
  };
}
const { signal } = new AbortController();

t.test('R2: what serves is announced at once', async (t) => {
  for (const word of [serving, null]) {
    const plane = saying([word]);
    t.equal(await waitForRules({ ...plane, signal }), word);
    t.same([plane.looks, plane.said], [1, []]);
  }
});

t.test('R2: what is closed is waited for, also while the data plane is silent', async (t) => {
  const plane = saying([closed, null, closed, serving]);
  t.equal(await waitForRules({ ...plane, signal }), serving);
  t.match(plane.said, [/waiting up to 180 s/, /in force after [\d.]+ s/]);
});

t.test('R2: at the bound it is what it is: closed', async (t) => {
  const plane = saying([closed]);
  t.equal(await waitForRules({ ...plane, signal, mostMs: 0 }), closed);
  t.notMatch(plane.said.join('\n'), 'in force after');
});

t.test('R2: a signal ends the wait', async (t) => {
  const ending = new AbortController();
  const plane = saying([closed]);
  const waiting = waitForRules({ ...plane, signal: ending.signal });
  ending.abort();
  t.equal(await waiting, closed);
});

t.test('R2: it is told when it starts closed, and when it serves after all', async (t) => {
  const plane = saying([closed]);
  await sayWhatIsClosed(plane);
  t.match(plane.said, [/the rules are gone;\n.*answered 503/]);
  const later = saying([closed, null, serving]);
  await tellWhenInForce({ ...later, signal });
  t.match(later.said, [/in force now/]);
  const fine = saying([serving]);
  await sayWhatIsClosed(fine);
  t.same(fine.said, []);
});
