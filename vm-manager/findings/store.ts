// Reading and making single findings.
import { randomUUID } from 'node:crypto';
import type { Actor } from '#http-kit';
import { json, type Queryable, type Tx } from '../database.js';
import type { Reach } from '../kit/caller.js';
import { notFound, toId } from '../kit/endpoint.js';
import { emit } from '../kit/events.js';
import type { CvssValue, DetailsRow, FindingRow } from './fields.js';
import { visibleFindings } from './query.js';
import { readFacts, readPolicies, score } from './score.js';

/** Throws 404 for a finding that is not there or not within reach. */
export async function requireFinding(sql: Queryable, reach: Reach, id: string, lock = false): Promise<FindingRow> {
  const [row] = await sql<FindingRow[]>`
    select * from vm_findings where id = ${toId(id, 'finding')} and ${visibleFindings(sql, reach)}
    ${lock ? sql`for update` : sql``}`;
  if (row === undefined) throw notFound('finding', id);
  return row;
}

export async function readDetails(sql: Queryable, id: number): Promise<DetailsRow | null> {
  const [row] = await sql<DetailsRow[]>`select * from vm_finding_details where finding_id = ${id}`;
  return row ?? null;
}

export interface ManualFinding {
  readonly applicationId: number;
  readonly projectId: number | null;
  readonly title: string;
  readonly severity: number;
  readonly cwes: readonly number[];
  readonly vulnIds: readonly string[];
  readonly location: string;
  readonly description: string;
  readonly cvss: CvssValue | null;
  readonly tags: readonly string[];
  readonly reachable: boolean | null;
  readonly references: readonly string[];
}

/** What somebody writes by hand is its own finding, also where a tool reports the same. */
export async function insertManual(tx: Tx, input: ManualFinding, actor: Actor, now: Date): Promise<FindingRow> {
  const known = await readKnown(tx, input.vulnIds);
  const row = {
    application_id: input.applicationId,
    project_id: input.projectId,
    title: input.title,
    status: 'new' as const,
    severity: input.severity,
    severity_basis: 'person' as const,
    source: 'manual',
    tool: 'manual',
    rule_id: '',
    cwes: input.cwes,
    vuln_ids: input.vulnIds,
    location: input.location,
    risk_override: null,
    risk_override_until: null,
    reachable: input.reachable,
    exploit_confirmed: false,
    runtime_confirmed: false,
    kev: known.kev,
    epss: known.epss,
    fix_state: 'unknown' as const,
    assignee_id: null,
    tags: input.tags,
    sla_start: now,
    sla_paused_ms: 0,
    first_seen: now,
    last_seen: now,
  };
  const facts = await readFacts(tx, input.applicationId);
  const made = score(row, { cvss: input.cvss, quality: 0.9 }, facts, await readPolicies(tx), now);
  const [stored] = await tx<FindingRow[]>`
    insert into vm_findings ${tx({
      ...row,
      ...made.scored,
      cwes: json(tx, input.cwes),
      vuln_ids: json(tx, input.vulnIds),
      tags: json(tx, input.tags),
      fingerprint: `manual:${randomUUID()}`,
      created_at: now,
      updated_at: now,
    } as never)} returning *`;
  if (stored === undefined) throw new Error('the finding was not stored');
  await tx`
    insert into vm_finding_details (finding_id, description, cvss, refs, risk_factors)
    values (${stored.id}, ${input.description}, ${input.cvss === null ? null : json(tx, input.cvss)},
      ${json(tx, input.references)}, ${json(tx, made.factors)})`;
  await noteNew(tx, stored, actor, now);
  return stored;
}

async function noteNew(tx: Tx, row: FindingRow, actor: Actor, now: Date): Promise<void> {
  await tx`
    insert into vm_transitions (finding_id, from_status, to_status, actor_id, actor, by, at)
    values (${row.id}, null, 'new', ${actor.id}, ${actor.name}, 'person', ${now})`;
  const event = {
    type: 'finding.created',
    entity: 'finding',
    entityId: row.id,
    applicationId: row.application_id,
  } as const;
  await emit(tx, [event], now);
}

/** What the imported sets say of these vulnerabilities, the worst of each. */
export async function readKnown(
  sql: Queryable,
  ids: readonly string[],
): Promise<{ readonly kev: boolean; readonly epss: number | null }> {
  const cves = ids.filter((id) => id.startsWith('CVE-'));
  if (cves.length === 0) return { kev: false, epss: null };
  const rows = await sql<{ kev: boolean; epss: number | null }[]>`
    select kev, epss from vm_cves where cve in ${sql(cves)}`;
  const values = rows.flatMap(({ epss }) => (epss === null ? [] : [epss]));
  return { kev: rows.some(({ kev }) => kev), epss: values.length === 0 ? null : Math.max(...values) };
}
