// The data plane: workers that serve, an admin interface, logs. This thread supervises; no request touches it.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { pino, type Logger } from 'pino';
import { engineModule } from '../inspection/inspection.js';
import type { ProxyConfig } from '../contract/index.js';
import { describeFewDescriptors } from '../listeners/descriptors.js';
import { chooseListener, type ListenerKind } from '../listeners/index.js';
import { AuditLog } from '../records/audit-log.js';
import { RecordShipper } from '../records/ship-records.js';
import { actionsOf } from './admin/actions.js';
import { openAdmin } from './admin/open.js';
import type { AdminServer } from './admin/server.js';
import { resolveAdminToken } from './admin/token.js';
import { Crashes } from './crashes.js';
import { chooseFirst, startWorkers, type First } from './first-generation.js';
import { Generations } from './generations.js';
import { HttpsState } from './https/https-state.js';
import { AttackWatch } from './gates/attack-watch.js';
import { attackEvent } from './gates/attack-event.js';
import { GateState } from './gates/gate-state.js';
import {
  claimPort,
  claimTlsPort,
  openCertificates,
  openSockets,
  ownListeners,
  tlsStart,
  workerCount,
  type ClaimedPort,
} from './listen-port.js';
import { crashWindowMs } from '../shared-state/crash-requests.js';
import type { DataPlane, DataPlaneOptions } from './options.js';
import { findOwnListeners } from './own-listeners.js';
import { firstPayload } from './payloads.js';
import { MeasureList } from './gates/measure-list.js';
import { SharedRates } from './gates/shared-rates.js';
import { handleSignals } from './signals.js';
import { findUnreadHeaders, requireReadHeaders } from './start/proxy-header.js';
import { keysOfToken, seedsFor, sharingPrefix, type InstallationKeys } from '../fleet/installation-keys.js';
import { keptSockets, type KeptSockets } from './start/kept-sockets.js';
import { controlOf, remindWhileClosed } from './start/control.js';
import type { Parts } from './admin/status.js';
import type { GenerationPayload } from '../worker/messages.js';
import { Supervisor, type SupervisorOptions } from './supervisor.js';

export { IdentityStore } from '../fleet/identity.js';
export { JoinError, joinFleet, readJoinToken } from '../fleet/join.js';
export { forgetIdentity, isStillMember, leaveFleet } from '../fleet/leave.js';
export type { DataPlane, DataPlaneOptions, InitialGeneration } from './options.js';

/** What was not told by then is in the audit log all the same. */
const shipMsMax = 2_000;

function createShipper({ shipping }: DataPlaneOptions, log: Logger): RecordShipper | null {
  if (shipping == null) return null;
  return new RecordShipper({ node: hostname(), ...shipping, onProblem: (message) => log.warn(message) });
}

function createAudit({ dataDir, auditRotateBytes = 128 * 1024 * 1024 }: DataPlaneOptions, log: Logger): AuditLog {
  return new AuditLog({
    path: join(dataDir, 'log', 'audit.jsonl'),
    rotateBytes: auditRotateBytes,
    keepFiles: 5,
    bufferBytesMax: 32 * 1024 * 1024,
    serverId: hostname(),
    onProblem: (message) => log.error(message),
  });
}

function watchAttacks(
  { dataDir }: DataPlaneOptions,
  generations: Generations,
  gates: GateState,
  shipper: RecordShipper | null,
  log: Logger,
): AttackWatch {
  return new AttackWatch({
    dataDir,
    memory: gates.memory.attack,
    config: () => generations.active.config,
    onChange: (change) => {
      log.warn({ ...change }, change.kind === 'enter' ? 'under attack: attack mode began' : 'attack mode ended');
      shipper?.addNodeEvent(attackEvent(change));
    },
  });
}

function shareRates(
  { redis = null }: DataPlaneOptions,
  keys: InstallationKeys,
  generations: Generations,
  gates: GateState,
  log: Logger,
): SharedRates {
  return new SharedRates({
    redis: redis?.address ?? null,
    prefix: sharingPrefix(redis, keys),
    nodeId: randomUUID(),
    sharing: gates.tables.sharing,
    isWanted: () => generations.active.config.rlDistributed,
    log: (level, fields, message) => log[level](fields, message),
  });
}

/** Where the workers are to listen, and how many of them. */
interface Place {
  readonly listener: ListenerKind;
  readonly workers: number;
  readonly claimed: ClaimedPort;
  /** null: none. */
  readonly tls: ClaimedPort | null;
  readonly kept: KeptSockets | null;
  readonly adminToken: string;
  readonly keys: InstallationKeys;
}

/** Chooses it; `why` that listener, for the log. `release` is due when the workers listen, or never will. */
async function takePlace(options: DataPlaneOptions, log: Logger) {
  const fewDescriptors = describeFewDescriptors();
  if (fewDescriptors !== null) log.warn(fewDescriptors);
  const { kind: listener, why } = chooseListener(options.listener);
  const workers = workerCount(options, listener, log);
  const kept = keptSockets(options, listener, workers);
  const claimed = await claimPort(options, listener, workers, kept);
  const adminToken = await resolveAdminToken(options.adminToken, options.dataDir);
  const tls = await claimTlsPort(options, workers, kept);
  const release = async (): Promise<void> => {
    await Promise.all([claimed.release(), tls?.release()]);
  };
  const keys = options.identity?.keys ?? keysOfToken(adminToken);
  const place: Place = { listener, workers, claimed, tls, kept, adminToken, keys };
  return { why, place, release };
}

/** What main keeps for the workers, as the last run left it. */
async function recallState(options: DataPlaneOptions, { listener, workers, keys }: Place, log: Logger) {
  const tell = (message: string): void => log.error(message);
  const crashes = new Crashes(options.dataDir, tell);
  crashes.begin();
  if (crashes.last !== null) log.warn({ crash: crashes.last }, 'the data plane had ended without a stop');
  const local = firstPayload(options.initial, 1);
  const first = await chooseFirst(options, local, log);
  requireReadHeaders(first.payload.config, listener);
  const generations = new Generations(options.dataDir, first.payload, tell);
  const measures = new MeasureList(options.dataDir, tell);
  if (options.resume) await measures.resume();
  const gates = new GateState(options.dataDir, workers, options.redis == null ? undefined : seedsFor(keys));
  if (options.resume) await gates.resume();
  const certificates = await openCertificates(options, generations, log);
  const sealKey = keys('certificates');
  const https = new HttpsState({ dataDir: options.dataDir, sealKey, certificates, onProblem: tell });
  if (options.resume) await https.resume();
  crashes.tell((request, agoMs) => gates.crashed(request, agoMs), crashWindowMs);
  const shipper = createShipper(options, log);
  const attack = watchAttacks(options, generations, gates, shipper, log);
  if (options.resume) await attack.resume();
  const sharing = shareRates(options, keys, generations, gates, log);
  const audit = createAudit(options, log);
  return {
    local,
    first,
    crashes,
    generations,
    measures,
    gates,
    certificates,
    https,
    shipper,
    attack,
    sharing,
    audit,
  };
}

type MainState = Awaited<ReturnType<typeof recallState>>;

function superviseWith(
  { crashes, generations, measures, gates, certificates, https, shipper, audit }: MainState,
  options: DataPlaneOptions,
  { listener, workers, claimed, tls, kept, keys }: Place,
  log: Logger,
): SupervisorOptions {
  return {
    workers,
    port: claimed.port,
    openSockets: () =>
      kept?.open() ?? openSockets(options, listener, { plain: claimed.port, tls: tls?.port ?? null }, workers),
    ...(kept === null ? {} : { socketsOf: (index: number) => kept.of(index) }),
    start: {
      nodeId: randomUUID(),
      listener,
      host: options.host,
      sharedPort: claimed.isShared,
      tls: tlsStart(options, tls, certificates),
      inspectionModule: options.inspectionModule ?? engineModule,
      inspectionThreads: options.inspectionThreads ?? 1,
      shipsRequests: shipper !== null,
      gateMemory: gates.memory,
      limitsStore:
        options.redis == null ? null : { redis: options.redis.address, prefix: sharingPrefix(options.redis, keys) },
      // The nodes of one installation have the same keys: so a pass of one is a pass of all, also after a restart.
      challengeSecret: new Uint8Array(keys('challenge')),
      observationKey: new Uint8Array(keys('observation')),
      pulseEveryMs: 1000,
      simulationKey: new Uint8Array(keys('simulation')),
    },
    crashes,
    generation: () => generations.active,
    measures: () => measures.current,
    safe: () => gates.safe,
    siteKeys: () => gates.siteKeys,
    challenges: () => https.challenges,
    onKeysWanted: () => gates.wantKeys(),
    onVacant: (index) => gates.forgetWorker(index),
    onBan: (record) => {
      gates.banned(record);
      log.info({ ...record }, 'a client is banned');
    },
    onEvents: (batch) => {
      audit.append(batch, generations.active.config.privacyMode);
      shipper?.addEvents(batch);
    },
    onObservations: (text) => shipper?.observations.add(text),
    onClients: (text) => shipper?.clients.add(text),
    onRequests: (lines, dropped, samples) => shipper?.addRequests(lines, dropped, samples),
    log: (level, fields, message) => log[level](fields, message),
  };
}

/** What a start works on; its supervisor gives way to another where the first rules are refused. */
interface Starting extends Parts {
  supervisor: Supervisor;
  readonly first: First;
  readonly makeSupervisor: () => Supervisor;
  readonly local: GenerationPayload;
}

/** Everything but threads that serve. */
async function prepareParts(options: DataPlaneOptions, place: Place, log: Logger): Promise<Starting> {
  const { local, first, ...state } = await recallState(options, place, log);
  const { measures, certificates, https } = state;
  const supervision = superviseWith({ local, first, ...state }, options, place, log);
  const makeSupervisor = (): Supervisor => new Supervisor(supervision);
  const { listener } = place;
  const release = options.release ?? null;
  const parts: Starting = { ...state, supervisor: makeSupervisor(), listener, first, local, makeSupervisor, release };
  measures.watch((tables) => parts.supervisor.spreadMeasures(tables));
  https.onChallenges = (table) => parts.supervisor.spread({ kind: 'challenges', table });
  certificates?.watch((set) => parts.supervisor.spreadCertificates(set));
  return parts;
}

/** Resolves when the workers listen; `mayListen` is asked when all have loaded. */
async function startServing(parts: Starting, log: Logger, mayListen: () => Promise<void>): Promise<void> {
  const { generations, shipper, attack, sharing, first, local } = parts;
  const make = (): Supervisor => (parts.supervisor = parts.makeSupervisor());
  const started = await startWorkers(make, generations, first, {
    local,
    hasControlPlane: shipper !== null,
    log,
    mayListen,
  });
  attack.begin();
  sharing.begin();
  if (started.isKept) await generations.persistInTurn();
}

/** How it is stopped once it was up. */
interface Stopping {
  readonly admin: AdminServer;
  readonly lingerMs: number | null;
}

/** True = every thread is gone. */
async function stopParts(
  { supervisor, audit, shipper, measures, crashes, attack, sharing, certificates }: Parts,
  drainMs: number,
  stopping?: Stopping,
): Promise<boolean> {
  measures.close();
  certificates?.close();
  await attack.close();
  await sharing.close();
  const areWorkersGone = await supervisor.stop(drainMs, stopping?.lingerMs);
  await stopping?.admin.close();
  await shipper?.close(shipMsMax);
  await audit.close();
  crashes.end();
  return areWorkersGone;
}

/** Starts everything; rejects with a message for people when something is in the way. */
export async function startDataPlane(options: DataPlaneOptions): Promise<DataPlane> {
  // Synchronous: what was said must be out before a hard end; lines are few, and no request waits for this thread.
  const log = pino(
    { name: 'gatehouse-proxy', level: options.logLevel ?? 'info' },
    pino.destination({ fd: 2, sync: true }),
  );
  const { why, place, release } = await takePlace(options, log);
  const { listener, workers, adminToken, tls } = place;
  const parts = await prepareParts(options, place, log);
  const { generations } = parts;
  const leaving = new AbortController();
  const control = controlOf(options, parts, log, leaving.signal);
  let open = (): void => {};
  const haveLoaded = new Promise<void>((resolve) => (open = resolve));
  const actions = actionsOf(parts, control, haveLoaded);
  const { status, activate } = actions;
  // Before anything serves: what the control plane sends now serves from the first request on.
  const admin = await openAdmin(options, adminToken, actions, log).catch(async (error: unknown) => {
    await release();
    await stopParts(parts, 0);
    throw error;
  });
  const portsNow = () => ({ http: parts.supervisor.port, admin: admin.port, tls: tls?.port ?? null });
  const ownProblems = (config: ProxyConfig) => findOwnListeners(config, ownListeners(options, portsNow()));
  generations.findProblems = async (config) => [...findUnreadHeaders(config, listener), ...(await ownProblems(config))];
  const told = control.tell(admin.tunnels);
  await startServing(parts, log, () => {
    open();
    return control.listen();
  })
    .catch(async (error: unknown) => {
      leaving.abort();
      await stopParts(parts, 0, { admin, lingerMs: null });
      throw error;
    })
    .finally(release);

  const ports = portsNow();
  for (const { path, message, fix } of await ownProblems(generations.active.config))
    log.error(`${path} ${message}; ${fix}. Until then its requests are answered 508`);
  let stopping: Promise<boolean> | null = null;
  const endNow = async (lingerMs: number | null): Promise<boolean> => {
    leaving.abort();
    const { drainMs } = generations.active.config.timeouts;
    const areWorkersGone = await stopParts(parts, drainMs, { admin, lingerMs });
    place.kept?.close();
    await options.afterStop?.().catch((error: unknown) => log.warn({ err: String(error) }, 'the end was not told'));
    log.info({ areWorkersGone }, 'data plane stopped');
    return areWorkersGone;
  };
  const end = (lingerMs: number | null): Promise<boolean> => (stopping ??= endNow(lingerMs));
  let forgetSignals = (): void => {};
  const stop = async (): Promise<void> => {
    forgetSignals();
    await end(null);
  };
  const isServing = actions.isHealthy;
  const plane: DataPlane = { ports, adminToken, listener, workers, activate, status, isServing, stop };
  if (options.handlesSignals) forgetSignals = handleSignals(plane, end, options, log);
  const { id: generation, sha256: ruleset } = generations.active;
  log.info(
    { listener, why, workers, port: ports.http, tls: ports.tls, admin: ports.admin, generation, ruleset },
    'data plane is up',
  );
  // The rules that it was told of may have been refused since.
  if (generations.closed !== null)
    void told.then(() => (generations.closed === null ? null : control.tell(admin.tunnels)));
  remindWhileClosed(generations, log, leaving.signal);
  return plane;
}
