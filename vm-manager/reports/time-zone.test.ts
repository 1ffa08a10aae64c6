import t from 'tap';
import { dayIn, daysBetween, firstHourOf, isTimeZone, showIn } from './time-zone.js';

t.test('moments of a zone', async (t) => {
  const at = new Date('2026-07-01T22:30:05Z');
  t.equal(showIn('GMT+4', at), '2026-07-02 02:30:05 GMT+4');
  t.equal(showIn('UTC', at), '2026-07-01 22:30:05 UTC');
  t.equal(showIn('America/St_Johns', at), '2026-07-01 20:00:05 GMT-2:30');
  t.equal(showIn('Europe/Vienna', new Date('2026-12-31T23:00:00Z')), '2027-01-01 00:00:00 GMT+1');
  t.notOk(isTimeZone('Mars/Olympus'));
  t.equal(dayIn('GMT+4', at), '2026-07-02');
  t.notOk(isTimeZone(''));
});

t.test('the last days of a zone begin with the first hour of the first one, and each comes once', (t) => {
  const now = new Date('2026-11-29T05:20:00Z');
  t.same(firstHourOf('GMT+4', now, 1), new Date('2026-11-28T20:00:00Z'));
  t.same(firstHourOf('UTC', now, 30), new Date('2026-10-31T00:00:00Z'));
  for (const zone of ['UTC', 'GMT+4', 'Europe/Vienna', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Apia'])
    for (let hour = 0; hour < 24; hour++) {
      const at = new Date(now.getTime() + hour * 3_600_000);
      const days = daysBetween(zone, firstHourOf(zone, at, 92), at);
      t.equal(days.length, 92, `${zone} ${hour}`);
      t.equal(days.at(-1), dayIn(zone, at));
      t.strictSame([...days].sort(), days);
      const before = new Date(firstHourOf(zone, at, 92).getTime() - 3_600_000);
      t.not(dayIn(zone, before), days[0], 'no hour of the first day is left out');
    }
  t.end();
});
