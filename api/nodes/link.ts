// The way to the data plane, made from the environment: what server.ts connects and a test replaces piece by piece.
import { join, resolve } from 'node:path';
import type { AuditLog } from '../audit/chain.js';
import { createSealing } from '../auth/sealing.js';
import { createPolicyCompiler, type PolicyCompiler } from '../change/policy-compiler.js';
import type { ApplySettings, Expected } from '../change/contract.js';
import { createPendingWatch } from '../change/pending-watch.js';
import type { ChangeRoadParts } from '../change/node-target.js';
import { createChangeRoad, type ChangeRoad } from '../change/road.js';
import { createRuleTests } from '../change/steps/rule-tests.js';
import type { TryRequests } from '../change/try-requests.js';
import type { Database } from '../db/client.js';
import { createNodeGates, type NodeGates, type OfNode } from '../edge/node-gates.js';
import type { Env } from '../env.js';
import { createRuleSets, exists } from '../rules/rule-set-directory.js';
import { createRuleSandbox, type RuleSandbox } from '../rules/sandbox/sandbox.js';
import { createMeasurePush } from '../measures/push.js';
import type { Rollouts } from '../rollout/contract.js';
import { createRollouts } from '../rollout/rollouts.js';
import { createNodeDirectory, type NodeDirectory } from './directory.js';
import { createFleet, type Fleet } from './fleet.js';
import { createNodeClient, type NodeClient } from './node-client.js';
import type { TunnelRegistry } from './tunnels.js';

export interface LinkOptions {
  readonly env: Pick<
    Env,
    'dataAdminToken' | 'dataAdminUrls' | 'dataDirectory' | 'crsDirectory' | 'upstreams' | 'settingsEncryptionSecret'
  >;
  readonly database: Database;
  readonly now: () => number;
  /** By which nodes that enrolled are reached; absent: none is. */
  readonly tunnels?: TunnelRegistry;
  /** Shared with the routes, which try rules there too; absent: one is made. */
  readonly sandbox?: RuleSandbox;
  readonly compileThreads?: number;
  /** See CompileStart. */
  readonly compileKeepsPriority?: boolean;
  /** Nobody is served beside the compile, and everybody waits for it: it gives way from `warm` on. */
  readonly isFirstStart?: boolean;
  /** Where compiled automata are kept; default below the data directory, shared with the command line. */
  readonly cacheDirectory?: string;
}

export interface NodeLink {
  readonly applySettings: ApplySettings;
  readonly road: ChangeRoad;
  /** Gives the client measures as they are now to every node. */
  readonly measuresChanged: () => Promise<void>;
  readonly expectedOf: (versionId: number) => Promise<Expected | null>;
  /** Looks at every node and brings it up to date; one line about it. */
  readonly reconcileNodes: (audit: AuditLog) => Promise<string>;
  /** Bans and limits of the nodes. */
  readonly nodeGates: NodeGates;
  /** What each node tells scrapers (`GET :2019/metrics`). */
  readonly nodeMetrics: () => Promise<readonly OfNode<string>[]>;
  readonly tryRequests: TryRequests;
  /** Whether the node answered. */
  readonly drainNode: (url: string, isDraining: boolean) => Promise<boolean>;
  readonly rollouts: Rollouts;
  /** The addresses of all nodes. */
  readonly directory: NodeDirectory;
  /** Heals what a crash interrupted and looks at every node once; a node that is away is left to the job. */
  start(parts: { readonly audit: AuditLog }): Promise<void>;
  /** Compiles the settings in force once, in the compile process; one line of what came of it, never a rejection. */
  warm(): Promise<string>;
  close(): Promise<void>;
}

export async function connectDataPlane(options: LinkOptions): Promise<NodeLink> {
  const { env, database, now, tunnels } = options;
  const directory = resolve(env.dataDirectory);
  const artifactsDirectory = join(directory, 'artifacts');
  const { isFirstStart = false, compileKeepsPriority = isFirstStart } = options;
  const compiler = await createCompiler({ ...options, compileKeepsPriority }, directory, artifactsDirectory);
  const fixed = [...new Set(env.dataAdminUrls.map((url) => url.trim().replace(/\/+$/, '')))];
  const nodes = createNodeDirectory(database.sql, fixed, (names) => tunnels?.keepOnly(names));
  const { urls } = nodes;
  const client = createNodeClient({ token: env.dataAdminToken, ...(tunnels === undefined ? {} : { tunnels }) });
  const measures = createMeasurePush({ sql: database.sql, urls, client, now });
  const fleetOf = (urls: readonly string[]): Fleet =>
    createFleet({
      urls,
      client,
      database,
      now,
      pause: (ms) => new Promise((done) => setTimeout(done, ms)),
    });
  const fleet = fleetOf(urls);
  const roadParts: ChangeRoadParts = {
    database,
    fleet,
    compiler,
    ruleTests: createRuleTests(options.sandbox ?? createRuleSandbox()),
    artifactsDirectory,
    now,
    clock: () => performance.now(),
    sealing: createSealing(env.settingsEncryptionSecret),
    upstreams: env.upstreams,
  };
  const road = createChangeRoad(roadParts);
  const rollouts = createRollouts({ ...roadParts, fleetOf, client });
  const pending = createPendingWatch({ sql: database.sql, heal: road.heal, also: rollouts.look });
  let warming: Promise<string> | null = null;
  return {
    applySettings: road.apply,
    road,
    measuresChanged: measures.changed,
    expectedOf: road.expectedOf,
    nodeGates: createNodeGates(urls, client),
    nodeMetrics: () => Promise.all(urls.map(async (node) => ({ node, answer: await client.read(node, '/metrics') }))),
    tryRequests: road.tryRequests,
    drainNode: drainer(urls, client, fleet),
    async reconcileNodes(audit) {
      const lines = [await road.reconcile(audit), await measures.reconcile()];
      return lines.filter((line) => line !== '').join('; ');
    },
    directory: nodes,
    rollouts,
    async start({ audit }) {
      await nodes.refresh();
      nodes.begin();
      await road.heal(audit);
      await fleet.ask();
      await measures.reconcile();
      pending.begin(audit);
    },
    warm() {
      if (options.compileKeepsPriority !== true) compiler.giveWay();
      return (warming = warmUp(road));
    },
    async close() {
      nodes.close();
      await pending.close();
      await compiler.close();
      await warming; // it may be reading the database, which is closed next
    },
  };
}

const drainer =
  (urls: readonly string[], client: NodeClient, fleet: Fleet): NodeLink['drainNode'] =>
  async (url, drain) => {
    if (!urls.includes(url) || (await client.ask(url, 'PUT', '/drain', { drain })) === null) return false;
    await fleet.ask(); // who looks at the list now sees it
    return true;
  };

async function createCompiler(
  { env, cacheDirectory, compileThreads, compileKeepsPriority = false }: LinkOptions,
  directory: string,
  artifactsDirectory: string,
): Promise<PolicyCompiler> {
  const mapping = join(directory, 'crs', 'unicode.mapping');
  const ruleSets = createRuleSets(env);
  return createPolicyCompiler({
    crsDirectory: () => ruleSets.directory() ?? join(directory, 'crs'), // where there is none, the compiler says so
    unicodeMapping: (await exists(mapping)) ? mapping : null, // absent: the built-in one serves
    artifactsDirectory,
    cacheDirectory: cacheDirectory ?? join(directory, 'cache', 'automata'),
    threads: compileThreads ?? null,
    keepsPriority: compileKeepsPriority,
  });
}

async function warmUp(road: ChangeRoad): Promise<string> {
  const startedMs = performance.now();
  const took = (): string => `after ${Math.round(performance.now() - startedMs)} ms`;
  try {
    const kind = await road.warm();
    return `the compile process is warm ${took()}${kind === 'refused' ? '; the settings do not compile' : ''}`;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `the compile process is not warm ${took()}: ${reason}; the first apply takes longer`;
  }
}
