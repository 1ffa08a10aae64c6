// The verdict on a commit that was pushed: asked for once the reports of its pipeline are there. A commit that nothing
// was imported for within a day is judged without them, which a gate refuses.
import { exitCodeOf, keep, look, verdictOf } from '../gate/evaluate.js';
import type { Queryable } from '../database.js';
import type { Host } from '../host.js';
import { finishRun, type Run } from '../kit/runs.js';
import type { Pushed } from './providers.js';

export const waitMsMax = 86_400_000;
/** Pipelines send the reports of several tools one after the other. */
export const settleMs = 60_000;
/** Of one round; the rest waits for the next. */
const atOnceMax = 200;
const deliveriesKeptMs = 90 * 86_400_000;

async function isReady(sql: Queryable, run: Run, now: Date): Promise<boolean> {
  const { commit } = run.input as unknown as Pushed;
  const [found] = await sql<{ last: Date | null; open: boolean }[]>`
    select max(finished_at) filter (where kind = 'import' and status = 'succeeded') as last,
      coalesce(bool_or(kind = 'ci' and status = 'running'), false) as open
    from vm_runs where application_id = ${run.application_id} and kind in ('import', 'ci')
      and input ->> 'commit' = ${commit}`;
  if (found === undefined || found.last === null || found.open) return false;
  return now.getTime() - found.last.getTime() >= settleMs;
}

/** Judges the commit of a run if it can be judged; the run as it is then. */
export async function judge(host: Host, run: Run, now: Date): Promise<Run> {
  const isLate = now.getTime() - run.created_at.getTime() >= waitMsMax;
  if (!isLate && !(await isReady(host.sql, run, now))) return run;
  const { commit } = run.input as unknown as Pushed;
  const looked = await look(host, { id: run.application_id ?? 0 }, commit, null, now);
  return host.sql.begin(async (tx) => {
    const [waiting] = await tx<Run[]>`select * from vm_runs where id = ${run.id} and status = 'queued' for update`;
    if (waiting === undefined) return run;
    const made = await keep(tx, looked, run.created_by, now);
    const verdict = verdictOf(made, now);
    const result = { evaluation_id: String(made.id), verdict, exit_code: exitCodeOf(made, now) };
    await host.audit.record(tx, {
      actor: { id: null, name: run.created_by, role: 'system', sourceIp: '' },
      action: 'vm.gate',
      summary: `${run.created_by} had ${commit} judged: ${verdict}`,
      details: result,
    });
    return finishRun(tx, run.id, { status: looked.snapshot.evaluated ? 'succeeded' : 'timed_out', result }, now);
  });
}

/** Everything that waits, oldest first; forgets deliveries of three months ago. Returns how many were judged. */
export async function judgeWaiting(host: Host, now: Date): Promise<number> {
  const runs = await host.sql<Run[]>`
    select * from vm_runs where kind = 'scm' and status = 'queued' order by id limit ${atOnceMax}`;
  let judged = 0;
  for (const run of runs) if ((await judge(host, run, now)).status !== 'queued') judged++;
  await host.sql`delete from vm_scm_deliveries where at < ${new Date(now.getTime() - deliveriesKeptMs)}`;
  return judged;
}
