// `gatehouse data-plane`: the data plane alone, in the foreground. `up` starts it as a child; a container or a service
// manager starts it directly. Settings come from the local settings file until a control plane sends generations; a
// later start resumes what was sent.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { chooseSelfTest } from '#proxy/contract';
import { findFileProblems } from '#proxy/redis';
import {
  leaveFleet,
  startDataPlane,
  type DataPlane,
  type DataPlaneOptions,
  type IdentityStore,
  type InitialGeneration,
} from '#proxy/main';
import { defaultSettings } from '#settings';
import { readRedis, type Values } from '#settings/environment';
import { controlUrl as ownControlUrl } from '../environment/control-url.js';
import { root } from '../environment/directories.js';
import { readFlags } from '../environment/flags.js';
import { anyAddress, inContainer } from '../environment/in-container.js';
import { closeDirectory } from '../environment/private-files.js';
import { adoptDirectories, readEnvironment, redisPath } from '../environment/read-environment.js';
import { release } from '../environment/release.js';
import { identityAtStart } from '../fleet/join-at-start.js';
import { prepareArtifact } from '../local-settings/artifact.js';
import { resolveProxy, upstreamsOf } from '../local-settings/proxy-config.js';
import { readSettings, settingsFile } from '../local-settings/settings-file.js';
import { Refusal, startRefusal, withFiles, wrongUsage } from '../refusal.js';
import { sayReady } from '../supervise/child.js';
import { superviseDataPlane } from '../supervise/alone/data-plane.js';
import { takeHeldSockets } from '../supervise/held-sockets.js';
import { findServiceManager } from '../supervise/systemd.js';

interface OwnFlags {
  readonly artifact: string | null;
  readonly settings: string | null;
  /** null: decided by whether there is a control plane. */
  readonly resume: boolean | null;
  readonly sitesOfEnvironment: boolean;
  readonly wasManaged: boolean;
  /** The control plane is on this machine, started by somebody else (a service manager). */
  readonly isBeside: boolean;
}

function readOwnFlags(args: readonly string[]): OwnFlags {
  const own = { artifact: null as string | null, settings: null as string | null };
  let resume: boolean | null = null;
  let sitesOfEnvironment = false;
  let wasManaged = false;
  let isBeside = false;
  const rest = [...args];
  for (let flag = rest.shift(); flag !== undefined; flag = rest.shift()) {
    if (flag === '--resume' || flag === '--local') resume = flag === '--resume';
    else if (flag === '--sites-of-environment') sitesOfEnvironment = true;
    else if (flag === '--managed') wasManaged = true;
    else if (flag === '--beside-control-plane') isBeside = true;
    else if (flag === '--artifact' || flag === '--settings') {
      const file = rest.shift();
      if (file === undefined) throw wrongUsage(`${flag} needs a file: ${flag} FILE.`);
      own[flag === '--artifact' ? 'artifact' : 'settings'] = file;
    } else throw wrongUsage(`data-plane does not know ${flag}.`);
  }
  return { ...own, resume, sitesOfEnvironment, wasManaged, isBeside };
}

const keepAliveFlag = '--keep-alive';

const say = (text: string): void => console.error(`gatehouse: ${text}`);

/** What a settings file is to serve; `artifactPath` null: compiled where that has not happened yet. */
async function loadGeneration(
  file: string,
  data: string,
  values: Values,
  artifactPath: string | null,
): Promise<InitialGeneration> {
  const settings = readSettings(file);
  const config = resolveProxy(settings, values);
  const path = artifactPath ?? (await prepareArtifact(file, data, { say })).path;
  return { config, artifact: withFiles(() => readFileSync(path)), selfTest: chooseSelfTest(settings) };
}

/** Where records go: to the control planes that the node enrolled at, or to the one that the environment names. */
function shippingOf(
  own: OwnFlags,
  values: Values,
  identity: IdentityStore | null,
): NonNullable<DataPlaneOptions['shipping']> | null {
  if (identity !== null) {
    const { name, addresses } = identity.current;
    const tls = () => ({ addresses: identity.current.addresses, options: identity.tls });
    return { url: addresses[0] ?? '', token: '', node: name, tls };
  }
  const url = values.GATEHOUSE_CONTROL_URL || (own.isBeside ? ownControlUrl(values) : '');
  const { GATEHOUSE_ADMIN_TOKEN: token } = values;
  return url !== '' && token !== '' ? { url, token } : null;
}

/**
 * Where limits are shared. Variables that contradict each other are refused; a certificate that is missing today is
 * told, and this node protects without it: limits are shared from the moment at which it can be read.
 */
function redisOf(values: Values): NonNullable<DataPlaneOptions['redis']> | null {
  const { address, problems } = readRedis((name) => redisPath(name, values[name]));
  if (problems.length > 0) throw new Refusal(`these settings cannot be used:\n  ${problems.join('\n  ')}`);
  if (address === null) return null;
  for (const problem of findFileProblems(address)) say(`${problem}\n  Limits are not shared until then.`);
  return { address, prefix: values.REDIS_PREFIX || null };
}

async function optionsOf(own: OwnFlags, values: Values): Promise<DataPlaneOptions> {
  const redis = redisOf(values);
  const data = resolve(root, values.GATEHOUSE_DATA);
  closeDirectory(data);
  const file = own.settings ?? settingsFile(data);
  const { GATEHOUSE_ADMIN_TOKEN: token } = values;
  const identity = await identityAtStart({ values, dataDir: data, say });
  const shipping = shippingOf(own, values, identity);
  // What served here before is the control plane's; until anything did, the local settings protect. A node that
  // enrolled never had settings of its own.
  const wasManaged = own.wasManaged || identity !== null || (own.isBeside && existsSync(join(data, 'current.json')));
  // A node whose control plane is elsewhere begins where it ended: its local settings know neither sites nor deny list.
  let resume = own.resume ?? (values.GATEHOUSE_CONTROL_URL !== '' || own.isBeside || identity !== null);
  // What its control plane gave it serves, or nothing does: the rules of the local settings need not be compiled.
  const isManaged = wasManaged && resume && own.artifact === null && shipping !== null;
  const initial = await (isManaged
    ? Promise.resolve().then(() => ({ config: resolveProxy(readSettings(file), values), artifact: null }))
    : loadGeneration(file, data, values, own.artifact)
  ).catch(async (error: unknown) => {
    // Protection that worked before the settings broke must not be lost over a restart.
    if (!(error instanceof Refusal) || !existsSync(join(data, 'current.json'))) throw error;
    say(`${error.message}\n  Starting with what served last (current.json) instead.`);
    resume = true;
    return { config: resolveProxy(defaultSettings(), values), artifact: null };
  });
  return {
    host: values.WAF_BIND,
    port: Number(values.WAF_PORT),
    tls:
      values.TLS_EDGE === 'off'
        ? null
        : {
            port: Number(values.JA3_PORT),
            certificates: values.TLS_CERTIFICATES === '' ? null : resolve(root, values.TLS_CERTIFICATES),
          },
    // its port is not published; the control plane is in another container
    adminHost: values.IN_CONTAINER === '1' ? anyAddress : '127.0.0.1',
    adminPort: Number(values.GATEHOUSE_ADMIN_PORT),
    adminToken: token || null,
    workers: values.DATA_WORKERS === '' ? 'auto' : Number(values.DATA_WORKERS),
    listener: values.DATA_LISTENER as DataPlaneOptions['listener'],
    dataDir: data,
    initial,
    resume,
    wasManaged,
    upstreams: own.sitesOfEnvironment ? upstreamsOf(values) : null,
    reread: () => loadGeneration(file, data, values, null),
    handlesSignals: true,
    redis,
    shipping,
    identity,
    ...(identity === null || values.JOIN_URLS === '' ? {} : { afterStop: () => leaveFleet(data, identity) }),
    release: release(),
  };
}

function start(options: DataPlaneOptions): Promise<DataPlane> {
  return startDataPlane(options).catch((error: unknown) => {
    throw startRefusal(error) ?? error;
  });
}

/** Whether somebody starts this process again when it dies. */
const isWatched = (): boolean => process.send !== undefined || findServiceManager() !== null;

/** Resolves with the end of a supervised one alone: signals, or the end of whoever started it, end the process. */
export async function runDataPlane(all: readonly string[]): Promise<number> {
  const args = all.filter((arg) => arg !== keepAliveFlag);
  if (args.length < all.length && !isWatched())
    return superviseDataPlane(args, inContainer(readEnvironment(readFlags(args).flags)));
  const { flags, others } = readFlags(args);
  const own = readOwnFlags(others);
  const values = inContainer(readEnvironment(flags));
  adoptDirectories(values);
  const manager = findServiceManager();
  const given = takeHeldSockets(process.env);
  const plane = await start({ ...(await optionsOf(own, values)), socketStore: manager ?? given });
  process.once('disconnect', () => void plane.stop().finally(() => process.exit(0))); // whoever started us is gone
  manager?.ready(() => plane.isServing());
  sayReady({
    ...plane.ports,
    workers: plane.workers,
    listener: plane.listener,
    unusedSockets: given?.unused() ?? [],
  });
  return new Promise(() => {});
}
