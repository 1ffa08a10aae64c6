// From events to notices, in the transaction that takes events out of the outbox: an event becomes a notice once for
// each route that it fits, whatever fails afterwards.
import { severityNumbers } from '../findings/words.js';
import { json, type Tx } from '../database.js';
import type { OutboxEvent } from '../kit/outbox.js';
import { holds, type Fields, type Predicate } from '../kit/predicate.js';

export interface NoticeRoute {
  readonly id: number;
  readonly channel_id: number;
  readonly events: readonly string[];
  readonly predicate: Predicate | null;
  readonly digest_minutes: number;
  readonly cooldown_minutes: number;
}

/** What a route's predicate may ask of an event. */
export const eventFields: Fields = {
  type: { type: 'text', column: 'type' },
  entity: { type: 'text', column: 'entity' },
  application_id: { type: 'id', column: 'application_id' },
  application: { type: 'text', column: 'application' },
  title: { type: 'text', column: 'title' },
  severity: { type: 'number', column: 'severity', words: severityNumbers },
  is_open: { type: 'boolean', column: 'is_open' },
};

const fits = (route: NoticeRoute, event: OutboxEvent, now: Date): boolean =>
  (route.events.length === 0 || route.events.includes(event.type)) &&
  (route.predicate === null ||
    holds(route.predicate, event as unknown as Readonly<Record<string, unknown>>, eventFields, now));

/** When a digest that gathers for so many minutes is sent: at full multiples of them. */
const digestAt = (minutes: number, now: Date): Date => {
  const length = minutes * 60_000;
  return new Date(Math.ceil((now.getTime() + 1) / length) * length);
};

/** Of the applications of the events: nobody is told what happens to them. */
async function archivedOf(tx: Tx, events: readonly OutboxEvent[]): Promise<Set<string>> {
  const ids = [...new Set(events.flatMap(({ application_id: id }) => (id === null ? [] : [id])))];
  if (ids.length === 0) return new Set();
  const rows = await tx<{ id: number }[]>`
    select id from vm_applications where id in ${tx(ids)} and status = 'archived'`;
  return new Set(rows.map(({ id }) => String(id)));
}

/** Writes notices; returns how many. */
export async function routeEvents(tx: Tx, events: readonly OutboxEvent[], now: Date): Promise<number> {
  const routes = await tx<NoticeRoute[]>`
    select r.* from vm_notice_routes r join vm_channels c on c.id = r.channel_id where r.enabled and c.enabled`;
  let written = 0;
  const archived = await archivedOf(tx, events);
  for (const route of routes)
    for (const event of events) {
      if (event.application_id !== null && archived.has(event.application_id)) continue;
      if (!fits(route, event, now)) continue;
      const { at, told: _, ...body } = event;
      const since = new Date(now.getTime() - route.cooldown_minutes * 60_000);
      const made = await tx`
        insert into vm_notices ${tx({
          route_id: route.id,
          channel_id: route.channel_id,
          event_id: event.id,
          type: event.type,
          entity: event.entity,
          entity_id: event.entity_id,
          severity: event.severity,
          event: json(tx, { ...body, at: at.toISOString() }),
          not_before: route.digest_minutes === 0 ? now : digestAt(route.digest_minutes, now),
          created_at: now,
        } as never)}
        on conflict (route_id, event_id) do nothing returning id`;
      if (route.cooldown_minutes > 0 && made.length > 0) {
        const dropped = await tx`
          delete from vm_notices n where n.id = ${(made[0] as unknown as { id: number }).id} and exists (
            select 1 from vm_notices o where o.route_id = n.route_id and o.entity = n.entity
              and o.entity_id = n.entity_id and o.type = n.type and o.id < n.id and o.created_at > ${since})`;
        written -= dropped.count;
      }
      written += made.length;
    }
  return written;
}
