import fc from 'fast-check';
import t from 'tap';
import { compileNetworks } from '#engine/compile';
import { buildAddressSet } from '../shared-state/address-set.js';
import { ClientMeasures } from '../shared-state/measure-tables.js';
import { denyList, threatRuleId } from './deny-list.js';
import { testGateWorker } from './testing/gate-worker.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

function ask(networks: readonly string[], clientIp: string) {
  const measures = new ClientMeasures();
  measures.change({ version: 1, networks: { deny: buildAddressSet(networks) }, principals: { set: [], gone: [] } });
  const context = {
    ...testGateWorker({ measures }).worker,
    compiled: undefined,
    state: undefined,
  };
  return denyList.decide({ head: { clientIp } } as never, {} as never, context);
}

t.test('a client on the list is denied under the rule of the list', async (t) => {
  t.equal(ask(['198.51.100.0/24'], '192.0.2.1'), null);
  t.strictSame(ask(['192.0.2.0/24'], '192.0.2.1'), {
    kind: 'deny',
    status: 403,
    shape: 'page',
    rule: {
      id: threatRuleId,
      message: 'The client address is on the deny list',
      match: "Matched the deny list against variable `REMOTE_ADDR' (Value: `192.0.2.1')",
      data: '192.0.2.1',
      severity: '2',
      tags: ['gatehouse/threat-intel', 'attack-reputation-ip'],
    },
  });
});

t.test('property: the slow twin, the set of the engine, says the same', async (t) => {
  const octet = fc.integer({ min: 0, max: 3 });
  const address = fc.tuple(octet, octet, octet, octet).map((parts) => parts.join('.'));
  const network = fc.tuple(address, fc.integer({ min: 0, max: 32 })).map(([host, bits]) => `${host}/${bits}`);
  fc.assert(
    fc.property(fc.array(network, { maxLength: 6 }), address, (networks, clientIp) => {
      return (ask(networks, clientIp) !== null) === compileNetworks(networks).contains(clientIp);
    }),
    { numRuns: 300 },
  );
  t.pass();
});
