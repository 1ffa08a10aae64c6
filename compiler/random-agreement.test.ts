// Random small rule sets, compiled, against the oracle: equal matches, TX and verdict on random requests, each sent
// twice.
// RANDOM_RULE_SETS (default 300) and SEED make it a soak; a failure prints the smallest rules and requests found.
import fc from 'fast-check';
import t from 'tap';
import { compileProgram } from './compile-program.js';
import { requests } from './testing/random-requests.js';
import { ruleSets } from './testing/random-rules.js';
import { compareText, createMemoryCache, type ShortRequest } from './testing/rule-text.js';

const count = Number(process.env['RANDOM_RULE_SETS'] ?? 300);
const seed = Number(process.env['SEED'] ?? 20_261_121);
const requestsPerSet = 20;

t.setTimeout(3_600_000); // bin/test.mjs has the limit that counts
t.test('random rule sets', async (t) => {
  let cache = createMemoryCache();
  let run = 0;
  let refused = 0;
  const property = fc.asyncProperty(
    ruleSets,
    fc.array(requests, { minLength: 1, maxLength: requestsPerSet, size: 'max' }),
    async (rules: string, list: ShortRequest[]) => {
      if (compileProgram([{ path: 'rules.conf', text: rules }]).program === null) {
        refused += 1;
        return;
      }
      run += 1;
      if (run % 500 === 0) cache = createMemoryCache();
      const differences = await compareText(rules, [...list, ...list], cache);
      if (differences.length > 0) throw new Error(differences.slice(0, 2).join('\n'));
    },
  );
  const result = await fc.check(property, {
    numRuns: count,
    seed,
    endOnFailure: false,
    interruptAfterTimeLimit: 3_000_000,
  });
  const report = result.failed
    ? [
        result.counterexample?.[0] ?? '',
        JSON.stringify(result.counterexample?.[1], null, 1),
        String(result.errorInstance),
        `SEED=${result.seed} path ${result.counterexamplePath ?? ''}`,
      ].join('\n')
    : '';
  t.equal(report, '', `seed ${result.seed}: ${run} rule sets ran, ${refused} were refused by the compiler`);
  t.ok(run > refused, 'most random rule sets are valid');
  if (!result.failed) t.ok(run >= count * 0.5, `${run} of ${count}`);
});
