// Processes that the harness starts, each in a temporary directory on a free loopback port, and ends by its own id.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const readyMsMax = 600_000; // a cold compile may be part of a start, on a machine that has other things to do
const stopMsMax = 10_000;

export class HarnessProblem extends Error {}

/** Commands of Debian that are not on every PATH. */
export function findCommand(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file)) ?? null;
}

/** Below those that Linux hands out by itself (from 32768): any connection could have such a one a moment later. */
const freePorts = { least: 10_000, most: 32_000 } as const;
/** Handed out to this harness already: not every program listens at once. */
const portsGiven = new Set<number>();

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(freePorts.least, freePorts.most);
    if (portsGiven.has(port) || !(await canListen(port))) continue;
    portsGiven.add(port);
    return port;
  }
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

const directories = new Set<string>();

/** Whoever was killed may write for another moment. */
function removeDirectory(path: string): void {
  directories.delete(path);
  rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

export function temporaryDirectory(name: string): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), `gatehouse-bench-${name}-`));
  directories.add(path);
  return { path, remove: () => removeDirectory(path) };
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

export interface Started {
  readonly pid: number;
  readonly startMs: number; // until the port answered
  readonly stop: () => Promise<void>;
  /** What it wrote so far. */
  readonly output: () => string;
}

const running = new Set<ChildProcess>();
/** For processes that are started elsewhere: they end with the harness, too. */
export function adopt(child: ChildProcess): void {
  running.add(child);
  child.once('exit', () => running.delete(child));
}

/** Ends what is still running when the harness itself is interrupted, and removes its directories. */
export function stopEverything(): void {
  for (const child of running) child.kill('SIGKILL');
  for (const path of directories) removeDirectory(path);
}

export interface StartOptions {
  readonly port: number;
  /** Ports of the same program that have to answer, too, before it is ready. */
  readonly alsoPorts?: readonly number[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

/** The first that does not accept connections; null: all of them do. */
async function firstClosed(ports: readonly number[]): Promise<number | null> {
  for (const port of ports) if (!(await canConnect(port))) return port;
  return null;
}

/**
 * Starts a command and waits until `port` and `alsoPorts` accept connections. Throws HarnessProblem with the
 * last output of the command.
 */
export async function start(command: string, args: readonly string[], options: StartOptions): Promise<Started> {
  const ports = [options.port, ...(options.alsoPorts ?? [])];
  const startedMs = performance.now();
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-20_000);
    });
  }
  let ended: string | null = null;
  child.once('error', (error) => (ended = error.message));
  const exited = new Promise<void>((resolve) =>
    child.once('exit', (code, signal) => {
      ended ??= String(code ?? signal);
      running.delete(child);
      resolve();
    }),
  );
  const stop = async (): Promise<void> => {
    if (ended !== null) return;
    child.kill('SIGTERM');
    const isDown = await Promise.race([exited.then(() => true), pause(stopMsMax, false, { ref: false })]);
    if (!isDown) {
      child.kill('SIGKILL');
      await exited;
    }
  };
  for (let closed = await firstClosed(ports); closed !== null; closed = await firstClosed(ports)) {
    if (ended !== null) throw new HarnessProblem(`${command} ended with ${String(ended)}:\n${output.slice(-3000)}`);
    if (performance.now() - startedMs > readyMsMax) {
      await stop();
      throw new HarnessProblem(
        `${command} did not open port ${closed} in ${readyMsMax / 1000} s:\n${output.slice(-3000)}`,
      );
    }
    await pause(10);
  }
  return { pid: child.pid as number, startMs: performance.now() - startedMs, stop, output: () => output };
}

/** Runs a command to its end; resolves with what it printed. */
export function runToEnd(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<{
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly tookMs: number;
}> {
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(child);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.once('error', reject);
    child.once('close', (code) => {
      running.delete(child);
      resolve({ code, stdout, stderr, tookMs: performance.now() - startedMs });
    });
  });
}

/** A line about the machine, for the report. */
export function machine(): {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly kernel: string;
} {
  const model = /^model name\s*:\s*(.+)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? process.arch;
  const memoryKb = Number(/^MemTotal:\s+(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1] ?? 0);
  const cores = (readFileSync('/proc/cpuinfo', 'utf8').match(/^processor\s*:/gm) ?? []).length;
  return {
    cpu: model,
    cores,
    memoryGb: Math.round(memoryKb / 1_048_576),
    kernel: readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim(),
  };
}
