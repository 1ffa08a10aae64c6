// `gatehouse control-plane`: the control plane alone, in the foreground; `up` starts it as a child. It reads the same
// process settings as the rest.
import {
  closeOnSignals,
  connectDataPlane,
  EnvError,
  readEnv,
  startServer,
  type BackupTools,
  type Env,
  type RunBackup,
  type RunningServer,
} from '#api/main';
import { backupRunner } from '../backup/scheduled.js';
import { backupTools, restoreAsked } from '../backup/tools.js';
import type { Values } from '#settings/environment';
import { shown } from '../environment/directories.js';
import { envFilePath } from '../environment/env-file.js';
import { readFlags } from '../environment/flags.js';
import { controlPlaneEnvironment, readEnvironment } from '../environment/read-environment.js';
import { isSystemError, Refusal, startRefusal, wrongUsage } from '../refusal.js';
import { sayReady, type FirstLogin } from '../supervise/child.js';
import { compileLittle } from '../supervise/frugal-code.js';
import { keepHeapSmall } from '../supervise/frugal-heap.js';
import { findServiceManager, listenerKept, type ServiceManager } from '../supervise/systemd.js';

/** Wrong values are refused as `.env` has to be fixed. */
export function readControlEnv(values: Readonly<Record<string, string>>): Env {
  try {
    return readEnv(values);
  } catch (error) {
    throw error instanceof EnvError ? new Refusal(error.message) : error;
  }
}

interface Started {
  readonly server: RunningServer;
  readonly firstLogin: FirstLogin | null;
}

async function start(
  env: Env,
  forBackups: { readonly runBackup: RunBackup; readonly backupTools: BackupTools },
  manager: ServiceManager | null,
): Promise<Started> {
  let firstLogin: FirstLogin | null = null;
  const onFirstLogin = (email: string, password: string): void => void (firstLogin = { email, password });
  try {
    const openListener = (): number | null => listenerKept(manager, 'api', env.adminBind, env.ports.api);
    const server = await startServer({ env, connectDataPlane, onFirstLogin, openListener, ...forBackups });
    return { server, firstLogin };
  } catch (error) {
    if (isSystemError(error) && error.code === 'EADDRINUSE')
      throw new Refusal(`port ${env.ports.api} is taken; choose another with --api-port.`);
    throw startRefusal(error) ?? error;
  }
}

/** With the password only where no file or variable has it. */
function describeFirstLogin({ email, password }: FirstLogin, { ADMIN_INITIAL_PASSWORD: given }: Values): string {
  const place = process.env['ADMIN_INITIAL_PASSWORD'] ? 'the environment' : shown(envFilePath());
  return given === ''
    ? `first login: ${email} ${password} (to be changed then)`
    : `first login: ${email}, with ADMIN_INITIAL_PASSWORD of ${place} (to be changed then)`;
}

/** Not 0: what supervises the control plane takes that for an end that was wanted. */
const startAgain = 75;

/** Resolves never: signals, or the end of whoever started it, end the process. */
export async function runControlPlane(args: readonly string[]): Promise<never> {
  const { flags, others } = readFlags(args);
  if (others.length > 0) throw wrongUsage(`control-plane does not know ${others.join(' ')}.`);
  keepHeapSmall();
  compileLittle();
  const values = controlPlaneEnvironment(readEnvironment(flags));
  const manager = findServiceManager();
  await restoreAsked(values, () => manager?.atWork('Restoring a backup') ?? (() => undefined));
  let end = (): void => undefined;
  const forBackups = { runBackup: backupRunner(values), backupTools: backupTools(values, () => end()) };
  const { server, firstLogin } = await start(readControlEnv(values), forBackups, manager);
  closeOnSignals(server, server.app.log);
  // the answer goes out first; what supervises this process starts it again
  end = () => void setTimeout(() => void server.close().finally(() => process.exit(startAgain)), 500);
  // Its parent prints the password to a person; a log, of a file or of the system, must not have it.
  if (process.send === undefined && firstLogin !== null) console.log(describeFirstLogin(firstLogin, values));
  console.log(`control plane on ${server.url}/api/docs`);
  process.once('disconnect', () => void server.close().finally(() => process.exit(0))); // whoever started us is gone
  // `install.sh` waits for the second one before it restarts the data plane: the compile takes a core for ten seconds
  manager?.status('Compiling the rules once, so that the first apply is fast');
  void server.settled.then(() => manager?.status('Serving'));
  manager?.ready();
  sayReady({ url: server.url, firstLogin });
  return new Promise(() => {});
}
