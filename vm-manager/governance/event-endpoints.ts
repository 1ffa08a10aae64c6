// /events: what has happened, for readers with a cursor of their own, and how much of it is kept.
import { Nullable, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { visibleByApplication } from '../assets/resources.js';
import { isUnconfined } from '../kit/caller.js';
import { eventStream } from './event-stream.js';
import { endpoint, type Endpoint } from '../kit/endpoint.js';
import { ListQuery } from '../kit/list.js';
import { eventBoundsDefault, readPruning } from '../kit/prune-events.js';

const closed = { additionalProperties: false } as const;

const EventView = Type.Object({
  id: Type.String(),
  type: Type.String(),
  entity: Type.String(),
  entity_id: Type.String(),
  application_id: Nullable(Type.String()),
  payload: Type.Unknown(),
  at: Time,
});

const Through = Nullable(
  Type.String({ description: 'events up to this id were removed by age or number; null: all are here' }),
);

export const eventEndpoints: readonly Endpoint[] = [
  eventStream,
  endpoint({
    method: 'GET',
    path: '/events',
    permission: 'view_scans',
    kind: 'A',
    summary: 'What has happened, the oldest first, behind `after`',
    query: Type.Object(
      {
        after: Type.Optional(Type.String({ pattern: '^\\d{1,18}$' })),
        limit: ListQuery.limit,
        offset: ListQuery.offset,
        type: Type.Optional(Type.String({ maxLength: 60 })),
      },
      closed,
    ),
    answer: Type.Object({
      items: Type.Array(EventView),
      next_after: Nullable(Type.String()),
      pruned_through: Through,
    }),
    handle: async ({ sql, reach, query }) => {
      const { after = '0', limit = 50, offset = 0 } = query;
      const rows = await sql<{ id: number; entity_id: number; application_id: number | null; at: Date }[]>`
        select id, type, entity, entity_id, application_id, payload, at from vm_events where id > ${after}
          and ${query.type === undefined ? sql`true` : sql`type = ${query.type}`}
          and ${visibleByApplication('vm_events')(sql, reach)} order by id limit ${limit} offset ${offset}`;
      const items = rows.map((row) => ({
        ...row,
        id: String(row.id),
        entity_id: String(row.entity_id),
        application_id: row.application_id === null ? null : String(row.application_id),
        at: row.at.toISOString(),
      }));
      const pruning = await readPruning(sql);
      return {
        items,
        next_after: items.at(-1)?.id ?? null,
        pruned_through: pruning === null ? null : String(pruning.through),
      };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/events/stats',
    permission: 'view_scans',
    kind: 'A',
    summary: 'How many events are kept, of which types, within which bounds, and how many were removed',
    answer: Type.Object({
      events: Type.Integer({ description: 'within your reach' }),
      by_type: Type.Record(Type.String(), Type.Integer()),
      oldest_at: Nullable(Time),
      newest_at: Nullable(Time),
      bounds: Type.Object({
        days: Type.Integer({ description: 'setting vm_events_days' }),
        events_max: Type.Integer({ description: 'setting vm_events_max' }),
      }),
      removed: Nullable(Type.Integer({ description: 'in all; null: your grant is not of the whole organisation' })),
      removed_last_at: Nullable(Time),
      pruned_through: Through,
    }),
    handle: async ({ sql, reach, host }) => {
      const [rows, pruning, bounds] = await Promise.all([
        sql<{ type: string; n: number; oldest: Date; newest: Date }[]>`
          select type, count(*)::int as n, min(at) as oldest, max(at) as newest from vm_events
          where ${visibleByApplication('vm_events')(sql, reach)} group by type order by type`,
        readPruning(sql),
        host.eventBounds?.() ?? eventBoundsDefault,
      ]);
      const times = rows.flatMap(({ oldest, newest }) => [oldest, newest]).sort((left, right) => +left - +right);
      return {
        events: rows.reduce((sum, { n }) => sum + n, 0),
        by_type: Object.fromEntries(rows.map(({ type, n }) => [type, n])),
        oldest_at: times[0]?.toISOString() ?? null,
        newest_at: times.at(-1)?.toISOString() ?? null,
        bounds: { days: bounds.days, events_max: bounds.rowsMax },
        removed: isUnconfined(reach) ? Number(pruning?.removed ?? 0) : null,
        removed_last_at: pruning?.last_at.toISOString() ?? null,
        pruned_through: pruning === null ? null : String(pruning.through),
      };
    },
  }),
];
