import t from 'tap';
import { dayAfter, endOfDay, showAge, showBytes, showMicroseconds, showMoment, showSpan, zoneName } from './moments.js';
import { fromClock, offsetMsAt, setTimeZone } from './time-zone.js';

t.test('moments are shown in GMT+4 and say so', async (t) => {
  t.equal(showMoment('2026-11-22T11:04:05.678Z'), '2026-11-22 15:04:05 GMT+4');
  t.equal(showMoment('2026-12-31T21:00:00Z'), '2027-01-01 01:00:00 GMT+4', 'the day is that of the zone');
  t.equal(showMoment('2026-11-22T11:04:05Z', true), '11-22 15:04:05');
  t.equal(showMoment(null), '–');
  t.equal(showMoment('soon'), 'soon');
});

t.test('27.6: moments are shown and typed in the zone that was chosen', async (t) => {
  t.teardown(() => setTimeZone('GMT+4'));
  const summer = Date.parse('2026-07-01T22:30:00Z');
  const winter = Date.parse('2026-12-31T23:30:00Z');
  const shown = (ms: number): string => showMoment(new Date(ms).toISOString());
  setTimeZone('UTC');
  t.equal(shown(winter), '2026-12-31 23:30:00 UTC');
  t.equal(endOfDay('2026-12-31'), '2026-12-31T23:59:59.000Z');
  t.equal(zoneName(), 'UTC');
  setTimeZone('local');
  const before = process.env['TZ'];
  t.teardown(() => {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  });
  for (const [zone, inSummer, inWinter, end] of [
    ['Europe/Vienna', '2026-07-02 00:30:00 GMT+2', '2027-01-01 00:30:00 GMT+1', '2026-07-01T21:59:59.000Z'],
    ['America/St_Johns', '2026-07-01 20:00:00 GMT-2:30', '2026-12-31 20:00:00 GMT-3:30', '2026-07-02T02:29:59.000Z'],
    ['Asia/Kathmandu', '2026-07-02 04:15:00 GMT+5:45', '2027-01-01 05:15:00 GMT+5:45', '2026-07-01T18:14:59.000Z'],
    ['Etc/UTC', '2026-07-01 22:30:00 UTC', '2026-12-31 23:30:00 UTC', '2026-07-01T23:59:59.000Z'],
  ] as const) {
    process.env['TZ'] = zone;
    t.equal(shown(summer), inSummer);
    t.equal(shown(winter), inWinter);
    t.equal(endOfDay('2026-07-01'), end, zone);
    t.equal(dayAfter(summer, 0), inSummer.slice(0, 10));
    for (const ms of [summer, winter, Date.parse('2026-10-25T12:00:00Z')])
      t.equal(fromClock(ms + offsetMsAt(ms)), ms, `${zone}: what is shown is typed back`);
  }
});

t.test('ages, sizes and durations', async (t) => {
  const now = Date.parse('2026-11-22T12:00:00Z');
  t.equal(showAge('2026-11-22T11:59:30Z', now), '30 s ago');
  t.equal(showAge('2026-11-22T11:00:00Z', now), '1 h ago');
  t.equal(showAge('2026-11-01T00:00:00Z', now), '22 days ago');
  t.equal(showAge(null, now), 'never');
  const spans = [
    ...([
      [0, '0 s'],
      [59.4, '59 s'],
      [60, '1 min'],
      [3599, '1 h'],
      [3600, '1 h'],
    ] as const),
    ...([
      [5333, '1 h 29 min'],
      [7199, '2 h'],
      [172_799, '48 h'],
      [259_200, '3 days'],
      [-4, '0 s'],
    ] as const),
  ] as const;
  for (const [seconds, shown] of spans) t.equal(showSpan(seconds), shown);
  t.equal(showBytes(999), '999 B');
  t.equal(showBytes(9_175_163), '9.2 MB');
  t.equal(showMicroseconds(732), '732 µs');
  t.equal(showMicroseconds(2_500_000), '2.50 s');
});
