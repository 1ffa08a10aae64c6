// The system under attack: a data plane with both ports, in a data directory of its own, in front of pages.ts.
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchContext } from '../context.js';
import { freePort, HarnessProblem, temporaryDirectory } from '../processes.js';
import { benchData, startGatehouse, type System } from '../systems.js';
import type { Backend } from './pages.js';
import { RawClient, requestOf } from './raw-client.js';

const readyTriesMax = 600;

export interface Stage {
  readonly system: System;
  readonly tlsPort: number;
  stop(): Promise<void>;
}

export interface StageOptions {
  readonly workers: number;
  readonly settings: object;
  readonly env?: NodeJS.ProcessEnv;
}

/** Compiled rules are those of the harness's cache; nothing else of the directory is from before. */
export async function startStage(
  { root, rules, options }: BenchContext,
  backend: Backend,
  { workers, settings, env }: StageOptions,
): Promise<Stage> {
  const home = temporaryDirectory('edge');
  const compiled = join(benchData(root, 'pl1'), 'cache');
  if (existsSync(compiled)) cpSync(compiled, join(home.path, 'cache'), { recursive: true });
  const tlsPort = await freePort();
  try {
    const system = await startGatehouse({
      ...{ root, rules, workers, settings, backendPort: backend.port, paranoia: 1, listener: options.listener },
      env: { GATEHOUSE_DATA: home.path, TLS_EDGE: 'on', JA3_PORT: String(tlsPort), LOG_LEVEL: 'error', ...env },
    });
    await untilServed(system);
    // the next case, and the next run, need not compile anew
    cpSync(join(home.path, 'cache'), compiled, { recursive: true });
    const stop = async (): Promise<void> => {
      await system.stop();
      home.remove();
    };
    return { system, tlsPort, stop };
  } catch (error) {
    home.remove();
    throw error;
  }
}

/** The port of the admin interface can be connected to before the workers are there. */
async function untilServed({ port }: System): Promise<void> {
  const client = new RawClient({ port, from: '127.0.0.1', request: requestOf('/ready') });
  for (let tries = 0; (await client.ask()).status !== 200; tries += 1) {
    if (tries === readyTriesMax) throw new HarnessProblem(`nothing is served on port ${port}`);
    await pause(100);
  }
  client.close();
}

async function askAdmin(system: Pick<System, 'admin'>, path: string): Promise<string> {
  const { port, token } = system.admin ?? { port: 0, token: '' };
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } });
  return reply.text();
}

/** Requests that the node is at work on, of all workers. */
export async function inFlight(system: Pick<System, 'admin'>): Promise<number> {
  const { workers } = JSON.parse(await askAdmin(system, '/status')) as { workers: { inFlight: number | null }[] };
  return workers.reduce((sum, worker) => sum + (worker.inFlight ?? Number.NaN), 0);
}

/** A figure of the node's metrics, summed over its labels; 0 where it has none. */
export async function metric(system: Pick<System, 'admin'>, name: string): Promise<number> {
  const lines = (await askAdmin(system, '/metrics')).split('\n').filter((line) => /^[^{ ]+/.exec(line)?.[0] === name);
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
