// How long GET /api/events/stats takes over many stored events on PostgreSQL.
//   TAP_TIMEOUT=3600 node build/api/e2e/measure-facets.js [--events 5000000] [--days 7] [--rounds 5]
// Events are made by the database: 5 sites, 40 rules of which few are frequent, 20,000 clients, 400 paths.
import { parseArgs } from 'node:util';
import { allModules } from '../testing/database-templates.js';
import { migrate } from '../db/migrate.js';
import { openPostgres } from '../db/client.js';
import { countEvents } from '../events/facets/rollup.js';
import { readStats, type StatsFilters } from '../events/facets/stats.js';
import { ensurePartition, toDay } from '../events/partitions.js';
import { startCluster } from '../testing/servers/postgres.js';

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '5000000' },
    days: { type: 'string', default: '7' },
    rounds: { type: 'string', default: '5' },
  },
});
const [events, days, rounds] = [Number(values.events), Number(values.days), Number(values.rounds)];
const ends: (() => unknown)[] = [];
const cluster = await startCluster({ teardown: (end: () => unknown) => void ends.unshift(end) });
const database = openPostgres(await cluster.create());
const { sql } = database;
const dayMs = 86_400_000;
const to = Date.parse('2026-11-28T00:00:00Z');
const from = to - days * dayMs;

async function fill(): Promise<void> {
  await migrate(database, await allModules());
  for (let at = from; at < to; at += dayMs) {
    await ensurePartition(sql, 'security_events', toDay(new Date(at)));
    await sql`
      insert into security_events (at, request_id, node, site, client_ip, kind, verdict, method, uri, status, rule_id,
        inbound_score, details, category, path_template, country, asn)
      select ${new Date(at)}::timestamptz + random() * interval '86399 seconds', 'r' || n, 'n1', 'site' || (x % 5),
        '10.' || (y % 4) || '.' || (y / 4 % 80) || '.' || (y / 320 % 63), 'waf',
        case when r < 30 then 'block' else 'flag' end, 'GET', '/p' || (x % 400) || '/1',
        case when r < 30 then 403 else 200 end,
        942000 + r * 10, 5, '{"messages": []}', (array['sqli', 'xss', 'rce', 'lfi', 'protocol'])[1 + r % 5],
        '/p' || (x % 400) || '/{number}', chr(65 + (y % 10)) || chr(65 + (y / 10 % 5)), 1000 + y % 300
      from (select n, (random() * 1000000)::int as x, (random() * 20000)::int as y, (random() ^ 3 * 40)::int as r
        from generate_series(1, ${Math.ceil(events / days)}::int) n) as made`;
  }
  await sql`vacuum analyze security_events`;
}

const span = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
};

const whole = { from: new Date(from), to: new Date(to) };
const questions: readonly (readonly [string, StatsFilters])[] = [
  ['whole range', whole],
  ['one site', { ...whole, site: 'site1' }],
  ['one category', { ...whole, category: ['sqli'] }],
  ['one rule, blocked', { ...whole, rule_id: 942_300, verdict: ['block'] }],
  ['last day', { ...whole, from: new Date(to - dayMs) }],
  ['last hour', { ...whole, from: new Date(to - 3_600_000) }],
  ['one client', { ...whole, client_ip: '10.1.0.0' }],
  ['one path', { ...whole, path: '/p7/{number}' }],
  ['one country', { ...whole, country: 'AA' }],
];
try {
  console.log(`${events} events stored in ${Math.round((await span(fill)) / 1000)} s`);
  const counted = await span(async () => {
    while ((await countEvents(database)) > 0);
  });
  console.log(`counted in ${Math.round(counted / 1000)} s`);
  await sql`analyze event_hours, event_days`;
  const all: number[] = [];
  for (const [name, filters] of questions) {
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) times.push(await span(() => readStats(database, filters)));
    all.push(...times);
    const sorted = times.toSorted((a, b) => a - b);
    console.log(`${name}: median ${sorted[rounds >> 1]?.toFixed(0)} ms, most ${sorted.at(-1)?.toFixed(0)} ms`);
  }
  const sorted = all.toSorted((a, b) => a - b);
  console.log(`p95 of all: ${sorted[Math.ceil(sorted.length * 0.95) - 1]?.toFixed(0)} ms`);
} finally {
  await database.close();
  for (const end of ends) await end();
}
