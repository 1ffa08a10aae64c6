// The data plane: workers that serve, an admin interface, logs. This thread supervises; no request touches it.
import { availableParallelism, hostname } from 'node:os';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pino, type Logger } from 'pino';
import { exitNow } from '#engine';
import { resolveAdminToken, startAdmin } from './admin.js';
import { AuditLog } from './audit-log.js';
import { followEnvironment, type UpstreamDefaults } from './config.js';
import type { GenerationReply, ProxyConfig, SecurityEvent } from './contract.js';
import { engineModule } from './inspection.js';
import { canSharePort, chooseListener, type ListenerKind } from './listeners/index.js';
import type { GenerationPayload } from './messages.js';
import { renderPrometheus } from './metrics.js';
import { closed, Generations, loadStored, localRulesServe, sha256Of, toShared, withLocalRules } from './reload.js';
import { RecordShipper } from './ship-records.js';
import { Supervisor } from './supervisor.js';
import { ThreatList } from './threat-list.js';

/** What to serve before the control plane has spoken. */
export interface InitialGeneration {
  readonly config: ProxyConfig;
  /** Compiled rules; null = none (protected sites then answer by their failMode). */
  readonly artifact: Uint8Array | null;
  readonly selfTest?: 'inspect' | 'skip';
}

export interface DataPlaneOptions {
  readonly host: string;
  readonly port: number; // 0 = any free one
  readonly adminHost: string;
  readonly adminPort: number; // 0 = any free one
  /** null: made and kept in `dataDir/admin-token`. */
  readonly adminToken: string | null;
  readonly workers: number | 'auto';
  readonly listener: ListenerKind | 'auto';
  /** Holds current.json, artifacts/, log/audit.jsonl, admin-token. */
  readonly dataDir: string;
  readonly initial: InitialGeneration;
  /**
   * Start from dataDir/current.json when there is one, not from `initial`; of that only the rules serve, should those
   * of current.json be unusable. Where it cannot be read at all and there is a control plane (`shipping`), nothing
   * serves until that has spoken.
   */
  readonly resume: boolean;
  /**
   * Given: a resumed generation whose sites came from the environment gets these instead of those it was stored with.
   * For a node that shares its environment with its control plane; elsewhere the control plane knows the upstreams and
   * the node does not.
   */
  readonly upstreams?: UpstreamDefaults | null;
  /** SIGHUP: what to serve now. Null result = keep what serves. */
  readonly reread: (() => Promise<InitialGeneration | null>) | null;
  readonly handlesSignals: boolean;
  /** Test doubles; default the engine. */
  readonly inspectionModule?: string;
  readonly logLevel?: string;
  /** Threads for large bodies, per worker; 0 = inspect inline. */
  readonly inspectionThreads?: number;
  readonly auditRotateBytes?: number;
  /** The control plane that gets a line per request and the security events; default none. */
  readonly shipping?: { readonly url: string; readonly token: string; readonly node?: string } | null;
}

export interface DataPlane {
  readonly ports: { readonly http: number; readonly admin: number };
  readonly adminToken: string;
  readonly listener: ListenerKind;
  readonly workers: number;
  activate(request: unknown): Promise<GenerationReply>;
  status(): Promise<Record<string, unknown>>;
  stop(): Promise<void>;
}

/**
 * Both listeners can share a port with strangers; a taken one must be an error, not half of the traffic. 0 becomes a
 * number
 * here: uWebSockets.js shares only ports that were asked for by number.
 */
function claimPort(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new Error(
          `cannot listen on ${host}:${port}: ${error.code === 'EADDRINUSE' ? 'another program uses this port; stop it or set WAF_PORT' : error.message}`,
        ),
      ),
    );
    server.listen({ host, port, exclusive: true }, () => {
      const { port: claimed } = server.address() as AddressInfo;
      server.close(() => resolve(claimed));
    });
  });
}

function workerCount(options: DataPlaneOptions, kind: ListenerKind, log: Logger): number {
  const wanted = options.workers === 'auto' ? availableParallelism() : Math.max(1, options.workers);
  if (kind === 'node' && wanted > 1 && !canSharePort()) {
    log.warn(
      { wanted },
      'node:http cannot share a port between threads before Node 22.12: one worker serves; use the uws listener or a newer Node for more',
    );
    return 1;
  }
  return wanted;
}

/** Starts everything; rejects with a message for people when something is in the way. */
export async function startDataPlane(options: DataPlaneOptions): Promise<DataPlane> {
  // Synchronous: what was said must be out before a hard end; lines are few, and no request waits for this thread.
  const log = pino(
    { name: 'gatehouse-proxy', level: options.logLevel ?? 'info' },
    pino.destination({ fd: 2, sync: true }),
  );
  const choice = chooseListener(options.listener);
  const workers = workerCount(options, choice.kind, log);
  const port = await claimPort(options.host, options.port);
  const adminToken = await resolveAdminToken(options.adminToken, options.dataDir);
  const local = firstPayload(options.initial, 1);
  const { payload, isKept } = await chooseFirst(options, local, log);
  const generations = new Generations(options.dataDir, payload, (message) => log.error(message));
  const threats = new ThreatList(options.dataDir, (message) => log.error(message));
  if (options.resume) await threats.resume();
  const shipper = createShipper(options.shipping ?? null, log);
  const audit = new AuditLog({
    path: join(options.dataDir, 'log', 'audit.jsonl'),
    rotateBytes: options.auditRotateBytes ?? 128 * 1024 * 1024,
    keepFiles: 5,
    bufferBytesMax: 32 * 1024 * 1024,
    serverId: hostname(),
    onProblem: (message) => log.error(message),
  });
  const makeSupervisor = (): Supervisor =>
    new Supervisor({
      workers,
      port,
      start: {
        listener: choice.kind,
        host: options.host,
        sharedPort: workers > 1,
        inspectionModule: options.inspectionModule ?? engineModule,
        inspectionThreads: options.inspectionThreads ?? 1,
        shipsRequests: shipper !== null,
      },
      generation: () => generations.active,
      threats: () => threats.current,
      onEvents: (batch: readonly SecurityEvent[]) => {
        audit.append(batch, generations.active.config.privacyMode);
        shipper?.addEvents(batch);
      },
      onRequests: (lines, dropped, samples) => shipper?.addRequests(lines, dropped, samples),
      log: (level, fields, message) => log[level](fields, message),
    });
  const supervisor = await startWorkers(makeSupervisor, generations, local, log).catch(async (error: unknown) => {
    await shipper?.close(0);
    throw error;
  });
  if (isKept) await generations.persist();
  const own: Parts = { supervisor, generations, listener: choice.kind, audit, threats, shipper };
  const status = (): Promise<Record<string, unknown>> => describe(own);
  const activate = (request: unknown): Promise<GenerationReply> => generations.activate(supervisor, request);
  const admin = await startAdmin({
    host: options.adminHost,
    port: options.adminPort,
    token: adminToken,
    actions: {
      status,
      activate,
      isHealthy: () => supervisor.readyCount > 0,
      metrics: () => scrape(own),
      replaceThreats: (text) => threats.replace(text, (list) => supervisor.spreadThreats(list)),
      changeThreats: (delta) => threats.change(delta, (list) => supervisor.spreadThreats(list)),
    },
  });

  let stopping: Promise<boolean> | null = null;
  const end = (lingerMs: number | null): Promise<boolean> =>
    (stopping ??= stopAll({
      supervisor,
      admin,
      audit,
      shipper,
      log,
      drainMs: generations.active.config.timeouts.drainMs,
      lingerMs,
    }));
  let forgetSignals = (): void => {};
  const stop = async (): Promise<void> => {
    forgetSignals();
    await end(null);
  };
  const plane: DataPlane = {
    ports: { http: supervisor.port, admin: admin.port },
    adminToken,
    listener: choice.kind,
    workers,
    activate,
    status,
    stop,
  };
  if (options.handlesSignals) forgetSignals = handleSignals(plane, end, options, log);
  log.info(
    {
      listener: choice.kind,
      why: choice.why,
      workers,
      port: supervisor.port,
      admin: admin.port,
      generation: generations.active.id,
      ruleset: generations.active.sha256,
    },
    'data plane is up',
  );
  return plane;
}

/** Rules that served last and are refused now were made by another release: those of `local` take their place, once. */
async function startWorkers(
  make: () => Supervisor,
  generations: Generations,
  local: GenerationPayload,
  log: Logger,
): Promise<Supervisor> {
  const supervisor = make();
  try {
    await supervisor.startAll();
    return supervisor;
  } catch (error) {
    await supervisor.stop(0);
    const { active } = generations;
    if (local.artifact === null || active.sha256 === local.sha256 || error instanceof TypeError) throw error;
    log.error(
      `what served last cannot be started again (${error instanceof Error ? error.message : String(error)}); ${localRulesServe}`,
    );
    generations.active = withLocalRules(active, local);
    return startWorkers(make, generations, local, log);
  }
}

const closedUntilSent =
  'every request is answered 503 until the control plane sends what is to serve, which it does as soon as it is up. To serve the local settings meanwhile, remove the file and start again';

/**
 * What to begin with. A record of what served last that cannot be read is no reason to serve something else where a
 * control plane has the settings: it sends them again, and until then the wrong application, without their rules, would
 * be open to everybody. Nothing is kept then, so that a file that could not be read today may be tomorrow.
 */
async function chooseFirst(
  { resume, dataDir, shipping, upstreams }: DataPlaneOptions,
  local: GenerationPayload,
  log: Logger,
): Promise<{ readonly payload: GenerationPayload; readonly isKept: boolean }> {
  const hasControlPlane = shipping != null;
  const stored = resume
    ? await loadStored(
        dataDir,
        local,
        hasControlPlane ? closedUntilSent : 'starting from the local settings instead',
        (message) => log.error(message),
      )
    : 'none';
  if (stored === 'unreadable' && hasControlPlane) return { payload: closed(local), isKept: false };
  if (stored === 'none' || stored === 'unreadable') return { payload: local, isKept: true };
  return {
    payload: upstreams == null ? stored : { ...stored, config: followEnvironment(stored.config, upstreams) },
    isKept: true,
  };
}

function createShipper(shipping: NonNullable<DataPlaneOptions['shipping']> | null, log: Logger): RecordShipper | null {
  return shipping === null
    ? null
    : new RecordShipper({
        url: shipping.url,
        token: shipping.token,
        node: shipping.node ?? hostname(),
        onProblem: (message) => log.warn(message),
      });
}

interface Stoppable {
  readonly supervisor: Supervisor;
  readonly admin: { close: () => Promise<void> };
  readonly audit: AuditLog;
  readonly shipper: RecordShipper | null;
  readonly log: Logger;
  readonly drainMs: number;
  readonly lingerMs: number | null;
}

/** What was not told by then is in the audit log all the same. */
const shipMsMax = 2_000;

async function stopAll({ supervisor, admin, audit, shipper, log, drainMs, lingerMs }: Stoppable): Promise<boolean> {
  const areGone = await supervisor.stop(drainMs, lingerMs);
  await admin.close();
  await shipper?.close(shipMsMax);
  await audit.close();
  log.info({ areWorkersGone: areGone }, 'data plane stopped');
  return areGone;
}

function firstPayload(initial: InitialGeneration, id: number): GenerationPayload {
  const { artifact, config } = initial;
  return {
    id,
    sha256: artifact === null ? '' : sha256Of(artifact),
    artifact: artifact === null ? null : toShared(artifact),
    config,
    selfTest: initial.selfTest ?? 'inspect',
  };
}

interface Parts {
  readonly supervisor: Supervisor;
  readonly generations: Generations;
  readonly listener: ListenerKind;
  readonly audit: AuditLog;
  readonly threats: ThreatList;
  readonly shipper: RecordShipper | null;
}

async function describe({
  supervisor,
  generations,
  listener,
  audit,
  threats,
  shipper,
}: Parts): Promise<Record<string, unknown>> {
  const { workers } = await supervisor.report();
  const { id, sha256, config } = generations.active;
  return {
    generation: id,
    ruleset: sha256,
    mode: config.mode,
    sites: config.sites.map(({ name, prefix, host, upstream, protected: isProtected }) => ({
      name,
      prefix,
      host,
      upstream,
      protected: isProtected,
    })),
    sitesFrom: config.sitesFromEnvironment === true ? 'environment' : 'settings',
    listener,
    lastApply: generations.lastOutcome,
    restarts: supervisor.restarts,
    audit: { written: audit.written, dropped: audit.dropped },
    threats: { sha256: threats.sha256, networks: threats.networks, intervals: threats.intervals },
    shipping: shipper === null ? null : { ...shipper.counters, waiting: shipper.waitingRows },
    workers,
  };
}

async function scrape({ supervisor, generations, audit, threats, shipper }: Parts): Promise<string> {
  const { metrics, workers } = await supervisor.report();
  const lag = Math.max(0, ...workers.map((worker) => Number(worker['loopLagMsP99'] ?? 0)));
  const dropped = workers.reduce((sum, worker) => sum + Number(worker['eventsDropped'] ?? 0), 0);
  return renderPrometheus(metrics, {
    waap_config_version: generations.active.id,
    waap_config_last_apply_success: generations.lastOutcome === 'refused' ? 0 : 1,
    waap_workers_ready: supervisor.readyCount,
    waap_worker_restarts: supervisor.restarts,
    waap_eventloop_lag_seconds: lag / 1000,
    waap_events_dropped: dropped,
    waap_audit_written: audit.written,
    waap_audit_dropped: audit.dropped,
    waap_threat_networks: threats.networks,
    ...(shipper === null
      ? {}
      : {
          waap_records_shipped: shipper.counters.shipped,
          waap_records_dropped: shipper.counters.dropped,
          waap_records_refused: shipper.counters.refused,
          waap_records_sampled_out: shipper.counters.sampledOut,
          waap_records_retries: shipper.counters.retries,
          waap_records_waiting: shipper.waitingRows,
        }),
  });
}

const lingerMs = 1_000; // for a thread that does not end, after its last connection is closed

function handleSignals(
  plane: DataPlane,
  end: (lingerMs: number) => Promise<boolean>,
  options: DataPlaneOptions,
  log: Logger,
): () => void {
  const onEnd = (signal: NodeJS.Signals): void => {
    log.info({ signal }, 'stopping: no new connections, what comes on open ones is answered until they are quiet');
    end(lingerMs).then(
      // A process that exits while threads of it still hold uWebSockets.js sockets aborts with a core dump. Everything
      // is flushed by now: it ends without asking them.
      () => exitNow(0),
      (error: unknown) => {
        log.error({ err: String(error) }, 'stopping failed');
        exitNow(1);
      },
    );
  };
  process.once('SIGTERM', onEnd);
  process.once('SIGINT', onEnd);
  const onReread = (): void => {
    void rereadSettings(plane, options, log);
  };
  process.on('SIGHUP', onReread);
  return () => {
    process.off('SIGTERM', onEnd);
    process.off('SIGINT', onEnd);
    process.off('SIGHUP', onReread);
  };
}

async function rereadSettings(plane: DataPlane, options: DataPlaneOptions, log: Logger): Promise<void> {
  if (options.reread === null) {
    log.warn('SIGHUP: there is no local settings file to read again');
    return;
  }
  try {
    const next = await options.reread();
    if (next === null) return;
    const payload = firstPayload(next, 0);
    const reply = await plane.activate({
      id: 0,
      sha256: payload.sha256,
      artifactPath: '',
      ...(next.artifact === null ? {} : { artifactBase64: Buffer.from(next.artifact).toString('base64') }),
      config: next.config,
      selfTest: payload.selfTest,
    });
    if (reply.outcome === 'active')
      log.info({ generation: reply.id, tookMs: reply.tookMs }, 'SIGHUP: the new settings serve');
    else log.error({ reason: reply.reason }, 'SIGHUP: the new settings were refused; nothing changed');
  } catch (error) {
    log.error(
      { err: error instanceof Error ? error.message : String(error) },
      'SIGHUP: the settings could not be read; nothing changed',
    );
  }
}
