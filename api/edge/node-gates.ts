// The gates of all data-plane nodes: who is banned where, and what limits have counted. A node that does not answer is
// left out; the job asks again.
import { Type, type Static, type TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { NodeClient } from '../nodes/node-client.js';

/** As `GET :2019/bans` has it (BanRecord of the data plane). */
const NodeBan = Type.Object({
  network: Type.String({ maxLength: 64 }),
  zone: Type.String(),
  requestId: Type.String(),
  atMs: Type.Number(),
  untilMs: Type.Number(),
  offence: Type.Integer(),
  threshold: Type.Integer(),
  windowSeconds: Type.Integer(),
});
export type NodeBan = Static<typeof NodeBan>;
const NodeBans = Type.Object({ bans: Type.Array(NodeBan) });

/** How a node is attacked, as its part of `GET :2019/gates` has it. */
const NodeAttack = Type.Object({
  mode: Type.String(),
  active: Type.Boolean(),
  rpm: Type.Number(),
  baselineRpm: Type.Number(),
  thresholdRpm: Type.Union([Type.Number(), Type.Null()]),
  learnedMinutes: Type.Integer(),
  transitions: Type.Array(
    Type.Object({
      kind: Type.Union([Type.Literal('enter'), Type.Literal('leave')]),
      atMs: Type.Number(),
      rpm: Type.Number(),
      baselineRpm: Type.Number(),
      thresholdRpm: Type.Number(),
      cause: Type.String({ maxLength: 32 }),
    }),
  ),
});

/** As `GET :2019/gates` has it. */
export const GateFigures = Type.Object({
  decisions: Type.Array(
    Type.Object({ gate: Type.String(), decision: Type.String(), outcome: Type.String(), count: Type.Number() }),
  ),
  zones: Type.Array(
    Type.Object({ site: Type.String(), zone: Type.String(), outcome: Type.String(), count: Type.Number() }),
  ),
  heavy: Type.Array(
    Type.Object({
      zone: Type.String(),
      network: Type.String(),
      limited: Type.Number({ description: 'requests beyond the limit, at most' }),
    }),
  ),
  rateKeys: Type.Object({ keys: Type.Number(), keysMax: Type.Number(), evicted: Type.Number() }),
  crawlers: Type.Array(Type.Object({ crawler: Type.String(), verdict: Type.String(), requests: Type.Number() })),
  /** Absent: a node of a release before attack mode. */
  attack: Type.Optional(NodeAttack),
  /** Whether limits count over all nodes (rl_distributed); absent: a node of a release before that. */
  sharing: Type.Optional(
    Type.Object({
      ...{ state: Type.String(), nodes: Type.Integer(), lost: Type.Number() },
      /** Absent: a node of a release that knew one server only. */
      store: Type.Optional(
        Type.Union([
          Type.Null(),
          Type.Object({
            ...{ mode: Type.String(), tls: Type.Boolean() },
            trouble: Type.Union([Type.Null(), Type.String()]),
          }),
        ]),
      ),
    }),
  ),
  siteKeys: Type.Object({ url: Type.String(), fetchedAtMs: Type.Number(), wantedAtMs: Type.Number() }),
});
export type NodeAttack = Static<typeof NodeAttack>;
export type GateFigures = Static<typeof GateFigures>;

/** Where a node answers clients, and for which sites, as `GET :2019/status` has it. */
export const NodeTraffic = Type.Object({
  port: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  sites: Type.Array(
    Type.Object({ name: Type.String(), prefix: Type.String(), host: Type.Union([Type.String(), Type.Null()]) }),
  ),
});
export type NodeTraffic = Static<typeof NodeTraffic>;

/** What a node has for HTTPS, as `GET :2019/https` has it. */
const NodeHttps = Type.Object({
  /** SHA-256; '': none were given. */
  challenges: Type.String(),
  /** null: it has no TLS edge. */
  certificates: Type.Union([Type.Object({ sha256: Type.String(), ids: Type.Array(Type.String()) }), Type.Null()]),
});
export type NodeHttps = Static<typeof NodeHttps>;

export interface OfNode<T> {
  readonly node: string;
  /** null: it did not answer, or with something else. */
  readonly answer: T | null;
}

export interface NodeGates {
  bans(): Promise<OfNode<readonly NodeBan[]>[]>;
  figures(): Promise<OfNode<GateFigures>[]>;
  /** Where simulations are sent to. */
  traffic(): Promise<OfNode<NodeTraffic>[]>;
  /** Lifts the bans of these networks on every node that answers, or on that one; many with one request. */
  lift(networks: readonly string[], node?: string): Promise<void>;
  /** Public keys of the sites' tokens, for one node. */
  giveKeys(node: string, set: object): Promise<void>;
  /** Which challenges and certificates nodes have; of a node of an earlier release null. */
  https(): Promise<OfNode<NodeHttps>[]>;
  /** Open challenges of authorities, all of them; whether the node took them. */
  giveChallenges(node: string, table: object): Promise<boolean>;
  /** Certificates with their keys, all of them; whether the node took them. */
  giveCertificates(node: string, list: object): Promise<boolean>;
  /** Addresses that no node is to ban automatically, all of them. */
  spare(addresses: readonly string[]): Promise<void>;
}

/** Networks of one request: its line stays below 8 KiB, which every HTTP server takes. */
const liftedAtOnce = 100;

export function createNodeGates(urls: readonly string[], client: Pick<NodeClient, 'ask'>): NodeGates {
  const fromOne = async <S extends TSchema>(node: string, path: string, schema: S): Promise<OfNode<Static<S>>> => {
    const answer = await client.ask(node, 'GET', path);
    return { node, answer: Value.Check(schema, answer) ? answer : null };
  };
  const fromAll = <S extends TSchema>(path: string, schema: S): Promise<OfNode<Static<S>>[]> =>
    Promise.all(urls.map((node) => fromOne(node, path, schema)));
  return {
    async bans() {
      return (await fromAll('/bans', NodeBans)).map(({ node, answer }) => ({ node, answer: answer?.bans ?? null }));
    },
    figures: () => fromAll('/gates', GateFigures),
    traffic: () => fromAll('/status', NodeTraffic),
    async lift(networks, node) {
      const targets = node === undefined ? urls : [node];
      // a node of an earlier release lifts the first of a request alone, and gets the others with the next rounds
      for (let at = 0; at < networks.length; at += liftedAtOnce) {
        const part = networks.slice(at, at + liftedAtOnce).map((network) => `network=${encodeURIComponent(network)}`);
        await Promise.all(targets.map((url) => client.ask(url, 'DELETE', `/bans?${part.join('&')}`)));
      }
    },
    async giveKeys(node, set) {
      await client.ask(node, 'PUT', '/site-keys', set);
    },
    https: () => fromAll('/https', NodeHttps),
    giveChallenges: async (node, table) => (await client.ask(node, 'PUT', '/challenges', table)) !== null,
    giveCertificates: async (node, list) => (await client.ask(node, 'PUT', '/certificates', list)) !== null,
    async spare(addresses) {
      await Promise.all(urls.map((url) => client.ask(url, 'PUT', '/ban-safe', { addresses })));
    },
  };
}
