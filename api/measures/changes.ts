// What changed in the list of measures since a server looked last: a change costs what was touched and not the list.
import type { Queryable } from '../db/client.js';
import { writeMeasureKey } from '#proxy/contract';
import { measureActions, readPlace, type MeasureAction } from './model.js';
import { endOfMeasure } from './query.js';
import { asJson, expiryKnownMs, inForce, touchedMax } from './store.js';

/** How far a server has followed the list. */
export interface MeasurePosition {
  readonly revision: number;
  readonly at: Date;
}

/** Where the list stands; taken before the list is read, so that what comes meanwhile is looked at again. */
export async function measurePosition(sql: Queryable, now: Date): Promise<MeasurePosition> {
  const [row] = await sql<{ revision: number | null }[]>`select max(revision) as revision from measure_changes`;
  return { revision: row?.revision ?? 0, at: now };
}

export interface MeasureChanges {
  readonly position: MeasurePosition;
  /** Of the subjects that were touched or ended since: lines of what is in force, and keys of what is not. */
  readonly present: readonly string[];
  readonly absent: readonly string[];
}

/** null: so much has changed, or so long ago, that the whole list has to be read. */
export async function changesSince(sql: Queryable, since: MeasurePosition, now: Date): Promise<MeasureChanges | null> {
  if (now.getTime() - since.at.getTime() >= expiryKnownMs) return null;
  const position = await measurePosition(sql, now);
  const [oldest] = await sql<{ revision: number | null }[]>`select min(revision) as revision from measure_changes`;
  if (
    position.revision < since.revision ||
    (position.revision > since.revision && (oldest?.revision ?? 0) > since.revision + 1)
  )
    return null;
  // as a list, so that the look-ups by index are planned for what it holds
  const touched = await sql<{ subject: string | null }[]>`
    select subject from measure_changes where revision > ${since.revision}
    union select subject from client_measures where expires_at > ${since.at} and expires_at <= ${now}
    limit ${touchedMax + 1}`;
  if (touched.length > touchedMax || touched.some(({ subject }) => subject === null)) return null;
  const names = touched.map(({ subject }) => subject as string).filter((subject) => readPlace(subject) === null);
  const found = await sql<{ subject: string; action: MeasureAction; ends: string | null }[]>`
    select t.subject, t.action, ${endOfMeasure(sql)} as ends
    from json_array_elements_text(${asJson(names)}::text::json) as n (value)
    join client_measures t on t.subject = n.value where ${inForce(sql, now)}
    group by t.subject, t.action`;
  const lines = new Map(
    found.map(({ subject, action, ends }) => {
      const key = writeMeasureKey(action, subject);
      return [key, ends === null ? key : `${key} ${ends}`];
    }),
  );
  const keys = names.flatMap((subject) => measureActions.map((action) => writeMeasureKey(action, subject)));
  return { position, present: [...lines.values()], absent: keys.filter((key) => !lines.has(key)) };
}
