// Rules at work: on what an import brought, or on all open findings; and the taking back of that. A run goes on in
// steps, each a short transaction, so that others have their turn; whatever process works on it, it goes on where the
// last step ended.
import { Nullable, OneOf, systemActor, Time, type Actor } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { setTimeout as pause } from 'node:timers/promises';
import type { Tx } from '../database.js';
import type { FindingRow } from '../findings/fields.js';
import type { Host } from '../host.js';
import { applyRules, readRules, undoSome } from './apply.js';
import type { Rule } from './effects.js';

const stepSize = 200;
/** Between two steps where everybody shares one connection. */
const pauseMs = 25;
const leaseMs = 30_000;
const runStatuses = ['queued', 'running', 'succeeded', 'undoing', 'undone'] as const;

export interface RuleRun {
  readonly id: number;
  readonly cause: 'import' | 'stored';
  readonly import_run: number | null;
  readonly status: (typeof runStatuses)[number];
  readonly reached: number;
  readonly looked_at: number;
  readonly changed: number;
  readonly kept: number;
  readonly created_by: string;
  readonly created_by_id: string | null;
  readonly created_at: Date;
  readonly finished_at: Date | null;
}

export const RuleRunView = Type.Object({
  id: Type.String(),
  cause: OneOf(['import', 'stored']),
  import_run: Nullable(Type.String({ description: 'the import whose findings it is for; null: all open findings' })),
  status: OneOf(runStatuses),
  looked_at: Type.Integer({ description: 'findings that rules were asked about so far' }),
  changed: Type.Integer({
    description: 'findings that were changed; while and after it is undone: changes taken back',
  }),
  kept: Type.Integer({ description: 'changes that were not taken back, since the finding was changed again' }),
  created_by: Type.String(),
  created_at: Time,
  finished_at: Nullable(Time),
});

export const viewRuleRun = (run: RuleRun) => ({
  id: String(run.id),
  cause: run.cause,
  import_run: run.import_run === null ? null : String(run.import_run),
  status: run.status,
  looked_at: run.looked_at,
  changed: run.changed,
  kept: run.kept,
  created_by: run.created_by,
  created_at: run.created_at.toISOString(),
  finished_at: run.finished_at?.toISOString() ?? null,
});

/** Notes in the transaction of an import that rules are to see what it brought; nothing where there are no rules. */
export async function queueImport(tx: Tx, importRun: number, actor: Actor, now: Date): Promise<void> {
  await tx`
    insert into vm_rule_runs (cause, import_run, created_by, created_by_id, created_at)
    select 'import', ${importRun}::bigint, ${actor.name}, ${actor.id}, ${now}::timestamptz
    where exists (select 1 from vm_rules where enabled) on conflict (import_run) do nothing`;
}

export async function queueStored(tx: Tx, actor: Actor, now: Date): Promise<RuleRun> {
  const [run] = await tx<RuleRun[]>`
    insert into vm_rule_runs (cause, created_by, created_by_id, created_at)
    values ('stored', ${actor.name}, ${actor.id}, ${now}) returning *`;
  if (run === undefined) throw new Error('the run of the rules was not stored');
  return run;
}

type Working = Pick<Host, 'sql' | 'now' | 'hasOneConnection' | 'identity'>;

/** Works on what an import has noted until it is done; also where another process has begun it. */
export async function triageImport(host: Working, importRun: number): Promise<void> {
  const [noted] = await host.sql<{ id: number }[]>`select id from vm_rule_runs where import_run = ${importRun}`;
  if (noted !== undefined) await workOn(host, noted.id, Infinity);
}

/** Works on one run for about so long, milliseconds; returns it as it is then. What is left, `workOnWaiting` does. */
export async function workOn(host: Working, id: number, msMax: number): Promise<RuleRun> {
  const until = performance.now() + msMax;
  const rules = await usable(host, await readRules(host.sql));
  for (;;) {
    const run = await host.sql.begin((tx) => step(tx, id, rules, new Date(host.now())));
    if (run === null)
      await pause(pauseMs); // another process is at it
    else if (isOver(run) || performance.now() >= until) return run;
    else if (host.hasOneConnection === true) await pause(pauseMs);
  }
}

const isOver = ({ status }: RuleRun): boolean => status === 'succeeded' || status === 'undone';

/** Everything that waits or was left; returns how many runs came to their end. */
export async function workOnWaiting(host: Working, signal?: AbortSignal): Promise<number> {
  let ended = 0;
  const waiting = await host.sql<{ id: number }[]>`
    select id from vm_rule_runs where status in ('queued', 'running', 'undoing')
      and (lease_until is null or lease_until < ${new Date(host.now())}) order by id limit 100`;
  for (const { id } of waiting) {
    if (signal?.aborted === true) break;
    if (isOver(await workOn(host, id, leaseMs))) ended += 1;
  }
  return ended;
}

/** Rules without the effects that give findings to people who are gone. */
export async function usable(host: Pick<Working, 'identity'>, rules: readonly Rule[]): Promise<Rule[]> {
  const people = new Set(
    rules.flatMap(({ effects }) => effects.flatMap((one) => (one.set === 'assignee' ? [one.value ?? ''] : []))),
  );
  const gone = new Set<string>();
  for (const id of people) if ((await host.identity.owner(id)) === null) gone.add(id);
  return rules.map((rule) => ({
    ...rule,
    effects: rule.effects.filter(({ set, value = '' }) => set !== 'assignee' || !gone.has(value)),
  }));
}

/** null: another process has the row just now. */
async function step(tx: Tx, id: number, rules: readonly Rule[], now: Date): Promise<RuleRun | null> {
  const [run] = await tx<RuleRun[]>`select * from vm_rule_runs where id = ${id} for update skip locked`;
  if (run === undefined) {
    const [there] = await tx`select 1 from vm_rule_runs where id = ${id}`;
    if (there === undefined) throw new Error(`there is no run ${id} of rules`);
    return null;
  }
  if (isOver(run)) return run;
  const actor: Actor = { ...systemActor, id: run.created_by_id, name: run.created_by };
  const made =
    run.status === 'undoing' ? await undoStep(tx, run, actor, now) : await applyStep(tx, run, rules, actor, now);
  const isEnd = made.isAll;
  const status = run.status === 'undoing' ? (isEnd ? 'undone' : 'undoing') : isEnd ? 'succeeded' : 'running';
  const [after] = await tx<RuleRun[]>`
    update vm_rule_runs set status = ${status}, reached = ${made.reached}, looked_at = looked_at + ${made.lookedAt},
      changed = changed + ${made.changed}, kept = kept + ${made.kept},
      lease_until = ${isEnd ? null : new Date(now.getTime() + leaseMs)}, finished_at = ${isEnd ? now : null}
    where id = ${id} returning *`;
  return after ?? null;
}

interface Stepped {
  readonly reached: number;
  readonly lookedAt: number;
  readonly changed: number;
  readonly kept: number;
  readonly isAll: boolean;
}

async function applyStep(tx: Tx, run: RuleRun, rules: readonly Rule[], actor: Actor, now: Date): Promise<Stepped> {
  const brought =
    run.import_run === null
      ? tx`true`
      : tx`exists (select 1 from vm_occurrences o where o.finding_id = f.id and o.last_run = ${run.import_run})`;
  const rows = await tx<FindingRow[]>`
    select f.* from vm_findings f where f.id > ${run.reached} and f.is_open and f.source <> 'quality' and ${brought}
    order by f.id limit ${stepSize} for update of f`;
  const changed = await applyRules(tx, rules, rows, run.id, actor, now);
  const reached = rows.at(-1)?.id ?? run.reached;
  return { reached, lookedAt: rows.length, changed, kept: 0, isAll: rows.length < stepSize };
}

async function undoStep(tx: Tx, run: RuleRun, actor: Actor, now: Date): Promise<Stepped> {
  const { last, undone, kept, isAll } = await undoSome(
    tx,
    run.id,
    run.reached === 0 ? null : run.reached,
    stepSize,
    actor,
    now,
  );
  return { reached: last, lookedAt: 0, changed: undone, kept, isAll };
}
