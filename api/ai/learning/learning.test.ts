// What is usual at a site: learned by hour, robust against some, bounded against many, patient ones.
import t from 'tap';
import fc from 'fast-check';
import { Baseline, hourOfWeek, type Cell, scales } from './baseline.js';
import { SiteLearning, type Measures } from './site-learning.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const startMs = Date.parse('2026-03-02T00:00:00Z');

/** Repeatable, even. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const honest = (random: () => number, clients: number, usual: number): number[] =>
  Array.from({ length: clients }, () => usual * (0.5 + random()));

/** So many days of honest hours from `fromMs` on; `more`: what others add on a day. */
function live(
  baseline: Baseline,
  random: () => number,
  days: number,
  fromMs: number,
  more: (day: number) => readonly number[] = () => [],
): number {
  for (let hour = 0; hour < days * 24; hour += 1) {
    const values = [...honest(random, 20, 40), ...more(Math.floor(hour / 24))];
    baseline.fold(values, fromMs + hour * hourMs);
  }
  return fromMs + days * dayMs;
}

/** Every hour of the week, and `all`. */
function cellsOf(baseline: Baseline): Map<string, Cell> {
  const { all, hours } = JSON.parse(JSON.stringify(baseline)) as { all: Cell; hours: [number, Cell][] };
  return new Map([['all', all] as const, ...hours.map(([hour, cell]) => [String(hour), cell] as const)]);
}

t.test('AI 5: a baseline is learned after 200 clients, for an hour of the week after 14 days', async (t) => {
  const random = createRandom(1);
  const baseline = new Baseline(scales.rate);
  t.match(baseline.expect(startMs), { source: 'prior', expected: scales.rate.expected });
  baseline.fold([1, 2, 3, 4], startMs);
  t.equal(baseline.learned.support, 0, 'four clients say more of themselves than of a site');
  let nowMs = live(baseline, random, 1, startMs);
  t.match(baseline.expect(nowMs), { source: 'all' });
  const { expected } = baseline.expect(nowMs);
  t.ok(Math.abs(expected - 40) < 6, `${expected}`);
  nowMs = live(baseline, random, 76, nowMs);
  t.match(baseline.expect(nowMs), { source: 'hour' });
  t.equal(baseline.learned.hours, 168);
  t.not(hourOfWeek(startMs), hourOfWeek(startMs + dayMs), 'days differ');
  t.equal(hourOfWeek(startMs), hourOfWeek(startMs + 7 * dayMs), 'weeks do not');
});

for (const [name, attackers] of [
  ['one patient attacker', 1],
  ['as many attackers as honest clients', 20],
  ['three times as many', 60],
] as const)
  t.test(`AI 5: poisoning: ${name}, five percent more a day for 30 days`, async (t) => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: 60, max: 200 }), (seed, first) => {
        const random = createRandom(seed);
        const baseline = new Baseline(scales.rate);
        const nowMs = live(baseline, random, 20, startMs);
        const before = cellsOf(baseline);
        const endMs = live(baseline, random, 30, nowMs, (day) =>
          Array.from({ length: attackers }, () => first * 1.05 ** day),
        );
        const after = cellsOf(baseline);
        // the bound that baseline.ts states, for all hours and each of the week; the attacker grew by 332 percent
        const isBound = [...after].every(([name, { center, spread }]) => {
          const then = before.get(name);
          if (then === undefined) return false;
          return center <= then.center * 1.35 && spread <= Math.max(then.spread, scales.rate.floor) * 1.35;
        });
        const most = Math.max(...[...before.values()].map(({ center }) => center));
        return isBound && baseline.expect(endMs).expected <= most * 1.35;
      }),
      { seed: Number(process.env['SEED'] ?? 12), numRuns: 15 },
    );
    const random = createRandom(9);
    const baseline = new Baseline(scales.rate);
    let nowMs = live(baseline, random, 20, startMs);
    const before = baseline.expect(nowMs).expected;
    nowMs = live(baseline, random, 30, nowMs, (day) => Array.from({ length: attackers }, () => 60 * 1.05 ** day));
    const after = baseline.expect(nowMs).expected;
    t.comment(`${attackers} attackers: ${before.toFixed(1)} became ${after.toFixed(1)}`);
    t.equal(baseline.isDrifting, attackers >= 20, 'many are told as drift, one is not even seen');
  });

t.test('AI 5: falling is bounded like rising', async (t) => {
  const random = createRandom(3);
  const baseline = new Baseline(scales.rate);
  const nowMs = live(baseline, random, 20, startMs);
  const before = baseline.expect(nowMs).expected;
  const endMs = live(baseline, random, 30, nowMs, () => Array.from({ length: 100 }, () => 0));
  t.ok(baseline.expect(endMs).expected >= before * 0.7);
});

const usual: Measures = { rate: 30, errors: 0, request_size: 500, response_size: 9000, paths: 5 };

t.test('AI 5: a site: the meter, one client counts once an hour, shapes, and a restart', async (t) => {
  const site = new SiteLearning('shop');
  t.match(site.meter(), { anomaly: { percent: 0, note: /0 of 200 clients/ }, drifting: [] });
  const shapes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
  let stored = 0;
  for (let hour = 0; hour < 30; hour += 1)
    for (let client = 0; client < 20; client += 1) {
      const atMs = startMs + hour * hourMs + client * 1000;
      if (site.learn(`10.0.0.${client}`, { ...usual, rate: 30 + client }, shapes, atMs)) stored += 1;
      site.learn('10.0.0.0', { ...usual, rate: 100_000 }, shapes, atMs);
    }
  t.ok(stored >= 28, `an hour that is over is stored: ${stored}`);
  const endMs = startMs + 30 * hourMs;
  const { expected } = site.expect('rate', endMs);
  t.ok(expected < 50, `one client that asks a hundred thousand times does not move ${expected}`);
  const meter = site.meter();
  t.equal(meter.anomaly.percent, 50, 'all hours are learned, no hour of the week yet');
  t.match(meter.anomaly.note, /0 of 168 hours of the week, 11 shapes/);
  t.equal(site.novelIn([1, 2, 99, 98]), 2);
  for (let times = 0; times < 10; times += 1) site.learn('10.9.9.9', usual, [99], endMs);
  t.equal(site.novelIn([99]), 1, 'one client makes no path known, however often it asks');
  for (const client of ['10.9.9.1', '10.9.9.2']) site.learn(client, usual, [99], endMs);
  t.equal(site.novelIn([99]), 0);
  const again = new SiteLearning('shop');
  again.restore(JSON.parse(JSON.stringify(site)));
  t.strictSame(again.compare(usual, [1, 77], endMs), site.compare(usual, [1, 77], endMs));
  again.restore(null);
  t.equal(again.expect('rate', endMs).expected, expected, 'what is no state changes nothing');
});

t.test('AI 5: tables are bounded, whatever is asked for', async (t) => {
  const site = new SiteLearning('shop');
  for (let at = 0; at < 30_000; at += 1) site.learn(`c${at}`, usual, [at], startMs);
  const { shapes } = JSON.parse(JSON.stringify(site)) as { shapes: number[] };
  t.ok(shapes.length <= 5000);
  site.learn('x', usual, [1], startMs + hourMs);
  t.ok(site.expect('rate', startMs + hourMs).support <= 5000);
});
