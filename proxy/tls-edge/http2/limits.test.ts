// What one connection of HTTP/2 may cost: each flood ends its own connection, and others are served.
import { connect as http2Connect } from 'node:http2';
import t, { type Test } from 'tap';
import { isInFlight, metricsWith, startBackend, startPlane, testMsMax, until } from '../../e2e/harness.js';
import { encodeFields, encodeIndexed, flags, frameTypes, RawHttp2 } from '../testing/raw-http2.js';
import { pseudo } from '../testing/smuggling-cases.js';
import { allowances } from './excess.js';

t.setTimeout(testMsMax);
const calm = 11; // ENHANCE_YOUR_CALM

async function startEdge(t: Test, settings: object = {}) {
  const { url: upstream } = await startBackend(t, (request, response) => {
    if (request.url === '/large') response.end(Buffer.alloc(4_000_000, 'x'));
    else if (request.url !== '/never') response.end('fine');
  });
  const site = { name: 'shop', prefix: '/', upstream, protected: true };
  const plane = await startPlane(t, 'net', { sites: [site], ...settings }, { tls: { port: 0 } });
  const port = plane.ports.tls as number;
  let clients = 1;
  /** Each a client of its own, unless it is said whose: one that was in excess before may do less. */
  const open = async (values?: readonly number[], from = `127.0.0.${(clients += 1)}`): Promise<RawHttp2> => {
    const client = await RawHttp2.open(port, values, from);
    t.teardown(() => client.close());
    return client;
  };
  /** Another client gets its answer. */
  const isServed = async (from?: string): Promise<boolean> => {
    const client = await open([], from);
    client.headers(1, pseudo(), true);
    return (await client.outcome(1)) === 200;
  };
  return { plane, port, open, isServed };
}

const isEnded = (client: RawHttp2) => async (): Promise<boolean> => client.isClosed;
const codeOf = (client: RawHttp2): number | undefined => client.first(frameTypes.goaway)?.payload.readUInt32BE(4);
const ended = (excess: string): string => `gatehouse_http2_connections_ended_total{excess="${excess}"} 1`;

t.test('TLS: rapid reset ends its connection, and what it began is not left behind', async (t) => {
  const { open, plane, isServed } = await startEdge(t);
  const client = await open();
  for (let stream = 1; stream < 4 * allowances.resets.burst && !client.isClosed; stream += 2) {
    client.headers(stream, pseudo({ ':path': '/never' }), true);
    client.reset(stream);
    if (stream % 64 === 1) await new Promise((resolve) => setImmediate(resolve));
  }
  await until(isEnded(client));
  t.equal(codeOf(client), calm);
  t.ok(await isServed());
  await until(() => isInFlight(plane, 0));
  await metricsWith(plane, ended('resets'));
});

t.test(
  'TLS: issue 22 B6: an abuser that comes back cuts nobody behind its address, many connections are limited',
  async (t) => {
    const { open, plane, isServed } = await startEdge(t);
    const nat = '127.0.0.77';
    const neighbour = await open([], nat);
    neighbour.headers(1, pseudo(), true);
    t.equal(await neighbour.outcome(1), 200);
    const flood = async (): Promise<void> => {
      const client = await open([], nat);
      for (let stream = 1; stream < 4 * allowances.resets.burst && !client.isClosed; stream += 2) {
        client.headers(stream, pseudo({ ':path': '/never' }), true);
        client.reset(stream);
        if (stream % 64 === 1) await new Promise((resolve) => setImmediate(resolve));
      }
      await until(isEnded(client));
    };
    for (let excess = 0; excess < 5; excess += 1) {
      await flood();
      t.ok(await isServed(nat), `another client behind the address, after excess ${excess + 1}`);
    }
    const refused = /port="tls",reason="http2_excess"\} [1-9]/;
    t.notMatch(await metricsWith(plane, ended('resets').replace('} 1', '} 5')), refused);
    const floods = (): Promise<unknown> =>
      Promise.all(Array.from({ length: 10 }, () => flood().catch(() => undefined)));
    await until(async () => {
      await floods();
      return refused.test(await metricsWith(plane, 'gatehouse_tls_handshakes_total'));
    });
    t.ok(await isServed(), 'others are served meanwhile');
    t.ok(await until(() => isServed(nat).catch(() => false)), 'a neighbour that tries again gets in');
    neighbour.headers(3, pseudo(), true);
    t.equal(await neighbour.outcome(3), 200, 'and one that was connected stays');
  },
);

t.test('TLS: as many requests taken back as a browser takes are no flood', async (t) => {
  const { open } = await startEdge(t);
  const client = await open();
  for (let stream = 1; stream < 160; stream += 2) {
    client.headers(stream, pseudo({ ':path': '/never' }), true);
    client.reset(stream);
  }
  client.headers(201, pseudo(), true);
  t.equal(await client.outcome(201), 200);
});

t.test('TLS: issue 10: what is taken back in the read that brought it costs no inspection', async (t) => {
  const { open, plane } = await startEdge(t);
  const client = await open();
  client.socket.cork();
  for (let stream = 1; stream < 2 * 150; stream += 2) {
    client.headers(stream, pseudo({ ':path': '/never' }), true);
    client.reset(stream);
  }
  client.socket.uncork();
  client.headers(2 * 150 + 1, pseudo(), true);
  t.equal(await client.outcome(2 * 150 + 1), 200, 'fewer than a flood: the connection goes on');
  await until(() => isInFlight(plane, 0));
  const metrics = await metricsWith(plane, /gatehouse_requests_total/);
  const counted = [...metrics.matchAll(/^gatehouse_requests_total\S* (\d+)/gm)].reduce(
    (sum, [, n]) => sum + Number(n),
    0,
  );
  t.ok(counted >= 1 && counted < 75, `${counted} of 151 requests came to the road`);
});

t.test('TLS: issue 10: a hundred requests of one read are all answered, and those beyond are refused', async (t) => {
  const { open } = await startEdge(t);
  const client = await open();
  const streams = Array.from({ length: 110 }, (_, n) => 2 * n + 1);
  client.socket.cork();
  for (const stream of streams) {
    client.headers(stream, pseudo({ ':method': stream % 4 === 1 ? 'POST' : 'GET' }), stream % 4 !== 1);
    if (stream % 4 === 1) client.frame(frameTypes.data, flags.endStream, stream, Buffer.from('a=1'));
  }
  client.socket.uncork();
  const outcomes = await Promise.all(streams.map((stream) => client.outcome(stream)));
  t.equal(outcomes.slice(0, 100).filter((outcome) => outcome === 200).length, 100);
  t.same(
    outcomes.slice(100).filter((outcome) => outcome !== 200 && outcome !== 'reset 7'),
    [],
    'REFUSED_STREAM, or answered after others were',
  );
});

t.test('TLS: a flood of settings, and one of pings', async (t) => {
  const { open, plane, isServed } = await startEdge(t);
  const settings = await open();
  for (let count = 0; count < 100 && !settings.isClosed; count += 1) settings.settings([4, 65_535 - count]);
  await until(isEnded(settings));
  const pings = await open();
  for (let count = 0; count < 1000 && !pings.isClosed; count += 1)
    pings.frame(frameTypes.ping, 0, 0, Buffer.from('12345678'));
  await until(isEnded(pings));
  t.ok(await isServed());
  await metricsWith(plane, ended('settings'));
  await metricsWith(plane, ended('pings'));
});

t.test('TLS: a head that goes on and on in CONTINUATION ends its connection', async (t) => {
  const { open, isServed } = await startEdge(t);
  const client = await open();
  client.frame(frameTypes.headers, flags.endStream, 1, encodeFields(pseudo()));
  for (let count = 0; count < 1000 && !client.isClosed; count += 1) {
    client.frame(frameTypes.continuation, 0, 1, encodeFields([[`x-${count}`, 'a'.repeat(1000)]]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await until(isEnded(client));
  const empty = await open();
  empty.frame(frameTypes.headers, flags.endStream, 1, encodeFields(pseudo()));
  for (let count = 0; count < 1000 && !empty.isClosed; count += 1) {
    empty.frame(frameTypes.continuation, 0, 1);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await until(isEnded(empty));
  t.ok(await isServed());
});

t.test('TLS: frames that belong to no request are weighed', async (t) => {
  const { open, plane, isServed } = await startEdge(t);
  const floods = [
    [frameTypes.windowUpdate, 0, Buffer.from([0, 0, 0, 1])],
    [frameTypes.priority, 3, Buffer.from([0, 0, 0, 0, 1])],
    [0xfa, 0, Buffer.alloc(100)], // of a type that nobody knows
  ] as const;
  for (const [type, stream, payload] of floods) {
    const client = await open();
    for (let count = 0; count < 200_000 && !client.isClosed; count += 1) {
      client.frame(type, 0, stream, payload);
      if (count % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await until(isEnded(client));
  }
  t.ok(await isServed());
  await metricsWith(plane, /connections_ended_total\{excess="idle_bytes"\} [123]/);
});

t.test('TLS: more requests at a time than it was told a client does not get', async (t) => {
  const { open, isServed } = await startEdge(t);
  const client = await open();
  for (let stream = 1; stream < 301; stream += 2) client.headers(stream, pseudo({ ':path': '/never' }), true);
  await until(async () => client.isClosed || client.first(frameTypes.reset) !== undefined);
  t.ok(await isServed());
});

t.test('TLS: windows that stay closed hold nothing for long', async (t) => {
  const { open, plane, isServed } = await startEdge(t, {
    timeouts: { client_progress_ms: 300, client_idle_ms: 1500, drain_ms: 200 },
    limits: { response_bytes_per_second_min: 1000 },
  });
  const large = await open([4, 1]);
  for (let stream = 1; stream < 20; stream += 2) large.headers(stream, pseudo({ ':path': '/large' }), true);
  const small = await open([4, 0]);
  for (let stream = 1; stream < 20; stream += 2) small.headers(stream, pseudo({ ':path': '/?q=EVIL' }), true);
  t.ok(await isServed());
  await until(() => isInFlight(plane, 0));
  await until(isEnded(large));
  await until(isEnded(small));
  t.pass('each ended');
});

t.test('TLS: issue 22 B4: a field that is named again by one byte is not looked at again', async (t) => {
  const { open, isServed } = await startEdge(t);
  const whole = flags.endHeaders | flags.endStream;
  for (const name of ['cookie', 'x-any']) {
    const client = await open();
    const field = encodeIndexed([name, 'a=%27'.repeat(780)]);
    client.frame(frameTypes.headers, whole, 1, Buffer.concat([encodeFields(pseudo()), field]));
    t.equal(await client.outcome(1), 200, 'once it is a field like any other');
    const again = (times: number): Buffer => Buffer.concat([encodeFields(pseudo()), Buffer.alloc(times, 0x80 | 62)]);
    client.frame(frameTypes.headers, whole, 3, again(1));
    t.equal(await client.outcome(3), 200, 'also by its index');
    client.frame(frameTypes.headers, whole, 5, again(7));
    t.equal(await client.outcome(5), 431, `28 KiB of ${name} in ${again(7).length} bytes`);
    client.frame(frameTypes.headers, whole, 7, again(1));
    t.equal(await client.outcome(7), 200, 'the connection goes on');
  }
  t.ok(await isServed());
});

t.test('TLS: who begins no request, or does not end the head of one, is not waited for', async (t) => {
  const { open } = await startEdge(t, { timeouts: { client_head_ms: 500, client_idle_ms: 500, drain_ms: 200 } });
  const silent = await open();
  const half = await open();
  half.frame(frameTypes.headers, flags.endStream, 1, encodeFields(pseudo()));
  const idle = await open();
  idle.headers(1, pseudo(), true);
  t.equal(await idle.outcome(1), 200);
  await until(isEnded(silent));
  await until(isEnded(half));
  await until(isEnded(idle));
  t.pass('each ended');
});

t.test('TLS: much of what is useful is no excess', async (t) => {
  const { port, plane } = await startEdge(t);
  const client = http2Connect(`https://localhost:${port}`, { rejectUnauthorized: false });
  t.teardown(() => client.destroy());
  const get = (path: string): Promise<number> =>
    new Promise((resolve, reject) => {
      let bytes = 0;
      const stream = client.request({ ':path': path });
      stream.on('data', (chunk: Buffer) => (bytes += chunk.length));
      stream.on('end', () => resolve(bytes));
      stream.on('error', reject);
    });
  for (let round = 0; round < 20; round += 1) {
    const small = await Promise.all(Array.from({ length: 50 }, () => get('/')));
    t.ok(small.every((bytes) => bytes === 4));
  }
  t.strictSame(await Promise.all([get('/large'), get('/large'), get('/large')]), [4e6, 4e6, 4e6]);
  const upload = client.request({ ':method': 'POST', ':path': '/' });
  for (let count = 0; count < 3000; count += 1)
    if (!upload.write('x')) await new Promise((go) => upload.once('drain', go));
  upload.end();
  await new Promise((resolve) => upload.resume().on('end', resolve));
  t.notMatch(
    await metricsWith(plane, 'gatehouse_tls_handshakes_total'),
    /http2_connections_ended_total\{[^}]*\} [1-9]/,
  );
});
