import { BlockList, isIP } from 'node:net';
import fc from 'fast-check';
import t from 'tap';
import { trustedProxySet } from './trusted-proxies.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

/** The slow twin: node's own list, which this was until there was one set for everything. */
function isListed(networks: readonly string[], ip: string): boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  const family = isIP(ip);
  return family !== 0 && list.check(ip, family === 6 ? 'ipv6' : 'ipv4');
}

t.test('no proxies, no set', async (t) => {
  t.equal(trustedProxySet([]), null);
});

t.test('addresses and networks as people write them', async (t) => {
  for (const [networks, inside, outside] of [
    [['10.0.0.0/8'], ['10.1.2.3', '::ffff:10.1.2.3', '::ffff:a01:203'], ['11.0.0.1', '', 'localhost', '10.1.2.3%lo']],
    [['fe80::1%eth0'], ['fe80::1', 'fe80::1%eth0', 'fe80::1%2'], ['fe80::2', 'fe80::1%']],
    [['fe80::1%eth0/64'], ['fe80::9', 'fe80::9%eth1'], ['fe81::9']],
    [['::/0'], ['2001:db8::1', '192.0.2.1', '::ffff:192.0.2.1'], []],
    [['::ffff:10.0.0.0/104'], ['10.9.9.9'], ['11.0.0.1', '::1']],
  ] as const) {
    const set = trustedProxySet(networks);
    for (const ip of inside) t.ok(set?.contains(ip), `${ip} in ${networks.join()}`);
    for (const ip of outside) t.notOk(set?.contains(ip), `${ip} not in ${networks.join()}`);
    for (const ip of [...inside, ...outside])
      t.equal(set?.contains(ip), isListed(networks, ip), `${ip}: as node has it`);
  }
});

t.test("property: the same answers as node's own list", async (t) => {
  const octet = fc.integer({ min: 0, max: 3 });
  const v4 = fc.tuple(octet, octet, octet, octet).map((parts) => parts.join('.'));
  const group = fc.constantFrom('0', '1', 'ffff', '8000');
  const v6 = fc.array(group, { minLength: 8, maxLength: 8 }).map((groups) => groups.join(':'));
  const mapped = v4.map((address) => `::ffff:${address}`);
  const network = fc.oneof(
    v4,
    v6,
    fc.tuple(v4, fc.integer({ min: 0, max: 32 })).map(([host, bits]) => `${host}/${bits}`),
    fc.tuple(v6, fc.integer({ min: 0, max: 128 })).map(([host, bits]) => `${host}/${bits}`),
    fc.tuple(mapped, fc.integer({ min: 96, max: 128 })).map(([host, bits]) => `${host}/${bits}`),
  );
  let compared = 0;
  fc.assert(
    fc.property(
      fc.array(network, { minLength: 1, maxLength: 6 }),
      fc.array(fc.oneof(v4, v6, mapped), { minLength: 1, maxLength: 10 }),
      (networks, addresses) => {
        const set = trustedProxySet(networks);
        return addresses.every((ip) => {
          compared += 1;
          return set?.contains(ip) === isListed(networks, ip);
        });
      },
    ),
    { numRuns: 400 },
  );
  t.ok(compared > 1000, `${compared} look-ups compared`);
});
