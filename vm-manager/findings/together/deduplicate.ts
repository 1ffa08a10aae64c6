// /findings/deduplications: deduplication over what is stored, as a run: which findings of an application are one by
// the ties of clusters.ts, made so a cluster at a time, and taken back as a whole.
import { ApiError, OneOf, type Actor } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { requireApplication, visibleByApplication } from '../../assets/resources.js';
import { allOf, type Sql, type Tx } from '../../database.js';
import type { Reach } from '../../kit/caller.js';
import { endpoint, notFound, toId, type Endpoint } from '../../kit/endpoint.js';
import { List, ListQuery, readPage } from '../../kit/list.js';
import { lockScope } from '../../imports/run/scope-lock.js';
import { inBackground } from '../../kit/runs/background.js';
import { insertRun, RunView, viewRun, type Run } from '../../kit/runs.js';
import type { FindingRow } from '../fields.js';
import { transition } from '../transition.js';
import { isOpen, openStatuses } from '../words.js';
import { propose } from './cluster-endpoints.js';
import { reasons, type Cluster } from './clusters.js';

const closed = { additionalProperties: false } as const;
const kind = 'dedup';
const undoKind = 'dedup.undo';
const Id = Type.String({ maxLength: 20 });
/** Clusters that the result of a run names; the numbers count all. */
const shownMax = 200;
const confidenceDefault = 0.8;

interface Plan {
  readonly canonical: number;
  readonly duplicates: readonly number[];
  readonly confidence: number;
  readonly reasons: readonly string[];
}

/**
 * One that has duplicates already stays, else the oldest. null: several have some, and a person has to say which stays.
 */
function planOf({ ids, confidence, ties }: Cluster, withDuplicates: ReadonlySet<number>): Plan | null {
  const heads = ids.filter((id) => withDuplicates.has(id));
  const canonical = heads[0] ?? ids[0];
  if (heads.length > 1 || canonical === undefined) return null;
  const why = [...new Set(ties.map(({ reason }) => reasons[reason]))];
  return { canonical, duplicates: ids.filter((id) => id !== canonical), confidence, reasons: why };
}

async function plan(sql: Sql, reach: Reach, application: string, least: number) {
  const { clusters, isPartial } = await propose(sql, reach, application);
  const sure = clusters.filter(({ confidence }) => confidence >= least);
  const heads = await sql<{ id: number }[]>`
    select distinct canonical_id as id from vm_findings
    where application_id = ${application} and status = 'duplicate' and canonical_id is not null`;
  const withDuplicates = new Set(heads.map(({ id }) => id));
  const plans = sure.map((one) => planOf(one, withDuplicates));
  const made = plans.filter((one) => one !== null);
  return { plans: made, undecided: plans.length - made.length, isPartial };
}

/** One cluster; findings that somebody has closed or linked meanwhile are left as they are. Returns how many. */
async function linkOne(tx: Tx, run: Run, { canonical, duplicates, reasons: why }: Plan, actor: Actor, now: Date) {
  const rows = await tx<FindingRow[]>`
    select * from vm_findings where id in ${tx([canonical, ...duplicates])} order by id for update`;
  const head = rows.find(({ id }) => id === canonical);
  if (head === undefined || !isOpen(head.status)) return 0;
  let linked = 0;
  for (const row of rows) {
    if (row.id === canonical || !isOpen(row.status)) continue;
    await tx`
      insert into vm_dedup_links (run_id, finding_id, canonical_id, before_status)
      values (${run.id}, ${row.id}, ${canonical}, ${row.status})`;
    const reason = `run ${run.id} of deduplication: ${why.join('; ')}`;
    await transition(tx, row, { to: 'duplicate', by: 'policy', canonicalId: canonical, reason }, actor, now);
    linked++;
  }
  return linked;
}

/**
 * Throws 409 while a deduplication of the application, or its taking back, is at work: one would link what the other
 * unlinks. Two that ask at the same moment are asked one after the other, until the transaction ends.
 */
async function requireQuiet(tx: Tx, application: number): Promise<void> {
  await lockScope(tx, `${application}|dedup`);
  const [other] = await tx<{ id: number; kind: string }[]>`
    select id, kind from vm_runs
    where kind in (${kind}, ${undoKind}) and status = 'running' and application_id = ${application} limit 1`;
  if (other !== undefined)
    throw new ApiError(
      'conflict',
      `The run ${other.id} (${other.kind}) of the application is at work: wait for its end.`,
    );
}

const begin = endpoint({
  method: 'POST',
  path: '/findings/deduplications',
  permission: 'triage_findings',
  kind: 'R',
  summary:
    'Look for findings of an application that are one, among all that are stored, and make them so; with dry_run the ' +
    'run says what would follow. It can be undone',
  body: Type.Object(
    {
      application_id: Id,
      min_confidence: Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: 1,
          default: confidenceDefault,
          description: 'as GET /findings/clusters has it',
        }),
      ),
      dry_run: Type.Optional(Type.Boolean()),
    },
    closed,
  ),
  status: 202,
  answer: RunView,
  handle: async (call) => {
    const { host, sql, reach, body, now } = call;
    const { actor } = call.caller;
    const { min_confidence: least = confidenceDefault, dry_run: isTrial = false } = body;
    const input = { dry_run: isTrial, min_confidence: least };
    const run = await call.audited(
      'vm.transition',
      (made: Run) => `began the deduplication ${made.id}${isTrial ? ' as a trial' : ''}`,
      async (tx) => {
        const { id } = await requireApplication(tx, reach, body.application_id);
        await requireQuiet(tx, id);
        return insertRun(tx, { kind, applicationId: id, input, createdBy: actor.name, status: 'running' }, now);
      },
    );
    inBackground(host, run, async (signal) => {
      const { plans, undecided, isPartial } = await plan(sql, reach, String(run.application_id), least);
      let duplicates = isTrial ? plans.reduce((sum, one) => sum + one.duplicates.length, 0) : 0;
      for (const one of isTrial ? [] : plans) {
        signal.throwIfAborted();
        duplicates += await sql.begin((tx) => linkOne(tx, run, one, actor, new Date(host.now())));
      }
      const shown = plans.slice(0, shownMax).map((one) => ({
        canonical_id: String(one.canonical),
        vuln_ids: one.duplicates.map(String),
        ...{ confidence: one.confidence, reasons: one.reasons },
      }));
      return { clusters: plans.length, duplicates, undecided, is_partial: isPartial, shown };
    });
    return viewRun(run);
  },
});

async function undoOne(tx: Tx, of: number, id: number, actor: Actor, now: Date): Promise<boolean> {
  const [row] = await tx<(FindingRow & { before_status: FindingRow['status']; linked_to: number })[]>`
    select f.*, l.before_status, l.canonical_id as linked_to from vm_findings f
      join vm_dedup_links l on l.finding_id = f.id
    where l.run_id = ${of} and f.id = ${id} and l.undone_at is null for update of f`;
  if (row === undefined) return false;
  // a person has decided otherwise since
  if (row.status !== 'duplicate' || row.canonical_id !== row.linked_to) return false;
  const before = openStatuses.find((one) => one === row.before_status) ?? 'reopened';
  const reason = `the run ${of} of deduplication was undone`;
  await transition(tx, row, { to: before, by: 'policy', reason }, actor, now);
  await tx`update vm_dedup_links set undone_at = ${now} where run_id = ${of} and finding_id = ${id}`;
  return true;
}

const undo = endpoint({
  method: 'POST',
  path: '/findings/deduplications/:id/undo',
  permission: 'triage_findings',
  kind: 'R',
  summary: 'Give the duplicates of a run their state back; what a person has changed since stays',
  status: 202,
  answer: RunView,
  handle: async (call) => {
    const { host, sql, reach, now } = call;
    const { actor } = call.caller;
    const id = toId(call.params['id'] ?? '', 'deduplication');
    const run = await call.audited('vm.transition', `undid the deduplication ${id}`, async (tx) => {
      const [found] = await tx<Run[]>`
        select * from vm_runs where id = ${id} and kind = ${kind} and ${visible(tx, reach)} for update`;
      if (found === undefined) throw notFound('deduplication', id);
      if (found.status === 'running') throw new ApiError('conflict', `The deduplication ${id} is still at work.`);
      await requireQuiet(tx, found.application_id ?? 0);
      const left = await tx`select 1 from vm_dedup_links where run_id = ${id} and undone_at is null limit 1`;
      if (left.length === 0) throw new ApiError('conflict', `Nothing of the deduplication ${id} is to be undone.`);
      const made = {
        kind: undoKind,
        applicationId: found.application_id,
        input: { undoes: id },
        createdBy: actor.name,
      };
      return insertRun(tx, { ...made, status: 'running' }, now);
    });
    inBackground(host, run, async (signal) => {
      const links = await sql<{ finding_id: number }[]>`
        select finding_id from vm_dedup_links where run_id = ${id} and undone_at is null order by finding_id`;
      let undone = 0;
      for (const { finding_id: one } of links) {
        signal.throwIfAborted();
        if (await sql.begin((tx) => undoOne(tx, Number(id), one, actor, new Date(host.now())))) undone++;
      }
      return { undone, kept: links.length - undone };
    });
    return viewRun(run);
  },
});

const visible = visibleByApplication('vm_runs');

const list = endpoint({
  method: 'GET',
  path: '/findings/deduplications',
  permission: 'view_findings',
  kind: 'R',
  summary: 'Deduplications and what became of them, the newest first',
  query: Type.Object(
    {
      ...ListQuery,
      application_id: Type.Optional(Id),
      state: Type.Optional(OneOf(['running', 'over'])),
    },
    closed,
  ),
  answer: List(RunView),
  handle: async ({ sql, reach, query }) => {
    const { application_id: application, state } = query;
    const where = allOf(sql, [
      sql`kind in (${kind}, ${undoKind})`,
      visible(sql, reach),
      ...(application === undefined ? [] : [sql`application_id = ${toId(application, 'application')}`]),
      ...(state === undefined ? [] : [sql`(status = 'running') = ${state === 'running'}`]),
    ]);
    const sorts = { id: { column: 'id', type: 'number' } } as const;
    const page = await readPage<Run>(sql, { table: 'vm_runs', where, sorts, sort: '-id' }, query);
    return { ...page, items: page.items.map(viewRun) };
  },
});

export const deduplicationEndpoints: readonly Endpoint[] = [list, begin, undo];
