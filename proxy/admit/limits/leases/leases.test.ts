// Leases are exact: the script is held to its slow twin, and what several workers give away over it to the definition
// of a limit, in any order of requests, answers and pauses.
import fc from 'fast-check';
import { Redis } from 'ioredis';
import t from 'tap';
import { startRedis, withoutRedis } from '../../../e2e/redis-server.js';
import { createKeyTable, KeyTable } from '../../../shared-state/key-table.js';
import { compileRate, rateColumns } from '../../../shared-state/rates/rate-counters.js';
import { createSharingMemory, SharingState } from '../../../shared-state/rates/sharing-state.js';
import {
  runLeaseScript,
  type LeaseAnswer,
  type LeaseRequest,
  type LeaseStore,
  type LeaseTerms,
  type RunScript,
} from './lease-store.js';
import { Leases } from './leases.js';
import { SlowLeaseStore } from './testing/slow-lease-store.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_122) });
t.setTimeout(Number(process.env['TAP_TIMEOUT'] ?? 900) * 1000);

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A store that answers when the test says so, by the test's clock. */
class HandStore implements LeaseStore {
  onLost: (() => void) | null = null;
  private readonly waiting: {
    terms: LeaseTerms;
    requests: readonly LeaseRequest[];
    answers: LeaseAnswer[] | null;
    resolve: (answers: LeaseAnswer[]) => void;
    reject: (error: Error) => void;
  }[] = [];

  constructor(
    private readonly slow: SlowLeaseStore,
    private readonly nowMs: () => number,
  ) {}

  exchange(terms: LeaseTerms, requests: readonly LeaseRequest[]): Promise<LeaseAnswer[]> {
    return new Promise((resolve, reject) => this.waiting.push({ terms, requests, answers: null, resolve, reject }));
  }

  /** What came is carried out; the answer is still on its way. */
  carryOut(): void {
    const next = this.waiting.find(({ answers }) => answers === null);
    if (next === undefined) return;
    const nowUs = BigInt(Math.round(this.nowMs() * 1000));
    next.answers = next.requests.map((request) => this.slow.run(next.terms, request, nowUs));
  }

  async answer(): Promise<void> {
    const next = this.waiting[0];
    if (next === undefined) return;
    if (next.answers === null) this.carryOut();
    this.waiting.shift();
    next.resolve(next.answers as LeaseAnswer[]);
    await settled();
  }

  async fail(): Promise<void> {
    for (const { reject } of this.waiting.splice(0)) reject(new Error('no answer'));
    this.onLost?.();
    await settled();
  }

  close(): void {}
}

interface World {
  nowMs: number;
  readonly slow: SlowLeaseStore;
  readonly nodes: { leases: Leases; store: HandStore; state: SharingState; table: KeyTable }[];
}

async function worldOf(count: number): Promise<World> {
  const world: World = { nowMs: 1_000_000, slow: new SlowLeaseStore(), nodes: [] };
  for (let index = 0; index < count; index += 1) {
    const state = new SharingState(createSharingMemory(1), 1);
    state.set(true, count);
    const table = new KeyTable(createKeyTable(256, rateColumns), rateColumns);
    const nowMs = (): number => world.nowMs;
    const leases = new Leases({ rates: table, state, holder: `n${index}`, nowMs });
    const store = new HandStore(world.slow, nowMs);
    leases.use(store);
    leases.turn();
    await store.answer();
    world.nodes.push({ leases, store, state, table });
  }
  return world;
}

/** As the road asks: it waits a few times, then decides. */
async function ask({ leases }: { leases: Leases }, rate: ReturnType<typeof compileRate>, key: number, world: World) {
  for (let waits = 0; waits < 4; waits += 1) {
    const waiting = leases.wait(rate, key, key, world.nowMs);
    if (waiting === null) break;
    await waiting;
  }
  return leases.take(rate, key, key, world.nowMs) === 0;
}

t.test('10.2: the script decides as its slow twin', { skip: withoutRedis }, async (t) => {
  const redis = await startRedis(t);
  const client = new Redis(redis.url);
  t.teardown(() => client.disconnect());
  const evaluate: RunScript = (script, keys, values) => client.eval(script, keys.length, ...keys, ...values);
  const step = fc.record({
    holder: fc.constantFrom('a', 'b', 'c'),
    waitUs: fc.oneof(fc.nat(1000), fc.nat(3_000_000)),
    used: fc.nat(4),
    has: fc.nat(3),
    needed: fc.nat(5),
    more: fc.nat(6),
    floor: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.nat(10)),
  });
  let run = 0;
  const property = fc.asyncProperty(
    fc.integer({ min: 1, max: 40 }),
    fc.constantFrom(1, 7, 60),
    fc.array(step, { maxLength: 40 }),
    async (events, seconds, steps) => {
      const slow = new SlowLeaseStore();
      let nowUs = 1_800_000_000_000_000;
      run += 1;
      for (const { holder, waitUs, more, needed, ...rest } of steps) {
        nowUs += waitUs;
        const terms = { holder, leaseMs: 2000, nodes: 2 };
        const request = { id: `k${run}`, events, windowMs: seconds * 1000, needed, wanted: needed + more, ...rest };
        const expected = slow.run(terms, request, BigInt(nowUs));
        const [answer] = await runLeaseScript(evaluate, (id) => `test:${id}`, terms, [request], nowUs);
        if (answer === undefined || answer.held !== expected.held || answer.granted !== expected.granted) return false;
        if (Math.abs(answer.level - expected.level) > 1e-6) return false;
      }
      return true;
    },
  );
  await fc.assert(property, { numRuns: 300 });
  t.pass();
});

/** The definition: `used` places, each back after a further window / events. Time in µs, level in places × window. */
class Definition {
  private level = 0n;
  private atUs = 0n;
  constructor(
    private readonly events: bigint,
    private readonly windowUs: bigint,
  ) {}
  /** Whether a place given away at this moment was one too many. */
  take(nowUs: bigint): boolean {
    const back = (nowUs - this.atUs) * this.events;
    this.level = this.level > back ? this.level - back : 0n;
    this.atUs = nowUs;
    this.level += this.windowUs;
    return this.level <= this.events * this.windowUs;
  }
}

const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('ask' as const), node: fc.nat(2), key: fc.nat(1) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('answer' as const), node: fc.nat(2), key: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('carryOut' as const), node: fc.nat(2), key: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('turn' as const), node: fc.nat(2), key: fc.nat(1) }) },
);
const timed = fc.record({ what: action, waitMs: fc.oneof(fc.nat(3), fc.nat(60), fc.nat(280)) });

t.test('10.2: property: all workers together never give away more than the limit', async (t) => {
  let given = 0;
  const property = fc.asyncProperty(
    fc.integer({ min: 1, max: 30 }),
    fc.constantFrom(1, 10, 3600),
    fc.array(timed, { minLength: 20, maxLength: 200 }),
    async (events, seconds, steps) => {
      const world = await worldOf(3);
      const rate = compileRate('p', events, seconds);
      const definitions = [0, 1].map(() => new Definition(BigInt(events), BigInt(seconds) * 1_000_000n));
      let isExact = true;
      const pending: Promise<void>[] = [];
      for (const { what, waitMs } of steps) {
        world.nowMs += waitMs;
        const node = world.nodes[what.node] as World['nodes'][number];
        if (what.do === 'answer') await node.store.answer();
        else if (what.do === 'carryOut') node.store.carryOut();
        else if (what.do === 'turn') node.leases.turn();
        else {
          const one = ask(node, rate, what.key, world).then((isGiven) => {
            if (!isGiven || !node.state.areAllUp) return;
            given += 1;
            const isWithin = (definitions[what.key] as Definition).take(BigInt(world.nowMs * 1000));
            isExact &&= isWithin;
          });
          pending.push(one);
          await settled();
        }
        // An answer that takes longer than 300 ms is the store's absence, and another test.
        for (const { store } of world.nodes) if (waitMs > 60) await store.answer();
        if (!isExact) return false;
      }
      for (const { leases } of world.nodes) leases.close();
      await Promise.all(pending);
      return true;
    },
  );
  await fc.assert(property, { numRuns: 400 });
  t.ok(given > 1000, `${given} places were given away`);
});

t.test(
  '10.2: a client that stays with one of three nodes gets all of its limit, and so does one that floods',
  async (t) => {
    for (const used of [[0], [0, 1, 2]]) {
      const world = await worldOf(3);
      const rate = compileRate('all', 40, 3600);
      let given = 0;
      for (let turn = 0; turn < 300; turn += 1) {
        world.nowMs += 5;
        const asked = used.map((index) => ask(world.nodes[index] as World['nodes'][number], rate, 1, world));
        await settled();
        for (const { store, leases } of world.nodes) {
          await store.answer();
          if (turn % 5 === 0) leases.turn();
          await store.answer();
        }
        await settled();
        for (const { store } of world.nodes) await store.answer();
        given += (await Promise.all(asked)).filter(Boolean).length;
      }
      t.equal(given, 40, `${used.length} nodes`);
    }
  },
);

t.test('10.2: places that one node does not use are another one’s after a moment', async (t) => {
  const world = await worldOf(2);
  const [first, second] = world.nodes as [World['nodes'][number], World['nodes'][number]];
  const rate = compileRate('back', 40, 3600);
  let given = 0;
  const askAt = async (node: World['nodes'][number]): Promise<boolean> => {
    const asked = ask(node, rate, 1, world);
    await settled();
    for (let answers = 0; answers < 4; answers += 1) await node.store.answer();
    const isGiven = await asked;
    if (isGiven) given += 1;
    return isGiven;
  };
  for (let request = 0; request < 10; request += 1) t.ok(await askAt(first));
  world.nowMs += 300;
  first.leases.turn();
  await first.store.answer();
  for (let request = 0; request < 60; request += 1) {
    world.nowMs += 1;
    await askAt(second);
  }
  t.equal(given, 40);
});

t.test(
  '10.2: without an answer each node gives its share, nobody waits, and the store hears of it later',
  async (t) => {
    const world = await worldOf(2);
    const rate = compileRate('away', 40, 3600);
    const [first, second] = world.nodes as [World['nodes'][number], World['nodes'][number]];
    const asked = ask(first, rate, 9, world);
    await settled();
    world.nowMs += 301;
    first.leases.turn();
    t.equal(await asked, true, 'who waited is decided by the fair share');
    t.notOk(first.state.areAllUp);
    await first.store.fail();
    await second.store.fail();
    world.slow.forgetAll();
    let given = 1;
    for (let request = 0; request < 200; request += 1)
      for (const { leases } of world.nodes) {
        t.equal(leases.wait(rate, 9, 9, world.nowMs), null);
        if (leases.take(rate, 9, 9, world.nowMs) === 0) given += 1;
      }
    t.equal(given, 40, 'twenty each');
    world.nowMs += 300;
    for (let turn = 0; turn < 4; turn += 1)
      for (const { leases, store } of world.nodes) {
        leases.turn();
        await store.answer();
        world.nowMs += 25;
      }
    t.ok(world.nodes.every(({ state }) => state.areAllUp));
    for (const node of world.nodes) {
      const again = ask(node, rate, 9, world);
      await settled();
      await node.store.answer();
      t.equal(await again, false, 'what was given away meanwhile counts');
    }
  },
);

t.test('10.2: a store that lost what it knew is told the level again', async (t) => {
  const world = await worldOf(1);
  const [node] = world.nodes as [World['nodes'][number]];
  const rate = compileRate('lost', 10, 3600);
  const askOnce = async (): Promise<boolean> => {
    const asked = ask(node, rate, 1, world);
    await settled();
    for (let answers = 0; answers < 4; answers += 1) await node.store.answer();
    return asked;
  };
  for (let request = 0; request < 10; request += 1) t.ok(await askOnce());
  world.nowMs += 25;
  node.leases.turn();
  await node.store.answer();
  await node.store.fail();
  world.slow.forgetAll();
  world.nowMs += 300;
  node.leases.turn();
  await node.store.answer();
  t.notOk(await askOnce());
});

t.test('10.2: after windows without a store that lost everything, nobody gets a limit’s worth beside it', async (t) => {
  const world = await worldOf(2);
  const rate = compileRate('long', 40, 10);
  for (const { store } of world.nodes) await store.fail();
  world.slow.forgetAll();
  const moments: number[] = [];
  for (let ms = 0; ms < 25_000; ms += 50) {
    world.nowMs += 50;
    for (const { leases } of world.nodes) if (leases.take(rate, 3, 3, world.nowMs) === 0) moments.push(world.nowMs);
  }
  const returnedMs = world.nowMs;
  for (let ms = 0; ms < 12_000; ms += 50) {
    world.nowMs += 50;
    for (const node of world.nodes) {
      node.leases.turn();
      const asked = ask(node, rate, 3, world);
      await settled();
      for (let answers = 0; answers < 4; answers += 1) await node.store.answer();
      if (await asked) moments.push(world.nowMs);
    }
  }
  t.ok(world.nodes.every(({ state }) => state.areAllUp));
  const within = moments.filter((ms) => ms > returnedMs && ms <= returnedMs + 10_000).length;
  t.ok(within > 30 && within <= 42, `${within} in the window after its return: those that came back`);
  const most = Math.max(...moments.map((from) => moments.filter((ms) => ms >= from && ms < from + 10_000).length));
  t.ok(most <= 79, `${most} in a window at most, of 2 * 40 - 1`);
});

t.test('10.2: memory is bounded: 100,000 keys, and 10,000 that wait', async (t) => {
  const world = await worldOf(1);
  const [{ leases, store, state }] = world.nodes as [World['nodes'][number]];
  const rate = compileRate('many', 5, 3600);
  let waiting = 0;
  for (let key = 0; key < 12_000; key += 1) if (leases.wait(rate, key, key, world.nowMs) !== null) waiting += 1;
  t.equal(waiting, 10_000);
  await store.fail();
  for (let key = 0; key < 150_000; key += 1) leases.take(rate, key, key, world.nowMs);
  t.ok(leases.size <= 100_000, `${leases.size} keys`);
  t.ok(state.lost > 0, 'places that nobody will hear of are counted');
});
