// All configured data-plane nodes as one: a generation goes to every node that answers or, when one of them refuses it,
// to none. A node that is away is not waited for; the reconciler brings it up to date when it is back.
import type { ProxyConfig } from '#proxy/contract';
import type { Database } from '../db/client.js';
import type { ApplyNode } from '../change/contract.js';
import type { ActivateAnswer, NodeClient, NodeStatus, StatusAnswer } from './node-client.js';
import { nameOf } from './directory.js';
import { recordServed, recordStatus } from './node-store.js';

/** What a node is to serve. */
export interface Target {
  readonly versionId: number;
  readonly sha256: string;
  readonly artifactFile: string;
  readonly config: ProxyConfig;
  /** `skip` for settings that are meant to let the self-test's attacks pass. */
  readonly selfTest: 'inspect' | 'skip';
}

export type FleetOutcome =
  | { readonly kind: 'active'; readonly generation: number; readonly nodes: readonly ApplyNode[] }
  | { readonly kind: 'failed'; readonly reason: string; readonly nodes: readonly ApplyNode[] };

export interface FleetOptions {
  readonly urls: readonly string[];
  readonly client: NodeClient;
  readonly database: Database;
  readonly now: () => number;
  /** Between two questions to a node that fell silent. */
  readonly pause: (ms: number) => Promise<void>;
}

export interface Fleet {
  readonly urls: readonly string[];
  /** Asks every node and keeps what it says. */
  ask(): Promise<ReadonlyMap<string, StatusAnswer>>;
  /**
   * Puts `target` on every node that answered. `fallback` is what to put back where one took it and another refused.
   */
  activate(
    target: Target,
    generation: number,
    answers: ReadonlyMap<string, StatusAnswer>,
    fallback: Target | null,
  ): Promise<FleetOutcome>;
  activateOne(url: string, target: Target, generation: number): Promise<ActivateAnswer>;
}

/** Larger than `wanted` says when a node is ahead (it may have been given generations of its own). */
export function nextGeneration(wanted: number, answers: ReadonlyMap<string, StatusAnswer>): number {
  const ahead = [...answers.values()].map((answer) => (answer.kind === 'answered' ? answer.status.generation + 1 : 0));
  return Math.max(wanted, ...ahead);
}

const silenceAsks = 10;
const silencePauseMs = 500;
/** So long a control plane that was just started leaves to others to say that a node is away. */
const seenElsewhereMs = 20_000;

export function createFleet(options: FleetOptions): Fleet {
  const { urls } = options;
  return {
    urls,
    activateOne: (url, target, generation) => activateOne(options, url, target, generation),
    async ask() {
      return new Map(
        await Promise.all(urls.map(async (url): Promise<[string, StatusAnswer]> => [url, await askOne(options, url)])),
      );
    },
    activate: (target, generation, answers, fallback) =>
      activateAll(options, { target, generation, answers, fallback }),
  };
}

async function askOne(options: FleetOptions, url: string): Promise<StatusAnswer> {
  const { client, database, now } = options;
  const answer = await client.status(url);
  const at = new Date(now());
  const isSeen = answer.kind === 'unreachable' && (await isSeenElsewhere(options, url, at));
  if (!isSeen) await recordStatus(database.sql, url, answer, at);
  return answer;
}

/** A node without a tunnel here may have one to another control plane, and had a moment ago. */
async function isSeenElsewhere({ database }: FleetOptions, url: string, at: Date): Promise<boolean> {
  if (nameOf(url) === null || !(await database.othersAtWork())) return false;
  const [row] = await database.sql`
    select 1 from data_nodes
    where url = ${url} and reachable and last_seen_at > ${new Date(at.getTime() - seenElsewhereMs)}`;
  return row !== undefined;
}

async function activateOne(
  options: FleetOptions,
  url: string,
  target: Target,
  generation: number,
): Promise<ActivateAnswer> {
  const { client, database, now } = options;
  const { sha256, config, artifactFile, versionId, selfTest } = target;
  let answer = await client.activate(url, { id: generation, sha256, artifactPath: '', config, selfTest }, artifactFile);
  if (answer.kind === 'unknown') answer = await clearUp(options, url, generation, sha256, answer.detail);
  if (answer.kind === 'active') {
    const { workers } = answer;
    await recordServed(database.sql, url, { versionId, generation, sha256, config, workers }, new Date(now()));
  }
  return answer;
}

/** Whoever fell silent over an activation is asked what it serves: it may have done it and died, or not. */
async function clearUp(
  options: FleetOptions,
  url: string,
  generation: number,
  sha256: string,
  detail: string,
): Promise<ActivateAnswer> {
  let status: NodeStatus | null = null;
  for (let round = 0; round < silenceAsks && status === null; round++) {
    const answer = await askOne(options, url);
    if (answer.kind === 'answered') status = answer.status;
    else await options.pause(silencePauseMs);
  }
  if (status === null) return { kind: 'unknown', detail };
  if (status.generation === generation && status.ruleset === sha256)
    return { kind: 'active', generation, workers: status.workers, tookMs: 0 };
  return { kind: 'refused', reason: `it did not take the generation (${detail})` };
}

interface Activation {
  readonly target: Target;
  readonly generation: number;
  readonly answers: ReadonlyMap<string, StatusAnswer>;
  readonly fallback: Target | null;
}

type Results = Map<string, ActivateAnswer>;

async function activateAll(options: FleetOptions, activation: Activation): Promise<FleetOutcome> {
  const { urls } = options;
  const { target, generation, answers, fallback } = activation;
  const present = urls.filter((url) => answers.get(url)?.kind === 'answered');
  const results: Results = new Map();
  const nodes = (): ApplyNode[] =>
    urls.map((url) =>
      viewOf(url, results.get(url) ?? answers.get(url) ?? { kind: 'unreachable', detail: 'it was never asked' }),
    );
  if (present.length === 0) return { kind: 'failed', reason: 'no data-plane node answers', nodes: nodes() };
  // one first: what a generation lacks it lacks everywhere, so nearly every refusal is found here, before anybody
  // changed
  const rest = [...present];
  for (let url = rest.shift(); url !== undefined; url = rest.shift()) {
    const answer = await activateOne(options, url, target, generation);
    results.set(url, answer);
    if (answer.kind !== 'unknown') break;
  }
  const first = [...results.values()].at(-1);
  if (first?.kind === 'active')
    await Promise.all(rest.map(async (url) => results.set(url, await activateOne(options, url, target, generation))));
  const refusals = [...results].flatMap(([url, answer]) =>
    answer.kind === 'refused' ? [`${url}: ${answer.reason}`] : [],
  );
  const took = [...results].filter(([, answer]) => answer.kind === 'active').map(([url]) => url);
  if (refusals.length === 0 && took.length > 0) return { kind: 'active', generation, nodes: nodes() };
  const undone = fallback === null ? took : await goBack(options, took, fallback, generation + 1, results);
  const after =
    undone.length === 0 ? '' : `; ${undone.join(', ')} could not be set back and will be by the next reconciliation`;
  return {
    kind: 'failed',
    reason: `${refusals.length > 0 ? refusals.join('; ') : 'every node fell silent while taking it'}${after}`,
    nodes: nodes(),
  };
}

/** Those that took what another refused get what they served; returns those that could not. */
async function goBack(
  options: FleetOptions,
  took: readonly string[],
  fallback: Target,
  generation: number,
  results: Results,
): Promise<string[]> {
  const undone: string[] = [];
  const reason = 'went back to what it served, because another node refused';
  await Promise.all(
    took.map(async (url) => {
      const back = await activateOne(options, url, fallback, generation);
      if (back.kind === 'active') results.set(url, { kind: 'refused', reason });
      else undone.push(url);
    }),
  );
  return undone;
}

function viewOf(url: string, answer: ActivateAnswer | StatusAnswer): ApplyNode {
  switch (answer.kind) {
    case 'active': {
      const detail = answer.tookMs > 0 ? `${answer.workers} workers in ${answer.tookMs} ms` : '';
      return { url, state: 'active', generation: answer.generation, detail };
    }
    case 'answered':
      return { url, state: 'behind', generation: answer.status.generation, detail: 'left as it was' };
    case 'refused':
      return { url, state: 'behind', generation: null, detail: answer.reason };
    default:
      return {
        url,
        state: 'unreachable',
        generation: null,
        detail: `${answer.detail}; it is brought up to date when it is back`,
      };
  }
}
