// The road to the data plane, made from the environment: what server.ts connects and a test replaces piece by piece.
import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createSealing } from '../auth/sealing.js';
import { createPolicyCompiler } from '../change/compile-thread.js';
import type { ApplySettings } from '../change/contract.js';
import type { Expected } from '../change/node-target.js';
import { createChangeRoad, type ChangeRoad } from '../change/road.js';
import { createRuleTests } from '../change/steps/rule-tests.js';
import type { Database } from '../db/client.js';
import type { House } from '../parts.js';
import type { Env } from '../env.js';
import type { Job } from '../jobs/scheduler.js';
import { createRuleLab, type RuleLab } from '../rules/sandbox.js';
import { createThreatPush } from '../threat-intel/push.js';
import { createFleet } from './fleet.js';
import { createNodeClient } from './node-client.js';

export interface LinkOptions {
  readonly env: Pick<
    Env,
    'dataAdminToken' | 'dataAdminUrls' | 'dataDirectory' | 'crsDirectory' | 'upstreams' | 'settingsEncryptionSecret'
  >;
  readonly database: Database;
  readonly now: () => number;
  /** Shared with the routes, which try rules there too; absent: one is made. */
  readonly lab?: RuleLab;
  readonly compileThreads?: number;
  /** Where compiled automata are kept; default below the data directory, shared with the command line. */
  readonly cacheDirectory?: string;
}

export interface NodeLink {
  readonly applySettings: ApplySettings;
  readonly road: ChangeRoad;
  /** Gives the deny list as it is now to every node. */
  readonly threatsChanged: () => Promise<void>;
  readonly expectedOf: (versionId: number) => Promise<Expected | null>;
  /** Heals what a crash interrupted and looks at every node once; a node that is away is left to the job. */
  start(house: House): Promise<void>;
  readonly jobs: readonly Job[];
  /** Compiles the settings in force once, in the compile thread; one line of what came of it, never a rejection. */
  warm(): Promise<string>;
  close(): Promise<void>;
}

const reconcileEveryMs = 15_000;

export async function connectDataPlane(options: LinkOptions): Promise<NodeLink> {
  const { env, database, now } = options;
  const directory = resolve(env.dataDirectory);
  const artifactsDirectory = join(directory, 'artifacts');
  const mapping = join(directory, 'crs', 'unicode.mapping');
  const compiler = createPolicyCompiler({
    crsDirectory: env.crsDirectory ?? (await newestRuleSet(directory)),
    unicodeMapping: (await exists(mapping)) ? mapping : null,
    artifactsDirectory,
    cacheDirectory: options.cacheDirectory ?? join(directory, 'cache', 'automata'),
    threads: options.compileThreads ?? null,
  });
  const urls = [...new Set(env.dataAdminUrls.map((url) => url.trim().replace(/\/+$/, '')))];
  const client = createNodeClient({ token: env.dataAdminToken });
  const threats = createThreatPush({ sql: database.sql, urls, client, now });
  const fleet = createFleet({
    urls,
    client,
    database,
    now,
    pause: (ms) => new Promise((done) => setTimeout(done, ms)),
  });
  const ruleTests = createRuleTests(options.lab ?? createRuleLab());
  const road = createChangeRoad({
    database,
    fleet,
    compiler,
    ruleTests,
    artifactsDirectory,
    now,
    clock: () => performance.now(),
    sealing: createSealing(env.settingsEncryptionSecret),
    upstreams: env.upstreams,
  });
  let audit: House['audit'] | null = null;
  let warming: Promise<string> | null = null;
  const job: Job = {
    name: 'nodes',
    everyMs: reconcileEveryMs,
    timeoutMs: 300_000,
    run: async () =>
      audit === null
        ? 'not started'
        : [await road.reconcile(audit), await threats.reconcile()].filter((line) => line !== '').join('; '),
  };
  return {
    applySettings: road.apply,
    road,
    threatsChanged: threats.changed,
    expectedOf: road.expectedOf,
    jobs: [job],
    async start(house) {
      audit = house.audit;
      await road.heal(house.audit);
      await fleet.ask();
      await threats.reconcile();
    },
    warm() {
      const startedMs = performance.now();
      const took = (): string => `after ${Math.round(performance.now() - startedMs)} ms`;
      warming = road.warm().then(
        (kind) => `the compile thread is warm ${took()}${kind === 'refused' ? '; the settings do not compile' : ''}`,
        (error: unknown) =>
          `the compile thread is not warm ${took()}: ${error instanceof Error ? error.message : String(error)}; the first apply takes longer`,
      );
      return warming;
    },
    async close() {
      await compiler.close();
      await warming; // it may be reading the database, which is closed next
    },
  };
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  ); // absent or unreadable: the built-in one serves
}

/** What set-up unpacked below data/crs; when there is none, the compiler says so in its own words. */
async function newestRuleSet(directory: string): Promise<string> {
  const root = join(directory, 'crs');
  const names = await readdir(root).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return [];
  });
  const versions = names
    .filter((name) => /^\d+\.\d+\.\d+$/.test(name))
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  return join(root, versions.at(-1) ?? 'none');
}

/** The rule set of this machine; null when there is none. */
export async function findRuleSet(env: Pick<Env, 'dataDirectory' | 'crsDirectory'>): Promise<string | null> {
  const directory = env.crsDirectory ?? (await newestRuleSet(resolve(env.dataDirectory)));
  return (await exists(join(directory, 'rules'))) ? directory : null;
}
