// What main makes of answers that come in another order than the questions, with workers that are scripts.
import t from 'tap';
import { resolveProxyConfig } from '../contract/proxy-config.js';
import { createGateMemory } from '../shared-state/gate-memory.js';
import type { GenerationPayload } from '../worker/messages.js';
import { Supervisor } from './supervisor.js';

const { config } = resolveProxyConfig({}, { customer: 'http://127.0.0.1:1', payment: 'http://127.0.0.1:1' });
if (config === null) throw new Error('the defaults are no configuration');
const generation = (id: number): GenerationPayload => ({ id, sha256: '', artifact: null, config, selfTest: 'skip' });

/** What main believes to serve. */
const active = { id: 1 };

/** A worker that is ready at once, does `onMessage` with every `message` (and `post`), and goes when it is told to. */
async function supervise(
  onMessage: string,
  workers = 1,
  log: (fields: Readonly<Record<string, unknown>>) => void = () => {},
): Promise<Supervisor> {
  const program = `
    import { parentPort, workerData } from 'node:worker_threads';
    const { workerId } = workerData;
    const post = (message) => parentPort.postMessage(message);
    parentPort.on('message', (message) => {
      if (message.kind === 'stop') parentPort.close();
      ${onMessage}
    });
    const beat = () => Atomics.add(new Int32Array(workerData.pulse), 0, 1);
    beat();
    setInterval(beat, 10).unref();
    post({ kind: 'loaded' });
    post({ kind: 'ready', port: 1 });`;
  const supervisor = new Supervisor({
    workers,
    port: 1,
    start: {
      tls: null,
      nodeId: '',
      listener: 'node',
      host: '127.0.0.1',
      sharedPort: false,
      inspectionModule: '',
      inspectionThreads: 0,
      shipsRequests: false,
      gateMemory: createGateMemory(64),
      limitsStore: null,
      challengeSecret: new Uint8Array(32),
      simulationKey: new Uint8Array(32),
      observationKey: new Uint8Array(32),
      pulseEveryMs: 20,
    },
    crashes: {
      flightFile: () => null,
      flightMap: () => null,
      flightsOf: () => ({ current: null, others: [] }),
      forget: () => {},
      record: () => {},
    },
    generation: () => generation(active.id),
    measures: () => null,
    safe: () => null,
    onBan: () => {},
    siteKeys: () => null,
    onKeysWanted: () => {},
    onEvents: () => {},
    onRequests: () => {},
    onObservations: () => {},
    onClients: () => {},
    log: (_level, fields) => log(fields),
    workerModule: new URL(`data:text/javascript,${encodeURIComponent(program)}`),
  });
  await supervisor.startAll();
  return supervisor;
}

t.test('the answer about another generation is not the answer about this one', async (t) => {
  const late = await supervise(
    `if (message.kind === 'prepare') {
      post({ kind: 'prepared', id: 6 });
      post({ kind: 'committed', id: 6 });
      post({ kind: 'refused', id: message.generation.id, reason: 'this one' });
    }`,
  );
  t.same(
    await late.prepare(generation(7), 60_000),
    { kind: 'refused', reason: 'this one' },
    'a generation that failed its self-test does not go live',
  );
  await late.stop(0);

  const good = await supervise(
    `if (message.kind === 'prepare') post({ kind: 'prepared', id: message.generation.id });
    if (message.kind === 'commit') {
      post({ kind: 'prepared', id: 6 });
      post({ kind: 'committed', id: message.id });
    }`,
  );
  t.same(await good.prepare(generation(7), 60_000), { kind: 'prepared' });
  t.equal(await good.commit(7, 60_000), 1, 'counted as serving');
  await good.stop(0);
});

t.test('an answer about an earlier attempt with the same number proves nothing of this one', async (t) => {
  const said: unknown[] = [];
  // The first to load answers about what it says here; the second tells what it was asked.
  const answering = (sha256: string, selfTest: string): Promise<Supervisor> =>
    supervise(
      `if (message.kind === 'prepare') {
        const { id, isProven = false } = message.generation;
        if (workerId === 1) post({ kind: 'log', level: 'info', fields: { isProven }, message: '' });
        post({ kind: 'prepared', id, sha256: '${sha256}', selfTest: '${selfTest}' });
      }`,
      2,
      ({ isProven }) => isProven !== undefined && said.push(isProven),
    );
  const asked = { ...generation(7), sha256: 'now', artifact: new SharedArrayBuffer(8), selfTest: 'inspect' } as const;
  for (const [sha256, selfTest, isProven] of [
    ['before', 'inspect', false],
    ['now', 'skip', false],
    ['now', 'inspect', true],
  ] as const) {
    said.length = 0;
    const supervisor = await answering(sha256, selfTest);
    t.same(await supervisor.prepare(asked, 60_000), { kind: 'prepared' });
    await supervisor.stop(0);
    t.same(said, [isProven], `${sha256}, ${selfTest}`);
  }
});

const loadsSlowly = `
  if (message.kind === 'prepare') {
    post({ kind: 'log', level: 'info', fields: { workerId, isBusy: true }, message: '' });
    setTimeout(() => {
      post({ kind: 'log', level: 'info', fields: { workerId, isBusy: false }, message: '' });
      if (workerId === 1 && message.generation.id === 8) post({ kind: 'refused', id: 8, reason: 'not this one' });
      else post({ kind: 'prepared', id: message.generation.id });
    }, 20);
  }
  if (message.kind === 'commit') post({ kind: 'committed', id: message.id });`;

t.test('R13: while an apply loads, most workers answer requests', async (t) => {
  for (const [workers, atOnce] of [
    [2, 1],
    [4, 1],
    [9, 2],
  ] as const) {
    const busy = new Set<unknown>();
    const begun: unknown[] = [];
    let most = 0;
    const supervisor = await supervise(loadsSlowly, workers, ({ workerId, isBusy }) => {
      if (isBusy === undefined) return;
      if (isBusy === true) begun.push(workerId);
      if (isBusy === true) busy.add(workerId);
      else busy.delete(workerId);
      most = Math.max(most, busy.size);
      if (begun.length === 2) t.equal(busy.has(0), false, 'the first has loaded before any other begins');
    });
    t.same(await supervisor.prepare(generation(7), 60_000), { kind: 'prepared' });
    t.equal(begun.length, workers);
    t.equal(most, atOnce, `${workers} workers`);
    active.id = 7;
    t.equal(await supervisor.commit(7, 60_000), workers);
    begun.length = 0;
    t.same(await supervisor.prepare(generation(8), 60_000), { kind: 'refused', reason: 'not this one' });
    t.ok(begun.length <= 1 + atOnce, 'who comes behind a refusal need not load at all');
    await supervisor.stop(0);
    active.id = 1;
  }
});

t.test('R3: a worker that hangs is ended and replaced, one that stands still for a moment is not', async (t) => {
  const told: unknown[] = [];
  const supervisor = await supervise(
    `if (message.kind === 'commit' && message.id === 7) for (;;);
    if (message.kind === 'commit') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    if (message.kind === 'commit') post({ kind: 'committed', id: message.id });
    if (message.kind === 'prepare') post({ kind: 'prepared', id: message.generation.id });`,
    2,
    ({ err }) => err !== undefined && told.push(err),
  );
  await supervisor.prepare(generation(6), 60_000);
  t.equal(await supervisor.commit(6, 60_000), 2);
  t.equal(supervisor.restarts, 0);
  active.id = 7;
  await supervisor.prepare(generation(7), 60_000);
  t.equal(await supervisor.commit(7, 60_000), 0, 'none of them answers, and nobody waits for the end of the time');
  t.match(told, [/it hung/, /it hung/]);
  active.id = 8;
  while (supervisor.readyCount < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  t.ok(supervisor.restarts >= 2);
  await supervisor.stop(0);
  active.id = 1;
});
