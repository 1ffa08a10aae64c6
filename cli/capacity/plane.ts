// A data plane as it serves, in a process of its own on free ports of the loopback, and what it costs.
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { program, root } from '../environment/directories.js';
import { Refusal } from '../refusal.js';

export interface MeasuredPlane {
  readonly port: number;
  /** Processor time of the process so far, ms (in ticks of 10). */
  cpuMs(): number;
  memoryMb(): number;
  stop(): Promise<void>;
}

export interface PlaneOptions {
  /** Of its own; removed by the caller. */
  readonly directory: string;
  readonly workers: number;
  readonly artifact: string;
  readonly settings: object;
}

const readyMsMax = 120_000;
const stopMsMax = 15_000;
const wordsMax = 2_000;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Nothing of this installation but where its programs are: no control plane, no Redis, no `.env`. */
function environmentOf(directory: string, workers: number, port: number, adminPort: number): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    NODE_OPTIONS: process.env['NODE_OPTIONS'],
    GATEHOUSE_ENV_FILE: join(directory, 'none.env'),
    GATEHOUSE_DATA: directory,
    GATEHOUSE_ADMIN_PORT: String(adminPort),
    GATEHOUSE_ADMIN_TOKEN: randomBytes(24).toString('hex'),
    WAF_BIND: '127.0.0.1',
    WAF_PORT: String(port),
    TLS_EDGE: 'off',
    DATA_WORKERS: String(workers),
  };
}

function ready(child: ChildProcess, workers: number, words: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (why: string): void =>
      reject(new Refusal(`the data plane with ${workers} workers ${why}. Its last words:\n${words()}`));
    const timer = setTimeout(() => refuse(`did not serve within ${readyMsMax / 1000} s`), readyMsMax);
    child.once('error', (error) => refuse(`cannot be started (${error.message})`));
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      refuse(`ended with ${code ?? signal} while starting`);
    });
    child.once('message', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function stopping(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), stopMsMax);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill('SIGTERM');
  });
}

/** Resolves when it serves. Throws Refusal when it does not come up, with its last words. */
export async function startPlane({ directory, workers, artifact, settings }: PlaneOptions): Promise<MeasuredPlane> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, 'settings.json');
  writeFileSync(file, JSON.stringify(settings));
  const [port, adminPort] = [await freePort(), await freePort()];
  const args = [program, 'data-plane', '--local', '--artifact', artifact, '--settings', file];
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: environmentOf(directory, workers, port, adminPort),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let words = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (words = (words + text).slice(-wordsMax)));
  const stop = (): Promise<void> => stopping(child);
  await ready(child, workers, () => words).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const { pid } = child;
  return {
    port,
    cpuMs: () => cpuMsOf(readFileSync(`/proc/${pid}/stat`, 'latin1')),
    memoryMb: () => memoryMbOf(readFileSync(`/proc/${pid}/status`, 'latin1')),
    stop,
  };
}

/** User and system time of all threads, from the text of /proc/PID/stat; ticks are 10 ms wherever Node.js runs. */
export function cpuMsOf(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the name before may hold anything
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function memoryMbOf(status: string): number {
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024);
}
