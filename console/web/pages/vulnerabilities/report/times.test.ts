// What people choose is what the schedule runs by.
import { Cron } from 'croner';
import t from 'tap';
import { toCron, toIana } from './times.js';

t.test('27.9: a rhythm is the cron of the same moments', (t) => {
  const of = { time: '08:30', weekday: '1', monthday: '28' } as const;
  const next = (cron: string | null): string | undefined =>
    new Cron(cron ?? '', { timezone: toIana('GMT+4'), paused: true })
      .nextRun(new Date('2026-11-29T12:00:00Z')) // a Sunday
      ?.toISOString();
  t.equal(next(toCron({ ...of, rhythm: 'daily' })), '2026-11-30T04:30:00.000Z');
  t.equal(next(toCron({ ...of, rhythm: 'weekly', weekday: '3' })), '2026-12-02T04:30:00.000Z');
  t.equal(next(toCron({ ...of, rhythm: 'monthly' })), '2026-12-28T04:30:00.000Z');
  t.equal(toCron({ ...of, rhythm: 'daily', time: '7.05' }), '5 7 * * *');
  for (const time of ['', '24:00', '8', '08:60', '8:5', 'x08:30'])
    t.equal(toCron({ ...of, rhythm: 'daily', time }), null, time);
  t.equal(toIana('Europe/Vienna'), 'Europe/Vienna');
  t.equal(toIana('UTC'), 'UTC');
  t.end();
});
