// What the limits of the settings, or one that is about to be saved, would have limited lately, by the request log.
import { Type, type Static } from '@sinclair/typebox';
import { settingRows, type Settings } from '#settings';
import { toProxyConfig } from '#proxy/contract';
import type { Queryable } from '../db/client.js';
import { closed, Nullable, OneOf, refusals, Time, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { effectOf, literalPrefix, type EffectLimit, type RecordedRequest } from './limit-effect.js';

export type LimitEffectParts = Pick<Parts, 'database' | 'now' | 'currentSettings' | 'upstreams'>;

const hourMs = 3_600_000;
/** The newest requests that are looked at: about a second of work. */
export const recordsMax = 50_000;

const zone = settingRows.rl_zones.items.properties;
const kinds = ['default', 'zone', 'endpoint'] as const;
const pathWords = 'of a zone a prefix, of an endpoint a template; null: every path';

const LimitBody = Type.Object(
  {
    kind: OneOf(kinds),
    path: Type.Optional(Nullable({ ...zone.match_path, description: pathWords })),
    method: Type.Optional(
      Nullable(Type.String({ maxLength: 32, description: 'of an endpoint; null or *: every one' })),
    ),
    key: Type.Optional(zone.key),
    events: zone.events,
    window: zone.window,
  },
  closed,
);

const EffectView = Type.Object({
  name: Type.String({ description: 'as GET /api/rate-limits calls it; empty: the one that was sent' }),
  matched: Nullable(Type.Integer({ description: 'requests that it counts; null: records keep no header fields' })),
  limited: Nullable(Type.Integer({ description: 'of them, beyond the limit' })),
  clients: Nullable(Type.Integer({ description: 'clients that had at least one of those' })),
});

const Effects = Type.Object({
  from: Time,
  to: Time,
  records: Type.Integer({ description: 'recorded requests to protected sites that were looked at' }),
  is_cut: Type.Boolean({ description: `the hour has more than ${recordsMax}; \`from\` is that of the oldest one` }),
  left_out: Type.Integer({ description: 'ordinary requests of the hour that were not recorded (the log is sampled)' }),
  limits: Type.Array(EffectView),
});

const savedSchema = {
  tags: ['edge'],
  summary: 'What each rate limit of the settings would have limited in the last hour, by the recorded requests',
  response: { 200: Effects, ...refusals },
};
const draftSchema = {
  tags: ['edge'],
  summary: 'The same of one limit that is not saved; nothing is changed by it',
  body: LimitBody,
  response: { 200: Effects, ...refusals },
};

interface Named {
  readonly name: string;
  readonly limit: EffectLimit;
}

function limitsOf(settings: Settings): Named[] {
  const common = { path: null, method: null, key: 'ip' };
  const { rl_events: events, rl_window: window, rl_zones: zones, endpoint_limits: endpoints } = settings;
  return [
    { name: 'default', limit: { ...common, kind: 'default', events, window } },
    ...zones.map(({ name, match_path: path, ...one }) => ({
      name,
      limit: { ...common, ...one, path, kind: 'zone' as const },
    })),
    ...endpoints.map(({ method, ...one }) => ({
      name: `${method} ${one.path}`,
      limit: { ...common, ...one, method: method === '*' ? null : method, kind: 'endpoint' as const },
    })),
  ];
}

/** Of [from, to), the newest `recordsMax` to these sites under these prefixes, the oldest first. */
async function recorded(
  sql: Queryable,
  { from, to, sites, prefixes }: { from: Date; to: Date; sites: readonly string[]; prefixes: readonly string[] },
): Promise<{ readonly rows: RecordedRequest[]; readonly isCut: boolean }> {
  const within = prefixes.includes('')
    ? sql``
    : sql`and exists (select 1 from jsonb_array_elements_text(${sql.json([...prefixes])}) as wanted (prefix)
        where starts_with(lower(uri), wanted.prefix))`;
  const rows = await sql<RecordedRequest[]>`
    select (extract(epoch from at) * 1000)::float8 as at_ms, node, client_ip, method, split_part(uri, '?', 1) as path
    from request_records where at >= ${from} and at < ${to}
      and site in (select jsonb_array_elements_text(${sql.json([...sites])})) ${within}
    order by at desc, id desc limit ${recordsMax + 1}`;
  return { rows: [...rows].slice(0, recordsMax).reverse(), isCut: rows.length > recordsMax };
}

async function effects(parts: LimitEffectParts, settings: Settings, limits: readonly Named[]) {
  const { sql } = parts.database;
  const to = new Date(parts.now());
  const from = new Date(to.getTime() - hourMs);
  const sites = toProxyConfig(settings, parts.upstreams)
    .sites.filter((site) => site.protected)
    .map(({ name }) => name);
  const prefixes = [...new Set(limits.map(({ limit }) => literalPrefix(limit)))];
  const { rows, isCut } = await recorded(sql, { from, to, sites, prefixes });
  const [left] = await sql<{ n: number }[]>`
    select coalesce(sum(sampled_out), 0)::float8 as n from ingest_batches where at >= ${from} and at < ${to}`;
  return {
    from: isCut ? new Date(rows[0]?.at_ms ?? from).toISOString() : from.toISOString(),
    to: to.toISOString(),
    records: rows.length,
    is_cut: isCut,
    left_out: Number(left?.n ?? 0),
    limits: limits.map(({ name, limit }): Static<typeof EffectView> => {
      const found = effectOf(limit, rows, settings.rl_distributed);
      return { name, ...(found ?? { matched: null, limited: null, clients: null }) };
    }),
  };
}

export function registerLimitEffectRoutes(app: App, parts: LimitEffectParts): void {
  app.get('/api/rate-limits/effect', { schema: savedSchema }, async () => {
    const settings = await parts.currentSettings();
    return effects(parts, settings, limitsOf(settings));
  });
  app.post('/api/rate-limits/effect', { schema: draftSchema }, async ({ body }) => {
    const { kind, path = null, method = null, key = 'ip', events, window } = body;
    const limit = { kind, path, method: method === '*' ? null : method, key, events, window };
    return effects(parts, await parts.currentSettings(), [{ name: '', limit }]);
  });
}
