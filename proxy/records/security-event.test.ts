import t from 'tap';
import { shownFile } from './security-event.js';

t.test('rule files are named without the machine they were compiled on', async (t) => {
  for (const [path, shown] of [
    ['/srv/gatehouse/data/crs/4.0.0/rules/REQUEST-942.conf', 'rules/REQUEST-942.conf'],
    ['gatehouse/engine.conf', 'gatehouse/engine.conf'],
    ['rules/own.conf', 'rules/own.conf'],
    ['/own.conf', '/own.conf'],
    ['', ''],
  ] as const)
    t.equal(shownFile(path), shown);
});
