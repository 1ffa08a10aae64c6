// Rows of imports, written many at a time: one statement for a batch, whatever its size.
import { json, type Tx } from '../database.js';
import type { FindingRow } from '../findings/fields.js';
import { severityNumbers } from '../findings/words.js';
import type { FindingRecord, Location } from './record.js';
import type { ImportScope } from './run/scope.js';

export interface Prepared {
  readonly record: FindingRecord;
  /** Of the record, without what its other texts cost. */
  readonly ruleId: string;
  readonly kind: Location['kind'];
  readonly fingerprint: string;
  readonly toolKey: string;
  readonly cluster: string | null;
  /** The same two where it is stored under an earlier path. */
  readonly former: readonly { readonly fingerprint: string; readonly toolKey: string }[];
  /** Of all that the report says of it. */
  readonly hash: string;
  /** Whether the report said the same when `hash` was stored. */
  isAsStored(hash: string): boolean;
  readonly isSuppressed: boolean;
  /** Takes the place of a less grave one of the same report, which was counted. */
  readonly isGraver: boolean;
  readonly knownAs: string | undefined;
  readonly tool: string | undefined;
  readonly location: string;
}

interface NewFinding {
  readonly prepared: Prepared;
  readonly row: Readonly<Record<string, unknown>>;
  readonly factors: Readonly<Record<string, unknown>>;
}

/** Columns as vm_findings has them, and JSON as the database reads it. */
const rowsOf = (tx: Tx, rows: readonly object[]) => json(tx, rows);

const columns = [
  'application_id',
  'project_id',
  'title',
  'status',
  'severity',
  'severity_basis',
  'source',
  'tool',
  'rule_id',
  'cwes',
  'vuln_ids',
  'location',
  'risk_score',
  'effective_risk',
  'priority_score',
  'reachable',
  'exploit_confirmed',
  'runtime_confirmed',
  'kev',
  'epss',
  'fix_state',
  'tags',
  'fingerprint',
  'cluster_key',
  'reopen_count',
  'sla_start',
  'sla_days',
  'sla_class',
  'sla_extended_days',
  'sla_paused_ms',
  'due_at',
  'first_seen',
  'last_seen',
  'version',
  'created_at',
  'updated_at',
] as const;

const detailsOf = ({ record }: Prepared) => ({
  description: record.description,
  location: record.location,
  cvss: record.cvss,
  fix: record.fix,
  refs: record.references,
  evidence: record.evidence,
  extra: record.extra,
});

/** New findings with their details, sightings and first transitions. */
export async function insertFindings(
  tx: Tx,
  rows: readonly NewFinding[],
  scope: ImportScope,
  tool: string,
): Promise<void> {
  const { now } = scope;
  const given = rows.map(({ prepared, row }) => ({
    ...row,
    fingerprint: prepared.fingerprint,
    cluster_key: prepared.cluster,
    reopen_count: 0,
    version: 1,
    created_at: now,
    updated_at: now,
  }));
  const names = tx.unsafe(columns.join(', '));
  const made = await tx<{ id: number; fingerprint: string }[]>`
    insert into vm_findings (${names})
    select ${names} from jsonb_populate_recordset(null::vm_findings, ${rowsOf(tx, given)})
    returning id, fingerprint`;
  const ids = new Map(made.map(({ id, fingerprint }) => [fingerprint, id]));
  const idOf = ({ prepared }: NewFinding): number => ids.get(prepared.fingerprint) ?? 0;
  await tx`
    insert into vm_finding_details (finding_id, description, location, cvss, fix, refs, evidence, extra, risk_factors)
    select finding_id, description, location, nullif(cvss, 'null'::jsonb), fix, refs, evidence, extra, risk_factors
    from jsonb_populate_recordset(null::vm_finding_details, ${rowsOf(
      tx,
      rows.map((one) => ({ finding_id: idOf(one), ...detailsOf(one.prepared), risk_factors: one.factors })),
    )})`;
  await tx`
    insert into vm_transitions (finding_id, from_status, to_status, actor_id, actor, by, run_id, at)
    select n.id, null, 'new', ${scope.actor.id}, ${scope.actor.name}, 'importer', ${scope.runId}, ${now}
    from jsonb_to_recordset(${rowsOf(tx, made)}) as n(id bigint)`;
  await insertOccurrences(
    tx,
    rows.map((one) => ({ prepared: one.prepared, findingId: idOf(one) })),
    scope,
    tool,
  );
}

/** Of a sighting that was gone: when, so that the imports in between do not count as having seen it. */
const returned = (tx: Tx, runId: number) => tx`
  case when o.gone_at is null then o.absences
    else (case when jsonb_array_length(o.absences) < ${absencesMax} then o.absences else o.absences - 0 end)
      || jsonb_build_array(jsonb_build_array(o.last_run, ${runId}::bigint, o.gone_at)) end`;
const absencesMax = 20;

export async function insertOccurrences(
  tx: Tx,
  rows: readonly { readonly prepared: Prepared; readonly findingId: number }[],
  scope: ImportScope,
  tool: string,
): Promise<void> {
  if (rows.length === 0) return;
  const given = rows.map(({ prepared, findingId }) => ({
    finding_id: findingId,
    tool: prepared.record.tool ?? tool,
    tool_key: prepared.toolKey,
    location: prepared.record.location,
    raw_hash: prepared.hash,
  }));
  await tx`
    insert into vm_occurrences as o (finding_id, application_id, scope_key, tool, tool_key, location, raw_hash,
      first_run, last_run, first_seen, last_seen)
    select n.finding_id, ${scope.applicationId}, ${scope.scopeKey}, n.tool, n.tool_key, n.location, n.raw_hash,
      ${scope.runId}, ${scope.runId}, ${scope.seenAt}, ${scope.seenAt}
    from jsonb_to_recordset(${rowsOf(tx, given)})
      as n(finding_id bigint, tool text, tool_key text, location jsonb, raw_hash text)
    on conflict (scope_key, tool_key) do update set absences = ${returned(tx, scope.runId)},
      last_run = excluded.last_run, last_seen = excluded.last_seen, gone_at = null, missed_runs = 0`;
}

/** Sightings that a report has again. */
export async function touchOccurrences(tx: Tx, ids: readonly number[], scope: ImportScope): Promise<void> {
  if (ids.length === 0) return;
  await tx`
    update vm_occurrences o set absences = ${returned(tx, scope.runId)}, last_run = ${scope.runId},
      last_seen = greatest(o.last_seen, ${scope.seenAt}::timestamptz), gone_at = null, missed_runs = 0
    where o.id in ${tx(ids)}`;
  await tx`
    update vm_findings f set last_seen = greatest(f.last_seen, ${scope.seenAt}::timestamptz) from vm_occurrences o
    where o.id in ${tx(ids)} and f.id = o.finding_id and f.last_seen < ${scope.seenAt}`;
}

const contentColumns = columns.filter(
  (name) =>
    ![
      'application_id',
      'project_id',
      'status',
      'fingerprint',
      'cluster_key',
      'reopen_count',
      'first_seen',
      'sla_start',
      'sla_paused_ms',
      'version',
      'created_at',
    ].includes(name),
);

/** What a report says now of a finding that it described otherwise before. */
export interface NewContent {
  readonly id: number;
  readonly prepared: Prepared;
  readonly values: Readonly<Record<string, unknown>>;
  readonly factors: Readonly<Record<string, unknown>>;
}

/**
 * Findings that a report describes otherwise than before, with their details and the hashes of their sightings: three
 * statements for all of them. Where two records are of one finding, the later one is what is kept.
 */
export async function refreshContents(tx: Tx, contents: readonly NewContent[], scope: ImportScope): Promise<void> {
  if (contents.length === 0) return;
  const last = [...new Map(contents.map((one) => [one.id, one])).values()];
  const given = rowsOf(
    tx,
    last.map(({ id, values }) => ({ ...values, id, updated_at: scope.now })),
  );
  await tx`
    update vm_findings f set ${tx.unsafe(contentColumns.map((name) => `${name} = n.${name}`).join(', '))},
      version = f.version + 1
    from jsonb_populate_recordset(null::vm_findings, ${given}) n where f.id = n.id`;
  const details = rowsOf(
    tx,
    last.map(({ id, prepared, factors }) => ({ finding_id: id, ...detailsOf(prepared), risk_factors: factors })),
  );
  await tx`
    update vm_finding_details d set description = n.description, location = n.location,
      cvss = nullif(n.cvss, 'null'::jsonb), fix = n.fix, refs = n.refs, evidence = n.evidence, extra = n.extra,
      risk_factors = n.risk_factors
    from jsonb_populate_recordset(null::vm_finding_details, ${details}) n where d.finding_id = n.finding_id`;
  const sightings = rowsOf(
    tx,
    contents.map(({ prepared }) => ({
      tool_key: prepared.toolKey,
      raw_hash: prepared.hash,
      location: prepared.record.location,
    })),
  );
  await tx`
    update vm_occurrences o set raw_hash = n.raw_hash, location = n.location
    from jsonb_to_recordset(${sightings}) as n(tool_key text, raw_hash text, location jsonb)
    where o.scope_key = ${scope.scopeKey} and o.tool_key = n.tool_key`;
}

/** Records after which the tables are so much larger that plans have to be made anew. */
const analyseAt = [2000, 20_000];

/**
 * Statistics for the planner, where those that stand are of tables smaller than what was written. A sample of 3,000
 * rows tells small from large; one of the usual 30,000 kept the one connection of the embedded database for seconds.
 */
export async function renewStatistics(tx: Tx, before: number, written: number): Promise<void> {
  if (!analyseAt.some((count) => before < count && written >= count)) return;
  const [known] = await tx<{ rows: number }[]>`
    select min(reltuples)::float8 as rows from pg_class
    where oid in ('vm_findings'::regclass, 'vm_occurrences'::regclass, 'vm_finding_details'::regclass)`;
  if ((known?.rows ?? -1) >= written) return;
  await tx`set local default_statistics_target = 10`;
  await tx`analyze vm_findings, vm_occurrences, vm_finding_details`;
}

/** What a person has rated stays where the report says nothing that anybody knows. */
export const severityColumns = ({ severity, severityProblem, source }: FindingRecord, before: FindingRow | null) =>
  severityProblem === undefined || source === 'quality'
    ? { severity: severityNumbers[severity] ?? 0, severity_basis: 'report' as const }
    : before?.severity_basis === 'person'
      ? { severity: before.severity, severity_basis: 'person' as const }
      : { severity: severityNumbers[severity] ?? 0, severity_basis: 'assumed' as const };
