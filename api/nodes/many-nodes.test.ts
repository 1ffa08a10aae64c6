// A fleet of many nodes on one control plane: how long an apply, a denial and the return of all of them take, and what
// that costs. Nodes are simulated (testing/processes/simulated-nodes.ts); identities, tunnels and requests are real.
// With 500 as its argument this file measures what is promised; the suite has a fifth of it, in a fifth of the time.
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

const count = Number(/^\d+$/.exec(process.argv[2] ?? '') ?? 100);
/**
 * Seconds of one core that may go into each, here: where nothing else wants it, that is how long they take. What the
 * clock says is told and not judged, since nodes and database are on this machine, too.
 */
const bars = { apply: 5, denial: 2, reconnect: 30, residentBytes: 1_000_000_000 };
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

interface Cost {
  readonly tookMs: number;
  /** Of a processor, for this process. */
  readonly seconds: number;
}

async function measured(work: () => Promise<unknown>): Promise<Cost> {
  const [startedMs, before] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return { tookMs: performance.now() - startedMs, seconds: (user + system) / 1e6 };
}

const connected = (plane: FleetPlane): number =>
  Array.from({ length: count }, (_, index) => plane.isConnected(`sim-${index}`)).filter(Boolean).length;

function said({ tookMs, seconds }: Cost): string {
  const megabytes = Math.round(process.memoryUsage.rss() / 1e6);
  return `${Math.round(tookMs)} ms, ${seconds.toFixed(2)} s of one core, ${megabytes} MB resident`;
}

t.test(`a fleet of ${count} nodes`, (t) =>
  onOneDatabase(t, `a fleet of ${count} nodes`, async (t, database) => {
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
    t.ok(first.seconds < bars.apply, `${first.seconds} s of one core`);

    t.match(await plane.patch({ privacy_mode: true }), { status: 200 });
    const second = await measured(async () => t.match(await plane.apply(), { status: 200 }));
    t.comment(`an apply of other settings: ${said(second)}`);
    const next = await crowd.nodes();
    t.equal(new Set(next.map(({ generation }) => generation)).size, 1);
    t.ok((next[0]?.generation ?? 0) > (served[0]?.generation ?? 0), 'they have it');
    t.ok(second.seconds < bars.apply, `${second.seconds} s of one core`);
    const most = Math.max(...next.map(({ generationBytes }) => generationBytes));
    t.ok(most < withoutRulesBytesMax, `rules that a node has are not sent again (${most} bytes)`);

    const sinceMs = Date.now();
    const body = { addresses: ['203.0.113.7'], reason: 'tested' };
    t.ok((await plane.call('POST', '/api/threat-intel', { token: plane.admin, body })).status < 300);
    const denial = await measured(() => plane.parts.measuresChanged());
    const delays = (await crowd.nodes()).map(({ measuresAtMs }) => measuresAtMs - sinceMs).sort((a, b) => a - b);
    const p99 = delays[Math.floor(count * 0.99)] ?? Infinity;
    t.comment(`a denial: p50 ${delays[count / 2]} ms, p99 ${p99} ms, last ${delays.at(-1)} ms`);
    t.ok((delays[0] ?? -1) >= 0, 'every node has it');
    t.ok(denial.seconds < bars.denial, `${denial.seconds} s of one core`);

    const idle = await measured(async () => {
      await new Promise((resolve) => setTimeout(resolve, 10_000));
      t.ok(await plane.link.reconcileNodes(plane.parts.audit).then(() => true));
    });
    t.comment(`ten quiet seconds with one look at all: ${said(idle)}`);
    t.ok(idle.seconds < 5, `${idle.seconds} s of one core`);

    await plane.crash();
    await until('nobody is connected', () => connected(plane) === 0);
    const other = await startFleetPlane(t, database, upstream, { port, urls });
    const back = await measured(() => until('all are back', () => connected(other) === count));
    t.comment(`all come back at once: ${said(back)}`);
    t.ok(back.seconds < bars.reconnect, `${back.seconds} s of one core`);
    t.ok(process.memoryUsage.rss() < bars.residentBytes, `${process.memoryUsage.rss()} bytes resident`);
  }),
);
