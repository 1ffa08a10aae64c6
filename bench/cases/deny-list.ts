// A million bad networks: how long the import takes on each database and what it costs in memory, how long until a node
// has them, and what they cost a request. The request is measured on one data plane with the list empty and full in
// turn, so that a machine which slows down slows both.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchContext } from '../context.js';
import { startControlPlane, startPostgres } from '../control-plane.js';
import { measureLoad, warmUp } from '../load.js';
import { residentBytes } from '../cpu.js';
import { HarnessProblem, temporaryDirectory } from '../processes.js';
import { startBackend, startGatehouse, type System } from '../systems.js';
import { encodeTemplates } from '../traffic.js';

/**
 * Distinct and unsorted: two addresses, an IPv4 network, an IPv6 network, and again. None denies the load, which comes
 * from 127.0.0.1.
 */
function makeNetworks(count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const mixed = (index * 7_368_787) % 16_777_216; // an odd factor: a permutation of 24 bits
    const [b, c] = [(mixed >> 16) & 255, (mixed >> 8) & 255];
    if (index % 4 === 3) return `2a0${index & 7}:${(mixed >> 12).toString(16)}:${(mixed & 4095).toString(16)}::/48`;
    return index % 4 === 2
      ? `${20 + (index % 60)}.${b}.${c}.0/${24 + (mixed & 3)}`
      : `${80 + (index % 40)}.${b}.${c}.${mixed & 255}`;
  });
}

async function listOf(system: System): Promise<{ readonly sha256: string; readonly networks: number }> {
  const reply = await fetch(`http://127.0.0.1:${system.admin?.port}/status`, {
    headers: { authorization: `Bearer ${system.admin?.token}` },
  });
  return ((await reply.json()) as { threats: { sha256: string; networks: number } }).threats;
}

async function importOn(
  context: BenchContext,
  kind: 'PGlite' | 'PostgreSQL',
  networks: readonly string[],
  node: System,
): Promise<void> {
  const { root, recorder } = context;
  const postgres = kind === 'PostgreSQL' ? await startPostgres() : null;
  if (kind === 'PostgreSQL' && postgres === null)
    return recorder.note('the deny list on PostgreSQL was left out: apt-get install postgresql');
  const control = await startControlPlane({
    root,
    databaseUrl: postgres?.url ?? null,
    nodes: [`http://127.0.0.1:${node.admin?.port}`],
    nodeToken: node.admin?.token ?? '',
  });
  const key = `deny list / ${kind} / ${networks.length} networks`;
  let peakMb = 0;
  const watch = setInterval(() => (peakMb = Math.max(peakMb, residentBytes(control.pid) / 1_048_576)), 100);
  let othersMs = 0;
  let isOver = false;
  const others = (async () => {
    while (!isOver) {
      const at = performance.now();
      await control.call('GET', '/api/health');
      othersMs = Math.max(othersMs, performance.now() - at);
      await pause(50);
    }
  })();
  try {
    const before = residentBytes(control.pid) / 1_048_576;
    const startedMs = performance.now();
    const reply = await control.call('POST', '/api/threat-intel', { text: networks.join('\n'), reason: 'bench' });
    recorder.add(`${key} / import until every node has it`, 'ms', 'lower', performance.now() - startedMs);
    if (reply['added'] !== networks.length)
      throw new HarnessProblem(`of ${networks.length} networks ${String(reply['added'])} were added`);
    const has = await listOf(node);
    if (has.networks !== networks.length) throw new HarnessProblem(`the node has ${has.networks} networks`);
    const againMs = performance.now();
    await control.call('POST', '/api/threat-intel', { addresses: ['198.51.100.7'] });
    recorder.add(`${key} / one more until every node has it`, 'ms', 'lower', performance.now() - againMs);
    recorder.add(`${key} / memory before`, 'MB', 'lower', before);
    recorder.add(`${key} / memory at most`, 'MB', 'lower', peakMb);
    recorder.add(`${key} / longest wait of another request`, 'ms', 'lower', othersMs);
  } finally {
    isOver = true;
    clearInterval(watch);
    await others.catch(() => undefined); // whoever failed first says why
    await control.stop();
    await postgres?.stop();
  }
}

async function putList(node: System, networks: readonly string[]): Promise<number> {
  const startedMs = performance.now();
  const reply = await fetch(`http://127.0.0.1:${node.admin?.port}/threats`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${node.admin?.token}` },
    body: networks.join('\n'),
  });
  if (reply.status !== 200) throw new HarnessProblem(`the node refused the list: ${await reply.text()}`);
  return performance.now() - startedMs;
}

export async function denyListCase(context: BenchContext): Promise<void> {
  const { root, rules, options, recorder, traffics } = context;
  const networks = makeNetworks(options.short ? 100_000 : 1_000_000);
  const temporary = temporaryDirectory('deny-list');
  const backend = await startBackend(root);
  const node = await startGatehouse({
    root,
    backendPort: backend.port,
    paranoia: 1,
    workers: 1,
    rules,
    listener: options.listener,
  });
  try {
    for (const kind of ['PGlite', 'PostgreSQL'] as const) {
      context.progress(`deny list: ${networks.length} networks on ${kind}`);
      await importOn(context, kind, networks, node);
      await putList(node, []);
    }
    const templates = join(temporary.path, 'mix.templates');
    writeFileSync(templates, encodeTemplates(traffics[0]?.[1] ?? []));
    const load = {
      port: node.port,
      pid: node.pid,
      seconds: options.seconds,
      connections: 32,
      script: join(root, 'bench/fresh.lua'),
      templates,
    };
    await warmUp(load, options.warmUpSeconds);
    for (let repetition = 1; repetition <= options.repetitions; repetition++) {
      for (const [name, list] of [
        ['empty', []],
        ['full', networks],
      ] as const) {
        const tookMs = await putList(node, list);
        if (name === 'full')
          recorder.add(`deny list / node / ${networks.length} networks / until it serves them`, 'ms', 'lower', tookMs);
        context.progress(`deny list: ${name} (${repetition}/${options.repetitions})`);
        const result = await measureLoad(load);
        recorder.add(`deny list / mix / ${name} / CPU`, 'µs/request', 'lower', result.cpuUsPerRequest);
        recorder.add(`deny list / mix / ${name} / p99`, 'ms', 'lower', result.p99Ms);
        recorder.add(`deny list / mix / ${name} / not 2xx`, '%', 'none', result.non2xxShare * 100);
      }
    }
  } finally {
    await node.stop();
    await backend.stop();
    temporary.remove();
  }
}
