// The application that a service of a mesh or a trace is: by the names that orchestrators give it.
import type { Queryable } from '../../database.js';
import { isUnconfined, type Reach } from '../../kit/caller.js';

export interface Named {
  readonly id: number;
  readonly name: string;
}

/**
 * Texts that may be the external id or the name of the application, the likelier first: `web.shop.svc.cluster.local` is
 * `shop/web`, and `web`.
 */
export function namesOf(service: string): { readonly ids: readonly string[]; readonly names: readonly string[] } {
  const plain = service.replace(/:\d+$/, '');
  const spiffe = /^spiffe:\/\/[^/]+\/ns\/([^/]+)\/sa\/([^/]+)$/.exec(plain);
  const dns = /^([^./]+)\.([^./]+)(?:\.svc(?:\..+)?)$/.exec(plain);
  const path = /^([^./]+)\/([^/]+)$/.exec(plain);
  const [namespace, workload] =
    spiffe !== null
      ? [spiffe[1] ?? '', spiffe[2] ?? '']
      : dns !== null
        ? [dns[2] ?? '', dns[1] ?? '']
        : path !== null
          ? [path[1] ?? '', path[2] ?? '']
          : ['', ''];
  const ids = [service, plain, ...(workload === '' ? [] : [`${namespace}/${workload}`])];
  return {
    ids: [...new Set(ids)],
    names: [...new Set([plain, ...(workload === '' ? [] : [workload])].map((name) => name.toLowerCase()))],
  };
}

interface Candidate {
  readonly service: string;
  readonly text: string;
  readonly rank: number;
}

/** Names that nobody of the whole organisation has given come after all that somebody has. */
const unconfirmedRank = 1000;

/**
 * What each service is; those that are like no application, or like several, are left out. A name that somebody of a
 * part may have chosen, to see whose traffic it is, does not count for people of a part.
 */
export async function resolveServices(
  sql: Queryable,
  reach: Reach,
  services: readonly string[],
): Promise<Map<string, Named>> {
  const counts = isUnconfined(reach) ? sql`true` : sql`a.names_confirmed`;
  const candidates = services.flatMap((service): Candidate[] => {
    const { ids, names } = namesOf(service);
    return [
      ...ids.map((text, rank) => ({ service, text, rank })),
      ...names.map((text, rank) => ({ service, text, rank: 100 + rank })),
    ];
  });
  if (candidates.length === 0) return new Map();
  const rows = await sql<(Named & { service: string; rank: number })[]>`
    with wanted as (
      select * from json_to_recordset(${JSON.stringify(candidates)}::text::json)
        as w(service text, text text, rank int)),
    found as (
      select w.service, w.rank, a.id, a.name, a.names_confirmed
      from wanted w join vm_applications a on a.external_id = w.text
      where w.rank < 100 and a.status = 'active' and ${counts}
      union all
      select w.service, w.rank, a.id, a.name, a.names_confirmed
      from wanted w join vm_applications a on lower(a.name) = w.text
      where w.rank >= 100 and a.status = 'active' and ${counts})
    select service, id, name, rank + case when names_confirmed then 0 else ${unconfirmedRank}::int end as rank
    from found order by service, rank, id`;
  const resolved = new Map<string, Named>();
  const ranks = new Map<string, number>();
  const unclear = new Set<string>();
  for (const { service, rank, id, name } of rows) {
    const before = ranks.get(service);
    if (before === undefined) {
      ranks.set(service, rank);
      resolved.set(service, { id, name });
    } else if (before === rank && resolved.get(service)?.id !== id) unclear.add(service);
  }
  for (const service of unclear) resolved.delete(service);
  return resolved;
}
