// What main makes of answers that come in another order than the questions, with workers that are scripts.
import t from 'tap';
import { resolveProxyConfig } from '../contract/proxy-config.js';
import { createGateMemory } from '../shared-state/gate-memory.js';
import type { GenerationPayload } from '../worker/messages.js';
import { Supervisor } from './supervisor.js';

const { config } = resolveProxyConfig({}, { customer: 'http://127.0.0.1:1', payment: 'http://127.0.0.1:1' });
if (config === null) throw new Error('the defaults are no configuration');
const generation = (id: number): GenerationPayload => ({ id, sha256: '', artifact: null, config, selfTest: 'skip' });

/** A worker that is ready at once, does `onMessage` with every `message` (and `post`), and goes when it is told to. */
async function supervise(onMessage: string): Promise<Supervisor> {
  const program = `
    import { parentPort } from 'node:worker_threads';
    const post = (message) => parentPort.postMessage(message);
    parentPort.on('message', (message) => {
      if (message.kind === 'stop') parentPort.close();
      ${onMessage}
    });
    post({ kind: 'ready', port: 1 });`;
  const supervisor = new Supervisor({
    workers: 1,
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
      observationKey: new Uint8Array(32),
    },
    crashes: {
      flightFile: () => null,
      flightMap: () => null,
      flightsOf: () => ({ current: null, others: [] }),
      forget: () => {},
      record: () => {},
    },
    generation: () => generation(1),
    threats: () => null,
    safe: () => null,
    onBan: () => {},
    siteKeys: () => null,
    onKeysWanted: () => {},
    onEvents: () => {},
    onRequests: () => {},
    onObservations: () => {},
    log: () => {},
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
