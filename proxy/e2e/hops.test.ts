// What belongs to one hop and what goes on, with an upstream that writes the very bytes it is told to: interim
// responses, trailers, codings, answers that are cut off or come early; and clients that leave at every step.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { isInFlight, listenerKinds, startPlane, testMsMax, until } from './harness.js';
import { bodyOf, sendRaw, statusOf } from './raw-client.js';

t.setTimeout(testMsMax);

/** Bytes to send, or one of `end` and `reset`. */
type Step = string;

interface Scripted {
  readonly url: string;
  /** Whole requests, as they came. */
  readonly seen: string[];
  readonly sockets: Set<Socket>;
}

/**
 * Answers the first request of each path as the script says; `null` = not at all. Requests need a Content-Length or no
 * body.
 */
async function startScripted(t: Test, script: Readonly<Record<string, readonly Step[] | null>>): Promise<Scripted> {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = '';
    socket.on('error', () => {}); // the proxy cuts what it no longer wants
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n') + 4;
      const isAnswered = /^\w+ \/early\//.test(text); // as soon as its head is there
      if (
        end === 3 ||
        (!isAnswered && text.length < end + Number(/content-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? 0))
      )
        return;
      seen.push(text);
      const steps = script[/^\w+ (\/[a-z/]*)/.exec(text)?.[1] ?? ''];
      text = '';
      for (const step of steps ?? []) {
        if (step === 'end') socket.end();
        else if (step === 'reset') setTimeout(() => socket.resetAndDestroy(), 50);
        else socket.write(Buffer.from(step, 'latin1'));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, sockets };
}

/**
 * Sends each piece when what came so far matches the one before; `again` is repeated until then. Ends when the peer
 * closes.
 */
function talk(
  port: number,
  turns: readonly { readonly send: string; readonly until: RegExp; readonly again?: string }[],
): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    let turn = -1;
    const next = (): void => {
      while (turn < 0 || turns[turn]?.until.test(text) === true) {
        turn += 1;
        if (turn === turns.length) socket.end();
        else socket.write(turns[turn]?.send ?? '');
      }
    };
    const repeat = setInterval(() => socket.write(turns[turn]?.again ?? ''), 50);
    socket.on('error', () => {}); // a reset is one way of closing
    socket.on('close', () => {
      clearInterval(repeat);
      resolve(text);
    });
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      next();
    });
    next();
  });
}

const get = (path: string, extra = ''): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n${extra}\r\n`;
const html = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n';
const chunkedHtml = `${html}Transfer-Encoding: chunked\r\n`;
const coded = (coding: string, body: Buffer): readonly Step[] => [
  `${html}Content-Encoding: ${coding}\r\nContent-Length: ${body.length}\r\n\r\n${body.toString('latin1')}`,
];
const leak = gzipSync('<p>a LEAK of something</p>');
const sites = (url: string): object => ({
  sites: [
    { name: 'shop', prefix: '/', upstream: url, protected: true },
    { name: 'free', prefix: '/early', upstream: url, protected: false },
  ],
});

for (const kind of listenerKinds) {
  t.test(`${kind}: interim responses, trailers and codings`, async (t) => {
    const upstream = await startScripted(t, {
      '/hints': [
        'HTTP/1.1 100 Continue\r\n\r\n' +
          'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nConnection: X-Hop\r\nX-Hop: 1\r\n\r\n',
        'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi',
      ],
      '/trailers': [
        'HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n' +
          '2\r\nhi\r\n0\r\nX-Sum: 1\r\nSet-Cookie: a=b\r\n\r\n',
      ],
      '/held': [`${chunkedHtml}Trailer: X-Sum\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 1\r\n\r\n`],
      '/announced': [`${chunkedHtml}Trailer: X-Sum\r\n\r\n2\r\nhi\r\n0\r\n\r\n`],
      '/gzip': coded('gzip', leak),
      '/behind': coded('gzip', Buffer.concat([leak, Buffer.from('more')])),
      '/twice': coded('gzip, gzip', gzipSync(leak)),
      '/lines': coded('identity\r\nContent-Encoding: gzip', leak),
      '/lie': coded('gzip', Buffer.from('<p>a LEAK of something</p>')),
    });
    const plane = await startPlane(t, kind, sites(upstream.url), {
      plan: { seesResponses: true, responseNeedle: 'LEAK' },
    });
    const ask = async (path: string, extra = ''): Promise<string> =>
      (
        await sendRaw(plane.ports.http, get(path, extra), undefined, (text) =>
          /\r\n\r\n(?:hi|\{.*\}|2\r\nhi\r\n0\r\n(?:.+\r\n)*\r\n)$/.test(text),
        )
      ).text;

    const isNode = kind !== 'uws';
    const hints = await ask('/hints');
    t.match(
      hints,
      isNode
        ? /^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a\.css>\r\nX-Request-Id: \w+\r\n\r\nHTTP\/1\.1 200 /
        : /^HTTP\/1\.1 200 /,
    );
    t.notMatch(hints, 'X-Hop');
    const trailers = await ask('/trailers', 'TE: trailers\r\nConnection: TE\r\n');
    t.match(
      bodyOf(trailers),
      isNode ? /^2\r\nhi\r\n0\r\nX-Sum: 1\r\n\r\n$/ : /^2\r\nhi\r\n0\r\n\r\n$/,
      'a cookie does not stand behind a body',
    );
    t.equal(/\r\nTrailer: X-Sum\r\n/i.test(trailers), isNode);
    t.equal(
      /\r\nConnection: keep-alive, TE\r\nTE: trailers\r\n/.test(upstream.seen.at(-1) ?? ''),
      isNode,
      'asked for where they can be relayed',
    );
    t.match(bodyOf(await ask('/held')), isNode ? /\r\n0\r\nX-Sum: 1\r\n\r\n$/ : /\r\n0\r\n\r\n$/);
    const announced = await ask('/announced');
    t.match(announced, /\r\nContent-Length: 2\r\n(?:.+\r\n)*\r\nhi$/i, 'none came: inspected whole, sent whole');
    t.notMatch(announced, /\r\nTrailer:/i);

    for (const path of ['/gzip', '/behind', '/twice', '/lines', '/lie'])
      t.equal(statusOf(await ask(path, 'Accept-Encoding: zstd, gzip\r\n')), 403, path);
    t.match(
      upstream.seen.at(-1),
      /\r\naccept-encoding: gzip\r\n/i,
      'no coding is asked for that rules could not look through',
    );
    const { text } = await sendRaw(
      plane.ports.http,
      'POST /hints HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Late: EVIL\r\n\r\n',
      undefined,
      (text) => text.endsWith('hi'),
    );
    t.match(text, /\r\n\r\nhi$/);
    t.match(upstream.seen.at(-1), /\r\n\r\nok$/, 'trailers of a request end here');
    t.notMatch(upstream.seen.at(-1), 'X-Late');
  });

  t.test(`${kind}: answers that are cut off, or come before the request is whole`, async (t) => {
    const upstream = await startScripted(t, {
      '/chunked': ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n', 'reset'],
      '/trailers': ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: ', 'reset'],
      '/length': ['HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi', 'reset'],
      '/open': ['HTTP/1.1 200 OK\r\n\r\nhi', 'reset'],
      '/held': [`${chunkedHtml}\r\n2\r\nhi\r\n`, 'end'],
      '/hints': ['HTTP/1.1 103 Early Hints\r\n\r\n', 'end'],
      '/early/part': ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n'],
      '/early/whole': ['HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi'],
      '/plain': ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'],
    });
    const plan = { seesResponses: true, responseNeedle: 'LEAK' };
    const plane = await startPlane(t, kind, { ...sites(upstream.url), timeouts: { drain_ms: 300 } }, { plan });
    const { http } = plane.ports;
    for (const path of ['/chunked', '/trailers', '/length', '/open']) {
      const reply = await sendRaw(http, get(path), undefined, () => false);
      t.ok(reply.isClosed, path);
      t.notMatch(reply.text, /\r\n0\r\n/, `${path}: it does not look whole`);
      t.match(reply.text, 'hi');
    }
    t.equal(statusOf((await sendRaw(http, get('/held'))).text), 502, 'nothing of a held one was sent: a page says so');
    t.match((await sendRaw(http, get('/hints'), undefined, (text) => text.includes(' 502 '))).text, / 502 /);

    const upload = (path: string): string =>
      `POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n`;
    // The client goes on with its body until the answer has begun: its time must not be over before that.
    const hasty = await startPlane(
      t,
      kind,
      { ...sites(upstream.url), timeouts: { client_body_idle_ms: 2000, drain_ms: 300 } },
      { plan },
    );
    const part = await talk(hasty.ports.http, [
      { send: upload('/early/part'), again: '2\r\nab\r\n', until: /hi/ },
      { send: '', until: /never/ },
    ]);
    t.match(
      part,
      /\r\n\r\n2\r\nhi(?:\r\n)?$/,
      'the client stops in the middle of its body: the answer it has is cut, nothing is written into it',
    );
    const whole = await talk(http, [
      { send: upload('/early/whole'), until: /hi/ },
      { send: `2\r\ncd\r\n0\r\n\r\n${get('/plain')}`, until: /hi[^]*hi/ },
    ]);
    t.equal(
      (whole.match(/HTTP\/1\.1 200 /g) ?? []).length,
      2,
      'what is left of a request that was answered early is no request',
    );
    for (const each of [plane, hasty]) t.equal((await each.status())['restarts'], 0, 'no worker went');
    t.ok(await until(async () => (await isInFlight(plane, 0)) && (await isInFlight(hasty, 0))));
  });

  t.test(`${kind}: a client that leaves ends what was done for it`, async (t) => {
    const upstream = await startScripted(t, {
      '/wait': null,
      '/hi': ['HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi'],
      '/flow': ['HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\nhi'],
      '/held': [`${html}Content-Length: 9000\r\n\r\nhi`],
      '/hints': ['HTTP/1.1 103 Early Hints\r\n\r\n'],
    });
    const plane = await startPlane(t, kind, sites(upstream.url), { plan: { seesResponses: true } });
    const post = (path: string): string => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nonly this`;
    // A pipelined request whose client leaves with its answer half out; uws closes such connections itself.
    const pipelined = [
      [get('/hi') + get('/flow'), true],
      [`${get('/hi')}POST /flow HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok`, true],
    ] as const;
    for (const [wire, reaches] of [
      ...(kind !== 'uws' ? pipelined : []),
      [get('/wait'), true],
      [get('/flow'), true],
      [get('/held'), true],
      [get('/hints'), true],
      [post('/body'), false],
      [`${post('/early/body').replace('100', '100000')}`, true],
    ] as const) {
      upstream.seen.length = 0;
      const client = connect(plane.ports.http, '127.0.0.1');
      client.on('error', () => {}); // it is destroyed below
      client.write(wire);
      const last = wire.slice(wire.lastIndexOf(' /'), wire.lastIndexOf(' HTTP'));
      t.ok(
        await until(async () => (reaches ? upstream.seen.at(-1)?.includes(last) === true : await isInFlight(plane, 1))),
        wire.slice(0, 12),
      );
      client.destroy();
      t.ok(await until(() => isInFlight(plane, 0)), 'it is not counted any more');
      t.ok(await until(() => upstream.sockets.size === 0), 'and the upstream hears of it');
    }
  });
}
