// What changed in the deny list since somebody looked last, so that a change costs what was touched and not the list.
import type { Queryable } from '../db/client.js';
import { endOfBan, expiryKnownMs, touchedMax } from './store.js';

/** How far somebody has followed the list. */
export interface ThreatPosition {
  readonly revision: number;
  readonly at: Date;
}

/** Where the list stands; taken before the list is read, so that what comes meanwhile is looked at again. */
export async function threatPosition(sql: Queryable, now: Date): Promise<ThreatPosition> {
  const [row] = await sql<{ revision: number | null }[]>`select max(revision) as revision from threat_changes`;
  return { revision: row?.revision ?? 0, at: now };
}

export interface ThreatChanges {
  readonly position: ThreatPosition;
  /** Of the networks that were touched or ended since: lines of those in force, and those that are not. */
  readonly present: readonly string[];
  readonly absent: readonly string[];
}

/** null: so much has changed, or so long ago, that the whole list has to be read. */
export async function changesSince(sql: Queryable, since: ThreatPosition, now: Date): Promise<ThreatChanges | null> {
  if (now.getTime() - since.at.getTime() >= expiryKnownMs) return null;
  const position = await threatPosition(sql, now);
  const [oldest] = await sql<{ revision: number | null }[]>`select min(revision) as revision from threat_changes`;
  if (
    position.revision < since.revision ||
    (position.revision > since.revision && (oldest?.revision ?? 0) > since.revision + 1)
  )
    return null;
  // as a list, so that the look-ups by index are planned for what it holds
  const touched = await sql<{ network: string | null }[]>`
    select network from threat_changes where revision > ${since.revision}
    union select network from threat_addresses where expires_at > ${since.at} and expires_at <= ${now}
    limit ${touchedMax + 1}`;
  if (touched.length > touchedMax || touched.some(({ network }) => network === null)) return null;
  const names = touched.map(({ network }) => network as string);
  const found = await sql<{ network: string; ends: string | null }[]>`
    select t.network, ${endOfBan(sql)} as ends
    from json_array_elements_text(${JSON.stringify(names)}::text::json) as n (value)
    join threat_addresses t on t.network = n.value where t.expires_at is null or t.expires_at > ${now}
    group by t.network`;
  const inForce = new Map(found.map(({ network, ends }) => [network, ends === null ? network : `${network} ${ends}`]));
  return { position, present: [...inForce.values()], absent: names.filter((name) => !inForce.has(name)) };
}
