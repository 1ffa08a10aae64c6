// Who asks whom inside, and which of those requests came without an identity: no certificate, no token.
import { Type } from '@sinclair/typebox';
import { closed, refusals, Time, type App } from '../http-kit/index.js';
import type { Queryable } from '../db/client.js';
import type { Parts } from '../parts.js';
import type { Hop } from './hops.js';

/** Pairs that are kept; of further ones nothing is. */
const hopsMax = 20_000;
export async function saveHops(tx: Queryable, hops: readonly Hop[]): Promise<void> {
  if (hops.length === 0) return;
  const rows = hops.map(({ first, last, ...hop }) => ({
    ...hop,
    first_seen: new Date(first).toISOString(),
    last_seen: new Date(last).toISOString(),
  }));
  await tx`
    insert into api_hops (caller, callee, requests, unidentified, failed, first_seen, last_seen)
    select r.* from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (caller text, callee text,
      requests bigint, unidentified bigint, failed bigint, first_seen timestamptz, last_seen timestamptz)
    where (select count(*) from api_hops) < ${hopsMax}
      or exists (select 1 from api_hops h where h.caller = r.caller and h.callee = r.callee)
    on conflict (caller, callee) do update set requests = api_hops.requests + excluded.requests,
      unidentified = api_hops.unidentified + excluded.unidentified, failed = api_hops.failed + excluded.failed,
      first_seen = least(api_hops.first_seen, excluded.first_seen),
      last_seen = greatest(api_hops.last_seen, excluded.last_seen)`;
}

const HopView = Type.Object({
  caller: Type.String(),
  callee: Type.String(),
  requests: Type.Integer(),
  unauthenticated_requests: Type.Integer({ description: 'without certificate and without token' }),
  unauthenticated: Type.Boolean({ description: 'there were such requests: everyone inside may ask' }),
  failed: Type.Integer({ description: 'answered 4xx or 5xx' }),
  first_seen: Time,
  last_seen: Time,
});

const schema = {
  tags: ['inventory'],
  summary: 'Service-to-service traffic: who asks whom, and which requests came without an identity',
  querystring: Type.Object(
    {
      unauthenticated: Type.Optional(Type.Boolean({ description: 'only pairs with, or without, such requests' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: hopsMax, default: 500 })),
    },
    closed,
  ),
  response: {
    200: Type.Object({
      services: Type.Integer(),
      total: Type.Integer({ description: 'pairs that fit the filter; `items` has up to `limit` of them' }),
      unauthenticated: Type.Integer({ description: 'pairs' }),
      items: Type.Array(HopView),
    }),
    ...refusals,
  },
};

interface HopRow extends Omit<Hop, 'first' | 'last'> {
  readonly first_seen: Date;
  readonly last_seen: Date;
}

/** Pairs with most requests first. */
export const selectBusiestHops = async (sql: Queryable, max: number): Promise<readonly HopRow[]> => sql<HopRow[]>`
  select * from api_hops order by requests desc, caller, callee limit ${max}`;

export function registerEastWest(app: App, { database: { sql } }: Pick<Parts, 'database'>): void {
  app.get('/api/east-west', { schema }, async ({ query }) => {
    const { unauthenticated = null, limit = 500 } = query;
    const fits = sql`(${unauthenticated}::boolean is null or (unidentified > 0) = ${unauthenticated})`;
    const rows = await sql<HopRow[]>`
      select * from api_hops where ${fits}
      order by unidentified desc, requests desc, caller, callee limit ${limit}`;
    const [counts] = await sql<{ services: number; total: number; pairs: number }[]>`
      select (select count(*) from (select caller from api_hops union select callee from api_hops) s)::int as services,
        (select count(*) from api_hops where ${fits})::int as total,
        (select count(*) from api_hops where unidentified > 0)::int as pairs`;
    return {
      services: counts?.services ?? 0,
      total: counts?.total ?? 0,
      unauthenticated: counts?.pairs ?? 0,
      items: rows.map(({ unidentified, first_seen, last_seen, ...hop }) => ({
        ...hop,
        unauthenticated_requests: unidentified,
        unauthenticated: unidentified > 0,
        first_seen: first_seen.toISOString(),
        last_seen: last_seen.toISOString(),
      })),
    };
  });
}
