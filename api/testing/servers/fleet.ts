// A control plane with a port of nodes, and nodes that enrol there: everything real but the rule set.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import type { Database } from '../../db/client.js';
import type { Door } from '../../enrolment/door.js';
import { prepareNodePort } from '../../enrolment/node-port.js';
import { connectDataPlane, type NodeLink } from '../../nodes/link.js';
import { startTestApp, testEnv, type Reply, type TestApp } from '../app.js';
import { nodeToken, planeModule, startNode, type TestNode } from '../data-plane.js';
import { writeRuleSet } from '../rule-set.js';
import { makeDataDirectory, makeDirectory } from '../temporary.js';

export interface FleetPlane extends TestApp {
  readonly link: NodeLink;
  readonly admin: string;
  /** `https://HOST:PORT` of its port of nodes. */
  readonly address: string;
  makeToken(body?: object): Promise<string>;
  patch(body: object): Promise<Reply>;
  apply(): Promise<Reply>;
  /** Whether the node has a tunnel here. */
  isConnected(name: string): boolean;
  /** Ends the port of nodes with all its connections, as a crash would. */
  crash(): Promise<void>;
}

interface PlaneOptions {
  /** Of the port of nodes; absent: any free one. */
  readonly port?: number;
  /** Address of the port of nodes; absent: this machine alone. */
  readonly host?: string;
  /** Addresses of all control planes, as NODES_URLS has them. */
  readonly urls?: readonly string[];
  /** Life of certificates of nodes; absent: as everywhere. */
  readonly nodeLifeMs?: number;
  /** DATA_ADMIN_URLS is none. */
  readonly isOnlyWay?: boolean;
  /** Nodes may join by this secret; absent: by tokens only. */
  readonly shared?: { readonly secret: string; readonly nodesMax: number; readonly forgetAfterMinutes: number };
}

export async function startFleetPlane(
  t: Test,
  database: Database,
  upstream: string,
  { port = 0, host = '127.0.0.1', urls = [], nodeLifeMs, shared, isOnlyWay = false }: PlaneOptions = {},
): Promise<FleetPlane> {
  const env = {
    dataAdminToken: nodeToken,
    dataAdminUrls: [],
    dataDirectory: await makeDataDirectory(t, 'fleet'),
    crsDirectory: await writeRuleSet(t),
    upstreams: { customer: upstream, payment: upstream },
    settingsEncryptionSecret: 'b'.repeat(40),
    nodePort: { host, port, urls, shared: shared ?? null, isOnlyWay },
  };
  const now = Date.now;
  const nodes = await prepareNodePort(env, database, now, nodeLifeMs);
  if (nodes === null) throw new Error('the port of nodes was not asked for');
  const link = await connectDataPlane({ env, database, now, compileKeepsPriority: true, ...nodes.forLink });
  const { applySettings, expectedOf, reconcileNodes, tryRequests, nodeGates, measuresChanged, drainNode, rollouts } =
    link;
  const nodePort = nodes.portFor(link.directory);
  const at = await startTestApp(database, {
    env: { ...testEnv, dataAdminToken: nodeToken },
    applySettings,
    expectedOf,
    reconcileNodes,
    tryRequests,
    nodeGates,
    measuresChanged,
    drainNode,
    rollouts,
    nodePort,
    now,
  });
  await link.start(at.parts);
  const door: Door = await nodes.open(at.app, at.parts);
  let isOpen = true;
  const crash = async (): Promise<void> => {
    if (isOpen) await door.close();
    isOpen = false;
  };
  t.teardown(async () => {
    await crash();
    await at.close();
    await link.close();
  });
  const { token } = await at.user('admin', `admin-${randomUUID()}@example.org`);
  return {
    ...at,
    link,
    admin: token,
    address: `https://${host}:${door.port}`,
    isConnected: nodePort.isConnected,
    crash,
    async makeToken(body = {}) {
      const reply = await at.call('POST', '/api/nodes/tokens', { token, body });
      if (reply.status !== 201) throw new Error(reply.text);
      return String(reply.body['token']);
    },
    patch: (body) => at.call('PATCH', '/api/settings', { token, body }),
    apply: () => at.call('POST', '/api/apply', { token }),
  };
}

/** Enrols a node in a directory of its own. */
export async function enrol(
  t: Test,
  plane: Pick<FleetPlane, 'address' | 'makeToken'>,
  name: string,
  addresses: readonly string[] = [plane.address],
): Promise<string> {
  const dataDir = await makeDirectory(t, name);
  const { joinFleet } = await planeModule();
  await joinFleet({ dataDir, addresses, token: await plane.makeToken(), name, labels: {} });
  return dataDir;
}

export const startEnrolled = (t: Test, upstream: string, dataDir: string): Promise<TestNode> =>
  startNode(t, { upstream, dataDir, isEnrolled: true });

export const publicKeyPem = (curve = 'P-256'): string =>
  generateKeyPairSync('ec', { namedCurve: curve }).publicKey.export({ type: 'spki', format: 'pem' }) as string;
