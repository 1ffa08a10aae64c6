// /k8s-posture/clusters and /k8s-posture/rbac-paths: clusters by name, and what the rights in them lead to.
import { Nullable, OneOf, Time } from '#http-kit';
import { ApiError } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { Id, Name, requireApplication } from '../assets/resources.js';
import { isUnconfined } from '../kit/caller.js';
import { endpoint, notFound, toId, type Endpoint } from '../kit/endpoint.js';
import { resourceEndpoints, type Resource } from '../kit/resource.js';
import { textOf } from '../kit/values/text.js';
import type { Subject } from './access.js';
import { hopsMax, pathsOf, type RbacPath } from './paths.js';
import { goalNames, goals } from './rights.js';
import { objectsOfCluster, type Cluster, type MapRule } from './store.js';

const closed = { additionalProperties: false } as const;
const clustersMax = 200;
const runsShown = 20;

const Pattern = Type.String({ minLength: 1, maxLength: 200, pattern: '^[A-Za-z0-9._*-]+$' });
const MapView = Type.Array(
  Type.Object(
    { namespace: Pattern, workload: Type.Optional(Pattern), application_id: Id },
    { ...closed, description: '* stands for any text' },
  ),
  { maxItems: 500, description: 'which application a workload is of: the first that fits' },
);

const clusters: Resource = {
  path: '/k8s-posture/clusters',
  noun: 'cluster',
  table: 'vm_clusters',
  // rights in it reach across the applications of all projects
  ofOrganisation: 'Clusters',
  view: 'view_k8s',
  edit: 'edit_k8s',
  defaultSort: 'name',
  // names and maps tell of applications of others
  visible: (sql, reach) => (isUnconfined(reach) ? sql`true` : sql`false`),
  only: ['list', 'create', 'patch', 'delete'],
  columns: {
    name: {
      schema: Type.Intersect([Name, Type.String({ maxLength: 100, pattern: '^[A-Za-z0-9._-]+$' })], {
        description: 'as POST /k8s-runtime/events?cluster= calls it',
      }),
      as: 'plain',
      write: 'always',
      required: true,
      searched: true,
      sort: 'text',
    },
    description: { schema: Type.String({ maxLength: 2000 }), as: 'plain', write: 'always' },
    application_map: { schema: MapView, as: 'json', write: 'always' },
    counts: {
      schema: Type.Record(Type.String(), Type.Integer(), { description: 'objects of each kind that scans have found' }),
      as: 'json',
      write: 'never',
    },
    scanned_at: { schema: Nullable(Time), as: 'time', write: 'never' },
    created_by: { schema: Type.String(), as: 'plain', write: 'never' },
  },
  check: async (tx, call, values, before) => {
    const given = values['application_map'] as readonly MapRule[] | undefined;
    for (const id of new Set(given?.map((rule) => rule.application_id))) await requireApplication(tx, call.reach, id);
    if (before !== null) return;
    values['created_by'] = call.caller.actor.name;
    const [count] = await tx<{ n: number }[]>`select count(*)::int as n from vm_clusters`;
    if ((count?.n ?? 0) >= clustersMax)
      throw new ApiError('conflict', `There are ${clustersMax} clusters, which is the most.`);
  },
};

const SubjectView = Type.Object({
  kind: OneOf(['user', 'group', 'account'], 'account: a service account'),
  namespace: Type.String(),
  name: Type.String(),
});

const PathView = Type.Object({
  cluster_id: Type.String(),
  cluster: Type.String(),
  subject: SubjectView,
  runs: Type.Array(Type.String(), { description: 'workloads that run as it; at most 20' }),
  goal: OneOf(goalNames),
  goal_title: Type.String(),
  severity: OneOf(['critical', 'high']),
  hops: Type.Array(
    Type.Object({
      from: Type.String(),
      to: Type.String(),
      right: Type.String({ description: 'empty: it is a member of it' }),
      why: Type.String(),
      namespace: Nullable(Type.String({ description: 'null: the whole cluster' })),
      bindings: Type.Array(Type.String()),
    }),
    { description: `of at most ${hopsMax} rights` },
  ),
});

/** Control planes, nodes and controllers need such rights. */
const isOwnOfCluster = ({ kind, namespace, name }: Subject): boolean =>
  kind === 'account'
    ? namespace === 'kube-system'
    : name.startsWith('system:') && !/^system:(?:authenticated|unauthenticated|anonymous|serviceaccounts)/.test(name);

const tell = (node: string): string => {
  const [, kind = '', name = ''] = /^(\w+):\/?(.*)$/.exec(node) ?? [];
  return kind === 'goal' && name in goals ? goals[name as keyof typeof goals].title : `${kind} ${name}`;
};

const viewPath = (cluster: Cluster, runs: ReadonlyMap<string, string[]>, { subject, goal, hops }: RbacPath) => ({
  cluster_id: String(cluster.id),
  cluster: cluster.name,
  subject: { ...subject },
  runs: subject.kind === 'account' ? (runs.get(`${subject.namespace}/${subject.name}`) ?? []) : [],
  goal,
  goal_title: goals[goal].title,
  severity: goals[goal].severity,
  hops: hops.map(({ from, to, rule, namespace, bindings }) => ({
    from: tell(from),
    to: tell(to),
    right: rule?.by ?? '',
    why: rule?.why ?? 'is a member',
    ...{ namespace, bindings: [...bindings] },
  })),
});

async function pathsIn(sql: Parameters<typeof objectsOfCluster>[0], cluster: Cluster) {
  const objects = await objectsOfCluster(sql, cluster.id);
  const runs = new Map<string, string[]>();
  for (const { kind, type, namespace, name, detail } of objects) {
    if (kind !== 'workload') continue;
    const key = `${namespace}/${textOf(detail['account']) || 'default'}`;
    const of = runs.get(key) ?? [];
    // so many are shown; a namespace may have tens of thousands of the default account
    if (of.length < runsShown) runs.set(key, [...of, `${type}/${name}`]);
  }
  const found = await pathsOf(objects);
  return {
    ...found,
    items: found.paths.map((path) => viewPath(cluster, runs, path)),
    objects: objects.length,
    cluster,
  };
}

const ranks = Object.fromEntries(goalNames.map((goal, index) => [goal, index]));

const rbacPaths = endpoint({
  method: 'GET',
  path: '/k8s-posture/rbac-paths',
  permission: 'view_k8s',
  ofOrganisation: 'Clusters',
  kind: 'A',
  summary:
    'Which users, groups and service accounts reach what administrators alone should, by roles and bindings that ' +
    'scans with cluster_id have found: the shortest way to each goal',
  query: Type.Object(
    {
      cluster_id: Type.Optional(Id),
      goal: Type.Optional(OneOf(goalNames)),
      q: Type.Optional(Type.String({ maxLength: 200, description: 'words in the name of the subject' })),
      system: Type.Optional(Type.Boolean({ description: 'also those of the cluster itself: kube-system, system:…' })),
    },
    closed,
  ),
  answer: Type.Object({
    total: Type.Integer(),
    clusters: Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        objects: Type.Integer({ description: '0: nothing was scanned, and nothing can be said' }),
        subjects: Type.Integer({ description: 'that hold rights' }),
        unknown_roles: Type.Array(Type.String(), { description: 'bindings whose role was not scanned; at most 50' }),
        assumed_roles: Type.Array(Type.String(), { description: 'taken as every cluster has them' }),
        cut: Type.Integer({ description: 'objects that are too large to be kept whole' }),
        partial: Type.Boolean({ description: 'there are more connections than are looked at' }),
      }),
    ),
    items: Type.Array(PathView),
  }),
  handle: async ({ sql, query }) => {
    const { cluster_id: id, goal, q, system = false } = query;
    const wanted = id === undefined ? sql`true` : sql`id = ${toId(id, 'cluster')}`;
    const rows = await sql<Cluster[]>`select id, name, application_map from vm_clusters where ${wanted} order by name`;
    if (id !== undefined && rows.length === 0) throw notFound('cluster', id);
    const found: Awaited<ReturnType<typeof pathsIn>>[] = [];
    for (const cluster of rows) found.push(await pathsIn(sql, cluster));
    const items = found
      .flatMap((one) => one.items)
      .filter(({ subject }) => system || !isOwnOfCluster(subject))
      .filter((one) => goal === undefined || one.goal === goal)
      .filter(({ subject }) => q === undefined || subject.name.toLowerCase().includes(q.toLowerCase()))
      .sort(
        (left, right) => (ranks[left.goal] ?? 0) - (ranks[right.goal] ?? 0) || left.hops.length - right.hops.length,
      );
    return {
      total: items.length,
      clusters: found.map(({ cluster, objects, subjects, unknownRoles, assumed, cut, isPartial }) => ({
        ...{ id: String(cluster.id), name: cluster.name, objects, subjects, cut, partial: isPartial },
        ...{ unknown_roles: unknownRoles.slice(0, 50), assumed_roles: [...assumed] },
      })),
      items,
    };
  },
});

export const k8sPostureEndpoints: readonly Endpoint[] = [...resourceEndpoints(clusters), rbacPaths];
