// Attack mode by a simulated clock: what it takes for an attack, what not, and how far somebody can teach it.
import t from 'tap';
import { Baseline, readBaseline } from './baseline.js';
import { AttackDetector, type AttackPolicy, type AttackTransition } from './detector.js';

const policy: AttackPolicy = { mode: 'auto', spikeFactor: 3, minRpm: 600 };

/** The same numbers every time; SEED tries others. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function simulate(over: Partial<AttackPolicy> = {}, detector = new AttackDetector()) {
  const changes: AttackTransition[] = [];
  let nowMs = 1_700_000_000_000;
  /** `rpm` for so many seconds; a function of the second gives each its own. */
  const run = (seconds: number, rpm: number | ((second: number) => number), more: Partial<AttackPolicy> = {}): void => {
    for (let second = 0; second < seconds; second += 1) {
      nowMs += 1000;
      const requests = (typeof rpm === 'number' ? rpm : rpm(second)) / 60;
      const change = detector.look({ nowMs, wallMs: nowMs, requests }, { ...policy, ...over, ...more });
      if (change !== null) changes.push(change);
    }
  };
  return { detector, changes, run, kinds: () => changes.map(({ kind }) => kind) };
}

const minute = 60;
const hour = 3600;

t.test('1: a spike is found within the minute, and left with hysteresis', async (t) => {
  const { run, changes, detector } = simulate();
  run(hour, 1000);
  t.strictSame(changes, []);
  run(40, 10_000);
  t.match(changes, [{ kind: 'enter', cause: 'rate', thresholdRpm: 3000 }]);
  t.ok(Math.abs((changes[0]?.baselineRpm ?? 0) - 1000) < 1, 'the numbers that led to it are told');
  run(hour, 10_000);
  t.ok(Math.abs(detector.baseline.rpm - 1000) < 1, 'minutes under attack are not learned');
  t.equal(changes.length, 1);
  run(hour, 1000);
  t.match(changes, [{ kind: 'enter' }, { kind: 'leave', cause: 'rate' }]);
  t.notOk(detector.isUnderAttack);
});

t.test('1: never below attack_min_rpm, never by less than the factor, and not before anything is known', async (t) => {
  const quiet = simulate();
  quiet.run(hour, 10);
  quiet.run(hour, 590);
  t.strictSame(quiet.changes, [], 'sixty times the baseline, below attack_min_rpm');
  quiet.run(2 * minute, 700);
  t.strictSame(quiet.kinds(), [], 'what was learned meanwhile counts');
  const busy = simulate();
  busy.run(hour, 5000);
  busy.run(hour, 12_000);
  t.strictSame(busy.changes, [], '2.4 times the baseline');
  const fresh = simulate();
  fresh.run(100, 50_000);
  t.equal(fresh.detector.threshold(policy), null);
  t.strictSame(fresh.changes, [], 'a busy site that has just begun is not under attack');
});

t.test('1: a rate that swings about the line does not switch it on and off', async (t) => {
  const { run, changes } = simulate();
  run(hour, 1000);
  run(3 * hour, (second) => (Math.floor(second / 90) % 2 === 0 ? 3300 : 2700));
  t.equal(changes.length, 1, 'entered once, and never left: the rate does not fall to half of the line');
});

t.test('1: off and on are what they say; a change of the setting while under attack ends it', async (t) => {
  const off = simulate({ mode: 'off' });
  off.run(hour, 1000);
  off.run(hour, 100_000);
  t.strictSame(off.changes, []);
  t.ok(off.detector.baseline.isLearned, 'it learns all the same, so that auto can begin at once');
  const auto = simulate();
  auto.run(hour, 1000);
  auto.run(2 * minute, 30_000);
  auto.run(2, 30_000, { mode: 'off' });
  t.match(auto.changes, [{ kind: 'enter' }, { kind: 'leave', cause: 'setting' }]);
});

t.test('1: property: ordinary traffic never enters, a clear spike always does, both alternate', async (t) => {
  const random = randomOf(Number(process.env['SEED'] ?? 7));
  for (let round = 0; round < 40; round += 1) {
    const usual = 200 + random() * 20_000;
    const noise = random() * 0.5;
    const { run, kinds } = simulate();
    run(hour, () => usual * (1 + noise * (2 * random() - 1)));
    t.strictSame(kinds(), [], `${usual} rpm with noise ${noise}`);
    const spike = Math.max(policy.minRpm, usual * policy.spikeFactor) * (1.6 + random() * 20);
    run(minute, spike);
    t.strictSame(kinds(), ['enter'], `${spike} rpm upon ${usual}`);
    run(10 * minute, () => spike * (0.8 + 0.4 * random()));
    run(10 * minute, () => usual * (1 + noise * (2 * random() - 1)));
    t.ok(kinds().every((kind, index) => kind === (index % 2 === 0 ? 'enter' : 'leave')));
  }
});

t.test('1: property: slow poisoning is bounded: by the hour, and by the days', async (t) => {
  const random = randomOf(Number(process.env['SEED'] ?? 11));
  for (let round = 0; round < 30; round += 1) {
    const baseline = new Baseline();
    const start = 1000;
    let wallMs = 86_400_000 * 20_000;
    const learn = (sample: number): void => baseline.learn(sample, (wallMs += 60_000), 200);
    for (let count = 0; count < 60; count += 1) learn(start);
    // whoever sends anything in fewer than half of the minutes of an hour moves nothing beyond the honest ones
    for (let count = 0; count < 60; count += 1) learn(count % 5 < 2 ? 1e9 * random() : start);
    t.equal(baseline.rpm, start);
    const hours = 1 + Math.floor(random() * 6);
    for (let count = 0; count < hours * 60; count += 1) learn(1e9 * random());
    t.ok(baseline.rpm <= start * 2 ** hours * 1.01, `${baseline.rpm} after ${hours} hours`);
  }
  const week = new Baseline();
  let wallMs = 86_400_000 * 20_000;
  for (let count = 0; count < 5 * 1440; count += 1) week.learn(1000, (wallMs += 60_000), 200);
  for (let count = 0; count < 1440; count += 1) week.learn(1e9, (wallMs += 60_000), 200);
  t.equal(week.rpm, 2000, 'a whole day of flood is learned up to twice what the week knows');
  for (let count = 0; count < 61; count += 1) week.learn(1000, (wallMs += 60_000), 200);
  t.equal(week.rpm, 1000, 'and forgotten within the hour');
});

t.test('1: a site that grew for good does not stay in attack mode for ever', async (t) => {
  const { run, kinds } = simulate();
  run(hour, 1000);
  run(12 * hour, 8000);
  t.strictSame(kinds(), ['enter', 'leave']);
});

t.test('1: the baseline outlives a restart; what cannot be read is no baseline', async (t) => {
  const before = simulate();
  before.run(hour, 1000);
  const saved = readBaseline(JSON.parse(JSON.stringify(before.detector.baseline.save())));
  const after = simulate({}, new AttackDetector(saved));
  after.run(minute, 9000);
  t.strictSame(after.kinds(), ['enter']);
  for (const wrong of [
    null,
    1,
    {},
    { rpm: -1 },
    { ...saved, samples: ['x'] },
    { ...saved, samples: Array(61).fill(1) },
  ])
    t.equal(readBaseline(wrong), null, JSON.stringify(wrong));
});

t.test('1: a process that stood still, and a clock that jumps, make no attack', async (t) => {
  const { detector, changes, run } = simulate();
  run(hour, 1000);
  const nowMs = 1_700_000_000_000 + hour * 1000 + 50 * minute * 1000;
  t.equal(detector.look({ nowMs, wallMs: 0, requests: 16 }, policy), null);
  t.equal(detector.rpm, 16);
  t.strictSame(changes, []);
});
