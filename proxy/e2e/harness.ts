// Starts a backend and a data plane on free ports for a test, and stops both.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { resolveProxyConfig } from '../contract/proxy-config.js';
import type { ProxyConfig } from '../contract/index.js';
import { whyUnavailable, type ListenerKind } from '../listeners/index.js';
import { startDataPlane, type DataPlane, type DataPlaneOptions } from '../main/data-plane.js';
import { doubleArtifact } from './inspection-double.js';
import { until } from './waiting.js';

export { testMsMax, until } from './waiting.js';

export interface Backend {
  readonly port: number;
  readonly url: string;
  readonly server: Server;
  close(): Promise<void>;
}

export async function startBackend(
  t: Test,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Backend> {
  const server = createServer(answer);
  server.keepAliveTimeout = 60_000;
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  t.teardown(close);
  return { port, url: `http://127.0.0.1:${port}`, server, close };
}

export function configOf(settings: object): ProxyConfig {
  const { config, problems } = resolveProxyConfig(settings, {
    customer: 'http://127.0.0.1:1',
    payment: 'http://127.0.0.1:1',
  });
  if (config === null) throw new Error(JSON.stringify(problems));
  return config;
}

/** The needles of the self-test's attacks, and one of ours. */
export const standardPlan = { needles: ["' OR '", 'EVIL'], version: 1 } as const;

export async function startPlane(
  t: Test,
  listener: ListenerKind | 'auto',
  settings: object,
  changes: Partial<DataPlaneOptions> & { plan?: object | null } = {},
): Promise<DataPlane & { readonly dataDir: string }> {
  const dataDir = changes.dataDir ?? (await mkdtemp(join(tmpdir(), 'gatehouse-e2e-')));
  const { plan, ...options } = changes;
  const artifact = plan === null ? null : doubleArtifact({ ...standardPlan, ...plan });
  const plane = await startDataPlane({
    host: '127.0.0.1',
    port: 0,
    adminHost: '127.0.0.1',
    adminPort: 0,
    adminToken: 'test-token',
    workers: 1,
    listener,
    dataDir,
    initial: { config: configOf({ timeouts: { drain_ms: 500 }, ...settings }), artifact },
    resume: false,
    reread: null,
    handlesSignals: false,
    inspectionModule: new URL('./inspection-double.js', import.meta.url).href,
    logLevel: 'silent',
    ...options,
  });
  t.teardown(async () => {
    await plane.stop();
    if (changes.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  });
  return { ...plane, dataDir };
}

export function admin(
  plane: DataPlane,
  path: string,
  init: { method?: string; body?: string; token?: string } = {},
): Promise<Response> {
  return fetch(`http://127.0.0.1:${plane.ports.admin}${path}`, {
    headers: { authorization: `Bearer ${init.token ?? plane.adminToken}`, connection: 'close' },
    ...(init.method === undefined ? {} : { method: init.method }),
    ...(init.body === undefined ? {} : { body: init.body }),
  });
}

/** Those that can run here: uWebSockets.js has binaries for some versions of Node.js only. */
export const listenerKinds: readonly ListenerKind[] = (['net', 'uws', 'node'] as const).filter(
  (kind) => whyUnavailable(kind) === null,
);

interface WorkerStatus {
  readonly state: string;
  readonly generation: number | null;
  readonly connections: number | null;
  readonly inFlight: number | null;
  readonly retiring: number | null;
  readonly lastFailure: string;
}

export async function workersOf(plane: DataPlane): Promise<readonly WorkerStatus[]> {
  return (await plane.status())['workers'] as readonly WorkerStatus[];
}

/**
 * The metrics, when they say `wanted`, else as they were at last: of a worker that is busy its last report stands for a
 * while.
 */
export async function metricsWith(plane: DataPlane, wanted: string | RegExp): Promise<string> {
  let text = '';
  await until(async () => {
    text = await (await admin(plane, '/metrics')).text();
    return typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text);
  });
  return text;
}

/** Whether just so many requests are on the way, in all workers together. */
export async function isInFlight(plane: DataPlane, count: number): Promise<boolean> {
  return (await workersOf(plane)).reduce((sum, { inFlight }) => sum + (inFlight ?? Number.NaN), 0) === count;
}

/** The lines of the audit log that are written to their end, parsed. */
export async function auditLines<T>(plane: { readonly dataDir: string }): Promise<T[]> {
  // nothing was written yet
  const text = await readFile(join(plane.dataDir, 'log', 'audit.jsonl'), 'utf8').catch(() => '');
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}
