// The TLS edge as clients meet it: handshakes, both protocols, one road.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect as http2Connect, type IncomingHttpHeaders, type ClientHttp2Session } from 'node:http2';
import { request } from 'node:https';
import { connect as tcpConnect } from 'node:net';
import { connect, type ConnectionOptions } from 'node:tls';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import type { EventTls } from '../contract/index.js';
import { auditLines, configOf, metricsWith, startBackend, startPlane, testMsMax, until } from '../e2e/harness.js';
import { artifactOfText, realEngine } from '../e2e/real-rules.js';
import { publishedFingerprints, startHelloTrap } from './testing/published-fingerprints.js';

t.setTimeout(testMsMax);
const run = promisify(execFile);

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function startEdge(t: Test, settings: object = {}) {
  const seen: { readonly raw: readonly string[]; readonly url: string; readonly body: string }[] = [];
  const backend = await startBackend(t, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('latin1');
      seen.push({ raw: request.rawHeaders, url: request.url ?? '', body });
      response.setHeader('set-cookie', ['a=1', 'b=2']);
      response.end(JSON.stringify({ url: request.url, headers: request.headers, body: body.length }));
    });
  });
  const site = { name: 'shop', prefix: '/', upstream: backend.url, protected: true };
  const plane = await startPlane(t, 'net', { sites: [site], ...settings }, { tls: { port: 0 } });
  return { plane, port: plane.ports.tls as number, seen };
}

function over1(port: number, path: string, options: ConnectionOptions & { body?: string } = {}): Promise<Answer> {
  const { body = '', ...tls } = options;
  return new Promise((resolve, reject) => {
    const method = body === '' ? 'GET' : 'POST';
    const sent = request({ port, path, method, rejectUnauthorized: false, agent: false, ...tls }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function session(t: Test, port: number): ClientHttp2Session {
  const client = http2Connect(`https://localhost:${port}`, { rejectUnauthorized: false });
  client.on('error', () => {}); // a test that ends early
  t.teardown(() => client.destroy());
  return client;
}

function over2(client: ClientHttp2Session, fields: object, body?: string | Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stream = client.request({ ':path': '/', ...fields }, { endStream: body === undefined });
    let answered: IncomingHttpHeaders = {};
    let text = '';
    stream.on('response', (headers) => (answered = headers));
    stream.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    stream.on('end', () => resolve({ status: Number(answered[':status' as never]), headers: answered, body: text }));
    stream.on('error', reject);
    if (body !== undefined) stream.end(body);
  });
}

t.test('TLS: requests of both protocols reach the application, and attacks over both are blocked', async (t) => {
  const { port, plane, seen } = await startEdge(t);
  const first = await over1(port, '/one?q=1');
  t.equal(first.status, 200);
  t.match(JSON.parse(first.body), { url: '/one?q=1', headers: { 'x-forwarded-proto': 'https' } });
  t.equal((await over1(port, '/?q=EVIL')).status, 403);
  const client = session(t, port);
  const second = await over2(client, { ':path': '/two?q=2', 'x-own': 'a' });
  t.equal(second.status, 200);
  t.match(JSON.parse(second.body), {
    url: '/two?q=2',
    headers: { host: `localhost:${port}`, 'x-forwarded-proto': 'https', 'x-own': 'a' },
  });
  t.strictSame(second.headers['set-cookie'], ['a=1', 'b=2']);
  t.equal((await over2(client, { ':path': '/?q=EVIL' })).status, 403);
  t.equal((await over2(client, { ':method': 'POST', ':path': '/body' }, 'x=EVIL')).status, 403);
  const body = 'y'.repeat(300_000);
  t.match(JSON.parse((await over2(client, { ':method': 'POST', ':path': '/body' }, body)).body), { body: 300_000 });
  t.equal(seen.at(-1)?.body, body, 'the bytes, whole');
  t.equal((await over2(client, { ':method': 'HEAD' })).status, 200);
  t.match(await metricsWith(plane, 'alpn="h2"'), /gatehouse_tls_handshakes_total\{version="TLSv1.3",alpn="h2"\} 1/);
});

t.test('TLS: events carry the fingerprints, and the names that the handshake had', async (t) => {
  const { port, plane } = await startEdge(t);
  await over1(port, '/?q=EVIL', { servername: 'shop.example', ALPNProtocols: ['http/1.1'] });
  const client = session(t, port);
  await over2(client, { ':path': '/?q=EVIL' });
  await until(async () => (await auditLines(plane)).length === 2);
  const events = await auditLines<{ gatehouse: { tls: EventTls } }>(plane);
  const [one, two] = events.map(({ gatehouse }) => gatehouse.tls);
  t.match(one, { version: 'TLSv1.3', server_name: 'shop.example', alpn: 'http/1.1' });
  t.match(one?.ja4, /^t13d\d{4}h1_[0-9a-f]{12}_[0-9a-f]{12}$/);
  t.match(one?.ja3, /^[0-9a-f]{32}$/);
  t.match(two, { version: 'TLSv1.3', server_name: 'localhost', alpn: 'h2' });
  t.match(two?.ja4, /^t13d\d{4}h2_/);
});

t.test('TLS: versions before 1.2 and protocols that are not spoken are refused in the handshake', async (t) => {
  const { port, plane } = await startEdge(t);
  const ended = (options: ConnectionOptions): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect({ port, rejectUnauthorized: false, ...options }, () => {
        resolve(`${socket.getProtocol()}`);
        socket.destroy();
      });
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
    });
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  t.match(await ended(old), /^ERR_SSL|ECONNRESET/);
  t.equal(await ended({ maxVersion: 'TLSv1.2' }), 'TLSv1.2');
  t.equal(await ended({}), 'TLSv1.3');
  t.match(await ended({ ALPNProtocols: ['spdy/3'] }), /^ERR_SSL|ECONNRESET/);
  await metricsWith(plane, /gatehouse_connections_refused_total\{port="tls",reason="handshake"\} 2/);
});

t.test('TLS: a hello in single bytes is answered, one that stands still is not waited for', async (t) => {
  const { port } = await startEdge(t, { timeouts: { client_head_ms: 1000, drain_ms: 200 } });
  const slow = tcpConnect(port, '127.0.0.1');
  slow.setNoDelay(true);
  const bytewise = new Promise<string>((resolve) => {
    const relay = tcpConnect(port, '127.0.0.1');
    relay.setNoDelay(true);
    void import('node:stream').then(({ Duplex }) => {
      const between = new Duplex({
        read() {},
        write(chunk: Buffer, _encoding, done) {
          void (async () => {
            for (const byte of chunk) {
              relay.write(Buffer.from([byte]));
              await new Promise((next) => setImmediate(next));
            }
            done();
          })();
        },
      });
      relay.on('data', (chunk) => between.push(chunk));
      const socket = connect({ socket: between, rejectUnauthorized: false, servername: 'localhost' }, () => {
        socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      });
      socket.on('data', (chunk: Buffer) => resolve(chunk.toString('latin1', 0, 15)));
      socket.on('error', (error) => resolve(error.message));
    });
  });
  t.equal(await bytewise, 'HTTP/1.1 200 OK');
  slow.write(Buffer.from('16030100', 'hex'));
  await new Promise<void>((resolve) => slow.on('close', () => resolve()).on('error', () => {}));
  t.pass('cut');
});

t.test('TLS: who speaks HTTP on this port is told, and anything else is closed', async (t) => {
  const { port, plane } = await startEdge(t);
  const say = (text: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = tcpConnect(port, '127.0.0.1', () => socket.write(text));
      let got = '';
      socket.on('data', (chunk) => (got += chunk.toString('latin1')));
      socket.on('error', () => {}); // "close" follows
      socket.on('close', () => resolve(got));
    });
  t.match(await say('GET / HTTP/1.1\r\nHost: a\r\n\r\n'), /^HTTP\/1\.1 400 [\s\S]*use https/);
  t.equal(await say('\x16\x03\x01\x00\x05\x02aaaa'), '');
  t.equal(await say('\0\0\0\0'), '');
  await metricsWith(plane, /connections_refused_total\{port="tls",reason="not_tls"\} 3/);
});

t.test('TLS: curl over both protocols, and openssl, have fingerprints that stay the same', async (t) => {
  const { port, plane } = await startEdge(t);
  const url = `https://localhost:${port}/?q=EVIL`;
  const curl = (...args: string[]) =>
    run('curl', ['-sk', '-o', '/dev/null', '-w', '%{http_code} %{http_version}', ...args]);
  t.equal((await curl('--http2', url)).stdout, '403 2');
  t.equal((await curl('--http2', url)).stdout, '403 2');
  t.equal((await curl('--http1.1', url)).stdout, '403 1.1');
  t.equal((await curl('--http1.1', '--tls-max', '1.2', url)).stdout, '403 1.1');
  const request = 'GET /?q=EVIL HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n';
  const script = `printf '${request}' | openssl s_client -quiet -connect localhost:${port}`;
  await run('sh', ['-c', script]);
  await until(async () => (await auditLines(plane)).length === 5);
  const lines = await auditLines<{ gatehouse: { tls: EventTls } }>(plane);
  const found = lines.map(({ gatehouse }) => gatehouse.tls);
  t.equal(found[0]?.ja4, found[1]?.ja4, 'the same client twice');
  t.match(found[0]?.ja4, /^t13d\d{4}h2_/);
  t.match(found[2]?.ja4, /^t13d\d{4}h1_/);
  t.match(found[3]?.ja4, /^t12d\d{4}h1_/);
  t.match(found[4], { ja4: /^t13[di]\d{4}00_/, alpn: null }, 'openssl offers no protocol');
});

/** Programs as they are installed: what they send, and the status that they see; NaN: they were hung up on. */
const realClients: readonly (readonly [name: string, ask: (port: number) => Promise<number>])[] = [
  ['openssl, TLS 1.3', (port) => openssl(port, '-servername shop.example')],
  ['openssl, TLS 1.2 without a name', (port) => openssl(port, '-tls1_2 -noservername -alpn http/1.1')],
  ['curl, HTTP/2', (port) => curlStatus(port, '--http2')],
  ['curl, HTTP/1.1 over TLS 1.2', (port) => curlStatus(port, '--http1.1', '--tls-max', '1.2')],
  ['node', (port) => over1(port, '/', { servername: 'localhost' }).then(({ status }) => status)],
  ['node, HTTP/1.1 named', (port) => over1(port, '/', { ALPNProtocols: ['http/1.1'] }).then(({ status }) => status)],
  ['curl with other ciphers', (port) => curlStatus(port, '--http1.1', '--ciphers', 'ECDHE-RSA-AES256-GCM-SHA384')],
];

async function openssl(port: number, options: string): Promise<number> {
  const head = 'GET / HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n';
  const script = `printf '${head}' | openssl s_client -quiet ${options} -connect localhost:${port}`;
  const { stdout } = await run('sh', ['-c', script]);
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(stdout)?.[1]);
}

async function curlStatus(port: number, ...options: string[]): Promise<number> {
  const url = `https://localhost:${port}/`;
  return Number((await run('curl', ['-sk', '-o', '/dev/null', '-w', '%{http_code}', ...options, url])).stdout);
}

/** A control plane that keeps what a node tells. */
async function startRecordSink(t: Test) {
  type Row = Readonly<Record<string, unknown>>;
  const requests: Row[] = [];
  const events: (Row & { readonly details: { readonly tls?: EventTls } })[] = [];
  const { url } = await startBackend(t, (request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    request.on('end', () => {
      const body = JSON.parse(text) as { readonly requests?: typeof requests; readonly events?: typeof events };
      requests.push(...(body.requests ?? []));
      events.push(...(body.events ?? []));
      response.end('{}');
    });
  });
  return { url, requests, events };
}

t.test(
  'E10.2: real clients are known by the published fingerprints of their hellos, from the wire to rules',
  async (t) => {
    const trap = await startHelloTrap(t);
    for (const [, ask] of realClients) await ask(trap.port).catch(() => {}); // nobody answers there
    t.ok(trap.hellos.length >= realClients.length, 'each was heard');
    const heard = [...new Map(trap.hellos.map((hello) => [publishedFingerprints(hello).ja3, hello])).values()];
    const prints = heard.map(publishedFingerprints);
    t.equal(prints.length, realClients.length, 'each is another client');
    const denied = prints.slice(0, -1);
    const ruleIds = denied.map((_, index) => 1_000_100 + index);
    const rules = denied.map(({ ja3, ja4 }, index) => {
      const [variable, value] = index % 2 === 0 ? ['ja4', ja4] : ['ja3', ja3];
      return `SecRule TX:${variable} "@streq ${value}" "id:${ruleIds[index]},phase:1,deny,status:418,log"`;
    });
    const backend = await startBackend(t, (_request, response) => response.end('fine'));
    const sink = await startRecordSink(t);
    const site = { name: 'shop', prefix: '/', upstream: backend.url, protected: true };
    const config = configOf({ sites: [site], timeouts: { drain_ms: 200 } });
    const artifact = await artifactOfText(`SecRuleEngine On\n${rules.join('\n')}\n`);
    const real = realEngine(artifact, config);
    const initial = { ...real.initial, config, artifact, selfTest: 'skip' } as const;
    const shipping = { url: sink.url, token: 'x', node: 'n1' };
    const plane = await startPlane(t, 'net', {}, { ...real, initial, tls: { port: 0 }, shipping });
    const port = plane.ports.tls as number;
    for (const [index, [name, ask]] of realClients.entries())
      t.equal(await ask(port), index < denied.length ? 418 : 200, name);
    const plain = await fetch(`http://127.0.0.1:${plane.ports.http}/`, { headers: { connection: 'close' } });
    t.equal(plain.status, 200, 'who comes without TLS is nobody of them');
    t.ok(await until(() => sink.requests.length === realClients.length + 1 && sink.events.length === denied.length));
    for (const [index, [name]] of realClients.entries())
      t.match(sink.requests[index], prints[index], `${name}: the record of the request`);
    t.notOk('ja4' in (sink.requests.at(-1) as object), 'without TLS there is none');
    for (const [index, { rule_id: id, details }] of sink.events.entries()) {
      t.equal(id, ruleIds[index], `${realClients[index]?.[0]}: its own rule`);
      t.match(details.tls, prints[index], `${realClients[index]?.[0]}: the event`);
    }
  },
);

const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);

t.test(
  'TLS: Chromium comes over HTTP/2, with the same JA4 each time',
  { skip: chromium === undefined ? 'no Chromium on this machine' : false },
  async (t) => {
    const { port, plane } = await startEdge(t);
    const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--ignore-certificate-errors', '--dump-dom'];
    for (let count = 0; count < 2; count += 1)
      await run(chromium ?? '', [...flags, `https://localhost:${port}/?q=EVIL`], { timeout: 60_000 });
    const seen = async (): Promise<EventTls[]> =>
      (await auditLines<{ gatehouse: { tls: EventTls } }>(plane)).map(({ gatehouse }) => gatehouse.tls);
    await until(async () => (await seen()).length >= 2);
    const prints = await seen();
    t.equal(new Set(prints.map(({ ja4 }) => ja4)).size, 1);
    t.match(prints[0]?.ja4, /^t13d15\d\dh2_/);
    t.equal(prints[0]?.alpn, 'h2');
  },
);
