// One run of load against one system: wrk with fresh values, CPU of the system taken around it.
import { cpuUs, residentBytes, threadTimes } from './cpu.js';
import { findCommand, HarnessProblem, runToEnd } from './processes.js';

export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly cpuUsPerRequest: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly non2xxShare: number;
  readonly socketErrors: number;
  readonly residentMb: number;
  /** CPU of each thread that used any, µs per request, busiest first. */
  readonly threads: readonly { readonly name: string; readonly usPerRequest: number }[];
}

export interface LoadOptions {
  readonly port: number;
  readonly pid: number;
  readonly seconds: number;
  readonly connections: number;
  readonly script: string; // fresh.lua
  readonly templates: string; // file written by encodeTemplates
}

interface WrkResult {
  readonly requests: number;
  readonly durationUs: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly non2xx: number;
  readonly socketErrors: number;
  readonly timeouts: number;
}

async function wrk(options: LoadOptions, seconds: number): Promise<WrkResult> {
  const command = findCommand('wrk');
  if (command === null) throw new HarnessProblem('wrk is not installed; on Debian: apt-get install wrk');
  const args = [
    '-t1',
    `-c${options.connections}`,
    `-d${seconds}s`,
    '--timeout',
    '10s',
    '-s',
    options.script,
    `http://127.0.0.1:${options.port}`,
    '--',
    options.templates,
  ];
  const { code, stdout, stderr } = await runToEnd(command, args);
  const line = /^RESULT (.+)$/m.exec(stdout)?.[1];
  if (code !== 0 || line === undefined)
    throw new HarnessProblem(`wrk ended with ${code}: ${(stderr || stdout).slice(-1000)}`);
  return JSON.parse(line) as WrkResult;
}

export async function warmUp(options: LoadOptions, seconds: number): Promise<void> {
  await wrk(options, seconds);
}

/** Throws when nothing was answered: a figure without requests is no figure. */
export async function measureLoad(options: LoadOptions): Promise<LoadResult> {
  const before = cpuUs(options.pid);
  const threadsBefore = new Map(threadTimes(options.pid).map(({ tid, us }) => [tid, us]));
  const result = await wrk(options, options.seconds);
  const used = cpuUs(options.pid) - before;
  if (result.requests === 0) throw new HarnessProblem(`no request was answered on port ${options.port}`);
  const threads = threadTimes(options.pid)
    .map(({ tid, name, us }) => ({ name, usPerRequest: (us - (threadsBefore.get(tid) ?? 0)) / result.requests }))
    .filter(({ usPerRequest }) => usPerRequest >= 0.05)
    .sort((a, b) => b.usPerRequest - a.usPerRequest);
  return {
    requests: result.requests,
    requestsPerSecond: result.requests / (result.durationUs / 1_000_000),
    cpuUsPerRequest: used / result.requests,
    p50Ms: result.p50Us / 1000,
    p99Ms: result.p99Us / 1000,
    non2xxShare: result.non2xx / result.requests,
    socketErrors: result.socketErrors + result.timeouts,
    residentMb: residentBytes(options.pid) / 1_048_576,
    threads,
  };
}
