import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { until } from '../e2e/waiting.js';
import { toRequestLine, type RequestSample } from './request-records.js';
import { RecordShipper, type RecordShipperOptions } from './ship-records.js';
import { event, facts } from './testing/samples.js';

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
