// The set against ipaddr.js, which answers one network at a time.
import t from 'tap';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { consoleHeader, createForwarding } from '../http-server/trusted-proxies.js';
import { isHeldBy, rangeOf, readAddress, toSourceKey, clientNetwork } from './address.js';
import { createAddressSet } from './address-set.js';
import { toNetwork } from './network.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

// few distinct bits, so that networks and addresses meet
const ipv4 = fc
  .array(fc.constantFrom(0, 1, 10, 128, 255), { minLength: 4, maxLength: 4 })
  .map((octets) => octets.join('.'));
const ipv6 = fc
  .array(fc.constantFrom('0', '1', 'ff', '8000', 'ffff', 'fe80'), { minLength: 8, maxLength: 8 })
  .map((groups) => groups.join(':'));
const network4 = fc.tuple(ipv4, fc.integer({ min: 0, max: 32 })).map(([base, bits]) => `${base}/${bits}`);
const network6 = fc.tuple(ipv6, fc.integer({ min: 0, max: 128 })).map(([base, bits]) => `${base}/${bits}`);
const mapped = ipv4.map((address) => `::ffff:${address}`);

const canonical = (text: string): string => {
  const read = toNetwork(text);
  if ('reason' in read) throw new Error(`${text} ${read.reason}`);
  return read.network;
};
const holds = (network: string, text: string): boolean => {
  const address = ipaddr.process(text);
  const [base, bits] = ipaddr.parseCIDR(
    network.includes('/') ? network : `${network}/${network.includes(':') ? 128 : 32}`,
  );
  return base.kind() === address.kind() && address.match(base, bits);
};

t.test('a set holds what one of its networks holds', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(network4, network6, ipv4, ipv6, mapped), { maxLength: 6 }),
      fc.oneof(ipv4, ipv6, mapped),
      (entries, address) =>
        createAddressSet(entries).has(address) === entries.map(canonical).some((one) => holds(one, address)),
    ),
    { numRuns: 5000 },
  );
});

t.test('an address is held by a network as ipaddr.js says', async () => {
  fc.assert(
    fc.property(
      fc.oneof(network4, network6, ipv4, ipv6).map(canonical),
      fc.oneof(ipv4, ipv6, mapped),
      (network, text) => {
        const address = readAddress(text);
        return address !== null && isHeldBy(address)(network) === holds(network, text);
      },
    ),
    { numRuns: 5000 },
  );
});

t.test('networks overlap when one holds an end of the other', async () => {
  const ends = (network: string): readonly (number | bigint)[] => {
    const { from, to } = rangeOf(network);
    return [from, to];
  };
  fc.assert(
    fc.property(
      fc.oneof(network4, network6).map(canonical),
      fc.oneof(network4, network6).map(canonical),
      (one, other) => {
        const [[a1, a2], [b1, b2]] = [ends(one), ends(other)] as [[number, number], [number, number]];
        const isSameFamily = one.includes(':') === other.includes(':');
        return createAddressSet([one]).overlaps(other) === (isSameFamily && a1 <= b2 && b1 <= a2);
      },
    ),
    { numRuns: 5000 },
  );
});

t.test('what is no address is in no set, and what is no network makes none', async (t) => {
  const everything = createAddressSet(['0.0.0.0/0', '::/0']);
  for (const text of ['', 'unknown', 'example.org', '1.2.3.4.5', '::g']) t.equal(everything.has(text), false, text);
  t.equal(everything.has('255.255.255.255'), true);
  t.equal(everything.has('ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'), true);
  t.equal(createAddressSet([]).has('192.0.2.1'), false);
  t.throws(() => createAddressSet(['192.0.2.0/33']), /"192.0.2.0\/33" has an impossible prefix length/);
});

t.test('what stands for a client where clients are counted', async (t) => {
  const keys: [string, string][] = [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:0:1:2:3:4:5', '2001:db8:0:1::/64'],
    ['2001:db8::5', '2001:db8:0:0::/64'],
    ['nonsense', 'unknown'],
  ];
  for (const [ip, key] of keys) t.equal(toSourceKey(ip), key, ip);
});

/** Whether a proxy in front of the peer is believed. */
const trusted = (entries: readonly string[]) => {
  const { isBelieved } = createForwarding(entries, null);
  return (address: string) => isBelieved(address, 1);
};

t.test('A11: only a trusted proxy or the console speaks for others', async (t) => {
  const secret = 's'.repeat(40);
  const heard = (address: string, headers: Record<string, string>, token: string | null = secret) => {
    const request = { headers: { 'x-forwarded-for': '203.0.113.9', ...headers }, socket: { remoteAddress: address } };
    createForwarding(['10.0.0.0/8'], token).forgetClaims(request as never);
    t.notHas(request.headers, { [consoleHeader]: /./ }, 'the secret goes no further');
    return request.headers['x-forwarded-for'] ?? null;
  };
  t.equal(heard('127.0.0.1', {}), null, 'loopback alone proves nothing');
  t.equal(heard('10.1.2.3', {}), '203.0.113.9');
  t.equal(heard('127.0.0.1', { [consoleHeader]: secret }), '203.0.113.9');
  t.equal(heard('127.0.0.1', { [consoleHeader]: `${secret}x` }), null);
  t.equal(heard('127.0.0.1', { [consoleHeader]: '' }), null);
  t.equal(heard('127.0.0.1', { [consoleHeader]: '' }, null), null, 'no secret is no password');
});

t.test('trusted proxies', async (t) => {
  const isTrusted = trusted(['127.0.0.1/8', '::1/128', 'uniquelocal', '198.51.100.0/255.255.255.0', '203.0.113.7']);
  for (const address of [
    '127.9.9.9',
    '::ffff:127.0.0.1',
    '::1',
    '10.1.2.3',
    'fd00::1',
    '198.51.100.255',
    '203.0.113.7',
  ])
    t.equal(isTrusted(address), true, address);
  for (const address of ['128.0.0.1', '::2', '11.0.0.1', '198.51.101.1', '203.0.113.8', 'unknown', ''])
    t.equal(isTrusted(address), false, address);
  t.equal(trusted([])('127.0.0.1'), false);
  for (const wrong of ['nonsense', '10.0.0.0/33', '10.0.0.0/255.0.255.0', '2001:db8::/ffff::'])
    t.throws(() => trusted([wrong]), { message: /^API_TRUSTED_PROXIES has / }, wrong);
});

t.test('SIEM 1: the network that is shown in place of an address', async (t) => {
  const cases: [string, string | null][] = [
    ['192.0.2.77', '192.0.2.0/24'],
    ['2001:db8:1:2::77', '2001:db8:1::/48'],
    ['2001:db8::1', '2001:db8:0::/48'],
    ['::1', '0:0:0::/48'],
    ['fe80::1%eth0', 'fe80:0:0::/48'],
    ['::ffff:198.51.100.9', '198.51.100.0/24'],
    ['2001:db8:5:6::/64', '2001:db8:5::/48'],
    ['', null],
    ['nonsense', null],
  ];
  for (const [address, network] of cases) t.equal(clientNetwork(address), network, address);
});
