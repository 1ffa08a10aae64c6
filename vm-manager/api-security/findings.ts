// Open findings of operations: joined by method and path, whichever tool has found them.
import { severityNames, type Severity } from '../findings/words.js';
import type { Queryable } from '../database.js';
import { visibleByApplication } from '../assets/resources.js';
import type { Reach } from '../kit/caller.js';
import { OperationIndex, pathOf, turns, type Operation } from './operations.js';

const findingsMax = 5000;

export interface FindingOfOperation {
  readonly id: string;
  readonly title: string;
  readonly severity: Severity;
  readonly rule_id: string;
  readonly tool: string;
  readonly application_id: string;
}

export interface FindingsOfOperations {
  /** Id of an operation → its open findings, the gravest first. */
  readonly byOperation: ReadonlyMap<string, readonly FindingOfOperation[]>;
  /** Every finding was compared; else only the gravest were. */
  readonly isAll: boolean;
}

export async function findingsOfOperations(
  sql: Queryable,
  reach: Reach,
  sites: ReadonlyMap<string, readonly { readonly id: number }[]>,
  operations: readonly Operation[],
): Promise<FindingsOfOperations> {
  const found = new Map<string, Map<string, FindingOfOperation>>();
  const siteOfApplication = new Map([...sites].flatMap(([site, list]) => list.map(({ id }) => [id, site] as const)));
  if (siteOfApplication.size === 0 || operations.length === 0) return { byOperation: new Map(), isAll: true };
  const rows = await sql<
    {
      id: number;
      title: string;
      severity: number;
      rule_id: string;
      tool: string;
      application_id: number;
      url: string;
      method: string | null;
    }[]
  >`
    select f.id, f.title, f.severity, f.rule_id, f.tool, f.application_id, o.location ->> 'url' as url,
      upper(o.location ->> 'method') as method
    from vm_findings f join vm_occurrences o on o.finding_id = f.id
    where f.is_open and f.application_id in ${sql([...siteOfApplication.keys()])} and o.gone_at is null
      and o.location ->> 'url' is not null and ${visibleByApplication('f')(sql, reach)}
    order by f.severity desc, f.id desc limit ${findingsMax}`;
  const indexes = new Map<string, OperationIndex>();
  const bySite = new Map<string, Operation[]>();
  for (const one of operations) {
    const own = bySite.get(one.site);
    if (own === undefined) bySite.set(one.site, [one]);
    else own.push(one);
  }
  for (const [site, own] of bySite) indexes.set(site, new OperationIndex(own));
  const turn = turns();
  for (const row of rows) {
    await turn();
    const path = pathOf(row.url);
    const index = indexes.get(siteOfApplication.get(row.application_id) ?? '');
    if (path === null || index === undefined) continue;
    for (const id of index.find(row.method, path)) {
      const own = found.get(id) ?? new Map<string, FindingOfOperation>();
      found.set(id, own);
      own.set(String(row.id), {
        ...{ id: String(row.id), title: row.title, severity: severityNames[row.severity] ?? 'info' },
        ...{ rule_id: row.rule_id, tool: row.tool, application_id: String(row.application_id) },
      });
    }
  }
  const byOperation = new Map([...found].map(([id, own]) => [id, [...own.values()]]));
  return { byOperation, isAll: rows.length < findingsMax };
}
