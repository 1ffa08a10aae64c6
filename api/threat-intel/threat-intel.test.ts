import t, { type Test } from 'tap';
import fc from 'fast-check';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { parseNetworks } from './list-text.js';
import { activeLines } from '../measures/query.js';
import { replaceFeed } from '../measures/store.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

t.test('a long list is read in parts', async (t) => {
  const entries = Array.from({ length: 50_000 }, (_, i) =>
    i % 1000 === 7 ? `wrong${i}` : `11.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
  );
  const text = `# head\r\n${entries.join('\r\n')}\n`;
  const { networks, problems } = await parseNetworks(text);
  t.same([networks.length, problems.length, problems[0]?.entry, problems[49]?.entry], [49_950, 50, 9, 49_009]);
  t.same(await parseNetworks(['192.0.2.1', '', 'x']), await parseNetworks('["192.0.2.1", "", "x"]'));
});

t.test('lists as feeds write them', async (t) => {
  t.same((await parseNetworks('# list\n192.0.2.1 ; comment\r\n\n192.0.2.1\n198.51.100.0/24,US\nnonsense\n')).networks, [
    '192.0.2.1',
    '198.51.100.0/24',
  ]);
  t.match((await parseNetworks('192.0.2.1\nnonsense\n')).problems, [{ entry: 2, text: 'nonsense' }]);
  t.same((await parseNetworks('["192.0.2.1",{"ip":"192.0.2.2"},{"cidr":"198.51.100.0/24"}]')).networks, [
    '192.0.2.1',
    '192.0.2.2',
    '198.51.100.0/24',
  ]);
  t.same((await parseNetworks('{"data":[{"address":"2001:db8::1"}]}')).networks, ['2001:db8::1']);
  t.equal((await parseNetworks('[1, null, {"x":1}]')).problems.length, 3);
  t.equal((await parseNetworks('{broken')).problems.length, 1);
});

async function suite(t: Test, database: Database): Promise<void> {
  let pushed = 0;
  const at = await startTestApp(database, { measuresChanged: async () => void pushed++ });
  const operator = await at.user('operator');
  const post = (body: object) => at.call('POST', '/api/threat-intel', { token: operator.token, body });
  t.match(
    await post({ text: '203.0.113.1\n203.0.113.0/24', addresses: ['2001:db8::/48', '203.0.113.1'], reason: 'scanner' }),
    { status: 200, body: { added: 3, known: 0, skipped: 0 } },
  );
  t.match(await post({ addresses: ['203.0.113.1'], expires_in_seconds: 60 }), {
    status: 200,
    body: { added: 0, known: 1 },
  });
  t.match(await post({ text: '198.51.100.1\nbad' }), { status: 400, body: { errors: [{ path: '/text line 2' }] } });
  t.match(await post({ addresses: ['198.51.100.1', '0.0.0.0/0'] }), {
    status: 400,
    body: { errors: [{ path: '/addresses/1' }] },
  });
  t.equal(
    (await at.call('GET', '/api/threat-intel?q=198', { token: operator.token })).body['items'].length,
    0,
    'nothing half-imported',
  );
  t.match(await post({ text: '198.51.100.1\nbad', skip_invalid: true }), {
    status: 200,
    body: { added: 1, skipped: 1 },
  });
  t.match(await post({}), { status: 400 });
  t.match(await post({ addresses: ['192.0.2.0/24'] }), { status: 409 }, 'not your own address by accident');
  for (const own of ['192.0.2.10', '192.0.0.0/8', '192.0.2.10/31'])
    t.equal((await post({ addresses: [own, '9.9.9.9'] })).status, 409, own);
  const six = (addresses: string[]) =>
    at.call('POST', '/api/threat-intel', { token: operator.token, body: { addresses }, ip: '2001:db8::7' });
  t.same([(await six(['2001:db8::/32'])).status, (await six(['2001:db8::7'])).status], [409, 409]);
  t.match(await post({ addresses: ['192.0.2.0/24'], force: true }), { status: 200 });
  at.clock.nowMs += 61_000;
  t.same(
    (await at.call('GET', '/api/threat-intel?q=203.0.113.1', { token: operator.token })).body['items'],
    [],
    'expired',
  );
  t.equal(
    (await at.call('DELETE', '/api/threat-intel?network=192.0.2.5/24', { token: operator.token })).status,
    204,
    'canonical form is found',
  );
  t.equal((await at.call('DELETE', '/api/threat-intel?network=192.0.2.5/24', { token: operator.token })).status, 404);
  t.equal(pushed, 5);
  const many = Array.from({ length: 100_000 }, (_, i) => `11.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
  t.match(await post({ text: many.join('\n') }), { status: 200, body: { added: 100_000 } });
  const now = new Date(at.clock.nowMs);
  t.same(
    await database.sql.begin((tx) => replaceFeed(tx, 'tor', [...many.slice(0, 10), '12.0.0.1', '12.0.0.2'], now)),
    { total: 12, removed: 0 },
  );
  t.same(
    await database.sql.begin((tx) => replaceFeed(tx, 'tor', ['12.0.0.2', '12.0.0.3'], now)),
    { total: 2, removed: 11 },
    'entries of other sources stay',
  );
  const lines: string[] = [];
  for await (const page of activeLines(database.sql, now)) {
    const part = page.text.split('\n');
    t.equal(part.pop(), '', 'each line is ended');
    t.equal(part.length, page.entries);
    lines.push(...part);
  }
  t.same(
    [lines.length, new Set(lines).size],
    [100_000 + 2 + 3, 100_000 + 2 + 3],
    'each once, also what two sources name',
  );
  const listed = new Set(lines);
  t.same(
    [...many, '12.0.0.2', '12.0.0.3'].filter((network) => !listed.has(network)),
    [],
  );
  const seen = new Set<string>();
  for (let cursor: string | null = null; ; ) {
    const page: { body: Record<string, any> } = await at.call(
      'GET',
      `/api/threat-intel?limit=500&q=11.0.0.${cursor === null ? '' : `&cursor=${cursor}`}`,
      { token: operator.token },
    );
    for (const item of page.body['items'] as { network: string }[]) seen.add(item.network);
    cursor = page.body['next_cursor'] as string | null;
    if (cursor === null) break;
  }
  t.equal(seen.size, 256);
  t.match(
    (await at.call('GET', '/api/audit?action=threat.add', { token: operator.token })).body['items'][0].summary,
    /blocked 100000 addresses/,
  );
  await at.close();
}

t.test('threat intelligence', (t) => onBothDatabases(t, 'threat intelligence', suite));
