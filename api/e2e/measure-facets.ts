// How long GET /api/events/stats takes over many stored events on PostgreSQL.
//   TAP_TIMEOUT=3600 node build/api/e2e/measure-facets.js [--events 5000000] [--days 7] [--rounds 5]
// Before that, what the indexes of facets cost ingest.
// Events are made by the database: 5 sites, 40 rules of which few are frequent, 20,000 clients, 400 paths.
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { allModules } from '../testing/database-templates.js';
import { migrate } from '../db/migrate.js';
import { openPostgres } from '../db/client.js';
import { countEvents } from '../events/facets/rollup.js';
import type { StatsFilters } from '../events/facets/filters.js';
import { readStats } from '../events/facets/stats.js';
import { ensurePartition, toDay } from '../events/partitions.js';
import { insertEvents, toRow } from '../events/rows.js';
import { event } from '../testing/builders/records.js';
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
  const indexes = await indexesOfFacets();
  for (const { name } of indexes) await sql`drop index ${sql(name)}`;
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
  for (const { made } of indexes) await sql.unsafe(made);
  await sql`vacuum analyze security_events`;
}

const span = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
};

const ingested = 50_000;

const indexesOfFacets = () => sql<{ name: string; made: string }[]>`
  select indexname as name, indexdef as made from pg_indexes where tablename = 'security_events'
    and (indexname ~ '_each_' or indexname ~ '_by_(path|rule|country|asn)$')`;

/** Ingest with the indexes of facets and without; the tables are emptied. In turns, the least of three counts. */
async function compareIngest(): Promise<void> {
  await migrate(database, await allModules());
  const records = Array.from({ length: 5000 }, (_, n) =>
    event(n, {
      at_ms: to - n,
      client_ip: `10.0.${n % 200}.${n % 9}`,
      uri: `/p${n % 400}/${n}`,
      rule_id: 942_000 + (n % 40),
    }),
  );
  await ensurePartition(sql, 'security_events', toDay(new Date(to - 1)));
  await ensurePartition(sql, 'security_events', toDay(new Date(to)));
  const ingest = async (): Promise<number> => {
    await sql`truncate security_events`;
    return span(async () => {
      for (let done = 0; done < ingested; done += records.length)
        await insertEvents(
          sql,
          records.map((record) => toRow(record, 'n1', to)),
        );
    });
  };
  const indexes = await indexesOfFacets();
  const [withThem, without]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < 3; turn += 1) {
    withThem.push(await ingest());
    for (const { name } of indexes) await sql`drop index ${sql(name)}`;
    without.push(await ingest());
    await sql`truncate security_events`;
    for (const { made } of indexes) await sql.unsafe(made);
  }
  const [more, less] = [Math.min(...withThem), Math.min(...without)];
  console.log(
    `ingest of ${ingested} events: ${more.toFixed(0)} ms, without ${indexes.length} indexes of facets ` +
      `${less.toFixed(0)} ms: ${(more / less).toFixed(2)} times`,
  );
}

const whole = { from: new Date(from), to: new Date(to) };
const questions: readonly (readonly [string, StatsFilters])[] = [
  ['whole range', whole],
  ['one site', { ...whole, site: 'site1' }],
  ['one category', { ...whole, category: ['sqli'] }],
  ['one rule, blocked', { ...whole, rule_id: 942_300, verdict: ['block'] }],
  ['a rare rule', { ...whole, rule_id: 942_400 }],
  ['last day', { ...whole, from: new Date(to - dayMs) }],
  ['last hour', { ...whole, from: new Date(to - 3_600_000) }],
  ['one client', { ...whole, client_ip: '10.1.0.0' }],
  ['one path', { ...whole, path: '/p7/{number}' }],
  ['one path and method', { ...whole, path: '/p9/{number}', method: 'GET' }],
  ['one country', { ...whole, country: 'AA' }],
];
try {
  await compareIngest();
  console.log(`${events} events stored in ${Math.round((await span(fill)) / 1000)} s`);
  const counted = await span(async () => {
    while ((await countEvents(database)) > 0);
  });
  console.log(`counted in ${Math.round(counted / 1000)} s`);
  await sql`analyze event_hours`;
  console.log(
    `load ${loadavg()
      .map((one) => one.toFixed(1))
      .join(' ')}`,
  );
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
