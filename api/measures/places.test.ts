// Measures on countries and autonomous systems: what nodes get, what is listed, how it ends, and what is said without a
// file.
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { startMeasureNodes } from '../testing/builders/measure-nodes.js';
import { mmdbOf, type MmdbEntry } from '../testing/builders/mmdb.js';
import { start } from '../testing/builders/records.js';
import { onBothDatabases, onEmbeddedDatabase } from '../testing/databases.js';
import { makeDirectory } from '../testing/temporary.js';

const bitsOf = (network: string): string => {
  const [address = '', length] = network.split('/');
  const bits = address.includes(':')
    ? address
        .replace('::', '')
        .split(':')
        .map((word) => Number.parseInt(word, 16).toString(2).padStart(16, '0'))
        .join('')
    : `${'0'.repeat(96)}${address
        .split('.')
        .map((part) => Number(part).toString(2).padStart(8, '0'))
        .join('')}`;
  return bits.slice(0, Number(length) + (address.includes(':') ? 0 : 96));
};
const countries = (places: Readonly<Record<string, string>>, size = 0): Buffer =>
  mmdbOf(
    Object.entries(places).map(
      ([network, code]): MmdbEntry => ({ bits: bitsOf(network), data: { country: { iso_code: code } } }),
    ),
    6,
    start / 1000 - 86_400 + size,
  );
const asns = (places: Readonly<Record<string, number>>): Buffer =>
  mmdbOf(
    Object.entries(places).map(
      ([network, asn]): MmdbEntry => ({ bits: bitsOf(network), data: { autonomous_system_number: asn } }),
    ),
    6,
    start / 1000,
  );

const world = {
  '203.0.113.0/25': 'DE',
  '203.0.113.128/25': 'DE',
  '198.51.100.0/24': 'FR',
  '2001:db8::/32': 'DE',
  '192.0.0.0/8': 'ZZ',
};
const ofGermany = ['2001:db8::/32', '203.0.113.0/24'];

async function suite(t: Test, database: Database): Promise<void> {
  const directory = await makeDirectory(t, 'places');
  const [country, network] = [join(directory, 'country'), join(directory, 'network')];
  await writeFile(country, countries(world));
  await writeFile(network, asns({ '198.18.0.0/24': 64_500 }));
  const clock = { nowMs: 0 };
  const nodes = startMeasureNodes(database, () => clock.nowMs);
  const at = await startTestApp(database, {
    locationFiles: { country, network, lookEveryMs: 0 },
    measuresChanged: () => nodes.push.changed(),
  });
  t.teardown(() => at.close());
  clock.nowMs = at.clock.nowMs;
  const { token } = await at.user('operator');
  const post = (body: object) => at.call('POST', '/api/bans', { token, body });
  const listed = async (query = '') =>
    (await at.call('GET', `/api/measures?limit=500${query}`, { token })).body['items'] as Record<string, unknown>[];
  const job = at.jobs.find(({ name }) => name === 'places');
  const follow = async () => {
    clock.nowMs = at.clock.nowMs;
    return job?.run({ nowMs: at.clock.nowMs, signal: new AbortController().signal });
  };

  t.equal(await follow(), 'no country or network is decided about');
  t.match(await post({ network: 'country:de', action: 'deny', reason: 'embargo', expires_in_seconds: 3600 }), {
    status: 200,
    body: { network: 'country:DE', action: 'deny' },
  });
  t.same(nodes.lines(), ofGermany, 'nodes get its networks, joined, and not its name');
  t.match(await listed(), [{ subject: 'country:DE', kind: 'country', networks: 2, problem: null, reason: 'embargo' }]);
  t.equal((await listed()).length, 1, 'its networks are not listed');
  t.equal((await listed('&source=location')).length, 2, 'but where they are asked for');
  t.equal((await listed('&kind=country')).length, 1);
  t.equal((await listed('&kind=address,network,principal,asn')).length, 0);
  t.equal(await follow(), 'nothing new');

  t.match(await post({ network: 'asn:AS64500', action: 'challenge', expires_in_seconds: 600 }), {
    body: { network: 'asn:64500' },
  });
  t.same(nodes.lines(), [...ofGermany, '~challenge:198.18.0.0/24']);
  await post({ network: 'country:DE', action: 'throttle', expires_in_seconds: 3600 });
  const throttled = ofGermany.map((one) => `~throttle:${one}`);
  t.same(nodes.lines(), ['~challenge:198.18.0.0/24', ...throttled], 'the last decision holds');

  await writeFile(`${country}.new`, countries({ '203.0.113.0/26': 'DE', '198.51.100.0/24': 'FR' }, 60));
  await rename(`${country}.new`, country);
  t.match(await follow(), /2 countries and autonomous systems/);
  t.same(nodes.lines(), ['~challenge:198.18.0.0/24', '~throttle:203.0.113.0/26'], 'as the new file has it');

  t.equal((await at.call('DELETE', '/api/measures?subject=country:DE', { token })).status, 200);
  t.same(nodes.lines(), ['~challenge:198.18.0.0/24'], 'lifted with all its networks');
  t.equal((await at.call('DELETE', '/api/measures?subject=country:DE', { token })).status, 404);
  at.clock.nowMs += 600_001;
  await follow();
  t.same(nodes.lines(), [], 'ended');
  t.equal((await listed('&state=all&source=location')).length, 0);
  t.match(await listed('&state=ended'), [{ subject: 'asn:64500', networks: null, problem: null }]);
}

t.test('27.3: nodes get the networks of a country and of an autonomous system', (t) =>
  onBothDatabases(t, 'places', suite),
);

t.test('27.3: what cannot be worked out is refused and said', async (t) => {
  const directory = await makeDirectory(t, 'places');
  const country = join(directory, 'country');
  await onEmbeddedDatabase(t, 'places-refused', async (t, database) => {
    const at = await startTestApp(database, { locationFiles: { country, network: null, lookEveryMs: 0 } });
    t.teardown(() => at.close());
    const { token } = await at.user('operator');
    const post = (network: string, more = {}) =>
      at.call('POST', '/api/bans', { token, body: { network, action: 'deny', ...more } });
    t.match(await post('country:DE'), { status: 409, body: { detail: /MMDB_COUNTRY_FILE/ } });
    t.match(await post('asn:64500'), { status: 409, body: { detail: /MMDB_NETWORK_FILE/ } });
    await writeFile(country, countries(world));
    t.match(await post('country:UK'), { status: 400, body: { detail: /no network of country UK/ } });
    t.equal((await post('country:ZZ')).status, 409, 'covers your own address');
    t.equal((await post('country:ZZ', { force: true })).status, 200);
    for (const wrong of ['country:GERMANY', 'asn:4294967296', 'asn:x', 'country:'])
      t.equal((await post(wrong)).status, 400, wrong);
    await writeFile(country, 'no MMDB any more');
    const { body } = await at.call('GET', '/api/measures', { token });
    t.match(body, { items: [{ subject: 'country:ZZ', networks: 1 }] }, 'what was read before stays in use');
  });
});
