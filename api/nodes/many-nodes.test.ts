// A fleet of 500 nodes on one control plane: how long an apply, a denial and the return of all of them take, and what
// that costs. Nodes are simulated (testing/processes/simulated-nodes.ts); identities, tunnels and requests are real.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { blockWord } from '../testing/change-road.js';
import { startUpstream } from '../testing/data-plane.js';
import { onOneDatabase } from '../testing/databases.js';
import type { SimulatedNode } from '../testing/processes/simulated-nodes.js';
import { startFleetPlane, type FleetPlane } from '../testing/servers/fleet.js';
import { freePort } from '../testing/free-port.js';
import { makeDirectory } from '../testing/temporary.js';
import { until } from '../testing/waiting.js';

const count = 500;
/** What a fleet of this size may cost and take; a machine that does other things beside gets three times as long. */
const bars = { applyMs: 5_000, denialMs: 2_000, reconnectMs: 30_000, residentBytes: 1_000_000_000, patience: 3 };
/** Of a request that carries settings and no rules. */
const withoutRulesBytesMax = 200_000;

const program = fileURLToPath(new URL('../testing/processes/simulated-nodes.js', import.meta.url));

interface Crowd {
  /** Resolves when all have joined. */
  readonly joined: Promise<unknown>;
  nodes(): Promise<readonly SimulatedNode[]>;
}

function startCrowd(t: Tap, wish: object): Crowd {
  const child = fork(program, [JSON.stringify(wish)], { execArgv: [], env: { PATH: process.env['PATH'] ?? '' } });
  t.teardown(() => void child.kill('SIGKILL'));
  const heard = (kind: string): Promise<Record<string, unknown>> =>
    new Promise((resolve, reject) => {
      child.on('message', (message: Record<string, unknown>) => message['kind'] === kind && resolve(message));
      child.once('exit', (code, signal) => reject(new Error(`the nodes ended with ${code ?? signal}`)));
    });
  const joined = heard('joined');
  const nodes = async (): Promise<readonly SimulatedNode[]> => {
    child.send('state');
    return (await heard('state'))['nodes'] as SimulatedNode[];
  };
  return { joined, nodes };
}

type Tap = Parameters<Parameters<typeof onOneDatabase>[2]>[0];

/** How long it took, and how many cores this process had on its way. */
async function measured(work: () => Promise<unknown>): Promise<{ readonly tookMs: number; readonly cores: number }> {
  const [startedMs, before] = [performance.now(), process.cpuUsage()];
  await work();
  const [tookMs, { user, system }] = [performance.now() - startedMs, process.cpuUsage(before)];
  return { tookMs, cores: (user + system) / 1000 / tookMs };
}

const connected = (plane: FleetPlane): number =>
  Array.from({ length: count }, (_, index) => plane.isConnected(`sim-${index}`)).filter(Boolean).length;

const said = ({ tookMs, cores }: { tookMs: number; cores: number }): string =>
  `${Math.round(tookMs)} ms, ${cores.toFixed(2)} cores, ${Math.round(process.memoryUsage.rss() / 1e6)} MB resident`;

t.test('a fleet of 500 nodes', (t) =>
  onOneDatabase(t, 'a fleet of 500 nodes', async (t, database) => {
    const [upstream, port] = [await startUpstream(t), await freePort()];
    const urls = [`https://127.0.0.1:${port}`];
    const plane = await startFleetPlane(t, database, upstream, { port, urls });
    const token = await plane.makeToken({ nodes_max: count, expires_in_minutes: 600 });
    const wish = { addresses: urls, token, count, directory: await makeDirectory(t, 'crowd') };
    const crowd = startCrowd(t, wish);
    t.comment(`joining: ${said(await measured(() => crowd.joined))}`);
    await until('all are connected', () => connected(plane) === count);
    await plane.link.directory.refresh();

    await plane.patch({ custom_rules: [blockWord(1_000_001, 'plugh')] });
    const first = await measured(async () => t.match(await plane.apply(), { status: 200 }));
    t.comment(`an apply of new rules: ${said(first)}`);
    const served = await crowd.nodes();
    const generations = new Set(served.map(({ generation, ruleset }) => `${generation} ${ruleset}`));
    t.equal(generations.size, 1, 'all serve the same');
    t.ok(first.tookMs < bars.applyMs * bars.patience);

    await plane.patch({ block_page_html: '<p>500</p>' });
    const second = await measured(async () => t.match(await plane.apply(), { status: 200 }));
    t.comment(`an apply of other settings: ${said(second)}`);
    const next = await crowd.nodes();
    t.equal(new Set(next.map(({ generation }) => generation)).size, 1);
    t.ok((next[0]?.generation ?? 0) > (served[0]?.generation ?? 0), 'they have it');
    t.ok(second.tookMs < bars.applyMs * bars.patience);
    const most = Math.max(...next.map(({ generationBytes }) => generationBytes));
    t.ok(most < withoutRulesBytesMax, `rules that a node has are not sent again (${most} bytes)`);

    const sinceMs = Date.now();
    const body = { addresses: ['203.0.113.7'], reason: 'tested' };
    t.ok((await plane.call('POST', '/api/threat-intel', { token: plane.admin, body })).status < 300);
    await plane.parts.measuresChanged();
    const delays = (await crowd.nodes()).map(({ measuresAtMs }) => measuresAtMs - sinceMs).sort((a, b) => a - b);
    const p99 = delays[Math.floor(count * 0.99)] ?? Infinity;
    t.comment(`a denial: p50 ${delays[count / 2]} ms, p99 ${p99} ms, last ${delays.at(-1)} ms`);
    t.ok((delays[0] ?? -1) >= 0, 'every node has it');
    t.ok(p99 < bars.denialMs * bars.patience);

    const idle = await measured(async () => {
      await new Promise((resolve) => setTimeout(resolve, 10_000));
      t.ok(await plane.link.reconcileNodes(plane.parts.audit).then(() => true));
    });
    t.comment(`ten quiet seconds with one look at all: ${said(idle)}`);
    t.ok(idle.cores < 1);

    await plane.crash();
    await until('nobody is connected', () => connected(plane) === 0);
    const other = await startFleetPlane(t, database, upstream, { port, urls });
    const back = await measured(() => until('all are back', () => connected(other) === count));
    t.comment(`all come back at once: ${said(back)}`);
    t.ok(back.tookMs < bars.reconnectMs * bars.patience);
    t.ok(process.memoryUsage.rss() < bars.residentBytes, `${process.memoryUsage.rss()} bytes resident`);
  }),
);
