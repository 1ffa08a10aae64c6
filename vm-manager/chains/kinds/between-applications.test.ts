// Cross-service chains of large projects: what is counted and chosen by classes equals what all pairs give.
import fc from 'fast-check';
import t from 'tap';
import { viewOf } from '../candidate.js';
import { compareChains, compareScores } from '../chain.js';
import { application, examples, finding } from '../testing/build.js';
import { bestCrossService, countCrossService, crossServiceFrom } from './between-applications.js';

const seed = Number(process.env['SEED'] ?? 20_261_122);

const parts = fc.record({
  environment: fc.constantFrom('prod', 'prod', 'staging'),
  criticality: fc.constantFrom('critical', 'low', null),
  source: fc.option(fc.record({ risk: fc.constantFrom(50, 70, 90), proof: fc.nat(2) }), { freq: 4 }),
  sink: fc.option(fc.record({ risk: fc.constantFrom(40, 70, 90), proof: fc.nat(2) }), { freq: 4 }),
});
type Part = typeof parts extends fc.Arbitrary<infer Value> ? Value : never;

const viewOfPart = ({ environment, criticality, source, sink }: Part, index: number) => {
  const id = String(index * 3);
  const more = (end: { readonly risk: number; readonly proof: number }, what: { title: string; cwe: string }) => ({
    ...what,
    applicationId: id,
    riskScore: end.risk,
    reachable: end.proof === 1,
    exploitConfirmed: end.proof === 2,
  });
  return viewOf(application(id, { environment, criticality }), [
    ...(source === null ? [] : [finding(`${id}-source`, more(source, examples.entry))]),
    ...(sink === null ? [] : [finding(`${id}-sink`, more(sink, examples.impact))]),
  ]);
};

t.test('B3 cross-service: the best of all pairs, however many applications are alike', (t) => {
  fc.assert(
    fc.property(
      fc.array(parts, { maxLength: 60 }).map((all) => all.map(viewOfPart)),
      fc.constantFrom(1, 2, 3, 7, 50),
      (views, max) => {
        const all = views.flatMap((view) => crossServiceFrom(view, views));
        const [byProof, byScore] = bestCrossService(views, max, ['proof', 'score']);
        t.strictSame(byProof, [...all].sort(compareChains).slice(0, max));
        t.strictSame(byScore, [...all].sort(compareScores).slice(0, max));
        t.strictSame(countCrossService(views), {
          chains: all.length,
          danger: all.filter(({ danger }) => danger).length,
          proven: all.filter(({ proven }) => proven > 0).length,
        });
        return t.passing();
      },
    ),
    { seed, numRuns: Math.min(2000, Number(process.env['CHAIN_ORGANISATIONS'] ?? 150)) },
  );
  t.end();
});
