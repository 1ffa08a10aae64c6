// One suite for both listeners, with raw sockets: what a client may send, what must be refused, and that the answer is
// framed right. Differences are those of differences.ts, neither more nor fewer.
import { connect, type Socket } from 'node:net';
import t from 'tap';
import { defaultLimits, defaultTimeouts } from '../../contract.js';
import type { Page } from '../../http/pages.js';
import { bodyOf, sendRaw, statusOf } from '../../e2e/raw-client.js';
import { patienceMs, until } from '../../e2e/waiting.js';
import { differences, type Outcome } from '../differences.js';
import { listen, type Exchange, type Listener, type ListenerKind } from '../index.js';

interface Case {
  readonly name: string;
  readonly wire: string | readonly string[];
  readonly outcome: Outcome;
  /** Of the echoed body, when the outcome is 200. */
  readonly body?: string;
}

/** What the road says of bytes that are no request. */
const onUnreadable = (status: number): Page => ({ headers: ['X-Refused', String(status)], body: `refused ${status}` });

const host = 'Host: h\r\n';
const chunkedPost = `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n`;
const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
const handshake = `GET /a HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n${key}`;
const many = Array.from({ length: 60 }, (_, index) => `X-${index}: 1\r\n`).join('');

const cases: readonly Case[] = [
  { name: 'plain GET', wire: `GET /a?b HTTP/1.1\r\n${host}\r\n`, outcome: 200 },
  {
    name: 'a body with a length',
    wire: `POST /a HTTP/1.1\r\n${host}Content-Length: 3\r\n\r\nabc`,
    outcome: 200,
    body: 'abc',
  },
  {
    name: 'a body in pieces',
    wire: [`POST /a HTTP/1.1\r\n${host}Content-Le`, 'ngth: 6\r\n\r\nab', 'cd', 'ef'],
    outcome: 200,
    body: 'abcdef',
  },
  {
    name: 'a GET with a body',
    wire: `GET /a HTTP/1.1\r\n${host}Content-Length: 3\r\n\r\nabc`,
    outcome: 200,
    body: 'abc',
  },
  { name: 'chunks', wire: [`${chunkedPost}3\r\nabc\r`, '\n2\r\nde\r\n0\r\n\r\n'], outcome: 200, body: 'abcde' },
  { name: 'chunks with trailers', wire: `${chunkedPost}3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n`, outcome: 200, body: 'abc' },
  {
    name: 'Expect: 100-continue',
    wire: [`POST /a HTTP/1.1\r\n${host}Expect: 100-continue\r\nContent-Length: 3\r\n\r\n`, 'abc'],
    outcome: 200,
    body: 'abc',
  },
  {
    name: 'a Transfer-Encoding in capitals',
    wire: `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: CHUNKED\r\n\r\n1\r\na\r\n0\r\n\r\n`,
    outcome: 200,
    body: 'a',
  },
  { name: 'HTTP/1.0', wire: `GET /a HTTP/1.0\r\n${host}\r\n`, outcome: 200 },
  { name: 'HTTP/0.9', wire: 'GET /a\r\n\r\n', outcome: 505 },
  { name: 'HTTP/2.0 in a request line', wire: `GET /a HTTP/2.0\r\n${host}\r\n`, outcome: 505 },
  { name: 'no Host', wire: 'GET /a HTTP/1.1\r\n\r\n', outcome: 400 },
  { name: 'two Hosts', wire: `GET /a HTTP/1.1\r\n${host}Host: i\r\n\r\n`, outcome: 400 },
  { name: 'absolute form, same host', wire: `GET http://h/a HTTP/1.1\r\n${host}\r\n`, outcome: 200 },
  { name: 'absolute form, other host', wire: `GET http://other/a HTTP/1.1\r\n${host}\r\n`, outcome: 400 },
  { name: 'asterisk form', wire: `OPTIONS * HTTP/1.1\r\n${host}\r\n`, outcome: 200 },
  { name: 'a field name with an underscore', wire: `GET /a HTTP/1.1\r\n${host}X_A: 1\r\n\r\n`, outcome: 200 },
  { name: 'an unknown method', wire: `FOO /a HTTP/1.1\r\n${host}\r\n`, outcome: 400 },
  {
    name: 'two different lengths',
    wire: `POST /a HTTP/1.1\r\n${host}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`,
    outcome: 400,
  },
  {
    name: 'two equal lengths',
    wire: `POST /a HTTP/1.1\r\n${host}Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc`,
    outcome: 400,
  },
  {
    name: 'a length and a coding',
    wire: `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: identity\r\nContent-Length: 3\r\n\r\nabc`,
    outcome: 400,
  },
  {
    name: 'Content-Length and chunked',
    wire: `POST /a HTTP/1.1\r\n${host}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    outcome: 400,
  },
  { name: 'an empty length', wire: `POST /a HTTP/1.1\r\n${host}Content-Length:\r\n\r\nabc`, outcome: 400 },
  { name: 'a signed length', wire: `POST /a HTTP/1.1\r\n${host}Content-Length: +3\r\n\r\nabc`, outcome: 400 },
  { name: 'a list of lengths', wire: `POST /a HTTP/1.1\r\n${host}Content-Length: 3, 3\r\n\r\nabc`, outcome: 400 },
  {
    name: 'Transfer-Encoding: identity',
    wire: `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: identity\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    outcome: 400,
  },
  {
    name: 'Transfer-Encoding: gzip, chunked',
    wire: `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    outcome: 400,
  },
  {
    name: 'Transfer-Encoding twice',
    wire: `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n`,
    outcome: 400,
  },
  {
    name: 'a vertical tab in Transfer-Encoding',
    wire: `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`,
    outcome: 400,
  },
  {
    name: 'space before the colon',
    wire: `POST /a HTTP/1.1\r\n${host}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
    outcome: 400,
  },
  { name: 'a space in a field name', wire: `GET /a HTTP/1.1\r\n${host}X A: 1\r\n\r\n`, outcome: 400 },
  { name: 'a field without a name', wire: `GET /a HTTP/1.1\r\n${host}: 1\r\n\r\n`, outcome: 400 },
  { name: 'a folded field', wire: `GET /a HTTP/1.1\r\n${host}X-A: b\r\n c\r\n\r\n`, outcome: 400 },
  { name: 'bare line feeds', wire: 'GET /a HTTP/1.1\nHost: h\n\n', outcome: 400 },
  { name: 'a bare line feed between fields', wire: 'GET /a HTTP/1.1\r\nHost: h\nX-A: 1\r\n\r\n', outcome: 400 },
  { name: 'a bare carriage return in a value', wire: `GET /a HTTP/1.1\r\n${host}X-A: a\rb\r\n\r\n`, outcome: 400 },
  { name: 'NUL in a value', wire: `GET /a HTTP/1.1\r\n${host}X-A: a\0b\r\n\r\n`, outcome: 400 },
  { name: 'a control character in the target', wire: `GET /a\x01b HTTP/1.1\r\n${host}\r\n`, outcome: 400 },
  { name: 'a space in the target', wire: `GET /a b HTTP/1.1\r\n${host}\r\n`, outcome: 400 },
  { name: 'a fragment in the target', wire: `GET /a#b HTTP/1.1\r\n${host}\r\n`, outcome: 400 },
  { name: 'a chunk size that is no number', wire: `${chunkedPost}zz\r\nabc\r\n0\r\n\r\n`, outcome: 400 },
  { name: 'a chunk size with 0x', wire: `${chunkedPost}0x3\r\nabc\r\n0\r\n\r\n`, outcome: 400 },
  { name: 'a chunk extension', wire: `${chunkedPost}3;a=b\r\nabc\r\n0\r\n\r\n`, outcome: 200, body: 'abc' },
  { name: 'a chunk without its line end', wire: `${chunkedPost}3\r\nabcXX0\r\n\r\n`, outcome: 400 },
  { name: 'a target over the limit', wire: `GET /${'a'.repeat(9000)} HTTP/1.1\r\n${host}\r\n`, outcome: 414 },
  {
    name: 'a field over the limit',
    wire: `GET /a HTTP/1.1\r\n${host}X-A: ${'a'.repeat(40_000)}\r\n\r\n`,
    outcome: 431,
  },
  { name: 'more than 48 fields', wire: `GET /a HTTP/1.1\r\n${host}${many}\r\n`, outcome: 200 },
  { name: 'an empty Host', wire: 'GET /a HTTP/1.1\r\nHost:\r\n\r\n', outcome: 400 },
  { name: 'a field name with a dot', wire: `GET /a HTTP/1.1\r\n${host}X.A: 1\r\n\r\n`, outcome: 200 },
  { name: 'a request with bytes behind it', wire: `POST /slow HTTP/1.1\r\n${host}\r\nhi=there\r\n\r\n`, outcome: 200 },
  { name: 'a bare line feed behind a chunk size', wire: `${chunkedPost}3\nabc\r\n0\r\n\r\n`, outcome: 400 },
  { name: 'a space behind a chunk size', wire: `${chunkedPost}3 \r\nabc\r\n0\r\n\r\n`, outcome: 400 },
  { name: 'a chunk without a size', wire: `${chunkedPost}\r\nabc\r\n0\r\n\r\n`, outcome: 400 },
  { name: 'a chunk size beyond 64 bits', wire: `${chunkedPost}10000000000000003\r\nabc\r\n0\r\n\r\n`, outcome: 400 },
  {
    name: 'a request in the trailers',
    wire: `${chunkedPost}3\r\nabc\r\n0\r\nGET /b HTTP/1.1\r\n${host}\r\n`,
    outcome: 400,
  },
  { name: 'an expectation of something else', wire: `GET /a HTTP/1.1\r\n${host}Expect: 200-ok\r\n\r\n`, outcome: 417 },
  { name: 'CONNECT', wire: `CONNECT h:443 HTTP/1.1\r\n${host}\r\n`, outcome: 501 },
  { name: 'a handshake with a body', wire: `${handshake}Content-Length: 3\r\n\r\nabc`, outcome: 400 },
  {
    name: "a handshake's key alone",
    wire: `GET /a HTTP/1.1\r\n${host}Sec-WebSocket-Version: 13\r\n${key}\r\n`,
    outcome: 200,
  },
  {
    name: 'an Upgrade that Connection does not name',
    wire: `GET /a HTTP/1.1\r\n${host}Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n${key}\r\n`,
    outcome: 200,
  },
  {
    name: 'an Upgrade to something else',
    wire: `GET /a HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`,
    outcome: 200,
  },
  {
    name: 'an Upgrade to something else, with a body',
    wire: [`POST /a HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 6\r\n\r\nabc`, 'def'],
    outcome: 200,
    body: 'abcdef',
  },
  {
    name: 'two pipelined requests',
    wire: `GET /slow HTTP/1.1\r\n${host}\r\nGET /slow HTTP/1.1\r\n${host}\r\n`,
    outcome: 200,
  },
];

/** Parts of responses that a listener may be unable to write. */
const parts: readonly {
  readonly name: string;
  readonly path: string;
  readonly relayed: RegExp;
  readonly dropped: RegExp;
}[] = [
  {
    name: 'an interim response',
    path: '/hints',
    relayed:
      /^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a\.css>; rel=preload\r\n\r\nHTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nafter$/,
    dropped: /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nafter$/,
  },
  {
    name: 'trailers',
    path: '/trailers',
    relayed: /\r\n\r\n6\r\nbefore\r\n0\r\nX-Sum: caf\xe9\r\nX-More: 2\r\n\r\n$/,
    dropped: /\r\n\r\n6\r\nbefore\r\n0\r\n\r\n$/,
  },
];

/** Requests that get no answer. */
interface Unanswered {
  taken: number;
  aborted: number;
}

/** Answers with what it saw; what the path says decides how. */
function echo(exchange: Exchange, unanswered: Unanswered, seen: string[]): void {
  const { head, refusal } = exchange;
  seen.push(head.uri);
  if (refusal !== null) {
    exchange.respond(refusal.status, ['Content-Type', 'text/plain'], refusal.reason, true);
    return;
  }
  if (exchange.isUpgrade) {
    exchange.respond(500, [], 'a handshake', true);
    return;
  }
  const path = head.uri.split('?')[0];
  if (path === '/never') {
    unanswered.taken += 1;
    exchange.onAbort = () => (unanswered.aborted += 1);
    return;
  }
  if (path === '/204') exchange.respondBodyless(204, '', [], null);
  else if (path === '/304') exchange.respondBodyless(304, '', ['ETag', '"a"'], 7);
  else if (path === '/length') stream(exchange, 300_000, 300_000);
  else if (path === '/unknown') stream(exchange, null, 300_000);
  else if (path === '/cut') {
    exchange.startResponse(200, '', [], 100);
    exchange.write(Buffer.from('only this'));
    setTimeout(() => exchange.close(), 10);
  } else if (path === '/cut-unknown') {
    exchange.startResponse(200, '', [], null);
    exchange.write(Buffer.from('only this'));
    setTimeout(() => exchange.close(), 10);
  } else if (path === '/refused') exchange.respond(403, [], 'no', true);
  else if (path === '/slow') setTimeout(() => exchange.respond(200, [], 'slow', false), 30);
  else if (path === '/hints') {
    exchange.relayInterim(103, '', ['Link', '</a.css>; rel=preload']);
    exchange.respond(200, [], 'after', false);
  } else if (path === '/trailers') {
    exchange.startResponse(200, '', exchange.relaysTrailers ? ['Trailer', 'X-Sum'] : [], null);
    exchange.write(Buffer.from('before'));
    exchange.endResponse(['X-Sum', 'caf\u00e9', 'X-More', '2']);
  } else if (path === '/head') exchange.respondBodyless(200, 'Fine', ['X-A', 'caf\u00e9'], 1234);
  else if (exchange.framing.kind === 'none') exchange.respond(200, ['X-Seen', head.uri], '', false);
  else {
    let body = '';
    exchange.readBody((chunk, isLast) => {
      body += chunk.toString('latin1');
      chunk.fill(0x21);
      if (isLast) exchange.respond(200, [], body, false);
    });
  }
}

/** Writes in pieces, waiting for the client whenever it is slow. */
function stream(exchange: Exchange, declared: number | null, bytes: number): void {
  exchange.startResponse(200, '', [], declared);
  let sent = 0;
  const more = (): void => {
    while (sent < bytes) {
      const piece = Buffer.alloc(Math.min(10_000, bytes - sent), 0x61 + ((sent / 10_000) % 26));
      sent += piece.length;
      const isFlowing = exchange.write(piece);
      piece.fill(0);
      if (!isFlowing) return;
    }
    exchange.onDrain = null;
    exchange.endResponse(null);
  };
  exchange.onDrain = more;
  more();
}

function expectedBody(bytes: number): string {
  let text = '';
  for (let sent = 0; sent < bytes; sent += 10_000)
    text += String.fromCharCode(0x61 + ((sent / 10_000) % 26)).repeat(Math.min(10_000, bytes - sent));
  return text;
}

function unchunk(text: string): string {
  let rest = text;
  let body = '';
  for (;;) {
    const end = rest.indexOf('\r\n');
    const size = Number.parseInt(rest.slice(0, end), 16);
    if (!(size > 0)) return body;
    body += rest.slice(end + 2, end + 2 + size);
    rest = rest.slice(end + 4 + size);
  }
}

const posted = (body: string): string => `POST /a HTTP/1.1\r\n${host}Content-Length: ${body.length}\r\n\r\n${body}`;

interface KeptClient {
  readonly socket: Socket;
  /** What it got since its first request was answered. */
  text: string;
  isClosed: boolean;
  problem: string;
}

/** A client that has had an answer, and keeps its connection. */
async function keptClient(port: number, name: string): Promise<KeptClient> {
  const client: KeptClient = { socket: connect(port, '127.0.0.1'), text: '', isClosed: false, problem: '' };
  client.socket.on('error', (error) => (client.problem = error.message));
  client.socket.on('close', () => (client.isClosed = true));
  client.socket.on('data', (chunk) => (client.text += chunk.toString('latin1')));
  client.socket.write(posted(name));
  await until(() => client.text.endsWith(name));
  client.text = '';
  return client;
}

export function runListenerContract(kind: ListenerKind): void {
  const unanswered: Unanswered = { taken: 0, aborted: 0 };
  const seen: string[] = [];
  let listener: Listener;
  const own = new Map(
    differences
      .filter((difference) => difference.listener === kind)
      .map((difference) => [difference.case, difference.outcome]),
  );

  t.before(async () => {
    listener = await listen(kind, {
      host: '127.0.0.1',
      port: 0,
      sharedPort: false,
      limits: () => ({ ...defaultLimits, headerFieldsMax: 100 }),
      timeouts: defaultTimeouts,
      handler: { onRequest: (exchange) => echo(exchange, unanswered, seen), onUnreadable },
    });
  });
  t.teardown(() => listener.stop(100));

  t.test(`${kind}: ${cases.length} ways of sending a request`, async (t) => {
    let ran = 0;
    await Promise.all(
      cases.map(async ({ name, wire, outcome, body }) => {
        const want = own.get(name) ?? outcome;
        const reply = await sendRaw(listener.port, wire, want === 'silent' ? 300 : undefined);
        const got: Outcome = statusOf(reply.text) !== 0 ? statusOf(reply.text) : reply.isClosed ? 'closed' : 'silent';
        t.equal(got, want, name);
        if (body !== undefined && got === 200) t.equal(bodyOf(reply.text), body, `${name}: its body`);
        if (typeof got === 'number' && got >= 400)
          t.match(reply.text.toLowerCase(), 'connection: close', `${name}: and the connection is given up`);
        ran += 1;
      }),
    );
    t.equal(ran, cases.length);
    for (const name of own.keys())
      t.ok(
        [...cases, ...parts].some((one) => one.name === name),
        `listed difference "${name}" is a case`,
      );
    for (const [name, outcome] of own)
      t.not(cases.find((one) => one.name === name)?.outcome ?? 'relayed', outcome, `"${name}" really differs`);
  });

  t.test(`${kind}: responses are framed right`, async (t) => {
    const get = async (path: string, method = 'GET', headers = ''): Promise<string> =>
      (await sendRaw(listener.port, `${method} ${path} HTTP/1.1\r\n${host}${headers}\r\n`)).text;
    const head = await get('/head', 'HEAD');
    t.match(head, /^HTTP\/1\.1 200 Fine\r\n/);
    t.match(head, /\r\nContent-Length: 1234\r\n/i);
    t.match(head, /\r\nX-A: caf\xe9\r\n/i, 'bytes of a value stay bytes');
    t.equal(bodyOf(head), '');
    const empty = await get('/204');
    t.notMatch(empty, /content-length|transfer-encoding/i);
    t.match(await get('/304'), /^HTTP\/1\.1 304 .*\r\nContent-Length: 7\r\n/is);
    const known = await get('/length');
    t.match(known, /\r\nContent-Length: 300000\r\n/i);
    t.equal(bodyOf(known), expectedBody(300_000));
    const unknown = await get('/unknown');
    t.match(unknown, /\r\nTransfer-Encoding: chunked\r\n/i);
    t.equal(unchunk(bodyOf(unknown)), expectedBody(300_000));
    t.match(await get('/cut'), /only this$/);
    const headOfBody = await get('/a?x', 'HEAD');
    t.match(headOfBody, /\r\nX-Seen: \/a\?x\r\n/i);
    t.equal((headOfBody.match(/\r\nDate: /gi) ?? []).length <= 1, true);
  });

  t.test(`${kind}: what goes before and behind a response`, async (t) => {
    for (const { name, path, relayed, dropped } of parts) {
      const isEnd = (text: string): boolean => /after$|\r\n0\r\n(?:.+\r\n)*\r\n$/.test(text);
      const { text } = await sendRaw(listener.port, `GET ${path} HTTP/1.1\r\n${host}\r\n`, undefined, isEnd);
      t.match(text, own.get(name) === 'dropped' ? dropped : relayed, name);
    }
    if (own.get('HTTP/1.0') === 'silent') return;
    const old = async (path: string): Promise<string> =>
      (await sendRaw(listener.port, `GET ${path} HTTP/1.0\r\n${host}\r\n`, undefined, () => false)).text;
    t.match(await old('/hints'), /^HTTP\/1\.1 200 OK\r\n/, 'HTTP/1.0 has no interim responses');
    t.match(await old('/trailers'), /\r\n\r\nbefore$/, 'nor chunks, and so no trailers');
    const isReset = await new Promise<boolean>((resolve) => {
      const socket = connect(listener.port, '127.0.0.1', () =>
        socket.write(`GET /cut-unknown HTTP/1.0\r\n${host}\r\n`),
      );
      socket.on('error', () => resolve(true));
      socket.on('close', () => resolve(false));
      socket.resume();
    });
    t.ok(isReset, 'a body that only the end of the connection ends is not cut off in an orderly way');
  });

  t.test(`${kind}: nothing that follows a refused head is a request`, async (t) => {
    const hidden = `GET /hidden HTTP/1.1\r\n${host}\r\n`;
    const heads = [
      `GET /a#b HTTP/1.1\r\n${host}\r\n`,
      `POST /a HTTP/1.1\r\n${host}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc`,
      `HEAD /a HTTP/1.1\r\n${host}Transfer-Encoding: identity\r\n\r\n`,
      `${handshake}Content-Length: 3\r\n\r\nabc`,
      `GET /a HTTP/1.1\r\n${host}Host: i\r\n\r\n`,
    ];
    for (const head of heads) {
      const { text, isClosed } = await sendRaw(listener.port, head + hidden, undefined, () => false);
      t.ok(isClosed, JSON.stringify(head));
      t.ok((text.match(/HTTP\/1\.1 /g) ?? []).length <= 1, 'one answer, or none');
    }
    t.notOk(seen.includes('/hidden'));
  });

  t.test(`${kind}: requests behind one that is not answered`, async (t) => {
    const slow = `GET /slow HTTP/1.1\r\n${host}\r\n`;
    const isPipelining = own.get('two pipelined requests') !== 'closed';
    const { text } = await sendRaw(listener.port, slow + `GET /a?second HTTP/1.1\r\n${host}\r\n`, undefined, (got) =>
      /X-Seen: [^]*\r\n\r\n$/.test(got),
    );
    t.equal(/\r\n\r\nslowHTTP\/1\.1 200 [^]*X-Seen: \/a\?second\r\n/.test(text), isPipelining, 'in their order');
    const behind = await sendRaw(listener.port, `${slow}${handshake}\r\n`, undefined, () => false);
    t.notMatch(behind.text, 'a handshake', 'a handshake does not write into the answer of the one before');
    if (isPipelining) {
      const last = await sendRaw(
        listener.port,
        `GET /a?last HTTP/1.1\r\n${host}Connection: close\r\n\r\nGET /a?behind HTTP/1.1\r\n${host}\r\n`,
        undefined,
        () => false,
      );
      t.equal(
        (last.text.match(/HTTP\/1\.1 /g) ?? []).length,
        1,
        'the answer to a client that says "close" is the last one',
      );
      t.notOk(seen.includes('/a?behind'));
    }
    seen.length = 0;
    const socket = connect(listener.port, '127.0.0.1');
    socket.on('error', () => {}); // uws closes it
    socket.write(`GET /never?1 HTTP/1.1\r\n${host}\r\nGET /b HTTP/1.1\r\n${host}\r\n`);
    t.ok(await until(() => unanswered.taken === 1), 'the first is taken');
    socket.destroy();
    t.ok(await until(() => unanswered.aborted === 1), 'and given up');
    t.strictSame(seen, ['/never?1'], 'the second was not begun');
    Object.assign(unanswered, { taken: 0, aborted: 0 });
  });

  t.test(`${kind}: answers before the body`, async (t) => {
    const post = (path: string): string =>
      `POST ${path} HTTP/1.1\r\n${host}Expect: 100-continue\r\nContent-Length: 3\r\n\r\n`;
    const asked = await sendRaw(listener.port, post('/a'), undefined, (text) => text.includes('\r\n\r\n'));
    t.match(asked.text, /^HTTP\/1\.1 100 Continue\r\n\r\n$/, 'a body that is wanted is asked for');
    const offering = await sendRaw(
      listener.port,
      post('/a').replace('Expect', 'Connection: Upgrade\r\nUpgrade: h2c\r\nExpect'),
      undefined,
      (text) => text.includes('\r\n\r\n'),
    );
    t.match(offering.text, /^HTTP\/1\.1 100 Continue\r\n\r\n$/, 'also of a client that offers another protocol');
    const refused = await sendRaw(listener.port, post('/refused'));
    t.match(
      refused.text,
      kind === 'uws' ? /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 403 / : /^HTTP\/1\.1 403 /,
      'one that is refused by its head is not, by node',
    );
    const bytes = 8_000_000;
    const large = await new Promise<string>((resolve) => {
      const socket = connect(listener.port, '127.0.0.1');
      let text = '';
      socket.on('error', () => resolve('reset'));
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
        if (text.endsWith('no')) resolve(text);
      });
      socket.pause();
      socket.write(`POST /refused HTTP/1.1\r\n${host}Content-Length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`, (error) =>
        error ? resolve('reset') : socket.resume(),
      );
      t.teardown(() => socket.destroy());
    });
    t.match(
      large,
      /^HTTP\/1\.1 403 [^]*\r\n\r\nno$/,
      'a client that reads when it has sent everything gets its answer, not a reset',
    );
  });

  t.test(`${kind}: a connection serves one request after another`, async (t) => {
    const methods = ['HEAD /head', 'HEAD /a', 'HEAD /304', 'GET /304', 'GET /204', 'GET /a'];
    const socket = connect(listener.port, '127.0.0.1');
    for (const line of methods) {
      socket.write(`${line} HTTP/1.1\r\n${host}\r\n`);
      const head = await new Promise<string>((resolve) => {
        socket.once('data', (chunk) => resolve(chunk.toString('latin1')));
        socket.once('close', () => resolve('closed'));
      });
      t.match(head, /^HTTP\/1\.1 (?:200|204|304) [^]*\r\n\r\n$/, line);
    }
    socket.destroy();
    const reply = await new Promise<string>((resolve) => {
      const socket = connect(listener.port, '127.0.0.1');
      let text = '';
      let asked = 0;
      const ask = (): void => {
        asked += 1;
        socket.write(`POST /a HTTP/1.1\r\n${host}Content-Length: 4\r\n\r\nno ${asked}`);
      };
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
        if (asked < 5 && text.endsWith(`no ${asked}`)) ask();
        else if (text.endsWith('no 5')) {
          socket.destroy();
          resolve(text);
        }
      });
      ask();
    });
    t.equal((reply.match(/HTTP\/1\.1 200/g) ?? []).length, 5);
  });

  t.test(`${kind}: a client that reads slowly gets everything, once`, async (t) => {
    const text = await new Promise<string>((resolve) => {
      const socket = connect({ port: listener.port, host: '127.0.0.1' });
      let got = '';
      socket.write(`GET /length HTTP/1.1\r\n${host}\r\n`);
      socket.pause();
      setTimeout(() => socket.resume(), 100);
      socket.on('data', (chunk) => {
        got += chunk.toString('latin1');
        if (got.length - got.indexOf('\r\n\r\n') - 4 >= 300_000) {
          socket.destroy();
          resolve(got);
        }
      });
    });
    t.equal(bodyOf(text), expectedBody(300_000));
  });

  t.test(`${kind}: a client that takes nothing of its response is cut off`, async (t) => {
    let aborted = 0;
    const onRequest = (exchange: Exchange): void => {
      exchange.onAbort = () => (aborted += 1);
      stream(exchange, null, 100_000_000);
    };
    const hasty = await listen(kind, {
      host: '127.0.0.1',
      port: 0,
      sharedPort: false,
      limits: () => defaultLimits,
      timeouts: { ...defaultTimeouts, clientIdleMs: 500 },
      handler: { onRequest, onUnreadable },
    });
    t.teardown(() => hasty.stop(0));
    const socket = connect(hasty.port, '127.0.0.1');
    t.teardown(() => socket.destroy());
    socket.on('error', () => {}); // being cut off is what this is about
    socket.pause();
    socket.write(`GET / HTTP/1.1\r\n${host}\r\n`);
    t.ok(await until(() => aborted === 1));
  });

  t.test(`${kind}: a stop answers what was on its way, and closes the rest in order`, async (t) => {
    let held: Exchange | null = null;
    const onRequest = (exchange: Exchange): void =>
      exchange.head.uri === '/held' ? void (held = exchange) : echo(exchange, unanswered, seen);
    const ending = await listen(kind, {
      host: '127.0.0.1',
      port: 0,
      sharedPort: false,
      limits: () => defaultLimits,
      timeouts: defaultTimeouts,
      handler: { onRequest, onUnreadable },
    });
    const clients = await Promise.all(
      ['at once', 'later', 'slow', 'idle'].map((name) => keptClient(ending.port, name)),
    );
    const [atOnce, later, slow, idle] = clients as [KeptClient, KeptClient, KeptClient, KeptClient];
    t.teardown(() => clients.forEach(({ socket }) => socket.destroy()));
    slow.socket.write(`GET /held HTTP/1.1\r\n${host}\r\n`);
    t.ok(await until(() => held !== null), 'one request is open');
    // This thread serves both sides: what is written here is in the listener's socket before it can turn to it.
    const stopped = ending.stop(patienceMs, () => {
      later.socket.write(posted('later'));
      (held as unknown as Exchange).respond(200, [], 'held', false);
    });
    atOnce.socket.write(posted('at once'));
    await stopped;
    t.ok(await until(() => clients.every(({ isClosed }) => isClosed)), 'every connection is closed');
    const last = (name: string): RegExp =>
      new RegExp(`^HTTP/1\\.1 200 [^]*\\r\\nConnection: close\\r\\n[^]*${name}`, 'i');
    t.match(atOnce.text, last('at once'));
    t.match(later.text, last('later'));
    t.match(slow.text, last('held'), 'also the one that was open');
    t.equal(idle.text, '');
    t.strictSame(
      clients.map(({ problem }) => problem),
      ['', '', '', ''],
      'none is reset',
    );
    t.equal((await sendRaw(ending.port, `GET /a HTTP/1.1\r\n${host}\r\n`)).text, '', 'nobody listens any more');
  });

  t.test(`${kind}: a client that goes away is noticed`, async (t) => {
    const socket = connect(listener.port, '127.0.0.1');
    socket.write(`GET /never HTTP/1.1\r\n${host}\r\n`);
    t.ok(await until(() => unanswered.taken === 1), 'it asked');
    t.equal(unanswered.aborted, 0);
    socket.destroy();
    t.ok(await until(() => unanswered.aborted === 1), 'and went');
  });
}
