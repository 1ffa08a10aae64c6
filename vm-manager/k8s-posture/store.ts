// Rows of what scans of a cluster's manifests have found of rights and of what runs.
import { json, type Queryable, type Sql, type Tx } from '../database.js';
import type { ClusterObject } from '../scanners/contract.js';

export const objectsMax = 50_000;
const atOnce = 1000;

export interface MapRule {
  readonly namespace: string;
  readonly workload?: string;
  readonly application_id: string;
}

export interface Cluster {
  readonly id: number;
  readonly name: string;
  readonly application_map: readonly MapRule[];
}

/** In pages: no statement reads all of a large cluster at once. */
export async function objectsOfCluster(sql: Queryable, id: number): Promise<ClusterObject[]> {
  const all: ClusterObject[] = [];
  for (let last = 0; ; ) {
    const rows = await sql<(ClusterObject & { id: number })[]>`
      select id, kind, type, namespace, name, detail from vm_cluster_objects
      where cluster_id = ${id} and id > ${last} order by id limit ${atOnce}`;
    all.push(...rows);
    last = rows.at(-1)?.id ?? 0;
    if (rows.length < atOnce) return all;
  }
}

/** `web*` stands for every name that begins so. */
export function fitsName(pattern: string, name: string): boolean {
  const parts = pattern.split('*');
  if (parts.length === 1) return pattern === name;
  const [head = '', ...rest] = parts;
  if (!name.startsWith(head)) return false;
  let at = head.length;
  for (const [index, part] of rest.entries()) {
    const found = index === rest.length - 1 ? name.length - part.length : name.indexOf(part, at);
    if (found < at || !name.startsWith(part, found)) return false;
    at = found + part.length;
  }
  return true;
}

/** Of the first rule that fits; null: none does. */
export const mappedTo = (rules: readonly MapRule[], namespace: string, workload: string): string | null =>
  rules.find((rule) => fitsName(rule.namespace, namespace) && fitsName(rule.workload ?? '*', workload))
    ?.application_id ?? null;

/** `mappedTo` for many workloads: the rules of a namespace are looked for once. */
export function mapper(rules: readonly MapRule[]): (namespace: string, workload: string) => string | null {
  const byNamespace = new Map<string, readonly MapRule[]>();
  return (namespace, workload) => {
    let some = byNamespace.get(namespace);
    if (some === undefined) {
      some = rules.filter((rule) => fitsName(rule.namespace, namespace));
      byNamespace.set(namespace, some);
    }
    return some.find((rule) => fitsName(rule.workload ?? '*', workload))?.application_id ?? null;
  };
}

/**
 * Keeps what a scan has found. `replaces`: it was all of the cluster; else what has the same name is replaced. Objects
 * beyond `objectsMax` are not kept. Returns how many were kept, and how many were not.
 */
export async function keepObjects(
  sql: Sql,
  cluster: number,
  objects: readonly ClusterObject[],
  replaces: boolean,
  now: Date,
): Promise<{ readonly kept: number; readonly left_out: number }> {
  const byKey = new Map(objects.map((one) => [`${one.type} ${one.namespace} ${one.name}`, one]));
  const all = [...byKey.values()];
  return sql.begin(async (tx) => {
    const locked = await tx`select 1 from vm_clusters where id = ${cluster} for update`;
    if (locked.length === 0) return { kept: 0, left_out: all.length };
    if (replaces) await tx`delete from vm_cluster_objects where cluster_id = ${cluster}`;
    const [before] = await tx<{ n: number }[]>`
      select count(*)::int as n from vm_cluster_objects where cluster_id = ${cluster}`;
    const room = Math.max(0, objectsMax - (before?.n ?? 0));
    const wanted = all.slice(0, room);
    for (let at = 0; at < wanted.length; at += atOnce)
      await insertObjects(tx, cluster, wanted.slice(at, at + atOnce), now);
    await tx`
      update vm_clusters set scanned_at = ${now}, counts = coalesce((
        select jsonb_object_agg(kind, n) from (
          select kind, count(*) as n from vm_cluster_objects
          where cluster_id = ${cluster} group by kind) counted), '{}')
      where id = ${cluster}`;
    return { kept: wanted.length, left_out: all.length - wanted.length };
  });
}

const insertObjects = (tx: Tx, cluster: number, objects: readonly ClusterObject[], now: Date) => tx`
  insert into vm_cluster_objects (cluster_id, kind, type, namespace, name, detail, seen_at)
  select ${cluster}, n.kind, n.type, n.namespace, n.name, n.detail, ${now}
  from jsonb_to_recordset(${json(tx, objects)}) as n(kind text, type text, namespace text, name text, detail jsonb)
  on conflict (cluster_id, type, namespace, name)
  do update set kind = excluded.kind, detail = excluded.detail, seen_at = excluded.seen_at`;
