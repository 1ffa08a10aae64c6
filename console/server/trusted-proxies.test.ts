import t from 'tap';
import { trustedProxies } from './trusted-proxies.js';

t.test('addresses, networks and names are believed, and nobody else', async (t) => {
  let asked = 0;
  const reported: string[] = [];
  const answers = [['172.20.0.3', '2001:db8::3'], null];
  const trust = trustedProxies(
    ['10.0.0.5', '192.0.2.0/24', '2001:db8:1::/48', 'nodes', 'away'],
    async (name) => {
      asked += 1;
      const found = name === 'nodes' ? answers[0] : answers[1];
      if (found == null) throw new Error('there is no such name');
      return found;
    },
    (name) => void reported.push(name),
  );
  t.equal(trust.trusts('172.20.0.3'), false, 'not before the name is known');
  await new Promise((done) => setImmediate(done));
  for (const address of ['10.0.0.5', '::ffff:10.0.0.5', '192.0.2.200', '2001:db8:1::9', '172.20.0.3', '2001:db8::3'])
    t.ok(trust.trusts(address), address);
  for (const address of ['10.0.0.6', '192.0.3.1', '2001:db8:2::9', '172.20.0.4', '', 'nodes', '127.0.0.1'])
    t.notOk(trust.trusts(address), address);
  t.equal(asked, 2);
  t.strictSame(reported, ['away'], 'a name without an address is reported');
  trust.close();
});
