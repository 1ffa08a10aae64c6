// What costs mean, and what makes figures doubtful.
import t from 'tap';
import { capacityOf, nodesFor, type Machine, type Run } from './figures.js';

const machine: Machine = { processor: 'x', cores: 4, memoryGb: 8, loadBefore: 0.1 };
const run = (over: Partial<Run> = {}): Run => ({
  workers: 1,
  requests: 50_000,
  cpuMs: 5_000,
  tookMs: 6_000,
  memoryMb: 300,
  refused: 0,
  broken: 0,
  ...over,
});

t.test('processor time of all threads decides, not how long it took', (t) => {
  const all = run({ workers: 4, requests: 100_000, cpuMs: 12_500 });
  const capacity = capacityOf(run(), all, machine);
  t.same(capacity.cpuUs, { oneWorker: 100, allWorkers: 125 });
  t.equal(capacity.spread, 1.25);
  t.equal(capacity.ofBar, 0.625);
  t.equal(capacity.requestsPerCore, 8_000);
  t.equal(capacity.most, 32_000);
  t.equal(capacity.planned, 19_200);
  t.same(
    capacity.nodes.map(({ nodes }) => nodes),
    [2, 6, 54],
    'one more than the load takes',
  );
  t.same(capacity.doubts, []);
  t.same(capacityOf(run({ tookMs: 60_000 }), all, machine), capacity);
  t.end();
});

t.test('a fleet is never one node', (t) => {
  t.equal(nodesFor(1, 20_000), 2);
  t.equal(nodesFor(20_000, 20_000), 2);
  t.equal(nodesFor(20_001, 20_000), 3);
  t.end();
});

t.test('what makes the figures doubtful is said', (t) => {
  const doubts = (over: Partial<Run>, load = 0.1): string =>
    capacityOf(run(over), run(over), { ...machine, loadBefore: load }).doubts.join('\n');
  t.match(doubts({}, 3), /other processes were at work \(load average 3\.0, 4 processors\)/);
  t.match(doubts({ refused: 51 }), /51 of 50000 requests with 1 worker were refused/);
  t.equal(doubts({ refused: 50 }), '');
  t.match(doubts({ broken: 2 }), /2 connections with 1 worker broke/);
  t.match(doubts({ requests: 9_999 }), /only 9999 requests with 1 worker were served/);
  t.match(doubts({ cpuMs: 900 }), /only 900 ms of processor time were seen; give it more --seconds/);
  t.end();
});

t.test('a run that served nothing is no figure', (t) => {
  t.throws(() => capacityOf(run({ requests: 0 }), run(), machine), RangeError);
  t.throws(() => capacityOf(run(), run({ workers: 4, refused: 50_000 }), machine), /with 4 workers served none/);
  t.end();
});
