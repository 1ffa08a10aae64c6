// What principals did, on its way to whoever evaluates it (api/threats): stored as it came, with the observations of
// the same window, and taken up in order.
import type { Queryable } from '../db/client.js';
import type { KeptBatch } from './kept.js';

/** Windows that wait, and their size; beyond that a window is left out and counted. */
export const waitingMax = 20_000;
export const waitingBytesMax = 256 * 1024 * 1024;

/** What of a batch waits there, as text; null: nothing. */
export function windowOf({ sightings, relations }: Pick<KeptBatch, 'sightings' | 'relations'>): string | null {
  if (sightings.length + relations.length === 0) return null;
  return JSON.stringify({ sightings, relations }).replaceAll('\\u0000', '');
}

/** With the transaction that stores the observations of the window. */
export async function queueWindow(tx: Queryable, body: string | null, at: Date): Promise<void> {
  if (body === null) return;
  const { count } = await tx`
    insert into api_sightings (at, bytes, body) select ${at}::timestamptz, ${body.length}::integer, ${body}::text
    from (select count(*) as windows, coalesce(sum(bytes), 0) as bytes from api_sightings) waiting
    where waiting.windows < ${waitingMax} and waiting.bytes + ${body.length}::integer <= ${waitingBytesMax}`;
  if (count === 0) await tx`update api_threat_state set dropped = dropped + 1`;
}
