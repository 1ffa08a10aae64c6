// What stands for and against a threat at this moment: open findings of its weaknesses, and measures of the firewall.
// Derived with each question; only what people decided is stored.
import { allOf, anyOf, json, type Queryable } from '../database.js';
import { visibleFindings } from '../findings/query.js';
import { severityNames } from '../findings/words.js';
import { isUnconfined, type Reach } from '../kit/caller.js';
import type { Call } from '../kit/endpoint.js';
import type { FirewallAnswers } from '../host.js';
import { ruleById } from './rules/index.js';

export interface Linked {
  readonly id: number;
  readonly title: string;
  readonly severity: number;
  readonly status: string;
  readonly is_open: boolean;
  readonly cwes: readonly number[];
  readonly exploit_confirmed: boolean;
  readonly virtually_patched: boolean;
}

const findingsMax = 2000;
const shownMax = 10;

/** Findings of the application that may speak of a threat by one of these rules, or that people linked. */
export async function findingsFor(
  sql: Queryable,
  application: number,
  reach: Reach | null,
  rules: Iterable<string>,
  ids: readonly number[] = [],
): Promise<Linked[]> {
  const cwes = new Set([...rules].flatMap((id) => ruleById.get(id)?.cwes ?? []));
  if (reach === null || (cwes.size === 0 && ids.length === 0)) return [];
  const open = sql`is_open and source <> 'quality' and ${anyOf(
    sql,
    [...cwes].map((cwe) => sql`cwes @> ${json(sql, [cwe])}`),
  )}`;
  return sql<Linked[]>`
    select id, title, severity, status, is_open, cwes, exploit_confirmed, virtually_patched from vm_findings
    where ${allOf(sql, [
      sql`application_id = ${application}`,
      visibleFindings(sql, reach),
      ids.length === 0 ? open : sql`(id in ${sql([...ids])} or (${open}))`,
    ])}
    order by priority_score desc, id limit ${findingsMax}`;
}

interface Threat {
  readonly rule: string;
  readonly finding_ids: readonly number[];
}

const openOf = ({ rule, finding_ids: ids }: Threat, findings: readonly Linked[]): Linked[] => {
  const cwes = ruleById.get(rule)?.cwes ?? [];
  return findings.filter((one) => one.is_open && (ids.includes(one.id) || one.cwes.some((cwe) => cwes.includes(cwe))));
};

/** An open finding shows that it happens, and no virtual patch stands before that. */
export const isProven = (threat: Threat, findings: readonly Linked[]): boolean =>
  openOf(threat, findings).some((one) => one.exploit_confirmed && !one.virtually_patched);

export interface Measure {
  readonly name: string;
  readonly holds: boolean;
  readonly reason: string;
}

/** What the firewall says; null: nothing, to this caller or at all. */
export async function firewallOf({ host, reach }: Pick<Call, 'host' | 'reach'>): Promise<FirewallAnswers | null> {
  return isUnconfined(reach) ? ((await host.firewallAnswers?.()) ?? null) : null;
}

function measuresOf(threat: Threat, site: string | null, answers: FirewallAnswers | null, open: readonly Linked[]) {
  const names = site === null ? [] : (ruleById.get(threat.rule)?.measures ?? []);
  const measures: Measure[] = names.flatMap((name) => {
    const check = answers?.checks.get(name);
    return check === undefined ? [] : [{ name, holds: check.result === 'satisfied', reason: check.reason }];
  });
  const patched = open.filter((one) => one.virtually_patched).length;
  const reason = `${patched} of ${open.length} open findings are behind a virtual patch that is proven.`;
  return patched === 0 ? measures : [...measures, { name: 'virtual_patch', holds: patched === open.length, reason }];
}

export const standings = ['exposed', 'covered', 'possible'] as const;

/**
 * exposed: an open finding that no virtual patch covers; covered: a measure of the firewall holds; possible: nothing is
 * known for or against it.
 */
export function standingOf(
  threat: Threat,
  site: string | null,
  answers: FirewallAnswers | null,
  findings: readonly Linked[],
) {
  const open = openOf(threat, findings);
  const shown = [...open, ...findings.filter((one) => !one.is_open && threat.finding_ids.includes(one.id))];
  const measures = measuresOf(threat, site, answers, open);
  const isExposed = open.some((one) => !one.virtually_patched);
  const isCovered = measures.some(({ holds }) => holds);
  return {
    standing: isExposed ? ('exposed' as const) : isCovered ? ('covered' as const) : ('possible' as const),
    measures,
    open_findings: open.length,
    findings: shown.slice(0, shownMax).map((one) => ({
      id: String(one.id),
      title: one.title,
      severity: severityNames[one.severity] ?? 'info',
      status: one.status,
      proven: one.exploit_confirmed,
      virtually_patched: one.virtually_patched,
      linked_by_hand: threat.finding_ids.includes(one.id),
    })),
  };
}
