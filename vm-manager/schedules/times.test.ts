import t from 'tap';
import fc from 'fast-check';
import { checkTiming, nextTime } from './times.js';

const at = (text: string): Date => new Date(text);
const nextOf = (cron: string, timezone: string, from: string, count = 1): string[] => {
  const found: string[] = [];
  let now = at(from);
  for (let turn = 0; turn < count; turn++) {
    now = nextTime({ id: 1, cron, timezone, jitter_seconds: 0 }, now) ?? at('9999-01-01T00:00:00Z');
    found.push(now.toISOString().slice(0, 16));
  }
  return found;
};

t.test('times are of the zone, also where its clock is put forward and back', (t) => {
  const table: readonly (readonly [string, string, string, readonly string[]])[] = [
    ['0 3 * * *', 'UTC', '2026-01-01T03:00:00Z', ['2026-01-02T03:00']],
    ['0 3 * * 1-5', 'Asia/Tokyo', '2026-01-02T00:00:00Z', ['2026-01-04T18:00']],
    ['30 2 * * *', 'Europe/Berlin', '2026-03-28T02:00:00Z', ['2026-03-29T01:30', '2026-03-30T00:30']],
    ['30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', ['2026-10-25T00:30', '2026-10-26T01:30']],
    ['0 12 29 2 *', 'UTC', '2026-01-01T00:00:00Z', ['2028-02-29T12:00']],
  ];
  for (const [cron, zone, from, expected] of table)
    t.same(nextOf(cron, zone, from, expected.length), expected, `${cron} ${zone}`);
  t.end();
});

t.test('what is no schedule is refused with what to write', (t) => {
  const now = at('2026-01-01T00:00:00Z');
  const table: readonly (readonly [string, string, RegExp])[] = [
    ['* * * * *', 'UTC', /more often than each five minutes/],
    ['0,3 * * * *', 'UTC', /more often/],
    ['60 * * * *', 'UTC', /is no schedule/],
    ['0 0 31 2 *', 'UTC', /never comes/],
    ['0 3 * * *', 'Mars/Base', /is no time zone/],
  ];
  for (const [cron, timezone, words] of table) t.throws(() => checkTiming({ cron, timezone }, now), words, cron);
  t.doesNotThrow(() => checkTiming({ cron: '*/5 * * * *', timezone: 'Europe/Vienna' }, now));
  t.end();
});

t.test('jitter is within its bound, the same each time, and the next time is later than now', (t) => {
  fc.assert(
    fc.property(fc.nat(100_000), fc.nat(3600), fc.integer({ min: 0, max: 400 * 86_400 }), (id, seconds, after) => {
      const now = new Date(Date.UTC(2026, 0, 1) + after * 1000);
      const plain = { id, cron: '0 4 * * *', timezone: 'America/New_York', jitter_seconds: 0 };
      const next = nextTime({ ...plain, jitter_seconds: seconds }, now);
      if (next === null || next <= now) return false;
      const offset =
        next.getTime() - (nextTime(plain, new Date(next.getTime() - seconds * 1000 - 1)) ?? next).getTime();
      const again = nextTime({ ...plain, jitter_seconds: seconds }, next);
      const gap = (again?.getTime() ?? 0) - next.getTime();
      return offset >= 0 && offset <= seconds * 1000 && Math.abs(gap - 86_400_000) <= 3_600_000;
    }),
    { seed: Number(process.env['SEED'] ?? 20_261_129), numRuns: 60 },
  );
  t.end();
});
