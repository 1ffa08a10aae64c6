// `gatehouse capacity`: what a request costs on this machine, and what that would carry. A data plane as it serves, on
// the loopback, with the installed rules: with one worker, then with all of them.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseOptions } from '../command-line.js';
import { dataDirectory } from '../environment/directories.js';
import { adoptDirectories, readEnvironment } from '../environment/read-environment.js';
import { prepareArtifact } from '../local-settings/artifact.js';
import { Refusal, wrongUsage } from '../refusal.js';
import { capacityOf, type Machine, type Run } from './figures.js';
import { load, openBackend } from './load.js';
import { startPlane } from './plane.js';
import { describe, toJson, type Measured } from './report.js';

const options = {
  seconds: { type: 'string', default: '20' },
  paranoia: { type: 'string', default: '1' },
  workers: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;
const connectionsPerWorker = 32;
/** Of the time of a run, before anything counts: what is compiled while it runs is compiled by then. */
const warmShare = 0.25;

function wholeNumber(flag: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least || value > most)
    throw wrongUsage(`--${flag} ${text}: a whole number from ${least} to ${most} is needed.`);
  return value;
}

function machineNow(): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? process.arch,
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    loadBefore: loadavg()[0] ?? 0,
  };
}

/** Settings of an installation that says nothing but the level; `port`: of what stands behind. */
function settingsOf(paranoia: number, port: number): object {
  const site = { name: 'capacity', prefix: '/', upstream: `http://127.0.0.1:${port}`, protected: true };
  return { mode: 'On', paranoia_level: paranoia, sites: [site] };
}

/** Its artifact does not depend on the port, and is kept, so that a second measurement compiles nothing. */
async function artifactFor(paranoia: number, directory: string) {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, `level-${paranoia}.json`);
  const text = JSON.stringify(settingsOf(paranoia, 9));
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
  return prepareArtifact(file, directory, { say: (line) => console.error(`gatehouse: ${line}`) });
}

interface RunOptions {
  readonly directory: string;
  readonly workers: number;
  readonly artifact: string;
  readonly paranoia: number;
  readonly ms: number;
}

async function measure({ directory, workers, artifact, paranoia, ms }: RunOptions): Promise<Run> {
  const backend = await openBackend();
  try {
    const place = join(directory, `plane-${process.pid}-${workers}`);
    const plane = await startPlane({
      directory: place,
      workers,
      artifact,
      settings: settingsOf(paranoia, backend.port),
    });
    try {
      const connections = connectionsPerWorker * workers;
      await load(plane.port, connections, ms * warmShare);
      const [cpuBefore, startedMs] = [plane.cpuMs(), performance.now()];
      const loaded = await load(plane.port, connections, ms * (1 - warmShare));
      const tookMs = performance.now() - startedMs;
      return { workers, ...loaded, cpuMs: plane.cpuMs() - cpuBefore, tookMs, memoryMb: plane.memoryMb() };
    } finally {
      await plane.stop();
      rmSync(place, { recursive: true, force: true });
    }
  } finally {
    backend.close();
  }
}

/** Throws Refusal where nothing can be measured, and for wrong words. */
export async function runCapacity(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions({ args: [...args], allowPositionals: true, options });
  if (positionals.length > 0) throw wrongUsage(`capacity does not know ${positionals.join(' ')}.`);
  const machine = machineNow();
  const seconds = wholeNumber('seconds', values.seconds, 2, 600);
  const paranoia = wholeNumber('paranoia', values.paranoia, 1, 4);
  const workers = wholeNumber('workers', values.workers ?? String(machine.cores), 1, 256);
  if (!existsSync('/proc/self/stat'))
    throw new Refusal('capacity reads processor times from /proc, which this system does not have: run it on Linux.');
  adoptDirectories(readEnvironment());
  const directory = join(dataDirectory(), 'capacity');
  const { path: artifact, crs } = await artifactFor(paranoia, directory);
  const isOne = workers === 1;
  const ms = (seconds * 1000) / (isOne ? 1 : 2);
  const one = await measure({ directory, workers: 1, artifact, paranoia, ms });
  const all = isOne ? one : await measure({ directory, workers, artifact, paranoia, ms });
  const rules = { release: crs.version, paranoia };
  const measured: Measured = { machine, rules, one, all, capacity: judged(one, all, machine) };
  console.log(values.json ? JSON.stringify(toJson(measured), null, 2) : describe(measured));
  return 0;
}

function judged(one: Run, all: Run, machine: Machine): Measured['capacity'] {
  try {
    return capacityOf(one, all, machine);
  } catch (error) {
    if (error instanceof RangeError) throw new Refusal(`${error.message}: there is nothing to judge by.`);
    throw error;
  }
}
