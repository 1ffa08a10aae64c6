// What people are promised to see of the edge, field by field, with the place that promises it.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { request, start as nowMs } from '../testing/builders/records.js';
import { onBothDatabases } from '../testing/databases.js';
import { createNodeGates, type NodeBan } from './node-gates.js';

const ja3 = 'cd08e31494f9531f560d64c695473da9';
const ja4 = 't13d1516h2_8daaf6152771_e5627efa2ab1';
const googlebot = 'Mozilla/5.0 (compatible; Googlebot/2.1)';

/** Two nodes that count the same; the second tells less, as one of an earlier release. */
function testNodes() {
  const bans: NodeBan[] = [];
  const figures = {
    decisions: [
      { gate: 'rate-zones', decision: 'throttle', outcome: 'enforced', count: 3 },
      { gate: 'api-schema', decision: 'deny', outcome: 'recorded', count: 2 },
      { gate: 'graphql', decision: 'deny', outcome: 'enforced', count: 1 },
    ],
    zones: [{ site: 'shop', zone: 'login', outcome: 'enforced', count: 3 }],
    heavy: [{ zone: 'login', network: '203.0.113.9', limited: 3 }],
    rateKeys: { keys: 1, keysMax: 64, evicted: 0 },
    crawlers: [
      { crawler: 'Googlebot', verdict: 'impostor', requests: 2 },
      { crawler: 'Googlebot', verdict: 'verified', requests: 5 },
    ],
    siteKeys: { url: '', fetchedAtMs: 0, wantedAtMs: 0 },
  };
  const enter = { kind: 'enter', atMs: nowMs - 5000, rpm: 4000, baselineRpm: 80, thresholdRpm: 600, cause: 'rate' };
  const attack = { mode: 'auto', active: true, rpm: 4000, baselineRpm: 80, thresholdRpm: 600, learnedMinutes: 60 };
  const store = { mode: 'sentinel', tls: true, trouble: 'login' };
  const more = {
    attack: { ...attack, transitions: [enter] },
    sharing: { state: 'degraded', nodes: 2, lost: 0, store },
  };
  const gates = createNodeGates(['http://node-a', 'http://node-b'], {
    ask: async (url, _method, path) => {
      if (path === '/bans') return { bans: url === 'http://node-a' ? bans : [] };
      return path === '/gates' ? (url === 'http://node-a' ? { ...figures, ...more } : figures) : null;
    },
  });
  return { gates, bans };
}

const settings = {
  rl_enabled: true,
  rl_distributed: true,
  rl_events: 300,
  rl_window: '30s',
  rl_zones: [{ name: 'login', match_path: '/login', key: 'header:X-Key', events: 5, window: '1m', dry_run: true }],
  endpoint_limits: [{ path: '/orders/{id}', method: '*', events: 2, window: '10s' }],
  bot_ja3_blocklist: [ja3],
};

/** What is asked of a field: this value, or this shape. */
type Row = readonly [field: string, wanted: unknown, source: string];
const earlier = { banned_at: String, expires_at: String, request_id: 'R1' };

const promised: Readonly<Record<string, readonly Row[]>> = {
  '/api/pipeline': [
    ['stages.8.name', 'flood-burst', 'issue 10, the gates: the order is shown by the API'],
    ['stages.10.settings.6', 'rl_distributed', 'specification 2, rate limiting'],
    ['stages.10.decisions', [{ decision: 'throttle', outcome: 'enforced', count: 6 }], 'issue 10: figures per gate'],
    ['stages.19.name', 'graphql', 'specification 2, graphql_protect'],
    ['stages.19.decisions', [{ decision: 'deny', outcome: 'enforced', count: 2 }], 'issue 10: figures per gate'],
    ['stages.20.name', 'specification', 'specification 2, schema_action'],
    ['stages.20.decisions', [{ decision: 'deny', outcome: 'recorded', count: 4 }], 'issue 10: figures per gate'],
  ],
  '/api/bans': [
    ['items.0.network', '2001:db8::/64', 'research 3.3: IPv6 by /64'],
    ['items.0.scope', 'prefix', 'research 3.4, L3.7: scope'],
    ['items.1.scope', 'ip', 'research 3.4, L3.7: scope'],
    ['items.1.state', 'active', 'specification 3, flood auto-ban'],
    ['items.1.reason', /20 limited requests in 60 s by login/, 'research 3.4, L3.7: reasons'],
    ['items.1.zone', 'login', 'issue 10: the numbers that led to a decision'],
    ['items.1.threshold', 20, 'specification 2, flood_autoban_threshold'],
    ['items.1.window_seconds', 60, 'specification 2, flood_autoban_window_sec'],
    ['items.1.offence', 2, 'specification 3: escalation on repeat offenses'],
    ['items.1.earlier', [earlier], 'research 3.4, L3.7: the chain to the events that led to it'],
    ['items.0.earlier', [], 'research 3.4, L3.7: the first ban has no chain'],
    ['items.1.request_id', 'R2', 'research 3.4, L3.7: the event that led to it'],
    ['items.1.expires_at', String, 'specification 2, flood_autoban_duration_sec'],
    ['items.1.lifted_by', null, 'research 3.4, L3.7: an unban leaves its mark'],
  ],
  '/api/rate-limits': [
    ['enabled', true, 'specification 2, rl_enabled'],
    ['distributed', true, 'specification 2, rl_distributed'],
    ['limits.0', { name: 'default', kind: 'default', events: 300, window: '30s', key: 'ip' }, 'specification 2'],
    ['limits.1.name', 'login', 'specification 2, rl_zones'],
    ['limits.1.match_path', '/login', 'specification 2, rl_zones'],
    ['limits.1.key', 'header:X-Key', 'specification 2, rl_zones'],
    ['limits.1.events', 5, 'specification 2, rl_zones'],
    ['limits.1.window', '1m', 'specification 2, rl_zones'],
    ['limits.1.dry_run', true, 'research 3.4, L3.5: dry run of a zone'],
    ['limits.2', { name: '* /orders/{id}', kind: 'endpoint', method: null, events: 2 }, 'specification 2'],
    ['nodes.0.sharing', { state: 'degraded', nodes: 2 }, 'research 3.4, L3.6: degraded is shown'],
    ['nodes.0.sharing.store', { mode: 'sentinel', tls: true, trouble: 'login' }, 'issue 26.3: which Redis, and why'],
    ['nodes.1.sharing', null, 'research 3.4, L3.6: a node of an earlier release does not say'],
    ['nodes.0.heavy.0', { network: '203.0.113.9', zone: 'login', limited: 3 }, 'issue 10: current heavy keys'],
    ['nodes.0.zones.0.outcome', 'enforced', 'research 3.4, L3.5: enforced or recorded'],
    ['nodes.0.keys_max', 64, 'issue 10: bounded memory'],
    ['nodes.0.evicted', 0, 'issue 10: a stated rule of eviction'],
  ],
  '/api/attack-mode': [
    ['mode', 'off', 'specification 2, attack_mode'],
    ['spike_factor', Number, 'specification 2, attack_spike_factor'],
    ['min_rpm', Number, 'specification 2, attack_min_rpm'],
    ['burst_events', Number, 'specification 2, attack_burst_events'],
    ['burst_window', String, 'specification 2, attack_burst_window'],
    ['nodes.0.active', true, 'specification 3, adaptive attack mode'],
    ['nodes.0.active_since', String, 'issue 10: entering is an event'],
    ['nodes.0.requests_per_minute', 4000, 'specification 3: current requests per minute'],
    ['nodes.0.baseline_rpm', 80, 'specification 3: the learned baseline'],
    ['nodes.0.threshold_rpm', 600, 'issue 10: hysteresis'],
    ['nodes.1.active_since', null, 'a node that does not say'],
    ['changes.0', { change: 'enter', cause: 'rate', rpm: 4000 }, 'issue 10: entering and leaving are events'],
  ],
  '/api/bots': [
    ['action', 'monitor', 'specification 2, bot_action'],
    ['score_threshold', 5, 'specification 2, bot_score_threshold'],
    ['allow_verified', Boolean, 'specification 2, bot_allow_verified'],
    ['verify_rdns', Boolean, 'specification 2, bot_verify_rdns'],
    ['crawlers.1.crawler', 'Googlebot', 'research 4.4, L4.6: scoreboard'],
    ['crawlers.1.requests', 14, 'research 4.4, L4.6: requests'],
    ['crawlers.1.verified', 10, 'research 4.4, L4.6: verified or impostor'],
    ['crawlers.1.impostor', 4, 'research 4.4, L4.6: verified or impostor'],
    ['crawlers.1.recent', { requests: 2, blocked: 1, bytes: 1200, last_at: String }, 'research 4.4, L4.6: bytes'],
    ['crawlers.2.recent', null, 'research 4.4, L4.6: one that did not come'],
    ['fingerprints.0', { ja3, ja4, requests: 3, blocked: 2 }, 'issue 10: JA3 and JA4 of clients'],
    ['fingerprints.0.listed', true, 'specification 2, bot_ja3_blocklist'],
    ['fingerprints.0.clients', 2, 'issue 10: JA3 and JA4 of clients'],
    ['fingerprints.0.user_agents', 2, 'research 4.4, L4.5: fingerprint against User-Agent'],
    ['fingerprints.0.user_agent', googlebot, 'research 4.4, L4.5: fingerprint against User-Agent'],
    ['fingerprints.1', undefined, 'requests of before, and those without TLS, are not in it'],
  ],
};

const read = (body: unknown, field: string): unknown =>
  field.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], body);

async function suite(t: Test, database: Database): Promise<void> {
  const { gates, bans } = testNodes();
  const at = await startTestApp(database, { nodeGates: gates });
  t.teardown(() => at.close());
  at.clock.nowMs = nowMs;
  const { token } = await at.user('admin');
  t.equal((await at.call('PATCH', '/api/settings', { token, body: settings })).status, 200);
  const ban = { zone: 'login', threshold: 20, windowSeconds: 60, untilMs: nowMs + 600_000 };
  bans.push(
    { ...ban, network: '203.0.113.9', requestId: 'R1', offence: 1, atMs: nowMs - 900_000, untilMs: nowMs - 300_000 },
    { ...ban, network: '203.0.113.9', requestId: 'R2', offence: 2, atMs: nowMs - 1000 },
    { ...ban, network: '2001:db8::/64', requestId: 'R3', offence: 1, atMs: nowMs },
  );
  for (const name of ['bans', 'attack-mode'])
    await at.jobs.find((job) => job.name === name)?.run({ nowMs, signal: new AbortController().signal });
  const tls = { ja3, ja4, client_ip: '203.0.113.1' };
  const requests = [
    request(1, { ...tls, at_ms: nowMs - 3000, user_agent: 'curl/8', verdict: 'refused' }),
    request(2, { ...tls, at_ms: nowMs - 2000, user_agent: googlebot, response_bytes: 1000, verdict: 'block' }),
    request(3, { ...tls, at_ms: nowMs - 1000, user_agent: googlebot, client_ip: '203.0.113.2' }),
    request(4, { at_ms: nowMs - 1000 }),
    request(5, { ...tls, at_ms: nowMs - 3_700_000, ja3: '0'.repeat(32), user_agent: googlebot }),
  ];
  const batch = { node: 'n1', batch_id: 'b1', requests, events: [] };
  const stored = await at.call('POST', '/api/dataplane/records', { token: 'c'.repeat(40), body: batch });
  t.match(stored, { status: 200, body: { stored: 5 } });
  for (const [path, rows] of Object.entries(promised)) {
    const { status, body } = await at.call('GET', path, { token });
    t.equal(status, 200, path);
    for (const [field, wanted, source] of rows) {
      const found = read(body, field);
      const name = `${path} ${field} (${source})`;
      if (wanted === null || wanted === undefined) t.equal(found, wanted, name);
      else t.match({ found }, { found: wanted }, name);
      if (Array.isArray(wanted)) t.equal((found as unknown[]).length, wanted.length, `${name}: and no more`);
    }
  }
}

t.test('E10.1: every promised field of the edge is there', (t) => onBothDatabases(t, 'edge fields', suite));
