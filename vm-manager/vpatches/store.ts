// Rows of virtual patches and their proofs, and what both say about findings.
import { createHash } from 'node:crypto';
import { ApiError, type Actor } from '#http-kit';
import { json, type Fragment, type Queryable, type Sql, type Tx } from '../database.js';
import { isUnconfined, reachable, type Reach } from '../kit/caller.js';
import { notFound, toId } from '../kit/endpoint.js';
import { emit } from '../kit/events.js';
import type { FindingRow } from '../findings/fields.js';
import { refreshWhere } from '../findings/refresh.js';
import { transition } from '../findings/transition.js';
import type { FirewallRequest, InForce, Trial, Verdict } from './firewall.js';

export const patchStates = ['draft', 'active', 'proven', 'stale', 'disabled'] as const;
export type PatchState = (typeof patchStates)[number];

export interface PatchRow {
  readonly id: number;
  readonly application_id: number | null;
  readonly rule_id: number;
  readonly origin: 'catalogue' | 'own';
  readonly strategy: string;
  readonly cve: string;
  readonly name: string;
  readonly seclang: string;
  readonly site: string | null;
  readonly explanation: readonly string[];
  readonly state: PatchState;
  readonly attack: FirewallRequest;
  readonly attack_origin: string;
  readonly mutations: readonly FirewallRequest[];
  readonly benign: readonly FirewallRequest[];
  readonly settings_version: number | null;
  readonly generation: number | null;
  readonly created_by: string;
  readonly activated_at: Date | null;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export const proofKinds = ['activation', 'asked', 'nightly'] as const;
export interface ProofRow {
  readonly id: number;
  readonly vpatch_id: number;
  readonly at: Date;
  readonly kind: (typeof proofKinds)[number];
  readonly holds: boolean;
  readonly reason: string;
  readonly before: Verdict | null;
  readonly after: Verdict;
  readonly benign: readonly Verdict[];
  readonly mutations: readonly Verdict[];
  readonly nodes: Trial['nodes'];
  readonly settings_version: number;
  readonly generation: number | null;
  readonly artifact_sha256: string;
  readonly sha256: string;
}

export const inForceStates: readonly PatchState[] = ['active', 'proven', 'stale'];
const busyMs = 5 * 60_000;

/** Patches of applications within reach; those of none for who sees everything. */
export const visiblePatches = (sql: Queryable, reach: Reach): Fragment =>
  isUnconfined(reach)
    ? sql`true`
    : sql`exists (select 1 from vm_applications a where a.id = vm_vpatches.application_id
        and ${reachable(sql, reach, sql`a.id`, sql`a.project_id`)})`;

/** Throws 404 for a patch that is not there or not within reach. */
export async function requirePatch(sql: Queryable, reach: Reach, id: string): Promise<PatchRow> {
  const [row] = await sql<PatchRow[]>`
    select * from vm_vpatches where id = ${toId(id, 'virtual patch')} and ${visiblePatches(sql, reach)}`;
  if (row === undefined) throw notFound('virtual patch', id);
  return row;
}

export type NewPatch = Omit<
  PatchRow,
  'id' | 'state' | 'settings_version' | 'generation' | 'activated_at' | 'version' | 'created_at' | 'updated_at'
>;

export async function insertPatch(tx: Tx, patch: NewPatch, findingId: number, now: Date): Promise<PatchRow> {
  const [row] = await tx<PatchRow[]>`
    insert into vm_vpatches ${tx({
      ...patch,
      explanation: json(tx, patch.explanation),
      attack: json(tx, patch.attack),
      mutations: json(tx, patch.mutations),
      benign: json(tx, patch.benign),
      created_at: now,
      updated_at: now,
    } as never)} returning *`;
  if (row === undefined) throw new Error('the virtual patch was not stored');
  await linkFinding(tx, row.id, findingId);
  return row;
}

export async function linkFinding(tx: Tx, patchId: number, findingId: number): Promise<void> {
  await tx`
    insert into vm_vpatch_findings (vpatch_id, finding_id) values (${patchId}, ${findingId}) on conflict do nothing`;
}

/**
 * The patch that has this rule already, unless it was taken out; of the catalogue, where one rule serves many findings.
 */
export async function findByRule(tx: Tx, ruleId: number): Promise<PatchRow | null> {
  const [row] = await tx<PatchRow[]>`
    select * from vm_vpatches where rule_id = ${ruleId} and state <> 'disabled' for update`;
  return row ?? null;
}

/** The first own id that neither a patch nor the settings have; ids of patches that were taken out come last. */
export async function freeRuleId(
  tx: Tx,
  [from, to]: readonly [number, number],
  used: ReadonlySet<number>,
): Promise<number> {
  await tx`lock table vm_vpatches in share row exclusive mode`;
  const rows = await tx<{ rule_id: number; live: boolean }[]>`
    select rule_id, bool_or(state <> 'disabled') as live from vm_vpatches
    where rule_id between ${from} and ${to} group by rule_id`;
  const known = new Map(rows.map(({ rule_id: id, live }) => [id, live]));
  const ids = Array.from({ length: to - from + 1 }, (_, index) => from + index).filter((id) => !used.has(id));
  const free = ids.find((id) => !known.has(id)) ?? ids.find((id) => known.get(id) === false);
  if (free !== undefined) return free;
  throw new ApiError('conflict', `All ids for own virtual patches (${from} to ${to}) are used: disable patches.`);
}

/** Takes the patch for a while, so that nobody else changes it meanwhile; throws 409 where somebody has it. */
export async function claim(sql: Sql, row: PatchRow, now: Date): Promise<void> {
  const { count } = await sql`
    update vm_vpatches set busy_until = ${new Date(now.getTime() + busyMs)}
    where id = ${row.id} and version = ${row.version} and (busy_until is null or busy_until < ${now})`;
  if (count === 0) throw new ApiError('conflict', 'Somebody is at this virtual patch: read it again in a moment.');
}

export async function release(sql: Sql, id: number): Promise<void> {
  await sql`update vm_vpatches set busy_until = null where id = ${id}`;
}

/** The state, what is in force with it, and what its findings show of it. */
export async function setState(
  tx: Tx,
  id: number,
  state: PatchState,
  inForce: InForce | null,
  now: Date,
): Promise<PatchRow> {
  const [row] = await tx<PatchRow[]>`
    update vm_vpatches set state = ${state}, version = version + 1, updated_at = ${now}, busy_until = null
      ${inForce === null ? tx`` : tx`, settings_version = ${inForce.version}, generation = ${inForce.generation}`}
      ${state === 'active' || state === 'proven' ? tx`, activated_at = coalesce(activated_at, ${now})` : tx``}
      ${state === 'disabled' || state === 'draft' ? tx`, activated_at = null` : tx``}
    where id = ${id} returning *`;
  if (row === undefined) throw notFound('virtual patch', String(id));
  await markFindings(tx, id, now);
  return row;
}

/** A finding is patched while one of its patches is proven; its deadline follows, also where its clock stands. */
export async function markFindings(tx: Tx, patchId: number, now: Date): Promise<void> {
  await tx`
    update vm_findings f set virtually_patched = n.patched, updated_at = ${now}, version = f.version + 1
    from (select l.finding_id, exists (select 1 from vm_vpatch_findings o join vm_vpatches p on p.id = o.vpatch_id
        where o.finding_id = l.finding_id and p.state = 'proven') as patched
      from vm_vpatch_findings l where l.vpatch_id = ${patchId}) n
    where f.id = n.finding_id and f.virtually_patched <> n.patched`;
  const linked = tx`f.id in (select finding_id from vm_vpatch_findings where vpatch_id = ${patchId})`;
  await refreshWhere(tx, tx`${linked} and (f.is_open or f.sla_paused_at is not null)`, now);
}

export async function insertProof(tx: Tx, proof: Omit<ProofRow, 'id' | 'at' | 'sha256'>, now: Date): Promise<ProofRow> {
  const sha256 = createHash('sha256')
    .update(JSON.stringify({ ...proof, at: now.toISOString() }))
    .digest('hex');
  const [row] = await tx<ProofRow[]>`
    insert into vm_vpatch_proofs ${tx({
      ...proof,
      before: proof.before === null ? null : json(tx, proof.before),
      after: json(tx, proof.after),
      benign: json(tx, proof.benign),
      mutations: json(tx, proof.mutations),
      nodes: json(tx, proof.nodes),
      sha256,
      at: now,
    } as never)} returning *`;
  if (row === undefined) throw new Error('the proof was not stored');
  return row;
}

export async function latestProof(sql: Queryable, patchId: number): Promise<ProofRow | null> {
  const [row] = await sql<ProofRow[]>`
    select * from vm_vpatch_proofs where vpatch_id = ${patchId} order by id desc limit 1`;
  return row ?? null;
}

/**
 * A patch that no longer holds: its findings count whole again, an event tells of it, and a risk that was accepted
 * while it stood is open again.
 */
export async function goStale(tx: Tx, row: PatchRow, reason: string, actor: Actor, now: Date): Promise<PatchRow> {
  const after = await setState(tx, row.id, 'stale', null, now);
  const findings = await tx<FindingRow[]>`
    select f.* from vm_findings f join vm_vpatch_findings l on l.finding_id = f.id
    where l.vpatch_id = ${row.id} order by f.id for update of f`;
  for (const finding of findings)
    if (finding.status === 'risk_accepted') {
      const wanted = {
        to: 'reopened',
        by: 'proof',
        reason: `virtual patch ${row.id} does not hold: ${reason}`,
      } as const;
      await transition(tx, finding, wanted, actor, now);
    }
  await emit(
    tx,
    findings.map((finding) => ({
      type: 'vpatch.stale' as const,
      entity: 'finding' as const,
      entityId: finding.id,
      applicationId: finding.application_id,
      payload: { vpatch_id: String(row.id), rule_id: row.rule_id, reason },
    })),
    now,
  );
  return after;
}
