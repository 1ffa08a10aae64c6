import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import type { SecurityEvent } from '../contract.js';
import { until } from '../e2e/waiting.js';
import { RequestRing, toRequestLine, type RequestFacts, type RequestSample } from './request-records.js';
import { RecordShipper, toEventRecord, type RecordShipperOptions } from './ship-records.js';

interface Received {
  readonly path: string;
  readonly authorization: string;
  readonly body: {
    batch_id?: string;
    dropped?: number;
    requests?: { request_id: string }[];
    events?: { request_id: string }[];
    samples?: object[];
  };
}

/** A control plane that answers what it is told to. */
async function startSink(t: Test) {
  const received: Received[] = [];
  const state = { status: 200, retryAfter: '', answer: '{}' };
  const server = createServer((request, response) => {
    let text = '';
    request
      .setEncoding('utf8')
      .on('data', (piece: string) => (text += piece))
      .on('end', () => {
        received.push({
          path: request.url ?? '',
          authorization: request.headers.authorization ?? '',
          body: JSON.parse(text) as Received['body'],
        });
        response
          .writeHead(state.status, state.retryAfter === '' ? {} : { 'retry-after': state.retryAfter })
          .end(state.answer);
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received, state };
}

function start(t: Test, url: string, changes: Partial<RecordShipperOptions> = {}) {
  const problems: string[] = [];
  const shipper = new RecordShipper({
    url,
    token: 'secret',
    node: 'edge-1',
    onProblem: (message) => problems.push(message),
    flushEveryMs: 5,
    ...changes,
  });
  t.teardown(() => shipper.close(0));
  return { shipper, problems };
}

const head: RequestFacts['head'] = {
  method: 'GET',
  uri: '/ü',
  protocol: 'HTTP/1.1',
  headers: ['Host', 'a'],
  clientIp: '192.0.2.1',
  clientPort: 1,
  serverIp: '',
  serverPort: 0,
};
const sample = (n: number): RequestSample => ({
  kind: 'ordinary',
  request_id: `s${n}`,
  at_ms: 1,
  site: 's',
  method: 'GET',
  uri: '/',
  protocol: 'HTTP/1.1',
  headers: [],
  body: null,
  client_ip: '192.0.2.1',
});
const facts = (n: number): RequestFacts => ({
  atMs: 1,
  requestId: `r${n}`,
  site: 's',
  generation: 3,
  clientIp: '192.0.2.1',
  method: 'GET',
  uri: '/ü',
  status: 200,
  action: 'served',
  kind: 'pass',
  inboundScore: 0,
  outboundScore: 0,
  ruleIds: [],
  userAgent: 'curl',
  requestBytes: 1,
  responseBytes: 2,
  latencyUs: 3.4,
  inspectionUs: 5,
  head,
  body: null,
});
const event = (n: number, more: Partial<SecurityEvent> = {}): SecurityEvent => ({
  requestId: `e${n}`,
  atMs: 5,
  site: 's',
  generation: 1,
  verdict: 'block',
  mode: 'On',
  clientIp: '192.0.2.1',
  clientPort: 1,
  serverIp: '',
  serverPort: 0,
  method: 'GET',
  uri: '/?q=1',
  protocol: 'HTTP/1.1',
  requestHeaders: ['Host', 'a', 'Cookie', 'sid=topsecret', 'User-Agent', 'curl', 'Authorization', 'Bearer topsecret'],
  requestBody: null,
  status: 403,
  responseHeaders: [],
  interruption: { ruleId: 949_110, action: 'deny', phase: 2, status: 403 },
  messages: [],
  inboundScore: 5,
  outboundScore: 0,
  phases: [1, 2, 5],
  truncated: false,
  inspectionUs: 10,
  error: null,
  ...more,
});
const ids = (received: readonly Received[]): string[] =>
  received.flatMap(({ body }) => (body.requests ?? []).map(({ request_id }) => request_id));

t.test('everything arrives once, in batches, with the token', async (t) => {
  const sink = await startSink(t);
  const { shipper } = start(t, sink.url, { batchRowsMax: 10, samplesMax: 2 });
  shipper.addRequests(
    Array.from({ length: 25 }, (_, n) => toRequestLine(facts(n))),
    4,
    [sample(1), sample(2), sample(3)],
  );
  shipper.addEvents([event(1), event(2), event(3)]);
  await until(() => shipper.counters.shipped === 28 && sink.received.some(({ path }) => path.endsWith('samples')));
  const batches = sink.received.filter(({ path }) => path === '/api/dataplane/records');
  t.same(
    ids(batches),
    Array.from({ length: 25 }, (_, n) => `r${n}`),
  );
  t.same(
    batches.flatMap(({ body }) => body.events ?? []).map(({ request_id }) => request_id),
    ['e1', 'e2', 'e3'],
  );
  t.equal(new Set(batches.map(({ body }) => body.batch_id)).size, batches.length);
  t.ok(batches.every(({ body }) => (body.requests?.length ?? 0) + (body.events?.length ?? 0) <= 10));
  t.ok(sink.received.every(({ authorization }) => authorization === 'Bearer secret'));
  t.equal(
    batches.reduce((sum, { body }) => sum + (body.dropped ?? 0), 0),
    4,
    'what workers dropped is told',
  );
  t.same(sink.received.find(({ path }) => path.endsWith('samples'))?.body.samples, [sample(1), sample(2)]);
  t.match(shipper.counters, { shipped: 28, dropped: 4, refused: 0, retries: 0 });
});

t.test('a control plane that is away or busy gets the same batch again', async (t) => {
  const sink = await startSink(t);
  sink.state.status = 503;
  const { shipper, problems } = start(t, sink.url);
  shipper.addRequests([toRequestLine(facts(1))]);
  await until(() => sink.received.length >= 2);
  shipper.addRequests([toRequestLine(facts(2))]);
  sink.state.status = 200;
  await until(() => shipper.counters.shipped === 2);
  const first = sink.received[0]?.body.batch_id;
  t.ok(sink.received.filter(({ body }) => body.batch_id === first).length >= 3, 'one id however often it is sent');
  t.same(ids(sink.received.filter(({ body }) => body.batch_id !== first)), ['r2']);
  t.equal(problems.length, 1, 'a series of failures is told once');
  t.equal(shipper.counters.dropped, 0);
});

t.test('a batch that does not fit is given up, others go on', async (t) => {
  const sink = await startSink(t);
  sink.state.status = 400;
  const { shipper, problems } = start(t, sink.url);
  shipper.addRequests([toRequestLine(facts(1))]);
  await until(() => shipper.counters.refused === 1);
  sink.state.status = 200;
  shipper.addRequests([toRequestLine(facts(2))]);
  await until(() => shipper.counters.shipped === 1);
  t.match(shipper.counters, { shipped: 1, refused: 1 });
  t.match(problems, [/refused 1 records \(400\)/]);
});

t.test('records are counted as what the control plane says became of them', async (t) => {
  const sink = await startSink(t);
  const { shipper, problems } = start(t, sink.url);
  const answers: [string, object][] = [
    ['{"stored":7,"duplicate":false,"sampled_out":2,"refused":1}', { shipped: 7, sampledOut: 2, refused: 1 }],
    ['{"stored":0,"duplicate":true,"sampled_out":0,"refused":0}', { shipped: 17, sampledOut: 2, refused: 1 }],
    ['{"refused":99,"sampled_out":99}', { shipped: 17, sampledOut: 2, refused: 11 }],
    ['<html>', { shipped: 27, sampledOut: 2, refused: 11 }],
    ['null', { shipped: 37, sampledOut: 2, refused: 11 }],
  ];
  for (const [at, [answer, counters]] of answers.entries()) {
    sink.state.answer = answer;
    shipper.addRequests(Array.from({ length: 10 }, (_, n) => toRequestLine(facts(n))));
    await until(() => shipper.waitingRows === 0);
    t.match(shipper.counters, counters, `${at}: ${answer}`);
  }
  t.match(problems, [/would not have 1 of 10 records/]);
});

t.test('a full queue drops, counts and tells', async (t) => {
  const line = toRequestLine(facts(1));
  const { shipper, problems } = start(t, 'http://127.0.0.1:1', { queueBytesMax: line.length * 10 });
  for (let n = 0; n < 1000; n++) shipper.addRequests([line]);
  await until(() => shipper.counters.retries > 0);
  t.equal(shipper.counters.dropped, 990);
  t.ok(shipper.waitingRows <= 10);
  t.match(problems, [/ECONNREFUSED/]);
  await shipper.close(20);
  t.equal(shipper.counters.dropped, 1000, 'what could not be sent at the end is counted too');
});

t.test('closing sends what waits', async (t) => {
  const sink = await startSink(t);
  const { shipper } = start(t, sink.url, { flushEveryMs: 60_000, batchRowsMax: 3 });
  shipper.addRequests(Array.from({ length: 10 }, (_, n) => toRequestLine(facts(n))));
  await shipper.close(120_000);
  t.equal(ids(sink.received).length, 10);
  shipper.addRequests([toRequestLine(facts(1))]);
  t.equal(shipper.counters.dropped, 1, 'afterwards nothing is taken');
});

t.test('the ring of a worker is bounded', async (t) => {
  const sent: [number, number][] = [];
  const ring = new RequestRing(3, (lines, dropped) => sent.push([lines.length, dropped]));
  ring.flush();
  for (let n = 0; n < 5; n++) ring.record(facts(n));
  ring.flush();
  ring.record(facts(6));
  ring.flush();
  t.same(sent, [
    [3, 2],
    [1, 0],
  ]);
  t.equal(ring.dropped, 2);
});

t.test('one in so many ordinary requests is kept whole, and so many a second', async (t) => {
  let sampling = { every: 10, perSecondMax: 3 };
  const got: RequestSample[] = [];
  const ring = new RequestRing(
    100_000,
    (_lines, _dropped, samples) => got.push(...samples),
    () => sampling,
  );
  const run = (from: number, to: number, more: (n: number) => Partial<RequestFacts> = () => ({})): string[] => {
    got.length = 0;
    for (let n = from; n < to; n++) ring.record({ ...facts(n), atMs: 1000 * 1000, ...more(n) });
    ring.flush();
    return got.map(({ request_id, kind }) => (kind === 'event' ? `!${request_id}` : request_id));
  };
  t.same(run(0, 5), [], 'nothing is asked before the first flush');
  t.same(run(5, 100), ['r5', 'r15', 'r25'], 'the quota of the second');
  t.same(
    run(100, 200, () => ({ atMs: 1001 * 1000 })),
    ['r105', 'r115', 'r125'],
    'and of the next',
  );
  const later = (n: number) => ({ atMs: (2000 + n) * 1000 });
  t.same(
    run(200, 221, (n) => ({ ...later(n), action: n < 220 ? 'refused' : 'served' })),
    ['r220'],
    'what was not served is no example; the next takes its turn',
  );
  t.same(
    run(300, 312, (n) => ({ ...later(n), body: n < 311 ? Buffer.alloc(17_000) : Buffer.from('a=\xff', 'latin1') })),
    ['r311'],
    'nor is half a body',
  );
  t.match(got[0], { kind: 'ordinary', uri: '/ü', headers: ['Host', 'a'], protocol: 'HTTP/1.1', body: 'a=\xff' });
  t.same(
    run(400, 405, (n) => ({
      atMs: 9_000_000,
      kind: n % 2 === 0 ? 'block' : 'pass',
      ruleIds: [942_100],
      body: Buffer.alloc(100_000),
    })),
    ['!r400', '!r401', '!r402'],
    'what a rule saw has a quota of its own',
  );
  t.equal(got[0]?.body?.length, 65_536);
  sampling = { every: 0, perSecondMax: 3 };
  run(500, 501);
  t.same(
    run(501, 1000, (n) => ({ ...later(n), ...(n % 5 === 0 ? { kind: 'block' } : {}) })),
    [],
    'switched off',
  );
  sampling = { every: 100, perSecondMax: 3 };
  run(1000, 1001);
  t.same(run(1001, 1102, later), ['r1001', 'r1101'], 'and on again');
});

t.test('records say what happened and keep credentials here', async (t) => {
  const lines: readonly [Partial<RequestFacts>, object][] = [
    [{}, { verdict: 'pass', latency_us: 3, uri: '/ü' }],
    [{ action: 'blocked', kind: 'block' }, { verdict: 'block' }],
    [{ action: 'served', kind: 'flag' }, { verdict: 'flag' }],
    [{ action: 'aborted' }, { verdict: 'aborted' }],
    [{ action: 'failed', kind: 'engine-error' }, { verdict: 'engine-error' }],
    [
      { uri: 'x'.repeat(5000), ruleIds: Array.from({ length: 99 }, (_, n) => n), status: -1 },
      { uri: 'x'.repeat(2048), status: 0 },
    ],
  ];
  for (const [change, wanted] of lines) t.match(JSON.parse(toRequestLine({ ...facts(1), ...change })), wanted);
  const message = {
    message: 'm',
    data: 'Matched: topsecret',
    severity: '2',
    file: 'f',
    lineNumber: 1,
    ver: '',
    rev: '',
    tags: [],
    maturity: '',
    accuracy: '',
  };
  const record = toEventRecord(
    event(1, {
      messages: [
        {
          ...message,
          ruleId: 942_100,
          match: "Matched \"Operator `detectSQLi'\" against variable `ARGS:password' (Value: `topsecret')",
        },
        { ...message, ruleId: 949_110, data: 'score', match: 'x' },
      ],
    }),
  );
  t.match(
    record,
    {
      rule_id: 942_100,
      verdict: 'block',
      kind: 'waf',
      details: { headers: [['Host', 'a'], ['Cookie'], ['User-Agent', 'curl'], ['Authorization']] },
    },
    'the rule that saw it, not the one that added up',
  );
  t.notMatch(JSON.stringify(record), /topsecret/);
  t.match(toEventRecord(event(2)), { rule_id: 949_110 });
  const told = (ruleId: number, severity: string) => ({ ...message, match: 'x', ruleId, severity });
  const blockedBy = (ruleId: number) => ({ ruleId, action: 'deny' as const, phase: 2 as const, status: 403 });
  const telling: [string, Partial<SecurityEvent>, number][] = [
    [
      'the gravest, not the first',
      { messages: [told(920_350, '4'), told(942_100, '2'), told(941_100, '2'), told(949_110, '0')] },
      942_100,
    ],
    [
      'the one that blocked by itself',
      { interruption: blockedBy(1_000_001), messages: [told(920_350, '4'), told(942_100, '2'), told(1_000_001, '')] },
      1_000_001,
    ],
    ['nothing blocked', { interruption: null, messages: [told(920_350, '4'), told(1_000_002, '')] }, 920_350],
    [
      'on the way out',
      { interruption: blockedBy(959_100), messages: [told(953_100, '3'), told(959_100, ''), told(980_170, '')] },
      953_100,
    ],
  ];
  for (const [name, more, ruleId] of telling) t.match(toEventRecord(event(3, more)), { rule_id: ruleId }, name);
});
