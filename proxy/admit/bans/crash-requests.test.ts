// R4: a request that ends workers again and again is refused, and nothing else is.
import { mkdtemp, rm, writeFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { listenerKinds, startBackend, startPlane, testMsMax, until } from '../../e2e/harness.js';
import { sendRaw, statusOf } from '../../e2e/raw-client.js';
import { Crashes, type Crash } from '../../main/crashes.js';
import { ClientKey } from '../../shared-state/client-key.js';
import { createGateMemory, openGateMemory } from '../../shared-state/gate-memory.js';
import { testGateWorker } from '../testing/gate-worker.js';
import { crashRequests } from './crash-requests.js';

t.setTimeout(testMsMax);

const killer = { method: 'POST', uri: '/export?n=1', client: '192.0.2.1' };

function open() {
  const memory = createGateMemory(1024);
  const { worker, pass } = testGateWorker({}, memory);
  const { crashRequests: table } = openGateMemory(memory);
  let nowMs = 1_000_000;
  const seeds = new ClientKey(openGateMemory(memory).rates.seeds);
  const context = { ...worker, compiled: undefined, state: undefined };
  const statusFor = (change: Partial<typeof killer> = {}): number => {
    const { method, uri, client: clientIp } = { ...killer, ...change };
    const request = { head: { method, uri, clientIp }, startedMs: 0 } as unknown as Parameters<
      typeof crashRequests.decide
    >[0];
    const decision = crashRequests.decide(request, {} as never, context);
    return decision === null ? 0 : decision.kind === 'deny' ? decision.status : -1;
  };
  return {
    statusFor,
    crash: (change: Partial<typeof killer> = {}) => table.note({ ...killer, ...change }, seeds, nowMs),
    pass: (ms: number) => {
      nowMs += ms;
      pass(ms);
    },
  };
}

t.test('R4: of one client after two ends, whatever the query says', (t) => {
  const { statusFor, crash, pass } = open();
  t.equal(statusFor(), 0, 'nothing happened');
  crash();
  t.equal(statusFor(), 0, 'once may be chance');
  crash({ uri: '/export?n=2&x=y' });
  t.equal(statusFor(), 503);
  t.equal(statusFor({ uri: '/export' }), 503, 'without a query');
  t.equal(statusFor({ uri: '/export?other' }), 503, 'with another');
  t.equal(statusFor({ client: '192.0.2.2' }), 0, 'not of others');
  t.equal(statusFor({ method: 'GET' }), 0, 'not with another method');
  t.equal(statusFor({ uri: '/exports' }), 0, 'not at another path');
  pass(600_001);
  t.equal(statusFor(), 0, 'for ten minutes');
  crash();
  crash();
  pass(1_100_000);
  t.equal(statusFor(), 503, 'the second time twice as long');
  pass(200_000);
  t.equal(statusFor(), 0);
  t.end();
});

t.test('R4: of everybody after five ends, and not for ends that are long ago', (t) => {
  const { statusFor, crash } = open();
  for (let nth = 1; nth < 5; nth += 1) crash({ client: `198.51.100.${nth}` });
  t.equal(statusFor(), 0);
  crash({ client: '198.51.100.5' });
  t.equal(statusFor(), 503);
  t.equal(statusFor({ uri: '/' }), 0);
  const other = open();
  other.crash();
  other.pass(700_000);
  other.crash();
  t.equal(other.statusFor(), 0, 'two in more than ten minutes');
  t.end();
});

for (const kind of listenerKinds.filter((one) => one !== 'uws'))
  t.test(`R4: ${kind}: the third of a request that runs workers out of memory is answered 503`, async (t) => {
    const backend = await startBackend(t, (_request, response) => response.end('ok'));
    const sites = [
      { name: 'shop', prefix: '/', upstream: backend.url, protected: true },
      { name: 'open', prefix: '/open', upstream: backend.url, protected: false },
    ];
    const plane = await startPlane(t, kind, { sites, limits: { worker_heap_mb_max: 128 } });
    const get = async (path: string): Promise<number> =>
      statusOf((await sendRaw(plane.ports.http, `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)).text);
    for (let nth = 1; nth <= 2; nth += 1) {
      await get(`/x-eat-heap?n=${nth}`);
      t.ok(
        await until(async () => ((await plane.status())['crashes'] as { count: number }).count === nth),
        `worker ${nth} is gone`,
      );
      t.ok(await until(async () => (await get('/')) === 200), 'another one serves');
    }
    t.equal(await get('/x-eat-heap?n=3'), 503, 'refused before it is inspected');
    t.equal(await get('/'), 200, 'others are served');
    t.equal(((await plane.status())['crashes'] as { count: number }).count, 2, 'by the worker that served before');
  });

t.test('R4: a run that begins knows of the requests that ended those before it', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-recall-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const crash = (agoMs: number, uri: string): string => {
    const current = { method: 'GET', uri, client: '192.0.2.1', requestId: 'a' };
    const found: Crash = {
      at: new Date(Date.now() - agoMs).toISOString(),
      worker: null,
      reason: 'x',
      current,
      others: [],
    };
    return `${JSON.stringify(found)}\n`;
  };
  await mkdir(join(directory, 'log'));
  const path = join(directory, 'log', 'crashes.jsonl');
  const filler = crash(1000, `/${'x'.repeat(1000)}`).repeat(400);
  await writeFile(path, `${crash(900_000, '/old')}${filler}${crash(60_000, '/new')}{"at": "half of a li`);
  const problems: string[] = [];
  const crashes = new Crashes(directory, (text) => problems.push(text));
  const seen: [string, number][] = [];
  crashes.tell(({ uri }, agoMs) => void seen.push([uri, agoMs]), 600_000);
  const [uri, agoMs = 0] = seen.at(-1) ?? [];
  t.equal(uri, '/new');
  t.ok(agoMs >= 60_000 && agoMs < 600_000, 'as long ago as it was');
  t.notOk(seen.some(([uri]) => uri === '/old'));
  t.same(problems, []);
  const none = new Crashes(join(directory, 'nothing'), (text) => problems.push(text));
  none.tell(() => {}, 600_000);
  t.same(problems, [], 'where there is no log');
});
