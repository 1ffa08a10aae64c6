import t from 'tap';
import { mapOf, mapText } from './map.js';

t.test('the map of a cluster is lines of three words', async (t) => {
  const rules = [{ namespace: 'shop', workload: 'web*', application_id: '7' }];
  t.same(mapOf('shop  web* 7\n\n'), rules);
  t.equal(mapText(rules), 'shop web* 7');
  t.equal(mapText([{ namespace: 'shop', application_id: '7' }]), 'shop * 7');
  t.equal(mapOf('shop web*'), null);
  t.same(mapOf(''), []);
});
