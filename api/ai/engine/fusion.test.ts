// The fusion of layers and its explanation, over random signals, weights and thresholds.
import t from 'tap';
import fc from 'fast-check';
import { explain, subsets } from './explain.js';
import { fuse, gainsOf, ladderOf, pointsOf, rank, rungOf } from './fusion.js';
import { judge, score } from './score.js';
import { emptyVector, specified } from '../testing/clients.js';
import { layers, type FeatureVector, type Signal, type Weights } from './vector.js';

const seed = Number(process.env['SEED'] ?? 12);
const check = (property: fc.IProperty<never> | fc.IRawProperty<unknown>, numRuns = 400): void =>
  fc.assert(property as fc.IProperty<unknown>, { seed, numRuns });

const weight = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 100 }), fc.double({ min: 0, max: 100, noNaN: true }));
const weights: fc.Arbitrary<Weights> = fc.record({
  signature: weight,
  anomaly: weight,
  api_abuse: weight,
  bot: weight,
});
const signal: fc.Arbitrary<Signal> = fc
  .record({ layer: fc.constantFrom(...layers), points: fc.integer({ min: 1, max: 100 }) })
  .map(({ layer, points }) => ({ code: '', layer, name: '', points, evidence: {}, attack: [], owasp: [] }));
const signals = (most: number): fc.Arbitrary<Signal[]> =>
  fc.array(signal, { maxLength: most }).map((all) => all.map((one, index) => ({ ...one, code: `s${index}` })));
const threshold = fc.integer({ min: 1, max: 100 });

t.test(
  'AI 2: the ladder is that of the specification, its bounds are clamped, a threshold below 1 is refused',
  async (t) => {
    const at = (risk: number, limit: number) => rungOf(risk, ladderOf(limit));
    for (const [risk, rung] of [
      [100, 'BLOCK'],
      [80, 'BLOCK'],
      [79, 'CHALLENGE'],
      [60, 'CHALLENGE'],
      [59, 'RATE_LIMIT'],
      [45, 'RATE_LIMIT'],
      [44, 'ALLOW'],
      [0, 'ALLOW'],
    ] as const)
      t.equal(at(risk, 80), rung, `${risk}`);
    t.strictSame(ladderOf(30), { BLOCK: 30, CHALLENGE: 10, RATE_LIMIT: 1 });
    t.strictSame(ladderOf(1), { BLOCK: 1, CHALLENGE: 1, RATE_LIMIT: 1 });
    for (const wrong of [0, 0.5, -5, Number.NaN, 101, Infinity]) t.throws(() => ladderOf(wrong), /from 1 to 100/);
    check(fc.property(threshold, (limit) => at(0, limit) === 'ALLOW' && at(100, limit) === 'BLOCK') as never);
  },
);

t.test('AI 2: the risk is a whole number from 0 to 100 and grows with every signal', async () => {
  check(
    fc.property(signals(12), signal, fc.integer({ min: 0, max: 50 }), weights, (some, more, stronger, by) => {
      const risk = (of: readonly Signal[]): number => fuse(pointsOf(of), gainsOf(by));
      const before = risk(some);
      const raised = some.map((one, at) => (at === 0 ? { ...one, points: Math.min(100, one.points + stronger) } : one));
      return (
        Number.isInteger(before) &&
        before >= 0 &&
        before <= 100 &&
        risk([...some, more]) >= before &&
        risk(raised) >= before
      );
    }) as never,
    2000,
  );
});

t.test('AI 2: only the proportions of weights count, and the order of signals does not', async (t) => {
  check(
    fc.property(signals(10), weights, threshold, (some, by, limit) => {
      const doubled = Object.fromEntries(layers.map((layer) => [layer, by[layer] * 2])) as unknown as Weights;
      const verdict = (of: readonly Signal[], with_: Weights): string =>
        JSON.stringify(judge(of, emptyVector, with_, limit));
      return verdict(some, by) === verdict(some, doubled) && verdict(some, by) === verdict([...some].reverse(), by);
    }) as never,
  );
  const none: Weights = { signature: 0, anomaly: 0, api_abuse: 0, bot: 0 };
  t.equal(fuse({ signature: 100, anomaly: 100, api_abuse: 100, bot: 100 }, gainsOf(none)), 0);
  const alone = layers.map((layer) => fuse({ ...pointsOf([]), [layer]: 100 }, gainsOf(specified)));
  t.strictSame(alone, [100, 50, 63, 38], 'what each layer reaches alone, as the file says');
});

t.test('AI 2: confidence is apart from the risk', async (t) => {
  const of = (requests: number, some: readonly Signal[], missing: FeatureVector['missing'] = []) =>
    judge(some, { requests, missing }, specified, 80);
  const one: Signal = { code: 'x', layer: 'signature', name: '', points: 90, evidence: {}, attack: [], owasp: [] };
  const other: Signal = { ...one, code: 'y', layer: 'bot', points: 40 };
  t.ok(of(2, [one]).confidence < of(200, [one]).confidence);
  t.equal(of(2, [one]).risk, of(200, [one]).risk);
  t.ok(of(50, [one]).confidence < of(50, [one, other]).confidence);
  t.ok(of(50, [one], ['anomaly']).confidence < of(50, [one]).confidence);
  t.equal(of(50, []).confidence, 0);
});

t.test('AI 2: without exactly why_not the verdict is a rung lower, and without no proper subset of it', async (t) => {
  const told = { exact: 0, skips: 0 };
  check(
    fc.property(signals(9), weights, threshold, (some, by, limit) => {
      const scored = judge(some, emptyVector, by, limit);
      const { why_not: whyNot } = explain(scored, by, limit);
      const rankWithout = (codes: ReadonlySet<string>): number =>
        rank(
          judge(
            some.filter(({ code }) => !codes.has(code)),
            emptyVector,
            by,
            limit,
          ).verdict,
        );
      const before = rank(scored.verdict);
      if (before === 0) return whyNot.signals.length === 0;
      const after = rankWithout(new Set(whyNot.signals));
      const count = whyNot.signals.length;
      for (let size = 0; size < count; size += 1)
        for (const set of subsets(count, size))
          if (rankWithout(new Set(set.map((at) => whyNot.signals[at] as string))) < before) return false;
      told[whyNot.skips ? 'skips' : 'exact'] += 1;
      if (!whyNot.skips) return after === before - 1;
      // it skips only where every set of signals does
      for (let size = 1; size <= some.length; size += 1)
        for (const set of subsets(some.length, size))
          if (rankWithout(new Set(set.map((at) => (some[at] as Signal).code))) === before - 1) return false;
      return after < before - 1;
    }) as never,
    1500,
  );
  t.ok(told.exact > 50 && told.skips > 50, JSON.stringify(told));
});

t.test('AI 2: the distance to the next rung', async (t) => {
  const signalOf = (points: number): Signal => ({
    ...{ code: 'x', layer: 'signature', name: '', evidence: {}, attack: [], owasp: [] },
    points,
  });
  const at = (points: number) => explain(judge([signalOf(points)], emptyVector, specified, 80), specified, 80).distance;
  t.strictSame(at(85), { up: null, down: 6 });
  t.strictSame(at(62), { up: 18, down: 3 });
  t.strictSame(at(10), { up: 35, down: null });
});

t.test('AI 2: what a vector says: stable codes, with evidence', async (t) => {
  const attacked: FeatureVector = {
    ...emptyVector,
    requests: 40,
    blocked: 12,
    score_max: 15,
    groups: { '942': 12, '913': 2 },
    rules: { '942100': 12, '913100': 2, '1006401': 1 },
    agents: { scanner: 40 },
    login_failures: 30,
    samples: ['a', 'b'],
    deviations: [
      { feature: 'rate', site: 'shop', observed: 600, expected: 10, spread: 10, source: 'hour', support: 400 },
    ],
    threats: [{ id: 'f1', kind: 'bola', severity: 'high', count: 120 }],
  };
  const scored = score(attacked, specified, 80);
  t.equal(scored.verdict, 'BLOCK');
  t.match(
    scored.signals.find(({ code }) => code === 'sig.sqli'),
    { layer: 'signature', points: 64, evidence: { requests: 12, rules: ['942100'], request_ids: ['a', 'b'] } },
  );
  const codes = scored.signals.map(({ code }) => code);
  for (const code of [
    'sig.scanner',
    'sig.breadth',
    'anomaly.rate',
    'abuse.bola',
    'abuse.login-failures',
    'bot.scanner',
  ])
    t.ok(codes.includes(code), code);
  t.ok(codes.includes('bot.impostor'));
  t.equal(new Set(codes).size, codes.length, 'one signal a code');
  t.equal(JSON.stringify(score(attacked, specified, 80)), JSON.stringify(scored), 'the same again');
  t.equal(score({ ...attacked, missing: ['signature', 'api_abuse'] }, specified, 80).layers.signature, 0);
  t.equal(score(emptyVector, specified, 80).verdict, 'ALLOW');
});
