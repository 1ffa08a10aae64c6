import t from 'tap';
import { placeOf } from './places.js';

t.test('P1: evidence has a page, with what it filters by; what has none says so', async (t) => {
  t.equal(placeOf('/api/events?request_id=7'), '/soc?request_id=7');
  t.equal(placeOf('/api/audit?action=settings.change'), '/admin/audit?action=settings.change');
  t.equal(placeOf('/api/siem'), '/alerts?view=connectors');
  t.equal(placeOf('/api/nothing'), null);
  t.equal(placeOf('javascript:alert(1)'), null, 'only known addresses become links');
});
