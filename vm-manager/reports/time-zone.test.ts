import t from 'tap';
import { dayIn, isTimeZone, showIn } from './time-zone.js';

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
