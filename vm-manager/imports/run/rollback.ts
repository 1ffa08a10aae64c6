// An import is undone: the last one of its scope. Sightings that it made are removed, those that it took for gone are
// there again, and states follow: what only it found is deleted (or resolved, where people have worked on it), what it
// closed is open, what it opened is closed. What it changed in titles and numbers of findings that were known before
// stays: the next import of the scope writes them again.
import { ApiError, systemActor } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { visibleByApplication } from '../../assets/resources.js';
import type { Tx } from '../../database.js';
import type { FindingRow } from '../../findings/fields.js';
import { transition } from '../../findings/transition.js';
import { isOpen } from '../../findings/words.js';
import { endpoint, notFound, toId, type Call, type Endpoint } from '../../kit/endpoint.js';
import { emit } from '../../kit/events.js';
import { RunView, viewRun, type Run } from '../../kit/runs.js';
import { undoComponents } from '../../components/store.js';
import { lockScope } from './scope-lock.js';

interface Undone {
  sightings: number;
  components: number;
  deleted: number;
  resolved: number;
  reopened: number;
}

/** The run, locked with its scope. Throws 404 for one out of reach, 409 for one that is not the last of its scope. */
async function requireLast(tx: Tx, call: Call): Promise<Run & { readonly scope_key: string }> {
  const id = toId(call.params['id'] ?? '', 'import');
  const visible = visibleByApplication('vm_runs')(tx, call.reach);
  const [known] = await tx<Run[]>`select * from vm_runs where id = ${id} and kind = 'import' and ${visible}`;
  if (known === undefined || known.scope_key === null) throw notFound('import', id);
  await lockScope(tx, known.scope_key);
  const [run] = await tx<Run[]>`select * from vm_runs where id = ${id} for update`;
  if (run?.status !== 'succeeded') throw new ApiError('conflict', `The import ${id} is ${run?.status ?? 'gone'}.`);
  const [later] = await tx<{ id: number }[]>`
    select id from vm_runs where scope_key = ${known.scope_key} and id > ${id} and status in ('succeeded', 'running')
    order by id desc limit 1`;
  if (later !== undefined)
    throw new ApiError('conflict', `The import ${later.id} of the same scope came later: undo that one first.`);
  return { ...run, scope_key: known.scope_key };
}

/** Takes the run's sightings back; returns how many it had made. */
async function undoSightings(tx: Tx, run: Run & { readonly scope_key: string }): Promise<number> {
  const { id, scope_key: scope } = run;
  const removed = await tx`delete from vm_occurrences where scope_key = ${scope} and first_run = ${id}`;
  // what it has seen again was gone before
  await tx`
    update vm_occurrences set last_run = (absences -> -1 ->> 0)::bigint,
      gone_at = (absences -> -1 ->> 2)::timestamptz, absences = absences - -1
    where scope_key = ${scope} and last_run = ${id} and absences -> -1 ->> 1 = ${String(id)}`;
  await tx`
    update vm_occurrences set last_run = (
      select max(r.id) from vm_runs r where r.scope_key = ${scope} and r.id < ${id} and r.status = 'succeeded')
    where scope_key = ${scope} and last_run = ${id}`;
  // one moment for all that a run takes for gone: the moment of the run
  await tx`update vm_occurrences set gone_at = null where scope_key = ${scope} and gone_at = ${run.created_at}`;
  return removed.count;
}

/** States of what the run had moved, each by the road that every change of state takes. */
async function undoStates(tx: Tx, run: Run, now: Date): Promise<Omit<Undone, 'sightings' | 'components'>> {
  const undone = { deleted: 0, resolved: 0, reopened: 0 };
  const deleted = await tx`
    delete from vm_findings f using vm_transitions made
    where made.finding_id = f.id and made.run_id = ${run.id} and made.from_status is null
      and not exists (select 1 from vm_occurrences o where o.finding_id = f.id)
      and not exists (select 1 from vm_transitions m where m.finding_id = f.id and m.by <> 'importer')
      and not exists (select 1 from vm_comments c where c.entity = 'finding' and c.entity_id = f.id)
      and f.assignee_id is null and f.risk_override is null`;
  undone.deleted = deleted.count;
  const rows = await tx<(FindingRow & { is_seen: boolean; closed_it: boolean })[]>`
    select f.*, exists (select 1 from vm_occurrences o where o.finding_id = f.id and o.gone_at is null) as is_seen,
      (select m.to_status = 'resolved' from vm_transitions m where m.finding_id = f.id and m.run_id = ${run.id}
        order by m.id desc limit 1) as closed_it
    from vm_findings f where f.id in (select finding_id from vm_transitions where run_id = ${run.id})
    order by f.id for update of f`;
  const reason = `the import ${run.id} was undone`;
  for (const row of rows) {
    const wanted = { by: 'importer', reason } as const;
    if (row.closed_it && row.is_seen && row.status === 'resolved') {
      await transition(tx, row, { ...wanted, to: 'reopened' }, systemActor, now);
      undone.reopened++;
    } else if (!row.closed_it && isOpen(row.status) && (!row.is_seen || row.status === 'reopened')) {
      await transition(tx, row, { ...wanted, to: 'resolved' }, systemActor, now);
      undone.resolved++;
    }
  }
  return undone;
}

/** All that the run has written, within the caller's transaction. */
export async function undoImport(tx: Tx, run: Run & { readonly scope_key: string }, now: Date): Promise<Undone> {
  const sightings = await undoSightings(tx, run);
  const components = await undoComponents(tx, run, now);
  return { sightings, components, ...(await undoStates(tx, run, now)) };
}

const rollback = endpoint({
  method: 'POST',
  path: '/imports/:id/rollback',
  permission: 'import_findings',
  kind: 'B',
  summary: 'Undo the last import of a scope: its sightings go, and states follow',
  answer: Type.Object({
    run: RunView,
    sightings_removed: Type.Integer(),
    components_removed: Type.Integer(),
    findings_deleted: Type.Integer(),
    findings_resolved: Type.Integer(),
    findings_reopened: Type.Integer(),
  }),
  handle: async (call) => {
    const made = await call.audited(
      'vm.import',
      ({ run }: { readonly run: Run }) => `undid the import ${run.id}`,
      async (tx) => {
        const run = await requireLast(tx, call);
        const undone = await undoImport(tx, run, call.now);
        const [row] = await tx<Run[]>`update vm_runs set status = 'rolled_back' where id = ${run.id} returning *`;
        const applicationId = run.application_id;
        const event = { type: 'import.rolled_back', entity: 'run', entityId: run.id, applicationId } as const;
        await emit(tx, [event], call.now);
        return { run: row ?? run, undone };
      },
      ({ undone }) => undone,
    );
    const { run, undone } = made;
    return {
      run: viewRun(run),
      sightings_removed: undone.sightings,
      components_removed: undone.components,
      findings_deleted: undone.deleted,
      findings_resolved: undone.resolved,
      findings_reopened: undone.reopened,
    };
  },
});

export const rollbackEndpoints: readonly Endpoint[] = [rollback];
