// What the data plane ships is what the control plane takes: the proxy's own shipper against the real routes.
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import type { SecurityEvent } from '#proxy/contract';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { testMsMax, until } from '../testing/waiting.js';
import { findSamples, samplesKept } from './samples.js';

interface Shipper {
  readonly counters: {
    readonly shipped: number;
    readonly dropped: number;
    readonly refused: number;
    readonly retries: number;
  };
  addRequests(lines: readonly string[], dropped?: number, samples?: readonly object[]): void;
  addEvents(events: readonly SecurityEvent[]): void;
  close(deadlineMs: number): Promise<void>;
}
// not behind a door, so imported by address
const { RecordShipper } = (await import(new URL('../../proxy/records/ship-records.js', import.meta.url).href)) as {
  RecordShipper: new (options: object) => Shipper;
};
interface Ring {
  record(facts: object): void;
  flush(): void;
}
const { toRequestLine, RequestRing } = (await import(
  new URL('../../proxy/records/request-records.js', import.meta.url).href
)) as {
  toRequestLine: (facts: object) => string;
  RequestRing: new (
    capacity: number,
    send: (lines: string[], dropped: number, samples: object[]) => void,
    sampling: () => object,
  ) => Ring;
};

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  await at.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = at.app.server.address() as AddressInfo;
  const problems: string[] = [];
  const shipper = new RecordShipper({
    url: `http://127.0.0.1:${port}`,
    token: at.parts.nodeToken,
    node: 'edge-1',
    onProblem: (message: string) => problems.push(message),
    flushEveryMs: 20,
    timeoutMs: testMsMax,
  });
  t.teardown(() => shipper.close(0));
  const atMs = at.clock.nowMs;
  const facts = (n: number) => ({
    atMs: atMs + n,
    requestId: `r${n}`,
    site: 'shop',
    generation: 3,
    clientIp: '192.0.2.1',
    method: 'GET',
    uri: `/p/${n}?\u0000\u00ff`,
    status: n % 2 === 0 ? 200 : 403,
    action: n % 2 === 0 ? 'served' : 'blocked',
    kind: n % 2 === 0 ? 'pass' : 'block',
    inboundScore: 5,
    outboundScore: 0,
    ruleIds: [942_100],
    userAgent: 'curl\ud800',
    requestBytes: 10,
    responseBytes: 20,
    latencyUs: 31.5,
    inspectionUs: 7,
  });
  const event: SecurityEvent = {
    requestId: 'e1',
    atMs,
    site: 'shop',
    generation: 3,
    verdict: 'block',
    mode: 'On',
    clientIp: '192.0.2.9',
    clientPort: 4,
    serverIp: '127.0.0.1',
    serverPort: 80,
    method: 'POST',
    uri: '/login?token=topsecret',
    protocol: 'HTTP/1.1',
    requestHeaders: ['Host', 'shop', 'Cookie', 'sid=topsecret'],
    requestBody: 'user=a&password=topsecret',
    status: 403,
    responseHeaders: [],
    interruption: { ruleId: 949_110, action: 'deny', phase: 2, status: 403 },
    messages: [
      {
        ruleId: 942_100,
        message: 'injection',
        data: 'x',
        match: 'y',
        severity: '2',
        file: 'f',
        lineNumber: 1,
        ver: '',
        rev: '',
        tags: ['a'],
        maturity: '',
        accuracy: '',
      },
    ],
    inboundScore: 5,
    outboundScore: 0,
    phases: [1, 2, 5],
    truncated: false,
    inspectionUs: 12.7,
    error: null,
  };
  shipper.addRequests(
    Array.from({ length: 100 }, (_, n) => toRequestLine(facts(n))),
    3,
  );
  shipper.addEvents([event]);
  await until('101 are shipped', () => shipper.counters.shipped === 101);
  t.same(problems, []);
  t.match(shipper.counters, { shipped: 101, refused: 0 });
  const { token } = await at.user('viewer');
  const requests = await at.call('GET', '/api/requests?verdict=block&limit=500', { token });
  t.equal(requests.body['items'].length, 50);
  t.match(requests.body['items'][0], {
    request_id: 'r99',
    node: 'edge-1',
    rule_ids: [942_100],
    latency_us: 32,
    generation: 3,
  });
  const events = await at.call('GET', '/api/events', { token });
  t.match(events.body['items'], [
    {
      request_id: 'e1',
      rule_id: 942_100,
      kind: 'waf',
      details: { messages: [{ rule_id: 942_100 }], interruption: { ruleId: 949_110 } },
    },
  ]);
  t.match((await at.call('GET', '/api/policy/stats', { token })).body, { records_dropped_by_nodes: 3 });

  const ring = new RequestRing(
    100,
    (more, dropped, samples) => shipper.addRequests(more, dropped, samples),
    () => ({ every: 1, perSecondMax: 5 }),
  );
  const head = {
    method: 'POST',
    uri: '/login?token=topsecret',
    protocol: 'HTTP/1.1',
    headers: ['Host', 'shop', 'Cookie', 'sid=topsecret'],
    clientIp: '192.0.2.9',
    clientPort: 4,
    serverIp: '127.0.0.1',
    serverPort: 80,
  };
  const whole = (requestId: string, over: object) => ({
    ...facts(0),
    requestId,
    head,
    body: Buffer.from('user=a&password=topsecret'),
    ...over,
  });
  ring.record(whole('o0', { ruleIds: [] }));
  ring.flush();
  for (const facts of [whole('o1', { ruleIds: [] }), whole('e2', { kind: 'block' })]) ring.record(facts);
  ring.flush();
  await until('both samples arrive', async () => (await findSamples(database.sql, 5)).length >= 2);
  const kept = {
    site: 'shop',
    uri: '/login?token=xxxxxxxxx',
    body: 'user=a&password=xxxxxxxxx',
    headers: ['Host', 'shop', 'Cookie', 'sid=xxxxxxxxx'],
  };
  t.match(
    (await findSamples(database.sql, 5)).sort((a, b) => (a.requestId < b.requestId ? -1 : 1)),
    [
      { requestId: 'e2', ...kept },
      { requestId: 'o1', ...kept },
    ],
  );
  t.same(
    (await database.sql<{ kind: string }[]>`select kind from request_samples order by kind`).map(({ kind }) => kind),
    ['event', 'ordinary'],
  );

  const rows = database.kind === 'postgres' ? 40_000 : 5_000;
  const lines = Array.from({ length: rows }, (_, n) => toRequestLine(facts(n)));
  const startedMs = performance.now();
  shipper.addRequests(lines);
  await until('all are shipped', () => shipper.counters.shipped >= rows + 104);
  t.equal(shipper.counters.shipped, rows + 104);
  t.comment(`${database.kind}: ${Math.round(rows / ((performance.now() - startedMs) / 1000))} records a second`);
  t.equal(shipper.counters.dropped, 3);

  const send = async (kind: 'ordinary' | 'event' | undefined, count: number): Promise<void> => {
    const samples = Array.from({ length: count }, (_, n) => ({
      ...(kind === undefined ? {} : { kind }),
      request_id: `${kind} ${n}`,
      at_ms: atMs,
      site: 's',
      method: 'GET',
      uri: '/',
      protocol: 'HTTP/1.1',
      headers: ['A', '\u0000\u00ff'],
      body: null,
      client_ip: '::1',
    }));
    t.equal(
      (
        await at.call('POST', '/api/dataplane/samples', {
          token: at.parts.nodeToken,
          body: { node: 'n', samples },
        })
      ).status,
      200,
    );
  };
  await send('ordinary', 10);
  for (let round = 0; round < samplesKept / 500 + 1; round++) await send(round % 2 === 0 ? 'event' : undefined, 500);
  const [count] = await database.sql<{ n: number }[]>`select count(*) as n from request_samples`;
  t.equal(count?.n, samplesKept / 2 + 11, 'an attack takes its half and no more');
  const some = await findSamples(database.sql, 40);
  t.equal(
    some.filter(({ requestId }) => requestId.startsWith('o')).length,
    11,
    'all of the few ordinary ones are among those that are replayed',
  );
  t.equal(some.length, 40);
  t.match((await findSamples(database.sql, 1))[0]?.headers, ['A', '\u0000\u00ff'], 'bytes come back as they were');
}

t.test('shipping', (t) => onBothDatabases(t, 'shipping', suite));
