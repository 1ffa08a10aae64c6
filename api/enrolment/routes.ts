import { Type, type Static } from '@sinclair/typebox';
import { requireLocalToken } from '../backup/local-token.js';
import {
  ApiError,
  closed,
  Nullable,
  refusals,
  requirePrincipal,
  Time,
  type Actor,
  type App,
} from '../http-kit/index.js';
import { addressOf } from '../nodes/directory.js';
import type { Parts } from '../parts.js';
import { LabelsOf, NodeName } from './enrol.js';
import type { NodePort } from './contract.js';
import {
  deleteJoinToken,
  insertJoinToken,
  listEnrolled,
  listJoinTokens,
  relabelNode,
  revokeNode,
  type Labels,
  type SeveralNodes,
} from './store.js';

export type EnrolmentParts = Pick<Parts, 'database' | 'audit' | 'now' | 'nodePort' | 'localToken'>;

const minutesDefault = 60;
const minutesMax = 10_080;
/** Of a token for several nodes, which stands in the configuration of who makes them. */
const minutesOfSeveralMax = 525_600;

const NewToken = Type.Object(
  {
    labels: Type.Optional(LabelsOf),
    expires_in_minutes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: minutesOfSeveralMax,
        description: `default ${minutesDefault}; at most ${minutesMax} without nodes_max`,
      }),
    ),
    nodes_max: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        description:
          'how many nodes may belong to the fleet by this token at once (machines that come and go: they leave when ' +
          'they stop); without it the token is for one node, once',
      }),
    ),
    forget_after_minutes: Type.Optional(
      Type.Integer({
        minimum: 5,
        maximum: 43_200,
        description: 'with nodes_max: minutes without a word after which such a node leaves the list; default never',
      }),
    ),
  },
  closed,
);
const MadeToken = Type.Object({
  id: Type.String(),
  token: Type.String({ description: 'shown this once' }),
  expires_at: Time,
  addresses: Type.Array(Type.String(), { description: 'where nodes reach control planes (NODES_URLS)' }),
  command: Type.String({ description: 'to be run on the node' }),
});
const EnrolledView = Type.Object({
  name: Type.String(),
  url: Type.String({ description: 'as GET /api/nodes names it' }),
  labels: LabelsOf,
  joined_at: Time,
  joined_by: Type.String({ description: 'who made its token' }),
  certificate_until: Nullable(Time),
  comes_and_goes: Type.Boolean({ description: 'it joined with a token for several nodes, and leaves when it stops' }),
  connected: Type.Boolean({ description: 'it keeps a tunnel to the control plane that answers' }),
});
const TokenView = Type.Object({
  id: Type.String(),
  labels: LabelsOf,
  created_at: Time,
  created_by: Type.String(),
  expires_at: Time,
  used_at: Nullable(Time),
  node: Nullable(Type.String({ description: 'the node that used it' })),
  nodes_max: Nullable(
    Type.Integer({ description: 'nodes that may belong to the fleet by it at once; null: one, once' }),
  ),
  forget_after_minutes: Nullable(Type.Integer()),
  nodes: Type.Integer({ description: 'nodes that belong to the fleet by it now, where nodes_max is set' }),
});
const tags = ['data plane'];
const Named = Type.Object({ name: NodeName }, closed);

const listSchema = {
  tags,
  summary: 'Nodes that enrolled: labels, certificate, whether they are connected',
  response: {
    200: Type.Object({
      items: Type.Array(EnrolledView),
      enabled: Type.Boolean({ description: 'NODES_PORT is set: nodes can enrol' }),
    }),
    ...refusals,
  },
};
const labelsSchema = {
  tags,
  summary: 'Replace the labels of an enrolled node',
  params: Named,
  body: Type.Object({ labels: LabelsOf }, closed),
  response: { 200: Type.Object({ name: Type.String(), labels: LabelsOf }), ...refusals },
};
const revokeSchema = {
  tags,
  summary: 'Revoke an enrolled node: its certificates and connections end, it is given nothing any more',
  description: 'The node goes on serving what it has. Stop it, or take it out of the load balancer, as well.',
  params: Named,
  response: { 200: Type.Object({ name: Type.String(), revoked_at: Time }), ...refusals },
};
const tokensSchema = {
  tags,
  summary: 'Tokens by which nodes join: those of the last 30 days',
  response: { 200: Type.Object({ items: Type.Array(TokenView) }), ...refusals },
};
const createSchema = {
  tags,
  summary: 'Make a token by which a node joins, or several (nodes_max)',
  body: NewToken,
  response: { 201: MadeToken, ...refusals },
};
const localSchema = { ...createSchema, summary: 'The same, for `gatehouse node token` on this host', security: [] };
const deleteSchema = {
  tags,
  summary: 'Withdraw a token that no node has used',
  params: Type.Object({ id: Type.String({ maxLength: 64 }) }, closed),
  response: { 204: Type.Null(), ...refusals },
};

const localActor = (sourceIp: string): Actor => ({ id: null, name: 'gatehouse node token', role: 'system', sourceIp });

function requirePort(port: NodePort | null): NodePort {
  if (port !== null) return port;
  throw new ApiError('not_ready', 'Nodes cannot enrol here: set NODES_PORT and NODES_URLS, and restart.');
}

const noNode = (name: string): ApiError => new ApiError('not_found', `There is no enrolled node ${name}.`);

/** null: for one node. */
function severalOf({
  nodes_max: nodesMax,
  forget_after_minutes: minutes,
}: Static<typeof NewToken>): SeveralNodes | null {
  if (nodesMax !== undefined) return { nodesMax, forgetAfterMinutes: minutes ?? null };
  if (minutes === undefined) return null;
  throw new ApiError('unfit', 'forget_after_minutes is for tokens of several nodes; set nodes_max as well.');
}

async function makeToken(
  { database, audit, now, nodePort }: EnrolmentParts,
  actor: Actor,
  body: Static<typeof NewToken>,
): Promise<Static<typeof MadeToken>> {
  const port = requirePort(nodePort);
  const { labels = {}, expires_in_minutes: minutes = minutesDefault } = body;
  const several = severalOf(body);
  if (several === null && minutes > minutesMax)
    throw new ApiError(
      'unfit',
      `A token for one node lives ${minutesMax} minutes at most; set nodes_max for one that several nodes use.`,
    );
  const at = new Date(now());
  const expiresAt = new Date(at.getTime() + minutes * 60_000);
  const given = { labels: labels as Labels, createdBy: actor.name, now: at, expiresAt, several };
  const whom = several === null ? 'one node' : `${several.nodesMax} nodes at once`;
  const made = await database.sql.begin(async (tx) => {
    const token = await insertJoinToken(tx, port.fingerprint, given);
    await audit.record(tx, {
      actor,
      action: 'nodes.token',
      summary: `made a token for ${whom} to join, valid for ${minutes} minutes`,
      details: { token: token.id, labels, nodes_max: several?.nodesMax ?? null },
    });
    return token;
  });
  const addresses = [...port.addresses];
  const where = addresses.length === 0 ? 'https://ADDRESS:PORT' : addresses.join(',');
  const command = `gatehouse node join ${where} ${made.text}`;
  return { id: made.id, token: made.text, expires_at: expiresAt.toISOString(), addresses, command };
}

export function registerEnrolmentRoutes(app: App, parts: EnrolmentParts): void {
  const { database, audit, now, nodePort, localToken } = parts;
  const { sql } = database;
  app.get('/api/nodes/enrolled', { schema: listSchema }, async () => ({
    enabled: nodePort !== null,
    items: (await listEnrolled(sql)).map((node) => ({
      name: node.name,
      url: addressOf(node.name),
      labels: node.labels,
      joined_at: node.joined_at.toISOString(),
      joined_by: node.joined_by,
      certificate_until: node.expires_at?.toISOString() ?? null,
      comes_and_goes: node.token_id !== null,
      connected: nodePort?.isConnected(node.name) ?? false,
    })),
  }));
  app.put('/api/nodes/enrolled/:name/labels', { schema: labelsSchema }, async (request) => {
    const { name } = request.params;
    const { actor } = requirePrincipal(request);
    const labels = request.body.labels as Labels;
    return sql.begin(async (tx) => {
      const node = await relabelNode(tx, name, labels);
      if (node === null) throw noNode(name);
      const summary = `changed the labels of node ${name}`;
      await audit.record(tx, { actor, action: 'nodes.labels', summary, details: { node: name, labels } });
      return { name, labels };
    });
  });
  app.post('/api/nodes/enrolled/:name/revoke', { schema: revokeSchema }, async (request) => {
    const { name } = request.params;
    const { actor } = requirePrincipal(request);
    const at = new Date(now());
    await sql.begin(async (tx) => {
      if ((await revokeNode(tx, name, at)) === null) throw noNode(name);
      const summary = `revoked node ${name}`;
      await audit.record(tx, { actor, action: 'nodes.revoke', summary, details: { node: name } });
    });
    await nodePort?.revoked(name);
    return { name, revoked_at: at.toISOString() };
  });
  app.get('/api/nodes/tokens', { schema: tokensSchema }, async () => ({
    items: (await listJoinTokens(sql, new Date(now()))).map((token) => ({
      ...token,
      created_at: token.created_at.toISOString(),
      expires_at: token.expires_at.toISOString(),
      used_at: token.used_at?.toISOString() ?? null,
    })),
  }));
  app.post('/api/nodes/tokens', { schema: createSchema }, async (request, reply) =>
    reply.status(201).send(await makeToken(parts, requirePrincipal(request).actor, request.body)),
  );
  app.post('/api/nodes/tokens/local', { schema: localSchema }, async (request, reply) => {
    requireLocalToken(request.headers.authorization, localToken);
    return reply.status(201).send(await makeToken(parts, localActor(request.ip), request.body));
  });
  app.delete('/api/nodes/tokens/:id', { schema: deleteSchema }, async (request, reply) => {
    const { id } = request.params;
    const { actor } = requirePrincipal(request);
    await sql.begin(async (tx) => {
      if (!(await deleteJoinToken(tx, id)))
        throw new ApiError('not_found', `There is no token ${id} that could be withdrawn.`);
      const summary = 'withdrew a token for a node to join';
      await audit.record(tx, { actor, action: 'nodes.token.withdraw', summary, details: { token: id } });
    });
    return reply.status(204).send(null);
  });
}
