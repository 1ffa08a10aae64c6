// Who reads a report that is kept, and what was sent of it.
import type { Fragment } from '../database.js';
import { isUnconfined } from '../kit/caller.js';
import { notFound, toId, type Call } from '../kit/endpoint.js';
import { reportFacts, type ReportRow } from './build.js';

/** A token that is confined reads what was built of one of its applications alone, whoever built it for its owner. */
export function readable({ sql, caller, reach }: Pick<Call, 'sql' | 'caller' | 'reach'>): Fragment {
  if (isUnconfined(reach)) return sql`true`;
  const isOwn = sql`created_by = ${caller.person.userId}`;
  if (reach.within === null) return isOwn;
  return reach.within.length === 0 ? sql`false` : sql`${isOwn} and application_id in ${sql(reach.within)}`;
}

/** Throws 404 for a report that is not there, or that the caller may not read. */
export async function requireReport(call: Pick<Call, 'sql' | 'caller' | 'reach'>, id: string): Promise<ReportRow> {
  const [row] = await call.sql<ReportRow[]>`
    select ${call.sql(reportFacts)} from vm_reports where id = ${toId(id, 'report')} and ${readable(call)}`;
  if (row === undefined) throw notFound('report', id);
  return row;
}
