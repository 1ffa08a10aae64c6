// Rows of scans: their findings with the request that shows each, the switch that stops all of them.
import { visibleByApplication } from '../../assets/resources.js';
import { json, type Queryable, type Sql } from '../../database.js';
import type { Reach } from '../../kit/caller.js';
import { notFound, toId } from '../../kit/endpoint.js';
import type { Run } from '../../kit/runs.js';
import { severityNumbers } from '../../findings/words.js';
import { addressOf } from '../http/forms.js';
import type { Form, Found } from '../model.js';
import { evidenceOf, type Evidence } from './evidence.js';

/** The kind of these runs. */
export const scanKind = 'dast';
/** Of proofs by exploit, which share rate and stop with them. */
export const exploitKind = 'exploit';
/** Of tests of the access to APIs, likewise. */
export const apiTestKind = 'api-test';
export const kindsOfTargets = [scanKind, exploitKind, apiTestKind] as const;

export const visibleRuns = visibleByApplication('vm_runs');

/** Throws 404 for a scan that is not there or not within reach. */
export async function requireScan(sql: Queryable, reach: Reach, given: string): Promise<Run> {
  const id = toId(given, 'scan');
  const [row] = await sql<Run[]>`
    select * from vm_runs where id = ${id} and kind = ${scanKind} and ${visibleRuns(sql, reach)}`;
  if (row === undefined) throw notFound('scan', id);
  return row;
}

export type BehindWaf = 'not_tried' | 'exploitable' | 'blocked' | 'unknown';

export interface ScanFindingRow {
  readonly id: number;
  readonly run_id: number;
  readonly check_id: string;
  readonly title: string;
  readonly severity: number;
  readonly cwe: number;
  readonly method: string;
  readonly url: string;
  readonly param: string | null;
  readonly form: Form;
  readonly proof: Evidence;
  readonly behind_waf: BehindWaf;
  readonly finding_id: number | null;
  readonly proved_at: Date;
  readonly still_there: boolean;
}

export async function insertFound(sql: Queryable, runId: number, found: Found, now: Date): Promise<number> {
  const { check, form, param } = found;
  const [row] = await sql<{ id: number }[]>`
    insert into vm_scan_findings
      (run_id, check_id, title, severity, cwe, method, url, param, form, proof, proved_at)
    values (${runId}, ${check.id}, ${check.title}, ${severityNumbers[check.severity] ?? 0}, ${check.cwe},
      ${form.method},
      ${(addressOf(form).split('?', 1)[0] ?? form.url).slice(0, 1500)}, ${param}, ${json(sql, form)},
      ${json(sql, evidenceOf(found))}, ${now})
    returning id`;
  return Number(row?.id);
}

/** Which finding of the hub each became: by the same place, in the import of this scan. */
export async function linkFindings(sql: Queryable, runId: number, importId: number): Promise<void> {
  await sql`
    update vm_scan_findings s set finding_id = o.finding_id
    from vm_occurrences o join vm_findings f on f.id = o.finding_id
    where s.run_id = ${runId} and o.last_run = ${importId} and f.rule_id = s.check_id
      and o.location ->> 'url' = s.url and o.location ->> 'method' = s.method
      and o.location ->> 'param' is not distinct from s.param`;
}

/** Known findings, too: a rule of the firewall that came or went between two scans changes what policies go by. */
export async function markBehindWaf(sql: Queryable, runId: number, now: Date): Promise<void> {
  const tag = 'exploitable-behind-waf';
  await sql`
    update vm_findings f set updated_at = ${now}, version = f.version + 1,
      tags = case when tried.passes then f.tags || ${json(sql, [tag])} else f.tags - ${tag}::text end
    from (select finding_id, bool_or(behind_waf = 'exploitable') as passes from vm_scan_findings
      where run_id = ${runId} and finding_id is not null and behind_waf in ('exploitable', 'blocked')
      group by 1) tried
    where f.id = tried.finding_id and (f.tags @> ${json(sql, [tag])}) <> tried.passes`;
}

export interface ScanSwitch {
  readonly halted: boolean;
  readonly reason: string;
  readonly changed_by: string;
  readonly changed_at: Date | null;
}

export async function readSwitch(sql: Sql): Promise<ScanSwitch> {
  const [row] = await sql<ScanSwitch[]>`select * from vm_scan_switch`;
  return row ?? { halted: false, reason: '', changed_by: '', changed_at: null };
}
