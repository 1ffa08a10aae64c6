// The control plane as a process: environment → database → migrations → app → listening, and the same backwards on
// SIGTERM. Everything that can be wrong is found before the port is opened.
import { readFileSync } from 'node:fs';
import { readFile, mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyBaseLogger, FastifyListenOptions } from 'fastify';
import { buildApp, features } from './app.js';
import type { AuditLog } from './audit/chain.js';
import { applyHead } from './change/flow.js';
import { openEmbedded, openPostgres, openReader, type Database } from './db/client.js';
import { replicaTimes, watchReplica, type ReadReplica } from './db/replica.js';
import { waitForDatabase } from './db/connection/wait.js';
import { loadModules, migrate } from './db/migrate.js';
import { EnvError, parseEnvFile, readEnv, type Env } from './env.js';
import { systemActor, type App } from './http-kit/index.js';
import { createScheduler } from './jobs/scheduler.js';
import { vendorPublicKey } from './licence/vendor-key.js';
import { prepareNodePort } from './enrolment/node-port.js';
import type { NodeDirectory } from './nodes/directory.js';
import { connectDataPlane } from './nodes/link.js';
import type { TunnelRegistry } from './nodes/tunnels.js';
import { createOutbound, type Outbound } from './outbound/outbound.js';
import type { AppDeps, FeatureParts, Parts } from './parts.js';
import { createRuleSets } from './rules/rule-set-directory.js';
import { createRuleSandbox, type RuleSandbox } from './rules/sandbox/sandbox.js';
import { findFileProblems } from '#proxy/redis';
import { formatProblems, readLocalFile, type Settings } from '#settings';
import { withSecretFiles } from '#settings/environment';
import { readState } from './settings/state.js';
import { seedSettings } from './settings/store.js';
import { seedAdmin } from './users/seed-admin.js';

type LinkedParts =
  | 'measuresChanged'
  | 'expectedOf'
  | 'reconcileNodes'
  | 'nodeGates'
  | 'nodeMetrics'
  | 'tryRequests'
  | 'drainNode'
  | 'rollouts';

/** The way to the data plane, made once the database is there. */
export interface DataPlaneLink extends Pick<AppDeps, LinkedParts> {
  readonly applySettings: NonNullable<AppDeps['applySettings']>;
  /** After the app is built and before it listens: heal a pending activation, begin watching nodes. */
  start(parts: { readonly audit: AuditLog }): Promise<void>;
  /**
   * Once the server listens, in the background: makes the first apply as fast as the later ones. Never rejects; `close`
   * ends it.
   */
  warm?(): Promise<string>;
  /** The addresses of all nodes. */
  readonly directory?: Pick<NodeDirectory, 'refresh'>;
  close(): Promise<void>;
}

export interface ServerOptions {
  readonly env: Env;
  readonly now?: () => number;
  readonly connectDataPlane?: (parts: {
    readonly env: Env;
    readonly database: Database;
    readonly outbound: Outbound;
    readonly sandbox: RuleSandbox;
    readonly now: () => number;
    /** No version was ever in force. */
    readonly isFirstStart: boolean;
    /** By which nodes that enrolled are reached; absent: none is. */
    readonly tunnels?: TunnelRegistry;
  }) => Promise<DataPlaneLink>;
  readonly runBackup?: AppDeps['runBackup'];
  readonly backupTools?: AppDeps['backupTools'];
  /** Number of a socket that listens already, asked when everything else is ready; null: it opens its own. */
  readonly openListener?: () => number | null;
  /** Called with the first login when it was created by this start. */
  readonly onFirstLogin?: (email: string, password: string) => void;
}

export interface RunningServer {
  readonly app: App;
  readonly parts: FeatureParts;
  readonly url: string;
  /** Resolves when the work after the start is over (the first compile of the rules); never rejects. */
  readonly settled: Promise<void>;
  close(): Promise<void>;
}

/** The same. Throws EnvError where a certificate or key for Redis cannot be read. */
function withRedisFiles(env: Env): Env {
  const problems = env.redis === null ? [] : findFileProblems(env.redis);
  if (problems.length > 0) throw new EnvError(problems);
  return env;
}

/** Opens everything and listens on ADMIN_BIND:API_PORT. On any failure closes what it opened and throws. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const env = withRedisFiles(options.env);
  const now = options.now ?? Date.now;
  const undo: (() => Promise<unknown>)[] = [];
  const closeAll = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const database = await openDatabase(env);
    undo.push(() => database.close());
    await waitForDatabase(database, (text) => process.stderr.write(`${text}\n`));
    await migrate(database, await loadModules(features));
    await seedSettings(
      database,
      new Date(now()),
      env.settingsImport === null ? null : () => firstSettings(env.settingsImport ?? ''),
    );
    const replica = openReplica(env, database);
    if (replica !== null) undo.push(() => replica.close());
    const outbound = createOutbound({ allow: env.outboundAllow, name: env.brand.name });
    undo.push(() => outbound.close());
    const sandbox = createRuleSandbox();
    const isFirstStart = (await readState(database.sql)).activeId === null;
    const nodes = await prepareNodePort(env, database, now);
    const given = { env, database, outbound, sandbox, now, isFirstStart, ...nodes?.forLink };
    const link = (await options.connectDataPlane?.(given)) ?? null;
    if (link !== null) undo.push(() => link.close());
    const { app, parts, jobs } = await buildApp({
      ...linkedTo(link),
      nodePort: nodes?.portFor(link?.directory) ?? null,
      env,
      database,
      replica,
      now,
      outbound,
      sandbox,
      runBackup: options.runBackup ?? null,
      backupTools: options.backupTools ?? null,
      ...takenFrom(env),
      ruleSets: createRuleSets(env),
      licencePublicKey: vendorPublicKey,
      logger: { level: env.logLevel },
    });
    undo.push(() => app.close());
    if (env.adminInitialPassword !== null && (await seedAdmin(parts, env.adminEmail, env.adminInitialPassword)))
      options.onFirstLogin?.(env.adminEmail, env.adminInitialPassword);
    await link?.start(parts);
    if (nodes !== null) undo.push((await nodes.open(app, parts)).close);
    if (link !== null && env.settingsImport !== null) await applyFirst(app, parts);
    const scheduler = createScheduler({
      database,
      now,
      jobs,
      onError: (job, error) => app.log.error({ job, err: error }, 'a background job failed'),
    });
    undo.push(() => scheduler.stop());
    const socket = options.openListener?.() ?? null;
    // what Fastify does not know it hands on to node:net
    const place: FastifyListenOptions & { fd?: number } = { host: env.adminBind, port: env.ports.api };
    if (socket !== null) place.fd = socket;
    const url = await app.listen(place);
    scheduler.start();
    const settled = Promise.resolve(link?.warm?.()).then((line) => void (line && app.log.info(line)));
    return { app, parts, url, settled, close: closeAll };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** What the app takes of the environment as it is. */
function takenFrom({ redis, redisPrefix, publicDemo, ports, upstreams, acme, locationFiles, dataDirectory }: Env) {
  return { redis, redisPrefix, publicDemo, wafPort: ports.waf, upstreams, acme, locationFiles, dataDirectory };
}

/** What the app takes of the way to the data plane. */
function linkedTo(link: DataPlaneLink | null): Pick<AppDeps, 'applySettings' | LinkedParts> {
  if (link === null) return { applySettings: null };
  const { applySettings, measuresChanged, expectedOf, reconcileNodes, nodeGates, nodeMetrics, tryRequests } = link;
  const { drainNode, rollouts } = link;
  return {
    applySettings,
    ...(measuresChanged === undefined ? {} : { measuresChanged }),
    ...(expectedOf === undefined ? {} : { expectedOf }),
    ...(reconcileNodes === undefined ? {} : { reconcileNodes }),
    ...(nodeGates === undefined ? {} : { nodeGates }),
    ...(nodeMetrics === undefined ? {} : { nodeMetrics }),
    ...(drainNode === undefined ? {} : { drainNode }),
    ...(rollouts === undefined ? {} : { rollouts }),
    ...(tryRequests === undefined ? {} : { tryRequests }),
  };
}

/** A file that cannot be taken over whole stops the start: its owner decides what to do about it. */
async function firstSettings(file: string): Promise<{ readonly settings: Settings; readonly summary: string }> {
  const checked = readLocalFile(await readFile(file, 'utf8'));
  if (checked.kind === 'fine') return { settings: checked.settings, summary: `taken over from ${basename(file)}` };
  throw new Error(
    [
      `${file} cannot be taken over into the control plane:`,
      formatProblems(checked.problems, 'the file').replace(/^/gm, '  '),
      'Fix the file or take these fields out, or start without the control plane (--no-api).',
    ].join('\n'),
  );
}

/**
 * What was taken over serves already, under a number of the node's own; applied, it is an active version with a
 * history.
 */
async function applyFirst(app: App, parts: Pick<Parts, 'database' | 'audit' | 'applySettings'>): Promise<void> {
  if ((await readState(parts.database.sql)).activeId !== null) return;
  try {
    await applyHead(parts, systemActor, false);
  } catch (error) {
    app.log.error(
      { err: error },
      'the first settings could not be applied; the data plane serves what it began with until POST /api/apply',
    );
  }
}

/** The database of a deployment, as it is. */
export async function openDatabase(env: Env): Promise<Database> {
  if (env.databaseUrl !== null) return openPostgres(env.databaseUrl);
  await mkdir(env.dataDirectory, { recursive: true, mode: 0o700 });
  return openEmbedded(join(env.dataDirectory, 'db'));
}

/** null: none is named, or there is nothing that it could be a replica of. */
function openReplica(env: Env, database: Database): ReadReplica | null {
  if (env.databaseReadUrl === null || database.kind !== 'postgres') return null;
  const lagMsMax = env.databaseReadLagSeconds * 1000;
  return watchReplica(openReader(env.databaseReadUrl), database.sql, { ...replicaTimes, lagMsMax });
}

/** First signal: stop taking requests, finish the running ones, close. Second signal: leave at once. */
export function closeOnSignals(server: { close(): Promise<void> }, log: FastifyBaseLogger): void {
  let closing = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (closing) process.exit(1);
      closing = true;
      log.info({ signal }, 'closing');
      server.close().then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'closing failed');
          process.exit(1);
        },
      );
    });
  }
}

/** The variables of the process over those of `.env` beside it. */
export async function readEnvironment(file = '.env'): Promise<Env> {
  let text = '';
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const read = (path: string): string => readFileSync(path, 'utf8');
  const [stored, given] = [withSecretFiles(parseEnvFile(text), read), withSecretFiles(process.env, read)];
  const problems = [...stored.problems, ...given.problems];
  if (problems.length > 0) throw new EnvError(problems);
  return readEnv({ ...stored.values, ...given.values });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const server = await startServer({
      env: await readEnvironment(),
      connectDataPlane,
      onFirstLogin: (email, password) =>
        process.stdout.write(`First login: ${email} ${password} (to be changed then)\n`),
    });
    closeOnSignals(server, server.app.log);
    process.stdout.write(`Control plane: ${server.url}/api/docs\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
