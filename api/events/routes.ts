import { Type, type Static } from '@sinclair/typebox';
import { maskLevelOf } from '#proxy/contract';
import type { App, House } from '../parts.js';
import { requireStillAdmitted } from '../auth/guard.js';
import { ApiError } from '../http-kit/problem.js';
import { Page } from '../http-kit/page.js';
import { closed, Nullable, refusals, Time } from '../http-kit/schema.js';
import { requireNodeToken } from '../nodes/node-token.js';
import { createIngest } from './ingest.js';
import { EventView, pageRecords, RecordQuery, RequestView, viewRecord } from './query.js';
import { RecordBatch } from './record.js';

const IngestAnswer = Type.Object({
  stored: Type.Integer({ description: 'records, now' }),
  duplicate: Type.Boolean({ description: 'all of the batch was stored before' }),
  sampled_out: Type.Integer({ description: 'records of the batch left out because too much came' }),
  refused: Type.Integer({ description: 'records of the batch that the database would not have; they are lost' }),
});

const batchBytesMax = 32 * 1024 * 1024;
const streamsMax = 50;
const streamPollMs = 1000;
const streamRowsMax = 200;
/** How long a stream outlives the session, the token or the role it was opened with. */
const streamCheckMs = 5000;
const statsFreshMs = 5000;

export function registerEventRoutes(app: App, house: House): void {
  const { sql } = house.database;
  const ingest = createIngest({
    database: house.database,
    now: house.now,
    maskLevel: async () => maskLevelOf((await house.currentSettings()).privacy_mode),
  });
  app.post(
    '/api/dataplane/records',
    {
      bodyLimit: batchBytesMax,
      logLevel: 'warn', // twice a second and node
      // before the body is read
      onRequest: async (request) => requireNodeToken(request.headers.authorization, house.env.dataAdminToken),
      schema: {
        tags: ['data plane'],
        summary:
          'Records of a data-plane node; acknowledged after they are stored, stored once however often they are sent',
        body: RecordBatch,
        response: { 200: IngestAnswer, ...refusals },
      },
    },
    async (request) => ingest.accept(request.body),
  );
  app.get(
    '/api/requests',
    {
      schema: {
        tags: ['events'],
        summary: 'Request log, newest first',
        querystring: RecordQuery,
        response: { 200: Page(RequestView), ...refusals },
      },
    },
    (request) => pageRecords<Static<typeof RequestView>>(sql, 'request_records', request.query),
  );
  app.get(
    '/api/events',
    {
      schema: {
        tags: ['events'],
        summary: 'Security events, newest first',
        querystring: RecordQuery,
        response: { 200: Page(EventView), ...refusals },
      },
    },
    (request) => pageRecords<Static<typeof EventView>>(sql, 'security_events', request.query),
  );
  registerStream(app, house);
  registerStats(app, house);
}

/** Server-sent events that follow ids: nothing is skipped or repeated, also across reconnects with Last-Event-ID. */
function registerStream(app: App, house: House): void {
  const { sql } = house.database;
  let open = 0;
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());
  app.get(
    '/api/events/stream',
    {
      exposeHeadRoute: false,
      schema: {
        tags: ['events'],
        summary: 'Security events as they come (server-sent events); ends with the session or token it was asked with',
        querystring: Type.Object(
          {
            after: Type.Optional(
              Type.Integer({ minimum: 0, description: 'id of the last event seen; without it only new ones' }),
            ),
          },
          closed,
        ),
        response: { ...refusals },
      },
    },
    async (request, reply) => {
      if (open >= streamsMax)
        throw new ApiError('busy', `There are ${streamsMax} streams already.`, { headers: { 'retry-after': '10' } });
      const resumed = Number(request.headers['last-event-id'] ?? request.query.after ?? NaN);
      const [newest] = await sql<{ id: number | null }[]>`select max(id) as id from security_events`;
      let last = Number.isSafeInteger(resumed) && resumed >= 0 ? resumed : (newest?.id ?? 0);
      reply.hijack();
      const { raw } = reply;
      open++;
      const gone = new AbortController();
      raw.on('close', () => gone.abort());
      const stop = AbortSignal.any([gone.signal, closing.signal]);
      raw.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      raw.write(`retry: 2000\n: from ${last}\n\n`);
      let checkedAtMs = house.now();
      try {
        while (!stop.aborted) {
          if (house.now() - checkedAtMs >= streamCheckMs) {
            await requireStillAdmitted(request, house);
            checkedAtMs = house.now();
          }
          const rows = await sql<
            (Omit<Static<typeof EventView>, 'at'> & { at: Date })[]
          >`select * from security_events where id > ${last} order by id limit ${streamRowsMax}`;
          for (const row of rows) last = row.id;
          const text =
            rows
              .map(
                (row) =>
                  `id: ${row.id}\nevent: security\ndata: ${JSON.stringify(viewRecord<Static<typeof EventView>>(row))}\n\n`,
              )
              .join('') || ': still here\n\n';
          // a slow reader is waited for; it holds one page, never a queue
          if (!raw.write(text))
            await new Promise<void>((resolve) => {
              raw.once('drain', resolve);
              stop.addEventListener('abort', () => resolve(), { once: true });
            });
          if (rows.length < streamRowsMax) await pause(streamPollMs, stop);
        }
      } catch (error) {
        if (error instanceof ApiError) request.log.info(`an event stream ended: ${error.message}`);
        else request.log.error({ err: error }, 'an event stream ended');
      } finally {
        open--;
        raw.end();
      }
    },
  );
}

function pause(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    stop.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}

const Stats = Type.Object({
  retention_requests_days: Type.Integer(),
  retention_audit_days: Type.Integer(),
  requests_stored: Type.Integer({ description: 'exact up to 100,000, else the database’s estimate' }),
  events_stored: Type.Integer(),
  audit_entries: Type.Integer(),
  oldest_request_at: Nullable(Time),
  oldest_audit_at: Nullable(Time),
  settings_versions: Type.Integer(),
  threat_addresses: Type.Integer(),
  sites: Type.Integer(),
  records_dropped_by_nodes: Type.Integer(),
  records_sampled_out: Type.Integer(),
  records_refused: Type.Integer(),
  database_bytes: Type.Integer(),
});

function registerStats(app: App, house: House): void {
  const { sql } = house.database;
  const countOf = async (table: string): Promise<number> => {
    const [some] = await sql<{ n: number }[]>`select count(*) as n from (select 1 from ${sql(table)} limit 100001) x`;
    if ((some?.n ?? 0) <= 100_000) return some?.n ?? 0;
    const [estimate] = await sql<
      { n: number }[]
    >`select coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint as n from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent where c.relkind = 'r' and (c.relname = ${table} or p.relname = ${table})`;
    return Math.max(estimate?.n ?? 0, 100_001);
  };
  // counting is the dearest thing this API does: dashboards that ask every second share one answer
  let known: { readonly at: number; readonly stats: Promise<Static<typeof Stats>> } | null = null;
  app.get(
    '/api/policy/stats',
    {
      schema: {
        tags: ['operations'],
        summary: 'Retention and what is stored, at most five seconds old',
        response: { 200: Stats, ...refusals },
      },
    },
    () => {
      const age = known === null ? Infinity : house.now() - known.at;
      if (known !== null && age >= 0 && age < statsFreshMs) return known.stats;
      const mine = { at: house.now(), stats: read() };
      known = mine;
      mine.stats.catch(() => {
        if (known === mine) known = null;
      });
      return mine.stats;
    },
  );
  const read = async (): Promise<Static<typeof Stats>> => {
    const settings = await house.currentSettings();
    const [ends] = await sql<{ request: Date | null; audit: Date | null; versions: number; bytes: number }[]>`
      select (select min(at) from request_records) as request, (select min(at) from audit_entries) as audit, (select count(*) from settings_versions) as versions, pg_database_size(current_database()) as bytes`;
    const counters = new Map(
      (await sql<{ name: string; value: number }[]>`select name, value from ingest_counters`).map((row) => [
        row.name,
        row.value,
      ]),
    );
    return {
      retention_requests_days: settings.retention_requests_days,
      retention_audit_days: settings.retention_audit_days,
      sites: settings.sites.length,
      requests_stored: await countOf('request_records'),
      events_stored: await countOf('security_events'),
      audit_entries: await countOf('audit_entries'),
      threat_addresses: await countOf('threat_addresses'),
      oldest_request_at: ends?.request?.toISOString() ?? null,
      oldest_audit_at: ends?.audit?.toISOString() ?? null,
      settings_versions: ends?.versions ?? 0,
      database_bytes: ends?.bytes ?? 0,
      records_dropped_by_nodes: counters.get('dropped_by_nodes') ?? 0,
      records_sampled_out: counters.get('sampled_out') ?? 0,
      records_refused: counters.get('refused') ?? 0,
    };
  };
}
