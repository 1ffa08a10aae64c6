import t from 'tap';
import { showAge, showBytes, showMicroseconds, showMoment, showSpan } from './moments.js';

t.test('moments are shown in GMT+4 and say so', async (t) => {
  t.equal(showMoment('2026-11-22T11:04:05.678Z'), '2026-11-22 15:04:05 GMT+4');
  t.equal(showMoment('2026-12-31T21:00:00Z'), '2027-01-01 01:00:00 GMT+4', 'the day is that of the zone');
  t.equal(showMoment('2026-11-22T11:04:05Z', true), '11-22 15:04:05');
  t.equal(showMoment(null), '–');
  t.equal(showMoment('soon'), 'soon');
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
