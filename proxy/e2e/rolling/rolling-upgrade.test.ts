// Nodes replaced one by one behind a load balancer, under load: no request is refused, none is cut.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { configOf, testMsMax, until } from '../harness.js';
import { hammer } from '../hammer.js';
import { freePort } from '../waiting.js';
import { startWebSocketServer } from '../websocket-server.js';
import { startBalancer, withoutBalancer, type NodePorts } from './balancer.js';
import { sessions, startCounting, talks, uploads } from './clients.js';

t.setTimeout(testMsMax);

const program = fileURLToPath(new URL('../plane-process.js', import.meta.url));

class Node {
  private process: ChildProcess | null = null;
  private ended: Promise<unknown> = Promise.resolve();

  constructor(
    t: Test,
    readonly ports: NodePorts,
    private readonly options: object,
  ) {
    t.teardown(() => this.process?.kill('SIGKILL'));
  }

  private async isReady(): Promise<boolean> {
    const asked = fetch(`http://127.0.0.1:${this.ports.admin}/readyz`, { headers: { connection: 'close' } });
    return asked.then(
      ({ status }) => status === 200,
      () => false,
    );
  }

  async start(): Promise<void> {
    const { plain: port, tls: tlsPort, admin: adminPort } = this.ports;
    const options = JSON.stringify({ ...this.options, port, tlsPort, adminPort });
    const child = spawn(process.execPath, [program, options], { stdio: ['ignore', 'ignore', 'inherit'] });
    this.process = child;
    this.ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));
    if (!(await until(() => this.isReady()))) throw new Error('a node does not get ready');
  }

  /** As `gatehouse node drain` does. */
  async drain(): Promise<void> {
    const reply = await fetch(`http://127.0.0.1:${this.ports.admin}/drain`, {
      method: 'PUT',
      headers: { authorization: 'Bearer test-token', 'content-type': 'application/json', connection: 'close' },
      body: '{"drain": true}',
    });
    if (reply.status !== 200) throw new Error(`drain: ${reply.status}`);
  }

  /** Resolves with its exit code. */
  stop(): Promise<unknown> {
    this.process?.kill('SIGTERM');
    return this.ended;
  }
}

async function startNodes(t: Test, directory: string): Promise<Node[]> {
  const application = await startCounting(t);
  const { url: chat } = await startWebSocketServer(t);
  const site = { protected: true };
  const config = configOf({
    sites: [
      { ...site, name: 'app', prefix: '/app', upstream: application },
      { ...site, name: 'chat', prefix: '/chat', upstream: chat },
    ],
    timeouts: { drain_ms: 4000 },
  });
  const nodes: Node[] = [];
  for (let index = 0; index < 3; index += 1) {
    const ports = { plain: await freePort(), tls: await freePort(), admin: await freePort() };
    nodes.push(new Node(t, ports, { listener: 'net', dataDir: join(directory, `n${index}`), config }));
  }
  for (const node of nodes) await node.start();
  return nodes;
}

t.test('a rolling upgrade under load', { skip: withoutBalancer }, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-rolling-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const nodes = await startNodes(t, directory);
  const balancer = await startBalancer(
    t,
    directory,
    nodes.map(({ ports }) => ports),
  );
  const isUsed = async (index: number): Promise<boolean> => (await balancer.usedBy(index)) === 3;
  const isOut = async (index: number): Promise<boolean> => (await balancer.usedBy(index)) === 0;
  for (const index of nodes.keys()) t.ok(await until(() => isUsed(index)), `node ${index} is used`);

  const wrong: string[] = [];
  const count = (status: number, body: string): void => {
    if (status !== 200 || body !== '0') wrong.push(`${status} ${body}`);
  };
  const kept = [
    hammer(balancer.http, 4, '/app/a?x=1', count),
    hammer(balancer.tcp, 4, '/app/b?x=1', count),
    hammer(balancer.http, 2, '/app/slow?x=1', count),
    hammer(balancer.tcp, 2, '/app/slow?x=1', count),
  ];
  const asking = {
    'uploads over HTTP': uploads(balancer.http, 2),
    'uploads over TCP': uploads(balancer.tcp, 2),
    'streams of HTTP/2': sessions(balancer.tls, 4),
    'WebSockets over TCP': talks(t, balancer.tcp, 3),
    'WebSockets over HTTP': talks(t, balancer.http, 3),
  };
  for (const [index, node] of nodes.entries()) {
    await node.drain();
    t.ok(await until(() => isOut(index)), `node ${index} is taken out`);
    t.equal(await node.stop(), 0, `node ${index} ends in order`);
    await node.start();
    t.ok(await until(() => isUsed(index)), `node ${index} is back`);
  }
  for (const one of kept) {
    const { replies, failures } = await one.stop();
    t.equal(failures, 0, `no kept connection was cut (${replies} requests)`);
    t.ok(replies > 0);
  }
  t.same(wrong, [], 'every answer is the right one');
  for (const [name, one] of Object.entries(asking)) {
    await one.stop();
    t.same(one.tally.failures, [], `${name}: nothing was refused or cut (${one.tally.done})`);
    t.ok(one.tally.done > 0, `${name}: something was asked`);
  }
});
