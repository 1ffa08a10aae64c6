// The managed feed from the switch to the deny list and the rules of an apply: what it takes up, what it refuses, and
// that a refusal changes nothing.
import t, { type Test } from 'tap';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Database } from '../db/client.js';
import { createManagedFeedJob } from './job.js';
import { makeKeyPair, signManagedFeed } from '../licence/vendor-sign.js';
import { createOutbound } from '../outbound/outbound.js';
import { keepManagedRules, noManagedRules, readManagedRules, withManagedRules } from '../change/steps/managed-rules.js';
import type { Settings } from '../settings/schema.js';
import { activeOutcome, startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { findPatchIn, patchCatalog } from '../vpatch/catalog/index.js';
import { baselineFeed } from './baseline.js';
import { isInnerNetwork } from '../threat-intel/inner-networks.js';
import { feedPatchIds, readManagedFeed } from './document.js';
import { toDenied } from '../threat-intel/list-text.js';

const patch = {
  id: 1007900,
  cve: 'CVE-2026-10001',
  title: 'Example template injection',
  product: 'Example',
  affected: '1.x',
  cwe: 'CWE-94',
  severity: 'critical',
  phase: 2,
  links: [
    ['REQUEST_FILENAME', '@contains /example/render', 'urlDecodeUni,normalizePathWin,lowercase'],
    ['ARGS:template', '@contains {{'],
  ],
  attack: [['a template', 'GET /example/render?template={{7*7}}']],
  benign: [
    ['no template', 'GET /example/render?template=plain'],
    ['elsewhere', 'GET /other?template={{x}}'],
  ],
};
const document = {
  format: 'gatehouse-managed-feed/1',
  name: 'Test feed',
  version: 3,
  issued: '2026-02-28T00:00:00Z',
  networks: ['203.0.113.7', '198.51.100.0/24', '10.0.0.0/8'],
  catalog: [1007001],
  patches: [patch],
};
const bytes = (value: unknown): Buffer => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const vendor = makeKeyPair(2048);

t.test('documents: what is taken and what is refused, with the reason', async (t) => {
  const feed = readManagedFeed(bytes(document), null);
  t.match(feed, {
    name: 'Test feed',
    version: 3,
    signed: false,
    networks: ['203.0.113.7', '198.51.100.0/24'],
    leftOut: ['10.0.0.0/8'],
    catalogIds: [1007001],
  });
  t.match(
    feed.patches[0]?.seclang,
    /SecRule REQUEST_FILENAME "@contains \/example\/render"[^]*deny,status:403[^]*chain/,
  );
  const change = (over: object): unknown => ({ ...document, ...over });
  const withPatch = (over: object): unknown => change({ patches: [{ ...patch, ...over }] });
  const cases: [string, unknown, RegExp][] = [
    ['a web page', '<html>', /not JSON/],
    ['an array', [], /no managed feed/],
    ['another format', change({ format: 'gatehouse-managed-feed/2' }), /\/format/],
    ['more members', change({ admin: true }), /\(admin\)/],
    ['no version', change({ version: 0 }), /\/version/],
    ['no moment', change({ issued: 'yesterday' }), /\/issued/],
    ['a wrong network', change({ networks: ['203.0.113.7', 'example.org'] }), /\/networks\/1 "example.org"/],
    [
      'half the internet',
      change({ networks: Array.from({ length: 120 }, (_, i) => `${11 + i}.0.0.0/8`) }),
      /would deny \d+ %/,
    ],
    ['an unknown patch', change({ catalog: [1007899] }), /1007899, which this program does not have/],
    ['an id of the catalogue', withPatch({ id: 1007001 }), /\/patches\/0\/id/],
    ['no benign requests', withPatch({ benign: [] }), /\/patches\/0\/benign/],
    ['rule text', withPatch({ seclang: 'SecRuleEngine Off' }), /\(seclang\)/],
    [
      'a quote in the operator',
      withPatch({ links: [['ARGS', '@rx a" "id:1,phase:1,pass,ctl:ruleEngine=Off']] }),
      /\/links\/0\/1 is no operator/,
    ],
    ['a backslash at its end', withPatch({ links: [['ARGS', '@rx a\\']] }), /\/links\/0\/1/],
    ['a line end', withPatch({ links: [['ARGS', '@rx a\nSecRuleEngine Off']] }), /\/links\/0\/1/],
    [
      'actions among transformations',
      withPatch({ links: [['ARGS', '@rx a', 'none,ctl:ruleEngine=Off']] }),
      /\/links\/0\/2/,
    ],
    ['variables that are none', withPatch({ links: [['ARGS "@rx a" "id:1', '@rx a']] }), /\/links\/0\/0/],
    ['an unknown variable', withPatch({ links: [['NOTHING', '@rx a']] }), /\/patches\/0 is no rule/],
    ['a file', withPatch({ links: [['ARGS', '@pmFromFile /etc/passwd']] }), /\/patches\/0 is no rule/],
    ['a program', withPatch({ links: [['ARGS', '@inspectFile /bin/sh']] }), /\/patches\/0 is no rule/],
    ['a broken pattern', withPatch({ links: [['ARGS', '@rx (']] }), /\/patches\/0 is no rule/],
    ['a quote in the title', withPatch({ title: "x',ctl:ruleEngine=Off,msg:'" }), /\/patches\/0\/title/],
    ['a request that is none', withPatch({ attack: [['x', 'nonsense']] }), /\/attack\/0/],
    ['one id twice', change({ patches: [patch, { ...patch, cve: 'CVE-2026-10002' }] }), /one id twice/],
  ];
  for (const [name, given, reason] of cases)
    t.throws(() => readManagedFeed(bytes(given), null), { message: reason }, name);
  t.equal(cases.length, 24);
});

t.test('signatures', async (t) => {
  const text = JSON.stringify(document);
  const signed = signManagedFeed(text, vendor.privateKey);
  t.match(readManagedFeed(bytes(`${signed}\n`), vendor.publicKey), { signed: true, version: 3 });
  const [, payload = '', signature = ''] = signed.split('.');
  const other = Buffer.from(JSON.stringify({ ...document, version: 4 })).toString('base64url');
  const cases: [string, string, string | null, RegExp][] = [
    ['plain for a build with a vendor', text, vendor.publicKey, /not signed/],
    ['another content', `GHF1.${other}.${signature}`, vendor.publicKey, /not the vendor/],
    ['no signature', `GHF1.${payload}.`, vendor.publicKey, /not the vendor/],
    ['no parts', 'GHF1.', vendor.publicKey, /not the vendor/],
    ['somebody else’s', signManagedFeed(text, makeKeyPair(2048).privateKey), vendor.publicKey, /not the vendor/],
    ['signed for a build without a vendor', signed, null, /no vendor key/],
  ];
  for (const [name, given, key, reason] of cases)
    t.throws(() => readManagedFeed(bytes(given), key), { message: reason }, name);
});

t.test('the baseline denies no client that can exist, and knows its patches', async (t) => {
  for (const network of baselineFeed.networks)
    t.same([toDenied(network), isInnerNetwork(network)], [{ network }, false], network);
  t.equal(
    baselineFeed.catalogIds.filter((id) => patchCatalog.some((one) => one.id === id)).length,
    baselineFeed.catalogIds.length,
  );
  t.equal(
    patchCatalog.some(({ id }) => id >= feedPatchIds[0]),
    false,
    'the catalogue stays out of the ids of feeds',
  );
  for (const inner of [
    '10.1.2.3',
    '172.31.0.0/16',
    '192.168.0.0/24',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.0.0.0/8',
    '::1',
    'fd12::/32',
    'fe80::1',
  ])
    t.ok(isInnerNetwork(inner), inner);
  for (const outer of ['11.0.0.0/8', '172.32.0.0/16', '8.8.8.8', '100.128.0.0/9', '2a00::/16', '2001:db8::/32'])
    t.notOk(isInnerNetwork(outer), outer);
});

async function suite(t: Test, database: Database): Promise<void> {
  let answer: { status: number; body: string } = { status: 200, body: JSON.stringify(document) };
  const server = createServer((_, reply) => reply.writeHead(answer.status).end(answer.body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/feed`;
  let pushed = 0;
  const at = await startTestApp(database, {
    outbound: createOutbound({ allow: ['127.0.0.1'] }),
    threatsChanged: async () => void pushed++,
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
      >`select network from threat_addresses where source = ${source} order by network`
    ).map((row) => row.network);
  let taken = noManagedRules;
  let inForce: Settings['virtual_patches'] = [];
  // what the road does about the feed, without its compile thread and nodes (those: change/managed-recovery.test.ts)
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
    return inForce;
  };
  t.equal(await run(0), 'nothing was due');
  t.match(await status(), { enabled: false, copy: null, rules: [], rules_applied: false });

  await set({ mrf_enabled: true });
  t.equal((await apply()).length, baselineFeed.catalogIds.length, 'the baseline’s rules are in the very next apply');
  t.match(await run(1), /took up version 1 of the managed feed "Gatehouse baseline": \d+ networks/);
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
    [{ status: 200, body: JSON.stringify({ ...document, version: 2 }) }, /older than version 3/],
    [
      { status: 200, body: JSON.stringify({ ...document, networks: ['192.0.2.1'] }) },
      /version 3 again with another content/,
    ],
    [
      {
        status: 200,
        body: JSON.stringify({
          ...document,
          version: 4,
          networks: ['192.0.2.1'],
          patches: [{ ...patch, attack: [['no attack', 'GET /']] }],
        }),
      },
      /1007900 .* does not keep what it promises: "no attack" expects match/,
    ],
    [
      {
        status: 200,
        body: JSON.stringify({
          ...document,
          version: 4,
          patches: [
            {
              ...patch,
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
  answer = { status: 200, body: JSON.stringify({ ...document, version: 5, networks: ['198.51.100.9'] }) };
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
  answer = { status: 200, body: JSON.stringify({ ...document, version: 6, networks: ['198.51.100.9'], patches: [] }) };
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
