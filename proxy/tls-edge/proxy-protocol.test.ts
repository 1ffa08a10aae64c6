// The PROXY header on both ports: believed where a trusted proxy has to send it, and nowhere else.
import { connect as tcpConnect, type Socket } from 'node:net';
import { connect } from 'node:tls';
import t, { type Test } from 'tap';
import { metricsWith, startBackend, startPlane, testMsMax, until } from '../e2e/harness.js';

t.setTimeout(testMsMax);

const line = 'PROXY TCP4 192.0.2.77 198.51.100.2 56324 443\r\n';
const binary = Buffer.from('0d0a0d0a000d0a515549540a2111000cc000024dc6336402dc0401bb', 'hex').toString('latin1');
const local = Buffer.from('0d0a0d0a000d0a515549540a20000000', 'hex').toString('latin1');
const get = 'GET / HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n';

interface Started {
  readonly http: number;
  readonly tls: number;
  readonly clients: string[];
  readonly plane: Awaited<ReturnType<typeof startPlane>>;
}

async function start(t: Test, settings: object): Promise<Started> {
  const clients: string[] = [];
  const { url: upstream } = await startBackend(t, (request, response) => {
    clients.push(String(request.headers['x-forwarded-for']));
    response.end('fine');
  });
  const site = { name: 'shop', prefix: '/', upstream, protected: true };
  const timeouts = { client_head_ms: 1000, drain_ms: 200 };
  const plane = await startPlane(t, 'net', { sites: [site], timeouts, ...settings }, { tls: { port: 0 } });
  return { http: plane.ports.http, tls: plane.ports.tls as number, clients, plane };
}

const trusting = { rl_trust_proxy: true, rl_trusted_proxies: ['127.0.0.1'], proxy_protocol: true };

function collect(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.on('error', () => {}); // "close" follows
    socket.on('close', () => resolve(text));
  });
}

/** `pieces` one after another, each in a segment of its own. */
async function sayPlain(port: number, pieces: readonly string[]): Promise<string> {
  const socket = tcpConnect(port, '127.0.0.1').setNoDelay(true);
  const answer = collect(socket);
  for (const piece of pieces) {
    socket.write(piece, 'latin1');
    await new Promise((resolve) => setImmediate(resolve));
  }
  return (await answer).slice(0, 15);
}

async function sayTls(port: number, header: string): Promise<string> {
  const socket = tcpConnect(port, '127.0.0.1');
  socket.on('error', () => {}); // the other one tells
  if (header !== '') socket.write(header, 'latin1');
  const over = connect({ socket, rejectUnauthorized: false, servername: 'shop' });
  over.write(get);
  return (await collect(over)).slice(0, 15);
}

const fine = 'HTTP/1.1 200 OK';

t.test('PROXY: a trusted proxy names the client on both ports, in both versions', async (t) => {
  const { http, tls, clients } = await start(t, trusting);
  t.equal(await sayPlain(http, [line + get]), fine);
  t.equal(await sayPlain(http, [binary + get]), fine);
  t.equal(await sayPlain(http, [...line, ...get]), fine, 'byte by byte');
  t.equal(await sayPlain(http, [...binary, get]), fine);
  t.equal(await sayTls(tls, line), fine);
  t.equal(await sayTls(tls, binary), fine);
  const claim = 'X-Forwarded-For: 203.0.113.9\r\n';
  t.equal(await sayPlain(http, [line + get.replace('\r\n\r\n', `\r\n${claim}\r\n`)]), fine);
  t.strictSame(
    clients.splice(0),
    Array.from({ length: 7 }, () => '192.0.2.77'),
    'also against a claim of the client',
  );
  t.equal(await sayPlain(http, [local + get]), fine, 'a health check of the proxy itself');
  t.equal(await sayPlain(http, [`PROXY UNKNOWN\r\n${get}`]), fine);
  t.strictSame(clients, ['127.0.0.1', '127.0.0.1']);
});

t.test('PROXY: a trusted proxy without a header, or with a wrong or late one, is closed', async (t) => {
  const { http, tls, clients, plane } = await start(t, trusting);
  for (const bytes of [get, `PROXY TCP4 1.2.3.4\r\n${get}`, `${binary.slice(0, 12)}\x31${binary.slice(13)}${get}`])
    t.equal(await sayPlain(http, [bytes]), '');
  t.equal(await sayTls(tls, ''), '');
  t.equal(await sayTls(tls, 'PROXY nonsense\r\n'), '');
  t.equal(await sayPlain(http, ['PROXY TCP4 192.0.2.77 ']), '', 'never ends');
  t.strictSame(clients, []);
  await metricsWith(plane, /connections_refused_total\{port="plain",reason="proxy_header"\} 4/);
  await metricsWith(plane, /connections_refused_total\{port="tls",reason="proxy_header"\} 2/);
});

t.test('PROXY: whoever is not trusted, or not asked, cannot say who he is', async (t) => {
  for (const settings of [
    {},
    { rl_trust_proxy: true, rl_trusted_proxies: ['127.0.0.1'] },
    { rl_trust_proxy: true, rl_trusted_proxies: ['10.0.0.0/8'], proxy_protocol: true },
  ]) {
    const { http, tls, clients } = await start(t, settings);
    t.equal(await sayPlain(http, [get]), fine);
    t.equal(await sayTls(tls, ''), fine);
    t.match(await sayPlain(http, [line + get]), /^HTTP\/1\.1 (400|505)/);
    t.match(await sayPlain(http, [binary + get]), /^HTTP\/1\.1 400|^$/);
    await sayTls(tls, line);
    await sayTls(tls, binary);
    t.strictSame(clients, ['127.0.0.1', '127.0.0.1']);
  }
});

t.test('PROXY: limits count the client that is named', async (t) => {
  const { http, plane } = await start(t, {
    ...trusting,
    flood_burst_enabled: true,
    flood_burst_events: 3,
    flood_burst_window: '1h',
  });
  const as = (client: string): Promise<string> => sayPlain(http, [line.replace('192.0.2.77', client) + get]);
  const statuses: string[] = [];
  for (let count = 0; count < 5; count += 1) statuses.push((await as('192.0.2.1')).slice(9, 12));
  t.equal(statuses.at(-1), '429');
  t.equal((await as('192.0.2.2')).slice(9, 12), '200', 'another client behind the same proxy');
  await until(async () => (await metricsWith(plane, 'gatehouse_rate_limited_total')) !== '');
});
