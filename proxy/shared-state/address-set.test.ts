import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import t from 'tap';
import { compileNetworks } from '#engine/compile';
import { AddressSetHolder } from './address-set-holder.js';
import { buildAddressSet, openAddressSet } from './address-set.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

t.test('addresses in and out of networks', async (t) => {
  const set = openAddressSet(
    buildAddressSet([
      '192.0.2.0/24',
      '192.0.2.128/25',
      '198.51.100.7',
      '203.0.113.0/31',
      '203.0.113.2',
      '2001:db8::/32',
      '2001:db8:1::/48',
      'fe80::1',
      '::ffff:10.0.0.0/104',
      '255.255.255.255',
      '0.0.0.0',
    ]),
  );
  const inside = [
    '192.0.2.0',
    '192.0.2.255',
    '198.51.100.7',
    '203.0.113.0',
    '203.0.113.2',
    '2001:db8::',
    '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
    'fe80::1',
    '10.1.2.3',
    '::ffff:192.0.2.9',
    '::ffff:c000:209',
    '255.255.255.255',
    '0.0.0.0',
  ];
  const outside = [
    '192.0.1.255',
    '192.0.3.0',
    '198.51.100.6',
    '198.51.100.8',
    '203.0.113.3',
    '2001:db7:ffff::1',
    '2001:db9::',
    'fe80::2',
    '9.255.255.255',
    '11.0.0.0',
    '::ffff:192.0.3.1',
    '::192.0.2.1',
    '',
    'localhost',
    '192.0.2',
    '192.0.2.1/24',
    '192.0.2.01',
  ];
  for (const address of inside) t.equal(set.contains(address), true, address);
  for (const address of outside) t.equal(set.contains(address), false, address);
  t.equal(set.intervals, 8, 'what overlaps or touches is joined');
  for (const wrong of ['', 'x', '192.0.2.1/33', '192.0.2.1/', '2001:db8::/129', '1.2.3'])
    t.throws(() => buildAddressSet(['192.0.2.1', wrong]), RangeError, wrong);
  t.equal(openAddressSet(buildAddressSet(['0.0.0.0/0'])).contains('8.8.8.8'), true);
  t.equal(openAddressSet(buildAddressSet(['::/0'])).contains('2001::1'), true);
  t.equal(openAddressSet(buildAddressSet([])).contains('8.8.8.8'), false);
});

t.test('the same answers as the engine’s own set', async (t) => {
  const octet = fc.integer({ min: 0, max: 3 });
  const v4 = fc.tuple(octet, octet, octet, octet).map((parts) => parts.join('.'));
  const group = fc.constantFrom('0', '1', 'ffff', '8000');
  const v6 = fc
    .array(group, { minLength: 8, maxLength: 8 })
    .map((groups) =>
      `2${groups.join(':').slice(1)}`.replace(/^2(:|[0-9a-f])/, '2001$1').replace(/^2001[0-9a-f]+/, '2001'),
    );
  const network = fc.oneof(
    fc.tuple(v4, fc.integer({ min: 0, max: 32 })).map(([host, bits]) => `${host}/${bits}`),
    v4,
    fc.tuple(v6, fc.integer({ min: 0, max: 128 })).map(([host, bits]) => `${host}/${bits}`),
  );
  let compared = 0;
  fc.assert(
    fc.property(
      fc.array(network, { maxLength: 12 }),
      fc.array(fc.oneof(v4, v6), { minLength: 1, maxLength: 20 }),
      (networks, addresses) => {
        const [ours, theirs] = [openAddressSet(buildAddressSet(networks)), compileNetworks(networks)];
        return addresses.every((address) => {
          compared += 1;
          return ours.contains(address) === theirs.contains(address);
        });
      },
    ),
    { numRuns: 500 },
  );
  t.ok(compared > 2000, `${compared} look-ups compared`);
});

t.test('a million networks', async (t) => {
  const networks = function* (): Generator<string> {
    for (let n = 0; n < 1_000_000; n += 1) yield `${(n >>> 13) + 1}.${(n >>> 5) & 255}.${(n & 31) * 8}.0/24`;
  };
  const buffer = buildAddressSet(networks());
  const set = openAddressSet(buffer);
  t.equal(set.intervals, 1_000_000);
  t.ok(buffer.byteLength < 8.1e6, `${buffer.byteLength} bytes`);
  let hits = 0;
  for (const address of networks()) if (set.contains(address.replace('.0/24', '.77'))) hits += 1;
  t.equal(hits, 1_000_000, 'every network is found');
  t.equal(set.contains('1.0.1.0'), false);
});

t.test('a swap is whole, in order, and seen from another thread', async (t) => {
  const holder = new AddressSetHolder();
  t.equal(holder.contains('192.0.2.1'), false);
  t.equal(holder.swap(2, buildAddressSet(['192.0.2.1'])), true);
  t.equal(holder.swap(1, buildAddressSet([])), false, 'an older list is ignored');
  t.equal(holder.contains('192.0.2.1'), true);
  for (const wrong of [
    new SharedArrayBuffer(0),
    new SharedArrayBuffer(16),
    new SharedArrayBuffer(17),
    buildAddressSet(['192.0.2.1']).slice(0, 20),
  ])
    t.throws(() => holder.swap(3, wrong), RangeError);
  t.equal(holder.contains('192.0.2.1'), true, 'a damaged table changes nothing');
  t.equal(holder.version, 2);
  t.equal(holder.swap(3, buildAddressSet(['2001:db8::1'])), true);
  t.same([holder.contains('192.0.2.1'), holder.contains('2001:db8::1'), holder.intervals], [false, true, 1]);
  const reader = new Worker(
    `import { parentPort, workerData } from 'node:worker_threads';
    const { openAddressSet } = await import(workerData.module);
    parentPort.postMessage(openAddressSet(workerData.buffer).contains('198.51.100.3'));`,
    {
      eval: true,
      workerData: {
        module: new URL('./address-set.js', import.meta.url).href,
        buffer: buildAddressSet(['198.51.100.0/24']),
      },
    },
  );
  const [answer] = (await once(reader, 'message')) as [boolean];
  t.equal(answer, true);
  await reader.terminate();
});
