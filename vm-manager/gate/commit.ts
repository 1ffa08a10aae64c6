// What a commit has and its baseline has not, read from the sightings that imports leave behind. A sighting lies in a
// scope (application, format, branch, profile) and spans the imports from its first to its last: it belongs to every
// import of its scope in between, but for those while it was gone.
import type { FindingRow } from '../findings/fields.js';
import { json, type Queryable } from '../database.js';
import { isOfAnother, type By, type Sighted } from '../imports/run/looked-at.js';
import type { GateFinding } from './conditions.js';

/** An import that counts: of the commit, or of its baseline. */
export interface ImportRef {
  readonly id: number;
  readonly scope_key: string;
  readonly commit: string;
  readonly branch: string;
}

export interface Baseline {
  readonly commit: string;
  readonly branch: string;
  readonly run_ids: readonly string[];
}

export interface CommitFacts {
  /** Of its first import. */
  readonly branch: string;
  readonly runIds: readonly string[];
  readonly baseline: Baseline | null;
  /** Open, of the application; without those that only other branches have. */
  readonly findings: readonly GateFinding[];
  /** Open findings that only other branches have. */
  readonly elsewhere: readonly string[];
  /** Why its imports prove nothing. */
  readonly runGaps: readonly string[];
  /** Open findings of the commit whose severity is assumed. */
  readonly assumed: readonly string[];
  /** Findings of the commit that people accepted, muted or called wrong. */
  readonly excluded: number;
}

const importsOf = (sql: Queryable, applicationId: number) => sql`
  select id, scope_key, coalesce(input ->> 'commit', '') as commit, coalesce(input ->> 'branch', '') as branch,
    coalesce((result ->> 'is_scan')::boolean, true) as is_scan
  from vm_runs where kind = 'import' and status = 'succeeded' and application_id = ${applicationId}
    and scope_key is not null`;

/**
 * The imports that a commit is compared with: the newest of each scope on the baseline's branch. A commit of that
 * branch itself, or of an application that has nothing there, is compared with what its own branch had before; commits
 * that the gate refused are passed over, for otherwise a second push would make a finding old.
 */
async function readBaseline(
  sql: Queryable,
  applicationId: number,
  own: readonly ImportRef[],
  baselineBranch: string,
  asked: string | null,
): Promise<readonly ImportRef[]> {
  const [first] = own;
  if (first === undefined) return [];
  const newest = (where: ReturnType<typeof importsOf>) => sql<ImportRef[]>`
    select distinct on (scope_key) * from (${importsOf(sql, applicationId)}) i
    where commit <> ${first.commit} and ${where} order by scope_key, id desc`;
  if (asked !== null) return newest(sql`commit = ${asked}`);
  if (first.branch !== baselineBranch) {
    const there = await newest(sql`branch = ${baselineBranch}`);
    if (there.length > 0) return there;
  }
  return newest(sql`branch = ${first.branch} and id < ${Math.min(...own.map(({ id }) => id))}
    and coalesce((select e.verdict <> 'fail' or e.override is not null from vm_gate_evaluations e
      where e.application_id = ${applicationId} and e.commit = i.commit order by e.id desc limit 1), true)`);
}

interface Passed extends Sighted {
  readonly finding_id: number;
}

/**
 * Findings of the scopes of these imports that they did not look for: another host, another kind of files. An earlier
 * import has told of them, and nothing says that they are gone.
 */
async function passedOver(sql: Queryable, runs: readonly ImportRef[], seen: Set<number>): Promise<void> {
  if (runs.length === 0) return;
  const partial = await sql<{ id: number; scope_key: string; looked: { by: By; names: string[] } }[]>`
    select id, scope_key, result -> 'looked' as looked from vm_runs
    where id in ${sql(runs.map(({ id }) => id))} and result -> 'looked' is not null`;
  for (const { id, scope_key, looked } of partial) {
    const part = { by: looked.by, names: new Set(looked.names) };
    const rows = await sql<Passed[]>`
      select o.finding_id, f.source, f.rule_id, o.tool, o.location ->> 'path' as path, o.location ->> 'url' as url,
        o.location ->> 'address' as address
      from vm_occurrences o join vm_findings f on f.id = o.finding_id
      where o.scope_key = ${scope_key} and o.last_run < ${id} and o.gone_at is null`;
    for (const row of rows) if (isOfAnother(part, row)) seen.add(row.finding_id);
  }
}

/** Findings that were seen in these imports. */
async function seenIn(sql: Queryable, runs: readonly ImportRef[]): Promise<Set<number>> {
  const seen = new Set<number>();
  for (const { id, scope_key } of runs) {
    const rows = await sql<{ finding_id: number }[]>`
      select distinct finding_id from vm_occurrences
      where scope_key = ${scope_key} and first_run <= ${id} and last_run >= ${id}
        and not exists (select 1 from jsonb_array_elements(absences) a
          where (a ->> 0)::bigint < ${id} and (a ->> 1)::bigint > ${id})`;
    for (const { finding_id } of rows) seen.add(finding_id);
  }
  return seen;
}

interface Gaps {
  readonly id: number;
  readonly scope_key: string;
  /** What the request said of its scope, and the tool. */
  readonly family: string;
  /** '': what it looked at is not known. */
  readonly subject: string;
  readonly mode: string;
  readonly unread: number;
  readonly unfinished: boolean;
}

/** A tool that ended early may not have come to say what it looks at: any later report of it stands in for that one. */
const replaces = (later: Gaps, earlier: Gaps): boolean =>
  later.scope_key === earlier.scope_key || (earlier.subject === '' && later.family === earlier.family);

/** Of each scope the imports since its last `sync`, which replaces what was imported before. */
async function readGaps(sql: Queryable, own: readonly ImportRef[]): Promise<string[]> {
  const runs = await sql<Gaps[]>`
    select id, scope_key, jsonb_build_array(input -> 'format', input -> 'branch', input -> 'scope_key',
      result -> 'tool')::text as family, coalesce(input ->> 'subject', '') as subject,
      coalesce(input ->> 'mode', 'add') as mode, coalesce((result ->> 'unread')::int, 0) as unread,
      coalesce((result ->> 'unfinished')::boolean, false) as unfinished
    from vm_runs where id in ${sql(own.map(({ id }) => id))} order by id`;
  const counted = runs.filter(
    (run) => !runs.some((later) => later.id > run.id && later.mode === 'sync' && replaces(later, run)),
  );
  return counted.flatMap(({ id, unread, unfinished }) => [
    ...(unread > 0
      ? [`import ${id} has ${unread} records that cannot be read: correct the report and import it with mode=sync`]
      : []),
    ...(unfinished
      ? [`import ${id} is of a tool that did not finish: run it again and import its report with mode=sync`]
      : []),
  ]);
}

/** Reports that the newest pipeline of the commit sent and that were refused. */
async function readRefused(sql: Queryable, applicationId: number, commit: string): Promise<string[]> {
  const [run] = await sql<{ id: number; refused: readonly { readonly why: string }[] | null }[]>`
    select id, input -> 'refused' as refused from vm_runs
    where kind = 'ci' and application_id = ${applicationId} and input ->> 'commit' = ${commit}
    order by id desc limit 1`;
  return (run?.refused ?? []).map(
    ({ why }) =>
      `a report of the CI run ${run?.id} was refused (${why}): correct it, and send all reports to a new run`,
  );
}

/** Null for a commit that no scan was imported for. */
export async function readCommit(
  sql: Queryable,
  application: { readonly id: number },
  commit: string,
  baselineBranch: string,
  asked: string | null,
): Promise<CommitFacts | null> {
  const own = await sql<(ImportRef & { readonly is_scan: boolean })[]>`
    select * from (${importsOf(sql, application.id)}) i where commit = ${commit} order by id`;
  const [first] = own;
  // VEX and bills of components alone name no finding that was there to be found
  if (first === undefined || !own.some(({ is_scan }) => is_scan)) return null;
  const base = await readBaseline(sql, application.id, own, baselineBranch, asked);
  const [head, before] = [await seenIn(sql, own), await seenIn(sql, base)];
  await passedOver(sql, base, before);
  const branches = [...new Set(['', baselineBranch, ...[...own, ...base].map(({ branch }) => branch)])];
  const others = await sql<{ id: number }[]>`
    select f.id from vm_findings f where f.application_id = ${application.id} and f.is_open
      and exists (select 1 from vm_occurrences o where o.finding_id = f.id and o.gone_at is null)
      and not exists (select 1 from vm_occurrences o left join vm_runs r on r.id = o.first_run
        where o.finding_id = f.id and o.gone_at is null and coalesce(r.input ->> 'branch', '') in ${sql(branches)})`;
  const elsewhere = new Set(others.map(({ id }) => id));
  const rows = await sql<FindingRow[]>`
    select * from vm_findings where application_id = ${application.id} and is_open
      and source <> 'quality' order by id`;
  const [set] =
    head.size === 0
      ? []
      : await sql<{ n: number }[]>`
    select count(*) as n from vm_findings where application_id = ${application.id}
      and status in ('risk_accepted', 'muted', 'false_positive', 'out_of_scope', 'duplicate')
      and id in (select value::bigint from jsonb_array_elements_text(${json(sql, [...head])}))`;
  const last = base.reduce<ImportRef | null>((most, run) => (most === null || run.id > most.id ? run : most), null);
  return {
    branch: first.branch,
    runIds: own.map(({ id }) => String(id)),
    baseline:
      last === null
        ? null
        : { commit: last.commit, branch: last.branch, run_ids: base.map(({ id }) => String(id)).sort() },
    findings: rows
      .filter(({ id }) => !elsewhere.has(id))
      .map((row) => ({ ...row, isNew: head.has(row.id) && !before.has(row.id) })),
    elsewhere: [...elsewhere].map(String),
    excluded: set?.n ?? 0,
    runGaps: [...(await readGaps(sql, own)), ...(await readRefused(sql, application.id, commit))],
    assumed: rows.filter((row) => head.has(row.id) && row.severity_basis === 'assumed').map(({ id }) => String(id)),
  };
}
