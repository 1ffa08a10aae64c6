// The score: the formula in another notation, its examples, and what has to hold of it.
import t from 'tap';
import { scoreOf, tintOf, type ScoreInput } from './score.js';

const criticalities = [0, 100, 350, 700, 1000];

function plain({ risk, hops, isExposed, entryProof, confirmed, criticality }: ScoreInput): number {
  const million = 1_000_000n;
  const depth = BigInt(Math.min(hops - 1, 5) * 200);
  const reach = BigInt(Math.min(1000, entryProof * 300 + Math.min(confirmed, 4) * 100));
  const keep =
    ((million - 300n * depth) *
      (million - 200n * (isExposed ? 1000n : 0n)) *
      (million - 250n * reach) *
      (million - 250n * BigInt(criticality))) /
    10n ** 21n;
  const r = BigInt(risk);
  return Number((100_000n * r + (1000n - keep) * r * (100n - r) + 50_000n) / 100_000n);
}

t.test('B4 score: equals the formula in whole numbers of any size, for every input there is', (t) => {
  let different = 0;
  let low = 0;
  for (let risk = 0; risk <= 100; risk++)
    for (let hops = 2; hops <= 7; hops++)
      for (const isExposed of [false, true])
        for (const entryProof of [0, 1, 2] as const)
          for (let confirmed = 0; confirmed <= 5; confirmed++)
            for (const criticality of criticalities) {
              const input = { risk, hops, isExposed, entryProof, confirmed, criticality };
              const score = scoreOf(input);
              if (score !== plain(input)) different++;
              if (score < risk || score > 100 || !Number.isInteger(score)) low++;
            }
  t.equal(different, 0);
  t.equal(low, 0, 'it starts from the highest-risk member and stays within 100');
  t.end();
});

t.test('B4 score: it rises with depth, exposure, proof, criticality and the risk of the worst member', (t) => {
  const steps: ((input: ScoreInput) => ScoreInput)[] = [
    (input) => ({ ...input, hops: input.hops + 1 }),
    (input) => ({ ...input, isExposed: true }),
    (input) => ({ ...input, entryProof: Math.min(2, input.entryProof + 1) as 0 | 1 | 2 }),
    (input) => ({ ...input, confirmed: input.confirmed + 1 }),
    (input) => ({ ...input, criticality: criticalities[criticalities.indexOf(input.criticality) + 1] ?? 1000 }),
    (input) => ({ ...input, risk: Math.min(100, input.risk + 1) }),
  ];
  let falls = 0;
  const rises = steps.map(() => 0);
  for (let risk = 0; risk <= 100; risk += 3)
    for (let hops = 2; hops <= 6; hops++)
      for (const isExposed of [false, true])
        for (const entryProof of [0, 1, 2] as const)
          for (let confirmed = 0; confirmed <= 4; confirmed++)
            for (const criticality of criticalities) {
              const input = { risk, hops, isExposed, entryProof, confirmed, criticality };
              for (const [index, step] of steps.entries()) {
                const gain = scoreOf(step(input)) - scoreOf(input);
                if (gain < 0) falls++;
                if (gain > 0) rises[index] = (rises[index] ?? 0) + 1;
              }
            }
  t.equal(falls, 0);
  for (const [index, count] of rises.entries()) t.ok(count > 100, `step ${index} matters`);
  t.end();
});

t.test('B4 score: with everything at its most, 20, 30, 50, 70 and 90 become 31, 44, 67, 84 and 96', (t) => {
  const most = { hops: 6, isExposed: true, entryProof: 2, confirmed: 4, criticality: 1000 } as const;
  t.strictSame(
    [0, 20, 30, 50, 70, 90, 100].map((risk) => scoreOf({ ...most, risk })),
    [0, 31, 44, 67, 84, 96, 100],
  );
  t.end();
});

t.test('R tint: danger is critical, else 60 and more high, 35 and more medium, else low', (t) => {
  const of = (score: number, danger = false): string => tintOf({ score, danger });
  t.strictSame([of(100), of(60), of(59), of(35), of(34), of(0)], ['high', 'high', 'medium', 'medium', 'low', 'low']);
  t.equal(of(1, true), 'critical');
  t.end();
});
