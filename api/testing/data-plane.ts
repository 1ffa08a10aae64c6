// A real data plane for tests of the control plane, in this process, on free ports. It is not behind a door, so it is
// imported by its address; the types below are what these tests use of it.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { resolveProxyConfig } from '#proxy/contract';
import { redisAddressOf } from '#settings/environment';
import { makeDirectory } from './temporary.js';

export const nodeToken = 'node-token-of-the-tests-0123456789abcdef';

export interface TestNode {
  readonly url: string;
  readonly http: number;
  /** 0: there is no TLS edge. */
  readonly https: number;
  readonly dataDir: string;
  status(): Promise<Record<string, unknown>>;
  stop(): Promise<void>;
}

interface Plane {
  readonly ports: { readonly http: number; readonly admin: number; readonly tls: number | null };
  status(): Promise<Record<string, unknown>>;
  stop(): Promise<unknown>;
}

export interface NodeOptions {
  readonly upstream: string;
  readonly dataDir?: string;
  readonly resume?: boolean;
  readonly workers?: number;
  readonly adminPort?: number;
  readonly hasTls?: boolean;
  /** The console under a name of its own (DASHBOARD_DOMAIN). */
  readonly dashboard?: { readonly host: string; readonly upstream: string };
  /** Of the local settings file. */
  readonly settings?: object;
  /** The control plane that records go to. */
  readonly controlUrl?: string;
  /** The node enrolled, and lives by what lies in `dataDir`. */
  readonly isEnrolled?: boolean;
  /** Where nodes share their limits. */
  readonly redisUrl?: string | null;
}

/** What enrolment leaves on a node. */
interface Identity {
  readonly current: { readonly name: string; readonly addresses: readonly string[]; readonly certificate: string };
  readonly tls: object;
}

/** What a node does to enrol, and what it is then. */
export interface PlaneModule {
  startDataPlane(options: object): Promise<Plane>;
  joinFleet(options: object): Promise<Identity['current']>;
  leaveFleet(dataDir: string, identity: Identity): Promise<boolean>;
  isStillMember(identity: Identity): Promise<boolean>;
  readonly IdentityStore: { read(dataDir: string): Identity | null };
}

export const planeModule = async (): Promise<PlaneModule> =>
  (await import(new URL('../../proxy/main/data-plane.js', import.meta.url).href)) as PlaneModule;

function shippingOf({ controlUrl }: NodeOptions, identity: Identity | null): object | null {
  if (identity !== null) {
    const { name, addresses } = identity.current;
    const tls = () => ({ addresses: identity.current.addresses, options: identity.tls });
    return { url: addresses[0], token: '', node: name, tls };
  }
  return controlUrl === undefined ? null : { url: controlUrl, token: nodeToken, node: 'edge-1' };
}

export async function startNode(t: Test, options: NodeOptions): Promise<TestNode> {
  const { startDataPlane, IdentityStore } = await planeModule();
  const dataDir = options.dataDir ?? (await makeDirectory(t, 'node'));
  const { config } = resolveProxyConfig(
    { timeouts: { drain_ms: 300 }, ...options.settings },
    { customer: options.upstream, payment: options.upstream, dashboard: options.dashboard ?? null },
  );
  const identity = options.isEnrolled === true ? IdentityStore.read(dataDir) : null;
  const plane = await startDataPlane({
    host: '127.0.0.1',
    port: 0,
    tls: options.hasTls === true ? { port: 0 } : null,
    adminHost: '127.0.0.1',
    adminPort: options.adminPort ?? 0,
    adminToken: identity === null ? nodeToken : null,
    workers: options.workers ?? 1,
    listener: 'auto',
    dataDir,
    initial: { config, artifact: null },
    resume: options.resume ?? identity !== null,
    wasManaged: identity !== null,
    identity,
    reread: null,
    handlesSignals: false,
    logLevel: 'silent',
    inspectionThreads: 0,
    redis: options.redisUrl == null ? null : { address: redisAddressOf(options.redisUrl), prefix: null },
    shipping: shippingOf(options, identity),
  });
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (isStopped) return;
    isStopped = true;
    await plane.stop();
  };
  t.teardown(stop);
  return {
    url: `http://127.0.0.1:${plane.ports.admin}`,
    http: plane.ports.http,
    https: plane.ports.tls ?? 0,
    dataDir,
    status: () => plane.status(),
    stop,
  };
}

/** An application that gives one answer to everything. */
export async function startUpstream(t: Test, answer = 'ok'): Promise<string> {
  const server = createServer((_request, response) => response.end(answer));
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
