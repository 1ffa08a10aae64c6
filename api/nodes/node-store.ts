// What the control plane knows of its data-plane nodes. Every question to a node leaves its answer here.
import { createHash } from 'node:crypto';
import type { ProxyConfig } from '#proxy/contract';
import { toCanonicalJson } from '../audit/canonical-json.js';
import type { Queryable } from '../db/client.js';
import type { NodeFacts, NodeUpstream, StatusAnswer } from './node-client.js';

export interface NodeRow {
  readonly url: string;
  readonly first_seen_at: Date;
  readonly last_seen_at: Date | null;
  readonly last_asked_at: Date;
  readonly reachable: boolean;
  readonly detail: string;
  readonly generation: number | null;
  readonly ruleset: string;
  readonly workers: number;
  readonly upstreams: NodeUpstream[];
  /** null: it never said. */
  readonly facts: NodeFacts | null;
  readonly served_version: number | null;
  readonly served_generation: number | null;
  readonly served_sha256: string | null;
  /** `digestOf` the configuration; null for what was served before it was kept. */
  readonly served_config: string | null;
}

/** The artifact holds the rules; this stands for everything else a node was given. */
export function digestOf(config: ProxyConfig): string {
  const known = digests.get(config);
  if (known !== undefined) return known;
  const digest = createHash('sha256').update(toCanonicalJson(config)).digest('hex');
  digests.set(config, digest);
  return digest;
}

/** An apply asks for it once for each node; a configuration is never changed. */
const digests = new WeakMap<ProxyConfig, string>();

export async function listNodes(sql: Queryable): Promise<NodeRow[]> {
  return sql<NodeRow[]>`select * from data_nodes order by url`;
}

export async function recordStatus(sql: Queryable, url: string, answer: StatusAnswer, at: Date): Promise<void> {
  if (answer.kind === 'unreachable') {
    await sql`
      insert into data_nodes (url, first_seen_at, last_asked_at, reachable, detail)
      values (${url}, ${at}, ${at}, false, ${answer.detail})
      on conflict (url) do update
      set last_asked_at = excluded.last_asked_at, reachable = false, detail = excluded.detail`;
    return;
  }
  const { generation, ruleset, workers, upstreams = [], facts = null } = answer.status;
  await sql`
    insert into data_nodes
      (url, first_seen_at, last_seen_at, last_asked_at, reachable, generation, ruleset, workers, upstreams, facts)
    values (${url}, ${at}, ${at}, ${at}, true, ${generation}, ${ruleset}, ${workers},
      ${sql.json(upstreams.map((one) => ({ ...one })))}, ${facts === null ? null : sql.json({ ...facts })})
    on conflict (url) do update
    set last_seen_at = excluded.last_seen_at, last_asked_at = excluded.last_asked_at, reachable = true, detail = '',
      generation = excluded.generation, ruleset = excluded.ruleset, workers = excluded.workers,
      upstreams = excluded.upstreams, facts = excluded.facts`;
}

/** The node serves this version under this number. */
export async function recordServed(
  sql: Queryable,
  url: string,
  served: {
    readonly versionId: number;
    readonly generation: number;
    readonly sha256: string;
    readonly config: ProxyConfig;
    readonly workers: number;
  },
  at: Date,
): Promise<void> {
  const { versionId, generation, sha256, config, workers } = served;
  await sql`
    insert into data_nodes
      (url, first_seen_at, last_seen_at, last_asked_at, reachable, generation, ruleset, workers,
       served_version, served_generation, served_sha256, served_config)
    values (${url}, ${at}, ${at}, ${at}, true, ${generation}, ${sha256}, ${workers},
      ${versionId}, ${generation}, ${sha256}, ${digestOf(config)})
    on conflict (url) do update
    set last_seen_at = excluded.last_seen_at, last_asked_at = excluded.last_asked_at, reachable = true, detail = '',
      generation = excluded.generation, ruleset = excluded.ruleset, workers = excluded.workers,
      served_version = excluded.served_version, served_generation = excluded.served_generation,
      served_sha256 = excluded.served_sha256, served_config = excluded.served_config`;
}

/** A version that changed nothing for the data plane became the active one: who served the old one serves it too. */
export async function renameServed(sql: Queryable, from: number, to: number): Promise<void> {
  await sql`update data_nodes set served_version = ${to} where served_version = ${from}`;
}
