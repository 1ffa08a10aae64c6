// What measured costs mean: requests a core, what this machine would carry, how many nodes a target takes. Pure.

/** The specification's node: 80,000 requests a second on 16 cores. */
export const barUs = 200;
/** What a node is planned for: at more, what a burst brings waits behind it. */
export const plannedUse = 0.6;
export const targets = [10_000, 80_000, 1_000_000] as const;

/** One data plane under load. */
export interface Run {
  readonly workers: number;
  readonly requests: number;
  /** Processor time (user and system) of the data plane's whole process, ms. */
  readonly cpuMs: number;
  readonly tookMs: number;
  /** Resident at the end, MB. */
  readonly memoryMb: number;
  /** Answers that were not 2xx. */
  readonly refused: number;
  readonly broken: number;
}

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGb: number;
  /** Processes that wanted a processor on average over the minute before (load average). */
  readonly loadBefore: number;
}

export interface Capacity {
  readonly cpuUs: { readonly oneWorker: number; readonly allWorkers: number };
  /** All workers' cost a request, in that of one. */
  readonly spread: number;
  /** Cost with all workers, in the bar. */
  readonly ofBar: number;
  readonly requestsPerCore: number;
  /** Of this machine: every core busy, and as planned. */
  readonly most: number;
  readonly planned: number;
  readonly nodes: readonly { readonly requestsPerSecond: number; readonly nodes: number }[];
  /** Why the figures are to be read with care; empty: no reason was found. */
  readonly doubts: readonly string[];
}

export const notMeasured: readonly string[] = [
  'the network card, its interrupts and the kernel beyond the loopback',
  'TLS: handshakes and encryption come on top (docs/tls.md), as does HTTP/2',
  'real applications: answers are two bytes, bodies of answers are read by rules where that is on',
  'attacks, uploads and large bodies, which cost several times an ordinary request',
  'latency: load and data plane share the processors here',
  'records on their way to a control plane, its database, and Redis',
];

const usOf = ({ cpuMs, requests }: Run): number => (requests === 0 ? Number.NaN : (cpuMs * 1000) / requests);

/** Throws RangeError where a run served nothing: then there is nothing to say. */
export function capacityOf(one: Run, all: Run, machine: Machine): Capacity {
  for (const run of [one, all])
    if (run.requests <= run.refused)
      throw new RangeError(`the data plane with ${run.workers} workers served none of ${run.requests} requests`);
  const [oneUs, allUs] = [usOf(one), usOf(all)];
  const requestsPerCore = Math.floor(1e6 / allUs);
  const most = requestsPerCore * machine.cores;
  const planned = Math.floor(most * plannedUse);
  return {
    cpuUs: { oneWorker: oneUs, allWorkers: allUs },
    spread: allUs / oneUs,
    ofBar: allUs / barUs,
    requestsPerCore,
    most,
    planned,
    nodes: targets.map((requestsPerSecond) => ({ requestsPerSecond, nodes: nodesFor(requestsPerSecond, planned) })),
    doubts: doubtsOf([one, all], machine),
  };
}

/** So many that one may be away; never fewer than two. */
export function nodesFor(requestsPerSecond: number, planned: number): number {
  return Math.max(2, Math.ceil(requestsPerSecond / planned) + 1);
}

const ticksMin = 100; // of 10 ms: below, a tick more or less is over a percent
/** By then what runs in each request has been compiled for speed. */
const warmRequestsMin = 10_000;
const refusedShareMax = 0.001;
/** Of the cores. */
const busyShareMax = 0.25;

function doubtsOf(runs: readonly Run[], { cores, loadBefore }: Machine): string[] {
  const doubts: string[] = [];
  if (loadBefore > cores * busyShareMax)
    doubts.push(
      `other processes were at work (load average ${loadBefore.toFixed(1)}, ${cores} processors): caches are shared, ` +
        'so each request looks dearer than on a quiet machine; measure again when it is quiet',
    );
  for (const { workers, requests, refused, broken, cpuMs } of runs) {
    const which = `with ${workers} worker${workers === 1 ? '' : 's'}`;
    if (refused > requests * refusedShareMax)
      doubts.push(`${refused} of ${requests} requests ${which} were refused, and refusing costs less than serving`);
    if (broken > 0) doubts.push(`${broken} connections ${which} broke`);
    if (requests < warmRequestsMin)
      doubts.push(`only ${requests} requests ${which} were served: code that ran so little is not compiled yet`);
    if (cpuMs < ticksMin * 10)
      doubts.push(`${which} only ${Math.round(cpuMs)} ms of processor time were seen; give it more --seconds`);
  }
  return doubts;
}
