// Hit counters of rules and exclusions, and what is proposed about exclusions.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { createEvidenceJob } from './job.js';
import { startTestApp } from '../testing/app.js';
import { coreRules, withoutCoreRules } from '../testing/core-rules.js';
import { onBothDatabases } from '../testing/databases.js';
import { proposeFor } from './proposal.js';
import { pathPattern, type Exclusion } from './scope.js';

const dayMs = 86_400_000;
const nowMs = Date.parse('2026-03-01T12:00:00Z');
const exclusion = (over: Partial<Exclusion>): Exclusion => ({
  id: 1009500,
  rule_id: 942100,
  tag: null,
  target: 'ARGS:q',
  path: '/search',
  method: 'GET',
  sites: [],
  reason: '',
  owner: '',
  expires_at: null,
  enabled: true,
  ...over,
});
const inDays = (days: number): string => new Date(nowMs + days * dayMs).toISOString();

t.test('proposals', async (t) => {
  const watched = (days: number, requests: number) => ({
    watchedSince: new Date(nowMs - days * dayMs),
    requests,
    lastAt: requests > 0 ? new Date(nowMs) : null,
  });
  const cases: [string, Exclusion, ReturnType<typeof watched>, boolean, string][] = [
    ['expired', exclusion({ expires_at: inDays(-1) }), watched(5, 3), false, 'remove'],
    ['nobody came', exclusion({ expires_at: inDays(60) }), watched(31, 0), false, 'remove'],
    ['nobody came, but records were left out', exclusion({ expires_at: inDays(60) }), watched(31, 0), true, 'keep'],
    ['not watched long enough', exclusion({ expires_at: inDays(60) }), watched(29, 0), false, 'keep'],
    ['in use', exclusion({ expires_at: inDays(60) }), watched(31, 7), false, 'keep'],
    ['ends soon and in use', exclusion({ expires_at: inDays(10) }), watched(31, 7), false, 'renew'],
    ['ends soon, idle', exclusion({ expires_at: inDays(10) }), watched(5, 0), false, 'keep'],
    ['never ends', exclusion({}), watched(5, 1), false, 'limit'],
    ['switched off', exclusion({ enabled: false }), watched(40, 0), false, 'keep'],
  ];
  for (const [name, one, use, skipped, action] of cases) {
    const proposal = proposeFor(one, use, nowMs, skipped);
    t.equal(proposal.action, action, name);
    if (action === 'renew' || action === 'limit') t.equal(proposal.expires_at, '2026-05-31T00:00:00.000Z', name);
    else t.equal(proposal.expires_at, null, name);
  }
});

t.test('paths as the exclusion means them', async (t) => {
  const cases: [string, string, boolean][] = [
    ['/search', '/search', true],
    ['/search', '/search?q=1', true],
    ['/search', '/search/all', true],
    ['/search', '/searching', false],
    ['/search', '/x/search', false],
    ['/a/*/c', '/a/42/c?x', true],
    ['/a/*/c', '/a/4/2/c', false],
    ['/a.b', '/axb', false],
    ['/', '/anything', true],
  ];
  for (const [path, uri, expected] of cases)
    t.equal(new RegExp(pathPattern(path) ?? '').test(uri), expected, `${path} ${uri}`);
  t.equal(pathPattern(null), null);
});

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database, { crsDirectory: coreRules });
  const admin = await at.user('admin');
  const call = async (method: string, path: string, body?: object) =>
    at.call(method, path, {
      token: String((await at.logIn(admin.email)).body['token']),
      ...(body === undefined ? {} : { body }),
    });
  const job = createEvidenceJob(at.parts);
  const run = () => job.run({ nowMs: at.clock.nowMs, signal: new AbortController().signal });
  let batches = 0;
  const record = (uri: string, rule_ids: number[], over: object = {}) => ({
    at_ms: at.clock.nowMs,
    request_id: 'r',
    site: 'shop',
    generation: 1,
    client_ip: '192.0.2.1',
    method: 'GET',
    uri,
    status: 200,
    verdict: 'pass',
    inbound_score: 0,
    outbound_score: 0,
    rule_ids,
    user_agent: '',
    request_bytes: 0,
    response_bytes: 0,
    latency_us: 0,
    inspection_us: 0,
    ...over,
  });
  const send = async (requests: object[]) =>
    t.equal(
      (
        await at.call('POST', '/api/dataplane/records', {
          token: 'c'.repeat(40),
          body: { node: 'n', batch_id: `b${++batches}`, requests, events: [] },
        })
      ).status,
      200,
    );
  const evidence = async () => (await call('GET', '/api/rules/evidence')).body;

  await send([record('/search?q=old', [942100])]);
  t.equal(
    (
      await call('PATCH', '/api/settings', {
        rule_exclusions: [
          exclusion({ expires_at: inDays(300) }),
          exclusion({ id: 1009501, path: '/legacy/*', method: null, expires_at: inDays(300) }),
        ],
        custom_rules: [{ id: 1000001, name: 'mine', variable: 'ARGS', operator: 'contains', value: 'x' }],
        virtual_patches: [{ id: 1007001, cve: 'CVE-2021-44228', enabled: true }],
      })
    ).status,
    200,
  );
  at.clock.nowMs += 3000; // the settings are read anew
  t.equal(await run(), '0 requests counted', 'what was there before the counting began is left alone');
  await send([
    record('/search?q=1', [942100, 949110]),
    record('/search?q=2', []),
    record('/search', [], { method: 'POST' }),
    record('/elsewhere', [942100], { site: 'blog' }),
    record('/searching', [1007001]),
  ]);
  t.equal(await run(), '5 requests counted');
  t.equal(await run(), '0 requests counted', 'each once');
  await send([record('/elsewhere/2', [942100], { site: 'blog' })]);
  t.equal(await run(), '1 requests counted');
  const first = await evidence();
  t.match(first['rules'], [
    {
      rule_id: 942100,
      kind: 'core rule set',
      hits: 3,
      sites: [
        { site: 'blog', hits: 2 },
        { site: 'shop', hits: 1 },
      ],
    },
    { rule_id: 949110, hits: 1 },
    { rule_id: 1007001, kind: 'virtual patch', name: 'CVE-2021-44228', hits: 1 },
    { rule_id: 1000001, kind: 'custom rule', name: 'mine', hits: 0, last_at: null },
  ]);
  if (withoutCoreRules === false)
    t.match(
      first['rules'],
      [
        { rule_id: 942_100, name: /^SQL Injection Attack/ },
        { rule_id: 949_110, name: /^Inbound Anomaly Score Exceeded/ },
        { rule_id: 1_007_001, name: /^CVE-2021-44228 ./ },
      ],
      'U14: rules of the rule set have their names',
    );
  const named = await call('GET', '/api/rules/names?ids=1000001,1006200,1000001,999999999');
  t.same(named.body, {
    items: [
      { rule_id: 1_000_001, name: 'mine' },
      { rule_id: 1_006_200, name: 'The client is banned' },
    ],
  });
  t.equal((await call('GET', '/api/rules/names?ids=1,,2')).status, 400, 'A3: names are asked by numbers alone');
  t.match(first['exclusions'], [
    { id: 1009500, requests: 2, proposal: { action: 'keep' } },
    { id: 1009501, requests: 0, last_request_at: null, proposal: { action: 'keep' } },
  ]);
  t.match(
    (await call('GET', '/api/vpatch/catalog?q=CVE-2021-44228')).body['items'][0].hits_30_days,
    [{ site: 'shop', hits: 1 }],
    'attempts on a hole, by site',
  );

  for (let day = 1; day <= 31; day++) {
    at.clock.nowMs += dayMs;
    if (day % 10 === 1) await send([record('/search?q=3', [942100]), record('/search?q=4', [])]);
    await run();
  }
  const later = await evidence();
  t.match(later['exclusions'], [
    { id: 1009500, requests: 8, proposal: { action: 'keep' } },
    { id: 1009501, requests: 0, proposal: { action: 'remove', reason: /no request came/ } },
  ]);
  t.equal(later['rules'][0].hits, 4, 'of the last 30 days');
  t.equal(
    (
      await call('PATCH', '/api/settings', {
        rule_exclusions: [exclusion({ id: 1009501, path: '/new', expires_at: inDays(300) })],
      })
    ).status,
    200,
  );
  at.clock.nowMs += 3000;
  await run();
  t.match(
    (await evidence())['exclusions'],
    [{ id: 1009501, proposal: { action: 'keep', reason: /less than 30 days/ } }],
    'another exclusion under the same id begins anew',
  );
  at.clock.nowMs += 100 * dayMs;
  await run();
  await send([record('/', [])]);
  await run();
  const [{ n } = { n: -1 }] = await database.sql<{ n: number }[]>`select count(*) as n from rule_hits`;
  t.equal(n, 0, 'old counters go');
  await at.close();
}

t.test('evidence', (t) => onBothDatabases(t, 'evidence', suite));
