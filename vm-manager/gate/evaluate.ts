// The evaluation of a commit: which gate holds, what the commit brings, what the conditions say of it; kept whole.
import { ApiError } from '#http-kit';
import { chainId, chainName } from '../chains/present.js';
import { currentChains, type ChainHost } from '../graph/live-engine.js';
import { json, type Queryable, type Tx } from '../database.js';
import { unfit } from '../kit/endpoint.js';
import { emit } from '../kit/events.js';
import { holds, type Predicate } from '../kit/predicate.js';
import { readCommit, type Baseline, type CommitFacts } from './commit.js';
import {
  applicationFields,
  builtInGate,
  judge,
  type Condition,
  type Gate,
  type GateChain,
  type Judged,
} from './conditions.js';

export type Verdict = 'pass' | 'fail' | 'warn';
/** Chains and findings that a snapshot keeps. */
const listedMax = 200;

export interface Snapshot {
  readonly gate: { readonly id: string | null; readonly name: string; readonly mode: string };
  readonly reason: string;
  readonly evaluated: boolean;
  /** Why the reports of the commit prove nothing; absent in answers of earlier releases. */
  readonly gaps?: readonly string[];
  readonly baseline: Baseline | null;
  readonly run_ids: readonly string[];
  readonly conditions: readonly Judged[];
  readonly blocking_vuln_ids: readonly string[];
  readonly new_vuln_ids: readonly string[];
  readonly new_findings: number;
  readonly open_findings: number;
  readonly excluded: number;
  readonly chains: readonly Omit<GateChain, 'isNew'>[];
}

export interface Override {
  readonly by: string;
  readonly reason: string;
  readonly at: string;
}

export interface EvaluationRow {
  readonly id: number;
  readonly application_id: number;
  readonly commit: string;
  readonly branch: string;
  readonly verdict: Verdict;
  readonly snapshot: Snapshot;
  readonly override: Override | null;
  readonly override_until: Date | null;
  readonly created_by: string;
  readonly created_at: Date;
}

interface GateRow {
  readonly id: number;
  readonly name: string;
  readonly selector: Predicate | null;
  readonly conditions: readonly Condition[];
  readonly mode: 'enforce' | 'warn';
  readonly baseline_branch: string;
  readonly incomplete_reports: 'fail' | 'allow';
}

/** The first gate whose selector holds for the application, with a condition for each policy that acts as a gate. */
async function gateFor(sql: Queryable, applicationId: number, now: Date): Promise<Gate> {
  const [application] = await sql<Record<string, unknown>[]>`select * from vm_applications where id = ${applicationId}`;
  const gates = await sql<GateRow[]>`select * from vm_gates where enabled order by position, id`;
  const policies = await sql<{ name: string; predicate: Predicate }[]>`
    select name, predicate from vm_policies where enabled and action = 'gate' order by id`;
  const found = gates.find(
    ({ selector }) => selector === null || holds(selector, application ?? {}, applicationFields, now),
  );
  const gate: Gate =
    found === undefined
      ? builtInGate
      : {
          id: String(found.id),
          name: found.name,
          mode: found.mode,
          conditions: found.conditions,
          baselineBranch: found.baseline_branch,
          incompleteReports: found.incomplete_reports,
        };
  const added = policies.map(({ name, predicate }): Condition => ({ name: `policy ${name}`, predicate, of: 'open' }));
  return { ...gate, conditions: [...gate.conditions, ...added] };
}

/**
 * Chains through the application, as if findings of other branches were not there. All of the project counts, whoever
 * asks: a verdict must not depend on what its reader may see.
 */
async function chainsOf(host: ChainHost, applicationId: number, facts: CommitFacts): Promise<GateChain[]> {
  const engine = await currentChains(host);
  const id = String(applicationId);
  const fresh = new Set(facts.findings.filter(({ isNew }) => isNew).map((row) => String(row.id)));
  return engine
    .through(
      id,
      facts.elsewhere.map((finding) => ({ id: finding, applicationId: id })),
    )
    .map((chain) => ({
      id: chainId(chain),
      name: chainName(chain),
      kind: chain.kind,
      score: chain.score,
      danger: chain.danger,
      hop_vuln_ids: chain.hops.map(({ finding }) => finding.id),
      application_ids: [...new Set(chain.hops.map(({ view }) => view.application.id))],
      isNew: chain.hops.some(({ finding }) => fresh.has(finding.id)),
    }));
}

const nothing = { conditions: [], blocking_vuln_ids: [], new_vuln_ids: [], chains: [] } as const;
const numbers = { new_findings: 0, open_findings: 0, excluded: 0 } as const;

export interface Looked {
  readonly applicationId: number;
  readonly commit: string;
  readonly branch: string;
  readonly verdict: Verdict;
  readonly snapshot: Snapshot;
}

const gapsOf = ({ runGaps, assumed }: CommitFacts): string[] => [
  ...runGaps,
  ...(assumed.length === 0
    ? []
    : [`${assumed.length} open findings have a severity that is not known: rate them, or map it and import again`]),
];

/** The condition that an incomplete report breaks. */
const gapCondition = (gaps: readonly string[], { assumed }: CommitFacts): Judged => ({
  name: 'incomplete_reports',
  metric: null,
  op: 'lte',
  threshold: 0,
  actual: gaps.length,
  ok: false,
  vuln_ids: assumed,
  chain_ids: [],
});

function reasonOf(broken: readonly Judged[], gaps: readonly string[]): string {
  const failed = broken.map(({ name, actual, op, threshold }) => `${name} is ${actual}, not ${op} ${threshold}`);
  const held = failed.length === 0 ? ['every condition holds'] : failed;
  return [...held, ...gaps].join('; ');
}

async function isArchivedNow(sql: Queryable, id: number): Promise<boolean> {
  const rows = await sql`select 1 from vm_applications where id = ${id} and status = 'archived'`;
  return rows.length > 0;
}

/** What the gate says of a commit; nothing is written. `asked`: the commit to compare with. */
export async function look(
  host: ChainHost,
  application: { readonly id: number },
  commit: string,
  asked: string | null,
  now: Date,
): Promise<Looked> {
  const about = { applicationId: application.id, commit };
  const { sql } = host;
  const gate = await gateFor(sql, application.id, now);
  const said = { id: gate.id, name: gate.name, mode: gate.mode };
  const refused: Verdict = gate.mode === 'warn' ? 'warn' : 'fail';
  const isArchived = await isArchivedNow(sql, application.id);
  const facts = isArchived ? null : await readCommit(sql, application, commit, gate.baselineBranch, asked);
  if (facts === null) {
    // nothing of it counts, so nothing speaks for the commit either: to archive is no way around a gate
    const reason = isArchived
      ? 'the application is archived: restore it to have its commits judged'
      : `no completed scan for commit ${commit}`;
    const rest = { reason, evaluated: false, gaps: [], baseline: null, run_ids: [] };
    return { ...about, verdict: refused, branch: '', snapshot: { gate: said, ...rest, ...nothing, ...numbers } };
  }
  if (asked !== null && facts.baseline === null)
    throw unfit('/baseline', 'names a commit that nothing was imported for');
  const chains = await chainsOf(host, application.id, facts);
  const gaps = gapsOf(facts);
  const isStopped = gaps.length > 0 && gate.incompleteReports === 'fail';
  const conditions = [
    ...judge(gate.conditions, { findings: facts.findings, chains, now }),
    ...(isStopped ? [gapCondition(gaps, facts)] : []),
  ];
  const broken = conditions.filter(({ ok }) => !ok);
  const shown = new Set(broken.flatMap(({ chain_ids }) => chain_ids));
  const fresh = facts.findings.filter(({ isNew }) => isNew).map(({ id }) => String(id));
  const snapshot: Snapshot = {
    gate: said,
    reason: reasonOf(broken, gaps),
    evaluated: true,
    gaps,
    baseline: facts.baseline,
    run_ids: facts.runIds,
    conditions: conditions.map((one) => ({
      ...one,
      vuln_ids: one.vuln_ids.slice(0, listedMax),
      chain_ids: one.chain_ids.slice(0, listedMax),
    })),
    blocking_vuln_ids: [...new Set(broken.flatMap(({ vuln_ids }) => vuln_ids))].slice(0, listedMax),
    new_vuln_ids: fresh.slice(0, listedMax),
    new_findings: fresh.length,
    open_findings: facts.findings.length,
    excluded: facts.excluded,
    chains: chains
      .filter(({ id }) => shown.has(id))
      .slice(0, listedMax)
      .map(({ isNew: _, ...chain }) => chain),
  };
  return { ...about, verdict: broken.length === 0 ? 'pass' : refused, branch: facts.branch, snapshot };
}

/** Keeps an answer; an override of the same commit that still holds goes along. A refusal that is new is told. */
export async function keep(tx: Tx, looked: Looked, by: string, now: Date): Promise<EvaluationRow> {
  const { applicationId, commit, branch, verdict, snapshot } = looked;
  const [held] = await tx<Pick<EvaluationRow, 'override' | 'override_until'>[]>`
    select override, override_until from vm_gate_evaluations
    where application_id = ${applicationId} and commit = ${commit} and override_until > ${now}
    order by id desc limit 1`;
  const override = held?.override ?? null;
  const [before] = await tx<EvaluationRow[]>`
    select * from vm_gate_evaluations where application_id = ${applicationId} and commit = ${commit}
    order by id desc limit 1`;
  const [row] = await tx<EvaluationRow[]>`
    insert into vm_gate_evaluations
      (application_id, commit, branch, verdict, snapshot, override, override_until, created_by, created_at)
    values (${applicationId}, ${commit}, ${branch}, ${verdict}, ${json(tx, snapshot)},
      ${override === null ? null : json(tx, override)}, ${held?.override_until ?? null}, ${by}, ${now})
    returning *`;
  if (row === undefined) throw new ApiError('internal', 'The evaluation was not stored.');
  const wasRefused = before !== undefined && verdictOf(before, before.created_at) === 'fail';
  if (verdictOf(row, now) === 'fail' && !wasRefused) await tellOfRefusal(tx, row, now);
  return row;
}

async function tellOfRefusal(tx: Tx, row: EvaluationRow, now: Date): Promise<void> {
  const { id, application_id: applicationId, commit, branch, snapshot } = row;
  const payload = { commit, branch, gate: snapshot.gate.name, reason: snapshot.reason };
  await emit(tx, [{ type: 'gate.failed', entity: 'evaluation', entityId: id, applicationId, payload }], now);
}

/** What the pipeline is told: an override lets a commit through while it holds. */
export const verdictOf = (row: EvaluationRow, now: Date): Verdict =>
  row.override !== null && row.override_until !== null && row.override_until > now ? 'pass' : row.verdict;

/** 0 lets the pipeline go on, 1 stops it, 2 says that there was nothing to judge. */
export const exitCodeOf = (row: EvaluationRow, now: Date): 0 | 1 | 2 =>
  verdictOf(row, now) !== 'fail' ? 0 : row.snapshot.evaluated ? 1 : 2;
