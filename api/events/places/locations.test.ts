// Where clients are: lookups equal a plain table, files are read again, events get what is found.
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import type { Database } from '../../db/client.js';
import { startTestApp } from '../../testing/app.js';
import { mmdbOf, type MmdbEntry } from '../../testing/builders/mmdb.js';
import { event, start } from '../../testing/builders/records.js';
import { onBothDatabases, onEmbeddedDatabase } from '../../testing/databases.js';
import { makeDirectory } from '../../testing/temporary.js';
import { createLocations } from './locations.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_128) });

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const built = nowMs / 1000 - 86_400;
const bitsOf4 = (address: string): string =>
  address
    .split('.')
    .map((part) => Number(part).toString(2).padStart(8, '0'))
    .join('');
const in6 = '0'.repeat(96);
const countryAt = (bits: string, country: string): MmdbEntry => ({ bits, data: { country: { iso_code: country } } });
const asnAt = (bits: string, asn: number): MmdbEntry => ({ bits, data: { autonomous_system_number: asn } });

const address4 = (bits: string): string =>
  (bits.match(/.{8}/g) ?? []).map((part) => Number.parseInt(part, 2)).join('.');
const address6 = (bits: string): string =>
  (bits.match(/.{16}/g) ?? []).map((part) => Number.parseInt(part, 2).toString(16)).join(':');

const bitString = (least: number, most: number) =>
  fc.array(fc.constantFrom('0', '1'), { minLength: least, maxLength: most }).map((bits) => bits.join(''));
const isFree = (bits: string, all: readonly string[]): boolean =>
  all.every((other) => other === bits || !bits.startsWith(other));

t.test('27.3: lookups equal a plain table', async (t) => {
  const directory = await makeDirectory(t, 'mmdb');
  const [country, network] = [join(directory, 'country'), join(directory, 'network')];
  for (const version of [4, 6] as const) {
    const width = version === 4 ? 32 : 128;
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(bitString(1, width), { minLength: 1, maxLength: 20 }),
        fc.array(bitString(width, width), { minLength: 20, maxLength: 20 }),
        async (drawn, addresses) => {
          // in a tree of IPv6 the first 96 bits lead to IPv4, so networks begin with a 1
          const networks = drawn
            .map((bits) => (version === 4 ? bits : `1${bits}`.slice(0, width)))
            .filter((bits, at, all) => all.indexOf(bits) === at && isFree(bits, all));
          const table = networks.map((bits, n) => ({
            bits,
            country: `A${String.fromCharCode(65 + n)}`,
            asn: n * 1000,
          }));
          await writeFile(
            country,
            mmdbOf(
              table.map((one) => countryAt(one.bits, one.country)),
              version,
              built,
            ),
          );
          await writeFile(
            network,
            mmdbOf(
              table.map((one) => asnAt(one.bits, one.asn)),
              version,
              built,
            ),
          );
          const locations = createLocations({ country, network }, () => nowMs, 0);
          await locations.refresh();
          // each network is asked as well
          for (const bits of [
            ...addresses,
            ...networks.map((one, n) => one + (addresses[n] ?? '').slice(one.length)),
          ]) {
            const found = table.find((one) => bits.startsWith(one.bits));
            const address = version === 4 ? address4(bits) : address6(bits);
            const want = { country: found?.country ?? null, asn: found?.asn ?? null };
            if (JSON.stringify(locations.locate(address)) !== JSON.stringify(want))
              throw new Error(`${version} ${address}`);
          }
        },
      ),
      { numRuns: 30 },
    );
  }
  t.pass('IPv4 and IPv6');
});

t.test('27.3: a file is read again when it is replaced; what is wrong is said', async (t) => {
  const directory = await makeDirectory(t, 'mmdb');
  const country = join(directory, 'country');
  const locations = createLocations({ country, network: null }, () => nowMs, 0);
  const put = async (bytes: Buffer): Promise<void> => {
    await writeFile(`${country}.new`, bytes);
    await rename(`${country}.new`, country);
  };
  const fileOf = (code: string, builtAt = built, version: 4 | 6 = 6) =>
    mmdbOf([countryAt((version === 6 ? in6 : '') + bitsOf4('203.0.113.0').slice(0, 24), code)], version, builtAt);
  const whole = fileOf('DE');
  const [atDe, atFr, nowhere] = [{ country: 'DE' }, { country: 'FR' }, { country: null }];
  const cases: readonly (readonly [string, () => Promise<void>, object, object])[] = [
    ['missing', async () => undefined, { status: 'missing', notice: /MMDB_COUNTRY_FILE is not there/ }, nowhere],
    ['whole', () => put(whole), { status: 'ok', notice: null, built_at: new Date(built * 1000) }, atDe],
    ['no MMDB', () => put(Buffer.from('hello')), { status: 'broken', notice: /stays in use/ }, atDe],
    ['replaced', () => put(fileOf('FR')), { status: 'ok', notice: null }, atFr],
    ['cut off in front', () => put(whole.subarray(600)), { status: 'broken' }, atFr],
    ['gone', () => rm(country), { status: 'missing', notice: /stays in use/ }, atFr],
    ['IPv4 only', () => put(fileOf('DE', built, 4)), { status: 'ok' }, atDe],
    ['old', () => put(fileOf('DE', built - 61 * 86_400)), { status: 'old', notice: /over 60 days ago/ }, atDe],
  ];
  for (const [name, change, state, place] of cases) {
    await change();
    await locations.refresh();
    t.match(locations.states(), [{ of: 'country', ...state }], name);
    t.match(locations.locate('203.0.113.9'), place, name);
    t.match(locations.locate('::ffff:203.0.113.9'), place, name);
  }
  for (const address of ['203.0.114.1', '2001:db8::1', 'x', ''])
    t.same(locations.locate(address), { country: null, asn: null }, address);
});

t.test('files of other makers', async (t) => {
  const file = join(await makeDirectory(t, 'mmdb'), 'all');
  const bits = bitsOf4('203.0.113.0').slice(0, 24);
  for (const [data, country, asn] of [
    [{ country: 'DE', asn: 'AS64500' }, 'DE', 64_500],
    [{ country_code: 'FR' }, 'FR', null],
    [{ registered_country: { iso_code: 'IT' } }, 'IT', null],
    [{ country: { iso_code: 'de' }, asn: 'ASx' }, null, null],
    [['DE'], null, null],
  ] as const) {
    await writeFile(file, mmdbOf([{ bits, data }], 4, built));
    const locations = createLocations({ country: file, network: file }, () => nowMs, 0);
    await locations.refresh();
    t.same(locations.locate('203.0.113.1'), { country, asn }, JSON.stringify(data));
  }
});

async function suite(t: Test, database: Database): Promise<void> {
  const directory = await makeDirectory(t, 'mmdb');
  const [country, network] = [join(directory, 'country'), join(directory, 'network')];
  await writeFile(country, mmdbOf([countryAt(in6 + bitsOf4('203.0.113.0').slice(0, 25), 'DE')], 6, built));
  const at = await startTestApp(database, { locationFiles: { country, network } });
  t.teardown(() => at.close());
  await writeFile(network, mmdbOf([asnAt(bitsOf4('203.0.113.0').slice(0, 24), 64_500)], 4, built));
  const { token } = await at.user('viewer');
  const events = [1, 2, 200].map((last, n) => event(n, { at_ms: start - n * 1000, client_ip: `203.0.113.${last}` }));
  const body = { node: 'n1', batch_id: 'b1', requests: [], events };
  t.match(await at.call('POST', '/api/dataplane/records', { token: 'c'.repeat(40), body }), { status: 200 });
  const day = 'from=2026-02-28T12:00:00Z&to=2026-03-02T12:00:00Z';
  t.match(await at.call('GET', `/api/events/stats?${day}`, { token }), {
    status: 200,
    body: {
      total: 3,
      facets: { country: { values: [{ value: 'DE', n: 2 }] }, asn: { values: [{ value: '64500', n: 3 }] } },
      locations: [
        { of: 'country', status: 'ok', notice: null },
        { of: 'network', status: 'ok', notice: null },
      ],
    },
  });
  t.match((await at.call('GET', '/api/health')).body, {
    locations: [
      { of: 'country', status: 'ok' },
      { of: 'network', status: 'ok' },
    ],
  });
  t.match((await at.call('GET', `/api/events/stats?${day}&country=DE`, { token })).body, { total: 2 });
  const listed = await at.call('GET', '/api/events?country=DE&asn=64500', { token });
  t.match(listed.body, { items: [{ country: 'DE', asn: 64_500 }, { country: 'DE' }] });
  t.equal((listed.body['items'] as unknown[]).length, 2);
}

t.test('27.3: events get country and network', (t) => onBothDatabases(t, 'locations', suite));

t.test('27.3: health is degraded while a file that is set is not there', async (t) => {
  const directory = await makeDirectory(t, 'mmdb');
  await onEmbeddedDatabase(t, 'locations-health', async (t, database) => {
    const at = await startTestApp(database, { locationFiles: { country: join(directory, 'none'), network: null } });
    t.teardown(() => at.close());
    const locations = [{ of: 'country', status: 'missing' }];
    t.match(await at.call('GET', '/api/health'), { status: 200, body: { status: 'degraded', locations } });
  });
});
