import t from 'tap';
import fc from 'fast-check';
import { denyPrefixes } from './denied.js';
import { readNetwork, toNetwork } from './network.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

t.test('addresses and networks, canonical or refused', async (t) => {
  const fine: [string, string][] = [
    ['192.0.2.1', '192.0.2.1'],
    [' 192.0.2.1 ', '192.0.2.1'],
    ['192.0.2.77/24', '192.0.2.0/24'],
    ['192.0.2.1/32', '192.0.2.1'],
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['192.0.2.129/25', '192.0.2.128/25'],
    ['2001:DB8::1', '2001:db8::1'],
    ['2001:db8::ffff/32', '2001:db8::/32'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.0/120', '192.0.2.0/24'],
    ['2001:0db8:0:0::1/128', '2001:db8::1'],
  ];
  for (const [text, network] of fine) t.same(toNetwork(text, denyPrefixes), { network }, text);
  for (const bad of [
    '',
    'x',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    '1.2.3.4/33',
    '1.2.3.4/-1',
    '1.2.3.4/',
    '1.2.3.4/8/8',
    '0.0.0.0/0',
    '1.0.0.0/7',
    '::/0',
    '2001::/15',
    '0x7f.1',
    '2130706433',
    '01.2.3.4',
    'example.org',
    '1.2.3.4:80',
  ])
    t.ok('reason' in toNetwork(bad, denyPrefixes), bad);
  fc.assert(
    fc.property(fc.ipV4(), fc.integer({ min: 8, max: 32 }), (ip, bits) => {
      const once = toNetwork(`${ip}/${bits}`, denyPrefixes);
      return 'network' in once && JSON.stringify(toNetwork(once.network, denyPrefixes)) === JSON.stringify(once);
    }),
  );
});

t.test('the short way for plain entries says what the long one says', async () => {
  const octet = fc.oneof(
    fc.integer({ min: 0, max: 300 }).map(String),
    fc.constantFrom('0', '00', '01', '255', '256', ''),
  );
  const plain = fc
    .tuple(
      octet,
      octet,
      octet,
      octet,
      fc.oneof(
        fc.constant(''),
        fc.integer({ min: 0, max: 40 }).map((bits) => `/${bits}`),
        fc.constantFrom('/', '/08', '/8 ', '/8/8', ' ', '.'),
      ),
      fc.boolean(),
    )
    .map(([a, b, c, d, bits, isZero]) => `${a}.${b}.${isZero ? '0.0' : `${c}.${d}`}${bits}`);
  const group = fc.oneof(
    fc.integer({ min: 0, max: 65_535 }).map((word) => word.toString(16)),
    fc.constantFrom('0', '1', '0f', 'FF', '10000', 'ffff'),
  );
  const plain6 = fc
    .tuple(
      fc.array(group, { minLength: 1, maxLength: 8 }),
      fc.constantFrom('', '::'),
      fc.oneof(
        fc.constant(''),
        fc.integer({ min: 0, max: 130 }).map((bits) => `/${bits}`),
      ),
    )
    .map(([groups, end, bits]) => `${groups.join(':')}${end}${bits}`);
  fc.assert(
    fc.property(fc.oneof(plain, plain6, fc.ipV4(), fc.ipV6(), fc.string({ maxLength: 20 })), (text) =>
      [denyPrefixes, { ipv4: 0, ipv6: 0 }].every(
        (shortest) => JSON.stringify(toNetwork(text, shortest)) === JSON.stringify(readNetwork(text, shortest)),
      ),
    ),
    { numRuns: 20_000 },
  );
});
