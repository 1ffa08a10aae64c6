// How much CPU a request costs in each system, how many it serves, how long they take. Systems are all started first
// and measured in turn, repetition by repetition, so that a machine that slows down slows all of them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchContext } from '../context.js';
import { measureLoad, warmUp, type LoadOptions } from '../load.js';
import { temporaryDirectory } from '../processes.js';
import {
  hasModSecurity,
  startBackend,
  startGatehouse,
  startModSecurity,
  startNginxPlain,
  type System,
} from '../systems.js';
import { encodeTemplates, measureFreshness, type Template } from '../traffic.js';

async function startSystems(context: BenchContext, backendPort: number): Promise<System[]> {
  const { root, rules, options, recorder } = context;
  const wanted: (() => Promise<System>)[] = [];
  for (const paranoia of options.paranoia) {
    for (const workers of options.workers)
      wanted.push(() => startGatehouse({ root, backendPort, paranoia, workers, rules, listener: options.listener }));
  }
  if (options.peers) {
    // What the proxying itself costs: the rest is inspection.
    wanted.push(() =>
      startGatehouse({
        root,
        backendPort,
        paranoia: 1,
        workers: 1,
        rules,
        listener: options.listener,
        isProtected: false,
      }),
    );
    wanted.push(() => startNginxPlain(backendPort));
    if (hasModSecurity())
      for (const paranoia of options.paranoia) wanted.push(() => startModSecurity(backendPort, paranoia, rules));
    else recorder.note('nginx + ModSecurity was left out: apt-get install nginx libnginx-mod-http-modsecurity');
  }
  const systems: System[] = [];
  for (const begin of wanted) {
    try {
      systems.push(await begin());
    } catch (error) {
      await Promise.all(systems.map((system) => system.stop()));
      throw error;
    }
  }
  return systems;
}

/** Counters of Gatehouse's own metrics around a run: the hit rate of its memo. Null where it does not tell. */
async function memoCounters(system: System): Promise<{ readonly lookups: number; readonly found: number } | null> {
  if (system.admin === null) return null;
  const reply = await fetch(`http://127.0.0.1:${system.admin.port}/metrics`, {
    headers: { authorization: `Bearer ${system.admin.token}` },
  });
  const text = await reply.text();
  const read = (name: RegExp): number | null => {
    const lines = text.split('\n').filter((line) => name.test(line) && !line.startsWith('#'));
    return lines.length === 0 ? null : lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };
  const lookups = read(/memo_lookups/);
  const found = read(/memo_(found|hits)/);
  return lookups === null || found === null ? null : { lookups, found };
}

async function measureOne(context: BenchContext, system: System, traffic: string, load: LoadOptions): Promise<void> {
  const { recorder } = context;
  const before = await memoCounters(system);
  const result = await measureLoad(load);
  const after = await memoCounters(system);
  const key = `proxy / ${traffic} / ${system.name}`;
  recorder.add(`${key} / CPU`, 'µs/request', 'lower', result.cpuUsPerRequest);
  recorder.add(`${key} / throughput`, 'requests/s', 'higher', result.requestsPerSecond);
  recorder.add(`${key} / p50`, 'ms', 'lower', result.p50Ms);
  recorder.add(`${key} / p99`, 'ms', 'lower', result.p99Ms);
  recorder.add(`${key} / memory`, 'MB', 'lower', result.residentMb);
  recorder.add(`${key} / not 2xx`, '%', 'none', result.non2xxShare * 100);
  if (before !== null && after !== null && after.lookups > before.lookups) {
    recorder.add(
      `${key} / memo hits`,
      '%',
      'none',
      ((after.found - before.found) / (after.lookups - before.lookups)) * 100,
    );
  }
  for (const [index, thread] of result.threads.slice(0, 4).entries())
    recorder.add(`${key} / thread ${index + 1} ${thread.name}`, 'µs/request', 'none', thread.usPerRequest);
  if (result.socketErrors > 0) recorder.note(`${key}: ${result.socketErrors} socket errors or timeouts`);
  if (traffic === 'mix' && result.non2xxShare > 0)
    recorder.note(`${key}: ${(result.non2xxShare * 100).toFixed(2)} % of the benign mix was not answered with 2xx`);
}

export async function proxyCase(context: BenchContext): Promise<void> {
  const { root, options, recorder, traffics } = context;
  const temporary = temporaryDirectory('load');
  const backend = await startBackend(root);
  const systems = await startSystems(context, backend.port);
  try {
    for (const [traffic, templates] of traffics) {
      recordFreshness(context, traffic, templates);
      const file = join(temporary.path, `${traffic}.templates`);
      writeFileSync(file, encodeTemplates(templates));
      const loadOf = (system: System): LoadOptions => ({
        port: system.port,
        pid: system.pid,
        seconds: options.seconds,
        connections: 32,
        script: join(root, 'bench/fresh.lua'),
        templates: file,
      });
      for (const system of systems) await warmUp(loadOf(system), options.warmUpSeconds);
      for (let repetition = 1; repetition <= options.repetitions; repetition++) {
        for (const system of systems) {
          context.progress(`${traffic}: ${system.name} (${repetition}/${options.repetitions})`);
          await measureOne(context, system, traffic, loadOf(system));
        }
      }
    }
    for (const system of systems)
      recorder.add(`start / ${system.name} / until the port answers`, 'ms', 'lower', system.startMs);
  } finally {
    await Promise.all(systems.map((system) => system.stop()));
    await backend.stop();
    temporary.remove();
  }
}

function recordFreshness({ recorder }: BenchContext, traffic: string, templates: readonly Template[]): void {
  const { valuesPerRequest, newShare } = measureFreshness(templates, 2000);
  recorder.add(`traffic / ${traffic} / distinct values`, 'per request', 'none', valuesPerRequest);
  recorder.add(`traffic / ${traffic} / values never seen before`, '%', 'none', newShare * 100);
}
