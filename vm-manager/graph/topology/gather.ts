// What there is, and what asks what, gathered of its owners with each question: applications, their hosts and projects
// here; who asks whom from the data plane's mesh records and traces; workloads from scans and events of clusters.
import { allOf, type Sql } from '../../database.js';
import type { Host, ObservedHop } from '../../host.js';
import { mapper, type Cluster } from '../../k8s-posture/store.js';
import { each } from '../../k8s-posture/turns.js';
import { isUnconfined, reachable, type Reach } from '../../kit/caller.js';
import { resolveServices } from './names.js';

export const nodeKinds = ['project', 'application', 'host', 'service', 'workload', 'cluster'] as const;
export const edgeKinds = ['part_of', 'serves', 'runs', 'in', 'asks'] as const;

export interface Node {
  readonly id: string;
  readonly kind: (typeof nodeKinds)[number];
  readonly name: string;
  /** Of what it belongs to. */
  readonly application_id: string | null;
  readonly exposure: string | null;
  readonly open_findings: number | null;
  readonly worst_risk: number | null;
}

export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly kind: (typeof edgeKinds)[number];
  readonly traffic: {
    readonly requests: number;
    readonly unauthenticated_requests: number;
    readonly failed: number;
    readonly first_seen: string;
    readonly last_seen: string;
  } | null;
}

export const applicationsMax = 2000;
const hopsMax = 5000;
const workloadsMax = 5000;

export interface Wanted {
  readonly projectId: string | null;
  readonly applicationId: string | null;
}

const plain = { application_id: null, exposure: null, open_findings: null, worst_risk: null } as const;

interface AppRow {
  readonly id: number;
  readonly name: string;
  readonly project_id: number | null;
  readonly project: string | null;
  readonly exposure: string;
  readonly site: string | null;
  readonly open: number;
  readonly worst: number;
}

/** The graph while it is made: nodes once, edges once, traffic of the same edge added up. */
export class Topology {
  readonly nodes = new Map<string, Node>();
  readonly edges = new Map<string, Edge>();
  isCut = false;

  node(node: Node): string {
    if (!this.nodes.has(node.id)) this.nodes.set(node.id, node);
    return node.id;
  }

  edge(from: string, to: string, kind: Edge['kind'], traffic: Edge['traffic'] = null): void {
    const key = `${kind} ${from} ${to}`;
    const before = this.edges.get(key)?.traffic;
    this.edges.set(key, {
      from,
      to,
      kind,
      traffic: before === undefined || before === null ? traffic : sum(before, traffic),
    });
  }
}

const sum = (one: NonNullable<Edge['traffic']>, other: Edge['traffic']): Edge['traffic'] =>
  other === null
    ? one
    : {
        requests: one.requests + other.requests,
        unauthenticated_requests: one.unauthenticated_requests + other.unauthenticated_requests,
        failed: one.failed + other.failed,
        first_seen: one.first_seen < other.first_seen ? one.first_seen : other.first_seen,
        last_seen: one.last_seen > other.last_seen ? one.last_seen : other.last_seen,
      };

const hostOf = (url: string): string | null => {
  try {
    return new URL(url).host;
  } catch {
    return null;
  }
};

async function addApplications(sql: Sql, reach: Reach, findings: Reach | null, graph: Topology, wanted: Wanted) {
  const where = allOf(sql, [
    reachable(sql, reach, sql`a.id`, sql`a.project_id`),
    sql`a.status = 'active'`,
    ...(wanted.projectId === null ? [] : [sql`a.project_id = ${wanted.projectId}`]),
    ...(wanted.applicationId === null ? [] : [sql`a.id = ${wanted.applicationId}`]),
  ]);
  // numbers of findings are for who may see findings there
  const seen = findings === null ? sql`false` : reachable(sql, findings, sql`a.id`, sql`a.project_id`);
  const rows = await sql<(AppRow & { counted: boolean })[]>`
    with shown as (
      select a.id, a.name, a.project_id, a.exposure, a.site, ${seen} as counted from vm_applications a
      where ${where} order by a.id limit ${applicationsMax + 1})
    select s.*, p.name as project, coalesce(f.open, 0)::int as open, coalesce(f.worst, 0)::int as worst
    from shown s left join vm_projects p on p.id = s.project_id
      left join lateral (
        select count(*) as open, max(effective_risk) as worst from vm_findings
        where application_id = s.id and is_open and s.counted) f on true
    order by s.id`;
  graph.isCut ||= rows.length > applicationsMax;
  const shown = rows.slice(0, applicationsMax);
  for (const row of shown) {
    const application = graph.node({
      ...{ id: `application:${row.id}`, kind: 'application', name: row.name, application_id: String(row.id) },
      exposure: row.exposure,
      ...(row.counted ? { open_findings: row.open, worst_risk: row.worst } : { open_findings: null, worst_risk: null }),
    });
    if (row.project_id !== null) {
      const project = graph.node({
        ...plain,
        id: `project:${row.project_id}`,
        kind: 'project',
        name: row.project ?? '',
      });
      graph.edge(application, project, 'part_of');
    }
    if (row.site !== null) addHost(graph, row.site, row.id);
  }
  return shown.map(({ id }) => id);
}

function addHost(graph: Topology, name: string, application: number): void {
  const host = graph.node({ ...plain, id: `host:${name}`, kind: 'host', name });
  graph.edge(host, `application:${application}`, 'serves');
}

async function addTargets(sql: Sql, graph: Topology, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const rows = await sql<{ application_id: number; url: string }[]>`
    select application_id, url from vm_targets where application_id in ${sql([...ids])}
    order by id limit ${workloadsMax + 1}`;
  graph.isCut ||= rows.length > workloadsMax;
  for (const { application_id: application, url } of rows.slice(0, workloadsMax)) {
    const host = hostOf(url);
    if (host !== null) addHost(graph, host, application);
  }
}

const trafficOf = (hop: ObservedHop): NonNullable<Edge['traffic']> => ({
  requests: hop.requests,
  unauthenticated_requests: hop.unidentified,
  failed: hop.failed,
  first_seen: hop.firstSeen.toISOString(),
  last_seen: hop.lastSeen.toISOString(),
});

/**
 * Who asks whom, as the applications that the services are. A service that is no application is shown to who reaches
 * the whole organisation; others see what goes on between applications that they see.
 */
async function addTraffic(host: Host, reach: Reach, graph: Topology, wanted: Wanted): Promise<number> {
  const hops = (await host.eastWest?.(hopsMax + 1)) ?? [];
  graph.isCut ||= hops.length > hopsMax;
  const shown = hops.slice(0, hopsMax);
  const services = [...new Set(shown.flatMap(({ caller, callee }) => [caller, callee]))];
  const resolved = await resolveServices(host.sql, reach, services);
  const isPart = wanted.projectId !== null || wanted.applicationId !== null;
  const showsOthers = isUnconfined(reach);
  const nodeOf = (service: string): { readonly id: string; readonly isShown: boolean } => {
    const found = resolved.get(service);
    if (found === undefined) return { id: `service:${service}`, isShown: false };
    const id = `application:${found.id}`;
    return { id, isShown: graph.nodes.has(id) };
  };
  const known = new Set(graph.nodes.keys());
  for (const hop of shown) {
    const [from, to] = [nodeOf(hop.caller), nodeOf(hop.callee)];
    if (from.id === to.id) continue;
    const touches = known.has(from.id) || known.has(to.id);
    if (!(from.isShown && to.isShown) && !(showsOthers && (!isPart || touches))) continue;
    for (const [{ id }, service] of [
      [from, hop.caller],
      [to, hop.callee],
    ] as const) {
      const found = resolved.get(service);
      graph.node({
        ...{ ...plain, id, kind: found === undefined ? 'service' : 'application', name: found?.name ?? service },
        application_id: found === undefined ? null : String(found.id),
      });
    }
    graph.edge(from.id, to.id, 'asks', trafficOf(hop));
  }
  return shown.length;
}

interface Running {
  readonly cluster: string;
  readonly namespace: string;
  readonly workload: string;
  readonly application_id: number | null;
}

function addWorkload(graph: Topology, { cluster, namespace, workload, application_id: application }: Running): void {
  const runs = application === null ? null : `application:${application}`;
  const node = graph.node({
    ...{
      ...plain,
      id: `workload:${cluster}/${namespace}/${workload}`,
      kind: 'workload',
      name: `${namespace}/${workload}`,
    },
    application_id: application === null ? null : String(application),
  });
  if (cluster !== '') {
    graph.edge(node, graph.node({ ...plain, id: `cluster:${cluster}`, kind: 'cluster', name: cluster }), 'in');
  }
  if (runs !== null) graph.edge(node, runs, 'runs');
}

/** Workloads of applications that are shown; those of none for who reaches the whole organisation. */
async function addWorkloads(sql: Sql, reach: Reach, graph: Topology, wanted: Wanted): Promise<void> {
  const seen = await sql<Running[]>`
    select distinct cluster, namespace, workload, application_id from vm_k8s_events where workload <> ''
    order by cluster, namespace, workload limit ${workloadsMax + 1}`;
  // the rules of a cluster once, and not with each of its workloads
  const clusters = await sql<Cluster[]>`select id, name, application_map from vm_clusters`;
  const finders = new Map(clusters.map((one) => [one.name, mapper(one.application_map)]));
  const scanned = await sql<Omit<Running, 'application_id'>[]>`
    select c.name as cluster, o.namespace, o.name as workload
    from vm_cluster_objects o join vm_clusters c on c.id = o.cluster_id
    where o.kind = 'workload' order by o.id limit ${workloadsMax + 1}`;
  graph.isCut ||= Math.max(seen.length, scanned.length) > workloadsMax;
  const mapped: Running[] = [];
  await each(scanned, (one) => {
    const id = finders.get(one.cluster)?.(one.namespace, one.workload) ?? null;
    mapped.push({ ...one, application_id: id === null ? null : Number(id) });
  });
  const names = mapped.filter((one) => one.application_id === null).map((one) => `${one.namespace}/${one.workload}`);
  const resolved = await resolveServices(sql, reach, [...new Set(names)]);
  const isPart = wanted.projectId !== null || wanted.applicationId !== null;
  for (const one of [...mapped, ...seen].slice(0, 2 * workloadsMax)) {
    const application = one.application_id ?? resolved.get(`${one.namespace}/${one.workload}`)?.id ?? null;
    const isShown = application !== null && graph.nodes.has(`application:${application}`);
    if (isShown || (application === null && !isPart && isUnconfined(reach)))
      addWorkload(graph, { ...one, application_id: application });
  }
}

/** All of it that `reach` shows; `clusters` and `findings` are what else the caller may see, null: nothing of it. */
export async function gather(
  host: Host,
  {
    assets,
    clusters,
    findings,
  }: { readonly assets: Reach; readonly clusters: Reach | null; readonly findings: Reach | null },
  wanted: Wanted,
): Promise<{ readonly graph: Topology; readonly hops: number }> {
  const graph = new Topology();
  const ids = await addApplications(host.sql, assets, findings, graph, wanted);
  await addTargets(host.sql, graph, ids);
  const hops = await addTraffic(host, assets, graph, wanted);
  if (clusters !== null) await addWorkloads(host.sql, clusters, graph, wanted);
  return { graph, hops };
}
