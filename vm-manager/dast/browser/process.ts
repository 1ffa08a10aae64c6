// Chromium as a process of its own, without a way to any network: its proxy is a port where nobody listens and no name
// leads anywhere, so that what is not intercepted fails. It runs in its sandbox, never as root, for a bounded time and
// in a bounded memory; it is killed with all its children.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, statSync } from 'node:fs';
import { chown, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { setPriority, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { hasEnded } from './cdp.js';

const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
/** Who runs it where this process is root, whom Chromium gives no sandbox. */
const nobody = 65_534;
export const memoryBytesMax = 1536 * 1024 * 1024;
const watchMs = 1000;
const pageBytes = 4096;
/** So long is waited for the rest of what a process that has ended wrote. */
const lastWordsMs = 200;

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

/** `given`: its path, or `none`; null: the first one on the path. Returns null where there is none. */
export function findChromium(given: string | null, path = process.env['PATH'] ?? ''): string | null {
  if (given === 'none') return null;
  if (given !== null && given !== '') return isProgram(given) ? given : null;
  const places = path.split(delimiter).filter((one) => one.startsWith('/'));
  return names.flatMap((name) => places.map((place) => join(place, name))).find(isProgram) ?? null;
}

const argumentsFor = (profile: string): string[] =>
  [
    '--headless=new',
    '--remote-debugging-pipe',
    `--user-data-dir=${profile}`,
    '--proxy-server=http://127.0.0.1:9',
    '--proxy-bypass-list=<-loopback>',
    '--host-resolver-rules=MAP * ~NOTFOUND',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider,InterestFeedContentSuggestions',
    '--js-flags=--max-old-space-size=384',
    '--renderer-process-limit=2',
    '--disk-cache-size=1',
    '--window-size=1280,1600',
    ...['background-networking', 'component-update', 'default-apps', 'dev-shm-usage', 'domain-reliability'],
    ...['extensions', 'gpu', 'popup-blocking', 'sync', 'breakpad', 'client-side-phishing-detection'],
    ...['backgrounding-occluded-windows', 'renderer-backgrounding', 'background-timer-throttling'],
  ].map((one) => (one.startsWith('--') ? one : `--disable-${one}`));

/** Bytes in memory of all processes of the group; what is shared counts more than once. */
async function memoryOf(group: number): Promise<number> {
  let bytes = 0;
  for (const name of await readdir('/proc').catch(() => []))
    if (/^\d+$/.test(name)) {
      const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(fields[2]) === group) bytes += Number(fields[21]) * pageBytes;
    }
  return bytes;
}

/** Why it has ended, by what it wrote to its standard error and by the signal that ended it. */
export function whyEnded(said: string, signal: NodeJS.Signals | null): string {
  if (/No usable sandbox|FATAL:\S*zygote_host/.test(said))
    return (
      'Chromium does not run without its sandbox, and this system lets the control plane make none: namespaces, ' +
      'chroot or capset are forbidden (RestrictNamespaces= or SystemCallFilter= of systemd, a container, or a ' +
      'setting of the kernel).'
    );
  const fault = /(?:FATAL|Running as root|error while loading)[^\n]{0,200}/.exec(said)?.[0].trim();
  const words = [fault, signal].filter((one) => one != null).join(', ');
  return words === '' ? hasEnded : `The browser has ended (${words}).`;
}

export interface ChromiumProcess {
  /** The directory that it writes to; each of its processes names it. */
  readonly home: string;
  readonly to: Writable;
  readonly from: Readable;
  /** When it is known why it has ended. */
  readonly ended: Promise<void>;
  /** Kills it at once, with all its children, and removes what it wrote. */
  readonly kill: () => Promise<void>;
}

const homes = 'gatehouse-browser-';

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** What browsers wrote whose control plane was killed, and could not remove it. */
async function removeLeft(): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const pid = Number(/^gatehouse-browser-(\d+)-/.exec(name)?.[1] ?? 0);
    if (pid === 0 || pid === process.pid) continue;
    if (!isAlive(pid)) await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
  }
}

/** `onEnd` is told once why it has ended. Throws where it cannot be started. */
export async function startChromium(program: string, onEnd: (why: string) => void): Promise<ChromiumProcess> {
  await removeLeft();
  const home = await mkdtemp(join(tmpdir(), `${homes}${process.pid}-`));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chown(home, nobody, nobody);
  const child: ChildProcess = spawn(program, argumentsFor(join(home, 'profile')), {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
    cwd: home,
    env: { HOME: home, TMPDIR: home, PATH: process.env['PATH'], LANG: 'C.UTF-8', TZ: 'UTC' },
    ...(isRoot ? { uid: nobody, gid: nobody } : {}),
  });
  const [, , , to, from] = child.stdio;
  let said = '';
  let isOver = false;
  child.stderr?.on('data', (chunk: Buffer) => (said = (said + chunk.toString('latin1')).slice(-2000)));
  const end = (why: string): void => {
    if (isOver) return;
    isOver = true;
    clearInterval(timer);
    onEnd(why);
  };
  const killAll = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // it has ended by itself
    }
  };
  const timer = setInterval(() => {
    if (child.pid === undefined) return;
    void memoryOf(child.pid).then((bytes) => {
      if (bytes <= memoryBytesMax) return;
      end(`The browser took more than ${memoryBytesMax / 1024 / 1024} MiB of memory.`);
      killAll();
    });
  }, watchMs);
  timer.unref();
  const ended = new Promise<void>((done) => {
    child.once('error', (error) => {
      end(`The browser does not start: ${error.message}.`);
      done();
    });
    child.once('exit', (_, signal) => {
      const told = async (): Promise<void> => {
        // its end may be known before its last words are read
        if (!isOver && child.stderr?.readableEnded === false)
          await Promise.race([once(child.stderr, 'end').catch(() => undefined), pause(lastWordsMs)]);
        end(whyEnded(said, signal));
      };
      void told().finally(done);
    });
  });
  if (child.pid !== undefined) setPriority(child.pid, 10);
  return {
    home,
    to: to as Writable,
    from: from as Readable,
    ended,
    kill: async () => {
      end('The browser was closed.');
      killAll();
      await ended;
      await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }).catch(() => undefined);
    },
  };
}
