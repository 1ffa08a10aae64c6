// What `gatehouse capacity` says: for people, and as JSON.
import { barUs, notMeasured, plannedUse, type Capacity, type Machine, type Run } from './figures.js';

export interface Measured {
  readonly machine: Machine;
  readonly rules: { readonly release: string; readonly paranoia: number };
  readonly one: Run;
  readonly all: Run;
  readonly capacity: Capacity;
}

const grouped = (value: number): string => value.toLocaleString('en-GB', { maximumFractionDigits: 0 });
const round = (value: number, digits: number): number => Number(value.toFixed(digits));

function runLine({ workers, requests, tookMs, memoryMb }: Run, cpuUs: number): string {
  const name = `${workers} worker${workers === 1 ? '' : 's'}`.padEnd(12);
  const rate = grouped((requests * 1000) / tookMs);
  const cost = `${cpuUs.toFixed(1).padStart(7)} µs of processor time a request`;
  return `  ${name}${cost}   ${memoryMb} MB   (${rate} requests/s seen)`;
}

export function describe({ machine, rules, one, all, capacity }: Measured): string {
  const { cpuUs, spread, ofBar, requestsPerCore, most, planned, nodes, doubts } = capacity;
  const bullets = (lines: readonly string[]): string[] => lines.map((line) => `  - ${line}`);
  const { processor, cores, memoryGb } = machine;
  return [
    `${processor}, ${cores} cores, ${memoryGb} GB; rules ${rules.release}, level ${rules.paranoia}`,
    '',
    runLine(one, cpuUs.oneWorker),
    ...(all === one ? [] : [runLine(all, cpuUs.allWorkers)]),
    ...(all === one ? [] : [`  with all workers a request costs ${spread.toFixed(2)} times what it costs with one`]),
    `  ${ofBar.toFixed(2)} times the ${barUs} µs of the specification's node (80,000 requests/s on 16 cores)`,
    '',
    `  a core carries ${grouped(requestsPerCore)} requests/s, this machine at most ${grouped(most)};`,
    `  planned with ${plannedUse * 100} % of it: ${grouped(planned)} requests/s`,
    ...nodes.map(
      (row) =>
        `  ${grouped(row.requestsPerSecond).padStart(11)} requests/s take ${row.nodes} such nodes, one of them spare`,
    ),
    '',
    ...(doubts.length > 0 ? ['To be read with care:', ...bullets(doubts), ''] : []),
    'Not measured:',
    ...bullets(notMeasured),
  ].join('\n');
}

/** Times in µs, memory in MB, rates in requests a second. */
export function toJson({ machine, rules, one, all, capacity }: Measured): object {
  const runOf = (run: Run, cpuUs: number): object => ({
    workers: run.workers,
    requests: run.requests,
    cpu_us_per_request: round(cpuUs, 1),
    requests_per_second_seen: Math.round((run.requests * 1000) / run.tookMs),
    memory_mb: run.memoryMb,
    not_2xx: run.refused,
    broken_connections: run.broken,
  });
  const { cpuUs, spread, ofBar, requestsPerCore, most, planned, nodes, doubts } = capacity;
  return {
    machine: {
      processor: machine.processor,
      cores: machine.cores,
      memory_gb: machine.memoryGb,
      load_before: round(machine.loadBefore, 2),
    },
    rules: { release: rules.release, paranoia_level: rules.paranoia },
    runs: [runOf(one, cpuUs.oneWorker), ...(all === one ? [] : [runOf(all, cpuUs.allWorkers)])],
    bar_us: barUs,
    share_of_bar: round(ofBar, 3),
    all_workers_against_one: round(spread, 3),
    requests_per_core: requestsPerCore,
    requests_per_second_most: most,
    requests_per_second_planned: planned,
    nodes: nodes.map((row) => ({ requests_per_second: row.requestsPerSecond, nodes: row.nodes })),
    doubts,
    not_measured: notMeasured,
  };
}
