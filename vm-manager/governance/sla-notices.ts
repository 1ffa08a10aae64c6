// Says once of a finding that a fifth of its time is left, and once that its time is over. What was said stands in the
// finding's row and is written with the event: a restart says nothing again, and of several servers one says it.
import { ofActive } from '../assets/archived.js';
import type { Sql, Tx } from '../database.js';
import { emit } from '../kit/events.js';

/** Findings of one transaction. */
const batch = 500;
/** In one round; whoever imports a hundred thousand old findings is told over some minutes, the latest first. */
const noticesPerRoundMax = 5000;

interface Due {
  readonly id: number;
  readonly application_id: number;
  readonly due_at: Date;
  readonly sla_days: number | null;
  readonly sla_class: string;
  readonly is_over: boolean;
}

/** What is due to be said; returns how many events were written. A finding that somebody is changing waits a round. */
export async function tellOfDeadlines(
  sql: Sql,
  now: Date,
  signal?: AbortSignal,
): Promise<{ readonly atRisk: number; readonly breached: number }> {
  let [atRisk, breached] = [0, 0];
  for (let told = 0; told < noticesPerRoundMax && signal?.aborted !== true; ) {
    const rows = await sql.begin((tx) => tellSome(tx, now));
    const over = rows.filter(({ is_over }) => is_over).length;
    [atRisk, breached] = [atRisk + rows.length - over, breached + over];
    told += rows.length;
    if (rows.length < batch) break;
  }
  return { atRisk, breached };
}

/** One that is over already when it is looked at is only said to be over. */
async function tellSome(tx: Tx, now: Date): Promise<readonly Due[]> {
  const rows = await tx<Due[]>`
    select id, application_id, due_at, sla_days, sla_class, due_at <= ${now} as is_over from vm_findings
    where is_open and due_at is not null and sla_paused_at is null and sla_told < 2
      and vm_sla_notice_at(due_at, sla_start, sla_told) <= ${now} and ${ofActive(tx)}
    order by vm_sla_notice_at(due_at, sla_start, sla_told) desc limit ${batch} for update skip locked`;
  const inOrder = [...rows].sort((left, right) => left.due_at.getTime() - right.due_at.getTime() || left.id - right.id);
  await emit(
    tx,
    inOrder.map((row) => ({
      type: row.is_over ? 'sla.breached' : 'sla.at_risk',
      entity: 'finding',
      entityId: row.id,
      applicationId: row.application_id,
      payload: { due_at: row.due_at.toISOString(), days: row.sla_days, class: row.sla_class },
    })),
    now,
  );
  for (const [told, isOver] of [
    [1, false],
    [2, true],
  ] as const) {
    const ids = rows.filter(({ is_over }) => is_over === isOver).map(({ id }) => id);
    if (ids.length > 0) await tx`update vm_findings set sla_told = ${told} where id in ${tx(ids)}`;
  }
  return rows;
}
