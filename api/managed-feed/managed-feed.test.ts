// The managed feed from the switch to the deny list and the rules of an apply: what it takes up, what it refuses, and
// that a refusal changes nothing.
import t, { type Test } from 'tap';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { keepManagedRules, noManagedRules, readManagedRules, withManagedRules } from '../change/steps/managed-rules.js';
import type { Database } from '../db/client.js';
import { createOutbound } from '../outbound/outbound.js';
import type { Settings } from '#settings';
import { activeOutcome, startTestApp } from '../testing/app.js';
import { feedDocument, feedPatch } from '../testing/builders/feed.js';
import { onBothDatabases } from '../testing/databases.js';
import { findPatchIn, patchCatalog } from '../vpatch/catalog/index.js';
import { baselineFeed } from './baseline.js';
import { createManagedFeedJob } from './job.js';

async function suite(t: Test, database: Database): Promise<void> {
  let answer: { status: number; body: string } = { status: 200, body: JSON.stringify(feedDocument) };
  const server = createServer((_, reply) => reply.writeHead(answer.status).end(answer.body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/feed`;
  let pushed = 0;
  const at = await startTestApp(database, {
    outbound: createOutbound({ allow: ['127.0.0.1'] }),
    measuresChanged: async () => void pushed++,
  });
  const { email } = await at.user('admin');
  /** Hours pass here, and sessions with them. */
  const call = async (method: string, path: string, body?: object) =>
    at.call(method, path, {
      token: String((await at.logIn(email)).body['token']),
      ...(body === undefined ? {} : { body }),
    });
  const job = createManagedFeedJob(at.parts);
  const run = async (afterMinutes: number): Promise<string> => {
    at.clock.nowMs += afterMinutes * 60_000;
    return job.run({ nowMs: at.clock.nowMs, signal: new AbortController().signal });
  };
  const set = async (body: object) => t.equal((await call('PATCH', '/api/settings', body)).status, 200);
  const status = async () => (await call('GET', '/api/managed-feed')).body;
  const list = async (source = 'managed') =>
    (
      await database.sql<
        { network: string }[]
      >`select subject as network from client_measures where source = ${source} order by subject`
    ).map((row) => row.network);
  let taken = noManagedRules;
  let inForce: Settings['virtual_patches'] = [];
  // what the road does about the feed, without its compile process and nodes (those: change/managed-recovery.test.ts)
  at.nextOutcome = async ({ version: { settings }, markPending }) => {
    taken = await readManagedRules(database.sql, settings);
    inForce = withManagedRules(settings, taken).virtual_patches;
    await keepManagedRules(database.sql, taken);
    await markPending({ artifactSha256: 'ab'.repeat(32), managedSha256: taken.sha256 });
    return { ...activeOutcome, managedSha256: taken.sha256 } as typeof activeOutcome;
  };
  const apply = async () => {
    const reply = await call('POST', '/api/apply');
    t.equal(reply.status, 200, reply.text);
    return inForce.map(({ id, cve, enabled }) => ({ id, cve, enabled }));
  };
  t.equal(await run(0), 'nothing was due');
  t.match(await status(), { enabled: false, copy: null, rules: [], rules_applied: false });

  await set({ mrf_enabled: true });
  t.equal((await apply()).length, baselineFeed.catalogIds.length, 'the baseline’s rules are in the very next apply');
  t.match(
    await run(1),
    new RegExp(`took up version ${baselineFeed.version} of the managed feed "Gatehouse baseline": \\d+ networks`),
  );
  t.match(await status(), {
    enabled: true,
    last_error: null,
    copy: { url: '', version: baselineFeed.version, networks: baselineFeed.networks.length },
    rules_applied: true,
  });
  t.equal(await run(1), 'nothing was due');

  await call('POST', '/api/threat-intel', { addresses: ['203.0.113.7'], reason: 'ours' });
  pushed = 0;
  await set({ mrf_url: url, mrf_interval_hours: 2 });
  t.match(
    await run(1),
    /version 3 .*2 networks \(\d+ removed, 1 inner ones left out\), 2 rules, in force with the next apply/,
  );
  t.equal(pushed, 1, 'the deny list is hot');
  t.same(await list(), ['198.51.100.0/24', '203.0.113.7']);
  t.match(await status(), {
    copy: { url, name: 'Test feed', version: 3, signed: false, networks: 2, networks_left_out: 1 },
    rules: [
      { id: 1007001, enabled: true },
      { id: 1007900, cve: 'CVE-2026-10001', enabled: true },
    ],
    rules_applied: false,
  });
  t.same(await apply(), [
    { id: 1007001, cve: 'CVE-2021-44228', enabled: true },
    { id: 1007900, cve: 'CVE-2026-10001', enabled: true },
  ]);
  t.match(
    findPatchIn(taken.delivered)('CVE-2026-10001', 1007900)?.text,
    /@contains \{\{/,
    'the compiler finds its text',
  );
  t.equal((await status())['rules_applied'], true);
  t.equal(await run(60), 'nothing was due');

  const before = await status();
  for (const [bad, reason] of [
    [{ status: 500, body: '' }, /it answered 500/],
    [{ status: 200, body: '<html>' }, /not JSON/],
    [{ status: 200, body: JSON.stringify({ ...feedDocument, version: 2 }) }, /older than version 3/],
    [
      { status: 200, body: JSON.stringify({ ...feedDocument, networks: ['192.0.2.1'] }) },
      /version 3 again with another content/,
    ],
    [
      {
        status: 200,
        body: JSON.stringify({
          ...feedDocument,
          version: 4,
          networks: ['192.0.2.1'],
          patches: [{ ...feedPatch, attack: [['no attack', 'GET /']] }],
        }),
      },
      /1007900 .* does not keep what it promises: "no attack" expects match/,
    ],
    [
      {
        status: 200,
        body: JSON.stringify({
          ...feedDocument,
          version: 4,
          patches: [
            {
              ...feedPatch,
              benign: [
                ['a', 'GET /'],
                ['b', 'GET /example/render?template={{x}}'],
              ],
            },
          ],
        }),
      },
      /"b" expects no_match/,
    ],
  ] as const) {
    answer = bad;
    t.match(await run(121), reason);
    t.match(await status(), { last_error: reason });
    t.same(
      [await list(), { ...(await status()), last_error: null, attempted_at: before['attempted_at'] }],
      [['198.51.100.0/24', '203.0.113.7'], before],
      'the last good copy stays',
    );
  }
  t.equal(await run(5), 'nothing was due');
  answer = { status: 200, body: JSON.stringify({ ...feedDocument, version: 5, networks: ['198.51.100.9'] }) };
  t.match(await run(11), /version 5 .*1 networks \(2 removed/, 'after a failure it is tried again soon');
  t.equal((await status())['rules_applied'], true, 'the same rules: nothing to apply');

  const disabled = await call('POST', '/api/vpatch', { id: 1007900, action: 'disable' });
  t.match(disabled, { status: 200, body: { patch: { state: 'disabled', origin: 'managed feed' } } });
  t.same(
    await apply(),
    [
      { id: 1007900, cve: 'CVE-2026-10001', enabled: false },
      { id: 1007001, cve: 'CVE-2021-44228', enabled: true },
    ],
    'the settings have the last word',
  );
  const catalog = (await call('GET', '/api/vpatch/catalog')).body;
  t.equal(catalog['total'], patchCatalog.length + 1);
  t.match(
    (catalog['items'] as { id: number }[]).filter(({ id }) => [1007001, 1007002, 1007900].includes(id)),
    [{ state: 'managed', origin: 'catalogue' }, { state: 'available' }, { state: 'disabled', origin: 'managed feed' }],
  );
  t.equal((await call('POST', '/api/vpatch', { id: 1007900 })).status, 200);
  answer = {
    status: 200,
    body: JSON.stringify({ ...feedDocument, version: 6, networks: ['198.51.100.9'], patches: [] }),
  };
  t.match((await call('POST', '/api/managed-feed/refresh')).body, {
    copy: { version: 6 },
    last_error: null,
    rules_applied: false,
  });
  t.same(
    (await apply())[0],
    { id: 1007900, cve: 'CVE-2026-10001', enabled: false },
    'a patch that was withdrawn does not stand in the way of an apply',
  );

  await set({ mrf_url: 'http://169.254.169.254/latest' });
  t.match(await run(1), /failed: .*linkLocal/, 'inner targets are refused');
  t.match(
    await status(),
    { url: 'http://169.254.169.254/latest', copy: { url, version: 6 } },
    'and what was fetched elsewhere stays until something better comes',
  );
  await set({ mrf_enabled: false });
  t.match(await run(1), /switched the managed feed off: 1 networks removed/);
  t.same([await list(), await list('manual')], [[], ['203.0.113.7']], 'exactly its own entries');
  t.same(
    (await apply()).filter(({ enabled }) => enabled),
    [],
    'and its rules',
  );
  t.equal((await call('POST', '/api/managed-feed/refresh')).status, 409);
  const summaries = (await call('GET', '/api/audit?limit=200')).body['items'].map(
    (item: { action: string }) => item.action,
  ) as string[];
  t.same(
    summaries.filter((action) => action.startsWith('managed-feed')),
    ['managed-feed.off', 'managed-feed.update', 'managed-feed.update', 'managed-feed.update', 'managed-feed.update'],
  );
  await at.close();
  server.closeAllConnections();
  server.close();
}

t.test('the managed feed', (t) => onBothDatabases(t, 'the managed feed', suite));
