// /graph/topology: what there is and what asks what, as one graph.
import { Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { Id } from '../../assets/resources.js';
import { endpoint, toId } from '../../kit/endpoint.js';
import { applicationsMax, edgeKinds, gather, nodeKinds } from './gather.js';

const closed = { additionalProperties: false } as const;

export const topology = endpoint({
  method: 'GET',
  path: '/graph/topology',
  permission: 'view_assets',
  kind: 'A',
  summary:
    'Projects, applications, hosts, services, workloads and clusters as one graph; `asks` is traffic between ' +
    'services that meshes and traces have shown',
  query: Type.Object({ project_id: Type.Optional(Id), application_id: Type.Optional(Id) }, closed),
  answer: Type.Object({
    nodes: Type.Array(
      Type.Object({
        id: Type.String(),
        kind: OneOf(nodeKinds),
        name: Type.String(),
        application_id: Nullable(Type.String()),
        exposure: Nullable(Type.String()),
        open_findings: Nullable(Type.Integer({ description: 'null: not an application, or not for you' })),
        worst_risk: Nullable(Type.Integer()),
      }),
    ),
    edges: Type.Array(
      Type.Object({
        from: Type.String(),
        to: Type.String(),
        kind: OneOf(edgeKinds, 'part_of: a project; serves: an application; runs: an application; in: a cluster'),
        traffic: Nullable(
          Type.Object({
            requests: Type.Integer(),
            unauthenticated_requests: Type.Integer({ description: 'without certificate and without token' }),
            failed: Type.Integer(),
            first_seen: Time,
            last_seen: Time,
          }),
        ),
      }),
    ),
    observed_hops: Type.Integer({ description: 'pairs of services that the data plane knows; 0: none was sent' }),
    truncated: Type.Boolean({ description: `there is more than is shown, such as ${applicationsMax} applications` }),
  }),
  handle: async ({ host, caller, reach, query }) => {
    const { project_id: project, application_id: application } = query;
    const { graph, hops } = await gather(
      host,
      { assets: reach, clusters: caller.reach('view_k8s', false), findings: caller.reach('view_findings', false) },
      {
        projectId: project === undefined ? null : toId(project, 'project'),
        applicationId: application === undefined ? null : toId(application, 'application'),
      },
    );
    const isWhole = reach.all && reach.within === null;
    return {
      nodes: [...graph.nodes.values()],
      edges: [...graph.edges.values()],
      observed_hops: isWhole ? hops : [...graph.edges.values()].filter(({ kind }) => kind === 'asks').length,
      truncated: graph.isCut,
    };
  },
});
