// The state machine of alerts by a simulated clock: what holds for every rule, every course of values, every rhythm of
// evaluations, and restarts anywhere.
import t from 'tap';
import fc from 'fast-check';
import { firstState, gapMsMax, step, type AlertState, type Notice, type Timing } from './machine.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_122) });

const minute = 60_000;
const start = Date.parse('2026-03-01T12:00:00Z');

interface Seen {
  readonly atMs: number;
  readonly holds: boolean;
  readonly before: AlertState;
  readonly state: AlertState;
  readonly notice: Notice | null;
}

/** Runs through the course; a restart is a state that was written down and read again. */
function run(timing: Timing, course: readonly { readonly afterMs: number; readonly holds: boolean }[]): Seen[] {
  let state = firstState(start);
  let nowMs = start;
  return course.map(({ afterMs, holds }) => {
    nowMs += afterMs;
    const before = JSON.parse(JSON.stringify(state)) as AlertState;
    const after = step(before, holds, timing, nowMs);
    state = after.state;
    return { atMs: nowMs, holds, before, state, notice: after.notice };
  });
}

const timings = fc.record({
  forMs: fc.integer({ min: 0, max: 5 }).map((n) => n * minute),
  cooldownMs: fc.integer({ min: 0, max: 10 }).map((n) => n * minute),
  repeats: fc.boolean(),
});
const courses = fc.array(
  fc.record({
    afterMs: fc.oneof(
      { arbitrary: fc.constantFrom(15_000, 16_200), weight: 8 },
      { arbitrary: fc.constantFrom(gapMsMax + 1, 3_600_000, 24 * 3_600_000), weight: 1 },
    ),
    holds: fc.oneof({ arbitrary: fc.constant(true), weight: 3 }, { arbitrary: fc.constant(false), weight: 1 }),
  }),
  { minLength: 1, maxLength: 200 },
);

t.test('ALERT 2: what holds for every course', async () => {
  fc.assert(
    fc.property(timings, courses, (timing, course) => {
      const seen = run(timing, course);
      let told: number | null = null;
      let isOpen = false;
      for (const [index, { atMs, holds, state, notice }] of seen.entries()) {
        const fail = (what: string): never => {
          throw new Error(`${what} at step ${index}`);
        };
        if (notice === 'trigger' || notice === 'repeat') {
          if (!holds) fail('told without its condition');
          if (told !== null && atMs - told < timing.cooldownMs) fail('told within the cooldown');
          if (notice === 'trigger' && isOpen) fail('begun twice');
          if (notice === 'repeat' && (!isOpen || !timing.repeats)) fail('repeated what did not fire');
          if (notice === 'repeat' && timing.cooldownMs === 0) fail('repeated with every evaluation');
          told = atMs;
        }
        if (notice === 'trigger') {
          isOpen = true;
          // it held at every evaluation of for_min, and none was missing
          for (let back = index; back > 0 && atMs - (seen[back]?.atMs ?? 0) < timing.forMs; back--) {
            if (seen[back - 1]?.holds !== true) fail('fired too early');
            if ((seen[back]?.atMs ?? 0) - (seen[back - 1]?.atMs ?? 0) > gapMsMax) fail('fired after a gap');
          }
        }
        if (notice === 'resolve') {
          if (!isOpen || holds) fail('resolved what did not fire');
          isOpen = false;
        }
        if ((state.state === 'firing') !== isOpen) fail('the state is not what was told');
        if (!holds && (state.state === 'firing' || state.state === 'pending')) fail('goes on without its condition');
        if (holds && state.state === 'ok') fail('ok although its condition holds');
      }
    }),
    { numRuns: 2000 },
  );
});

t.test('ALERT 2: what holds long enough is told, whatever was before', async () => {
  fc.assert(
    fc.property(timings, courses, (timing, course) => {
      const rounds = Math.ceil((timing.forMs + timing.cooldownMs) / 15_000) + 2;
      const tail = Array.from({ length: rounds }, () => ({ afterMs: 15_000, holds: true }));
      const last = run(timing, [...course, ...tail]).at(-1);
      if (last?.state.state !== 'firing') throw new Error(`${String(last?.state.state)} at the end`);
    }),
  );
});

t.test('ALERT 2: a clock that is set back stops nothing', async (t) => {
  const timing = { forMs: 0, cooldownMs: 10 * minute, repeats: true };
  const fired = step(firstState(start), true, timing, start);
  t.equal(fired.notice, 'trigger');
  const resolved = step(fired.state, false, timing, start - 86_400_000);
  t.equal(resolved.notice, 'resolve');
  let state = resolved.state;
  let nowMs = start - 86_400_000;
  let notice: Notice | null = null;
  for (let round = 0; round < 60 && notice === null; round++)
    ({ state, notice } = step(state, true, timing, (nowMs += 15_000)));
  t.equal(notice, 'trigger', 'not a day later');
});
