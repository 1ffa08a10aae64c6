// What systemd is sent, and what it keeps (sd_notify(3), sd_listen_fds(3)): that this process is ready, that it is well
// (watchdog), and its listening sockets, which the next process takes over after a restart or a crash.
import { closeSync } from 'node:fs';
import { duplicateSocket, openSharedSocket, tellServiceManager } from '#engine';

/** systemd counts from here; 0 to 2 are input and output. */
const firstHanded = 3;
const backlog = 511;
/** While its queue is full. */
const againAfterMs = 100;
/** How much longer a start may take, each time that it says so. */
const longerMs = 120_000;

type Tell = typeof tellServiceManager;

export interface ServiceManager {
  /** The socket that the process before left under this name, now the caller's; null: none. */
  take(name: string): number | null;
  /** Leaves a copy of the socket for the next process. */
  keep(name: string, socket: number): void;
  /**
   * Once everything serves: says so, closes what the process before left and was not taken, and reports from then on
   * that this process is well, as long as `isWell` says so. A thread that hangs says nothing, and is ended.
   */
  ready(isWell?: () => boolean): void;
  /** What `systemctl status` shows of this process; one line. */
  status(text: string): void;
  /** Not ready for longer than a start may take, and at work: until the returned function is called. */
  atWork(text: string): () => void;
}

/** Sockets of the process before, by name. Their numbers are new, and no program started by this one inherits them. */
function handedOver(env: NodeJS.ProcessEnv, pid: number): Map<string, number> {
  const count = env['LISTEN_PID'] === String(pid) ? Number(env['LISTEN_FDS']) : 0;
  const names = (env['LISTEN_FDNAMES'] ?? '').split(':');
  const sockets = new Map<string, number>();
  for (let index = 0; index < count; index += 1) {
    const [name = '', socket] = [names[index], firstHanded + index];
    if (name !== '' && !sockets.has(name)) sockets.set(name, duplicateSocket(socket));
    closeSync(socket);
  }
  return sockets;
}

class Systemd implements ServiceManager {
  constructor(
    private readonly path: string,
    private readonly sockets: Map<string, number>,
    /** Of the watchdog; 0: there is none. */
    private readonly limitMs: number,
    private readonly tell: Tell,
  ) {}

  take(name: string): number | null {
    const socket = this.sockets.get(name) ?? null;
    this.sockets.delete(name);
    return socket;
  }

  keep(name: string, socket: number): void {
    // FDPOLL=0: it is kept whatever happens on it
    this.tell(this.path, `FDSTORE=1\nFDPOLL=0\nFDNAME=${name}`, [socket]);
  }

  ready(isWell: () => boolean = () => true): void {
    for (const [name, socket] of this.sockets) {
      closeSync(socket);
      this.tell(this.path, `FDSTOREREMOVE=1\nFDNAME=${name}`);
    }
    this.sockets.clear();
    // before it is ready: it may be stopped the moment that it has said so
    process.once('SIGTERM', () => this.tell(this.path, 'STOPPING=1'));
    this.sayReady();
    if (this.limitMs > 0)
      setInterval(() => {
        if (isWell()) this.tell(this.path, 'WATCHDOG=1');
      }, this.limitMs / 4).unref();
  }

  status(text: string): void {
    this.tell(this.path, `STATUS=${text.replaceAll('\n', ' ')}`);
  }

  atWork(text: string): () => void {
    this.status(text);
    const say = (): void => void this.tell(this.path, `EXTEND_TIMEOUT_USEC=${longerMs * 1000}`);
    say();
    const timer = setInterval(say, longerMs / 4);
    return () => clearInterval(timer);
  }

  /** A service of Type=notify that does not get through with this is ended. */
  private sayReady(): void {
    if (!this.tell(this.path, 'READY=1')) setTimeout(() => this.sayReady(), againAfterMs).unref();
  }
}

let found: ServiceManager | null | undefined;

/** Once a process; what its environment says is taken out of it, since it is for no other process. */
export function findServiceManager(): ServiceManager | null {
  found ??= readServiceManager(process.env, process.pid, tellServiceManager);
  return found;
}

/** null: this process was not started by systemd, or as a part of another that was. */
export function readServiceManager(env: NodeJS.ProcessEnv, pid: number, tell: Tell): ServiceManager | null {
  const path = env['NOTIFY_SOCKET'] ?? '';
  const isOurs = path !== '' && process.send === undefined;
  const limitMs = [undefined, String(pid)].includes(env['WATCHDOG_PID']) ? Number(env['WATCHDOG_USEC'] ?? 0) / 1000 : 0;
  const sockets = isOurs ? handedOver(env, pid) : new Map<string, number>();
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_PID', 'WATCHDOG_USEC', 'LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES'])
    delete env[name];
  return isOurs ? new Systemd(path, sockets, limitMs, tell) : null;
}

/**
 * The listening socket of a server with one thread: taken over, or opened and left for the next process. null: nobody
 * keeps sockets, or the port is chosen by the system. Throws with the system's reason when it cannot be opened.
 */
export function listenerKept(manager: ServiceManager | null, name: string, host: string, port: number): number | null {
  if (manager === null || port === 0 || process.platform !== 'linux') return null;
  const full = `${name}_${port}_${host.replaceAll(':', '.')}`;
  const taken = manager.take(full);
  if (taken !== null) return taken;
  const opened = openSharedSocket(host, port, backlog);
  manager.keep(full, opened);
  return opened;
}
