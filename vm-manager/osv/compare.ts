// Packages that are no components of the inventory beside the advisories: those of an image, of a bill, of a version
// that is thought of.
import type { Queryable } from '../database.js';
import { groupBy } from '../kit/values/group-by.js';
import { judge, type ComponentRow, type Hit, type KnownAdvisory, type Pair, type Unknown } from './match.js';

/** Values of one statement. */
const chunk = 5000;

export interface Advised {
  readonly hits: readonly Hit[];
  readonly unknown: readonly Unknown[];
  /** What the advisories say of each package, whatever its version. */
  readonly byPackage: ReadonlyMap<string, readonly Pair[]>;
}

export async function adviseOn(sql: Queryable, rows: readonly ComponentRow[]): Promise<Advised> {
  const [hits, unknown]: [Hit[], Unknown[]] = [[], []];
  const names = [...new Set(rows.map((one) => one.package))];
  const pairs: Pair[] = [];
  for (let from = 0; from < names.length; from += chunk)
    pairs.push(
      ...(await sql<Pair[]>`
        select a.osv_id, a.ecosystem, a.release, a.package, a.ranges, a.versions
        from vm_osv_affected a join vm_osv o on o.id = a.osv_id
        where a.package in ${sql(names.slice(from, from + chunk))} and o.withdrawn_at is null
        order by a.osv_id, a.id`),
    );
  const byPackage = groupBy(pairs, (pair) => pair.package);
  for (const one of rows) judge(one, byPackage.get(one.package) ?? [], hits, unknown);
  return { hits, unknown, byPackage };
}

export async function advisoriesOf(sql: Queryable, ids: readonly string[]): Promise<Map<string, KnownAdvisory>> {
  const found = new Map<string, KnownAdvisory>();
  for (let from = 0; from < ids.length; from += chunk)
    for (const one of await sql<KnownAdvisory[]>`
      select id, aliases, facts from vm_osv where id in ${sql(ids.slice(from, from + chunk))}`)
      found.set(one.id, one);
  return found;
}

/** Of a finding of the application, by the weakness and the package that it is about. */
export interface KnownFinding {
  readonly id: number;
  readonly status: string;
  readonly is_open: boolean;
  readonly effective_risk: number;
  readonly cluster_key: string;
}

export async function findingsOf(sql: Queryable, application: number, keys: readonly string[]) {
  const found = new Map<string, KnownFinding>();
  for (let from = 0; from < keys.length; from += chunk)
    for (const one of await sql<KnownFinding[]>`
      select id, status, is_open, effective_risk::double precision as effective_risk, cluster_key from vm_findings
      where application_id = ${application} and cluster_key in ${sql(keys.slice(from, from + chunk))}
        and status <> 'duplicate' order by is_open, id desc`)
      found.set(one.cluster_key, one); // open ones are last, and the oldest of them counts
  return found;
}
