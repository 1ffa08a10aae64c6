// Discovery in a worker, in process: what a request costs it, how the heap fares over a million distinct paths, and
// what a scanner does with a million random ones: it must add no endpoint and push no real one out, whether the application
// refuses it or answers its pages to everything.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { TrafficObserver, type Observation, type ObservationBatch } from '#proxy/contract';
import type { BenchContext } from '../context.js';
import { HarnessProblem } from '../processes.js';

const realPaths = 300;
/** Requests of the real application for each of the scanner. */
const realShare = 10;

interface Run {
  readonly observer: TrafficObserver;
  readonly batches: ObservationBatch[];
  see(uri: string, status: number, atMs: number): void;
}

function startRun(): Run {
  const batches: ObservationBatch[] = [];
  const observer = new TrafficObserver({ key: new Uint8Array(32).fill(7), send: (batch) => batches.push(batch) });
  const headers = ['Host', 'shop.example', 'Authorization', 'Bearer abcdefgh', 'User-Agent', 'shop/4.1'];
  const responseHeaders = ['Content-Type', 'application/json'];
  return {
    observer,
    batches,
    see(uri, status, atMs) {
      const { request } = observer;
      Object.assign(request, { site: 'shop', method: 'GET', uri, headers, responseHeaders, status, atMs });
      Object.assign(request, { clientIp: '203.0.113.9', requestId: 'r', requestBytes: 0, responseBytes: 900 });
      observer.observe();
      observer.flush(atMs);
    },
  };
}

const realPath = (number: number): string => `/api/resource${number % realPaths}/list`;
const randomPath = (number: number): string => `/${((number * 2_654_435_761) % 4_294_967_296).toString(36)}/x${number}`;

function measureCost({ recorder, options }: BenchContext): void {
  const requests = options.short ? 200_000 : 1_000_000;
  const run = startRun();
  for (let number = 0; number < 50_000; number += 1) run.see(realPath(number), 200, number / 10);
  const before = process.cpuUsage();
  for (let number = 0; number < requests; number += 1) run.see(realPath(number), 200, 5000 + number / 10);
  const { user, system } = process.cpuUsage(before);
  recorder.add('discovery / a request of a known path', 'µs CPU', 'lower', (user + system) / requests);
}

function measureHeap({ recorder, options }: BenchContext): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = (): number => {
    collect();
    return process.memoryUsage().heapUsed / 1_048_576;
  };
  const run = startRun();
  const paths = options.short ? 200_000 : 1_000_000;
  for (let number = 0; number < 50_000; number += 1) run.see(`/p/${number}/a`, 200, number / 10);
  run.batches.length = 0;
  const before = used();
  for (let number = 0; number < paths; number += 1) {
    run.see(`/p/${number}/w${(number * 7919).toString(36)}`, 200, 5000 + number / 10);
    run.batches.length = 0;
  }
  recorder.add(`discovery / heap grown over ${paths} distinct paths`, 'MB', 'lower', used() - before);
}

/** `status` of what the application does not know. */
function measureScanner({ recorder, options }: BenchContext, status: number): void {
  const paths = options.short ? 200_000 : 1_000_000;
  const run = startRun();
  for (let number = 0; number < realPaths * 3; number += 1) run.see(realPath(number), 200, number);
  const told = new Map<string, number>();
  const take = (observation: Observation): void => {
    const isWell = Object.keys(observation.statuses).some((one) => one < '400');
    if (isWell) told.set(observation.path, (told.get(observation.path) ?? 0) + observation.count);
  };
  let real = 0;
  for (let number = 0; number < paths; number += 1) {
    if (number % realShare === 0) run.see(realPath((real += 1)), 200, 3000 + number / 50);
    run.see(randomPath(number), status, 3000 + number / 50);
    for (const batch of run.batches.splice(0)) batch.observations.forEach(take);
  }
  run.observer.flush(1e9, true);
  for (const batch of run.batches.splice(0)) batch.observations.forEach(take);
  const known = Array.from({ length: realPaths }, (_, number) => realPath(number));
  const counted = known.reduce((sum, path) => sum + (told.get(path) ?? 0), 0);
  const added = told.size - known.filter((path) => told.has(path)).length;
  const key = `discovery / ${paths} random paths answered ${status}`;
  recorder.add(`${key} / paths told beside the real ones`, 'paths', 'lower', added);
  recorder.add(`${key} / real requests that were counted`, '%', 'higher', (100 * counted) / (real + realPaths * 3));
  if (status >= 400 && added > 0) throw new HarnessProblem(`a scanner that got ${status} added ${added} paths`);
}

export function discoveryCase(context: BenchContext): void {
  context.progress('discovery: cost of a request');
  for (let count = 0; count < context.options.repetitions; count += 1) measureCost(context);
  context.progress('discovery: distinct paths');
  measureHeap(context);
  for (const status of [404, 403, 200]) {
    context.progress(`discovery: a scanner that gets ${status}`);
    measureScanner(context, status);
  }
}
