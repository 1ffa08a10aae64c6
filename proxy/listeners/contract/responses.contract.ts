// That responses are framed right, whole, and told to stop where the client stands still.
import { connect } from 'node:net';
import t from 'tap';
import { defaultLimits, defaultTimeouts } from '../../contract/index.js';
import { bodyOf, sendRaw } from '../../e2e/raw-client.js';
import { until } from '../../e2e/waiting.js';
import { listen, type Exchange } from '../index.js';
import { expectedBody, onUnreadable, stream, unchunk, type Suite } from './echo.contract.js';
import { host, parts } from './request-cases.contract.js';

export function testResponses(suite: Suite): void {
  const { kind, own } = suite;

  t.test(`${kind}: responses are framed right`, async (t) => {
    const get = async (path: string, method = 'GET', headers = ''): Promise<string> =>
      (await sendRaw(suite.port(), `${method} ${path} HTTP/1.1\r\n${host}${headers}\r\n`)).text;
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
      const { text } = await sendRaw(suite.port(), `GET ${path} HTTP/1.1\r\n${host}\r\n`, undefined, isEnd);
      t.match(text, own.get(name) === 'dropped' ? dropped : relayed, name);
    }
    if (own.get('HTTP/1.0') === 'silent') return;
    const old = async (path: string): Promise<string> =>
      (await sendRaw(suite.port(), `GET ${path} HTTP/1.0\r\n${host}\r\n`, undefined, () => false)).text;
    t.match(await old('/hints'), /^HTTP\/1\.1 200 OK\r\n/, 'HTTP/1.0 has no interim responses');
    t.match(await old('/trailers'), /\r\n\r\nbefore$/, 'nor chunks, and so no trailers');
    const isReset = await new Promise<boolean>((resolve) => {
      const socket = connect(suite.port(), '127.0.0.1', () => socket.write(`GET /cut-unknown HTTP/1.0\r\n${host}\r\n`));
      socket.on('error', () => resolve(true));
      socket.on('close', () => resolve(false));
      socket.resume();
    });
    t.ok(isReset, 'a body that only the end of the connection ends is not cut off in an orderly way');
  });

  t.test(`${kind}: answers before the body`, async (t) => {
    const post = (path: string): string =>
      `POST ${path} HTTP/1.1\r\n${host}Expect: 100-continue\r\nContent-Length: 3\r\n\r\n`;
    const asked = await sendRaw(suite.port(), post('/a'), undefined, (text) => text.includes('\r\n\r\n'));
    t.match(asked.text, /^HTTP\/1\.1 100 Continue\r\n\r\n$/, 'a body that is wanted is asked for');
    const offering = await sendRaw(
      suite.port(),
      post('/a').replace('Expect', 'Connection: Upgrade\r\nUpgrade: h2c\r\nExpect'),
      undefined,
      (text) => text.includes('\r\n\r\n'),
    );
    t.match(offering.text, /^HTTP\/1\.1 100 Continue\r\n\r\n$/, 'also of a client that offers another protocol');
    const refused = await sendRaw(suite.port(), post('/refused'));
    t.match(
      refused.text,
      kind === 'uws' ? /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 403 / : /^HTTP\/1\.1 403 /,
      'one that is refused by its head is not, by node',
    );
    const bytes = 8_000_000;
    const large = await new Promise<string>((resolve) => {
      const socket = connect(suite.port(), '127.0.0.1');
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

  t.test(`${kind}: a client that reads slowly gets everything, once`, async (t) => {
    const text = await new Promise<string>((resolve) => {
      const socket = connect({ port: suite.port(), host: '127.0.0.1' });
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
}
