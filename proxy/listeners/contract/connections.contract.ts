// What a connection lives through: one request after another, a client that goes, a listener that stops.
import { connect, type Socket } from 'node:net';
import t from 'tap';
import { defaultLimits, defaultTimeouts } from '../../contract/index.js';
import { sendRaw } from '../../e2e/raw-client.js';
import { patienceMs, until } from '../../e2e/waiting.js';
import { listen, type Exchange } from '../index.js';
import { echo, onUnreadable, type Suite } from './echo.contract.js';
import { host } from './request-cases.contract.js';

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

export function testConnections(suite: Suite): void {
  const { kind, seen, unanswered } = suite;

  t.test(`${kind}: a connection serves one request after another`, async (t) => {
    const methods = ['HEAD /head', 'HEAD /a', 'HEAD /304', 'GET /304', 'GET /204', 'GET /a'];
    const socket = connect(suite.port(), '127.0.0.1');
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
      const socket = connect(suite.port(), '127.0.0.1');
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
    const socket = connect(suite.port(), '127.0.0.1');
    socket.write(`GET /never HTTP/1.1\r\n${host}\r\n`);
    t.ok(await until(() => unanswered.taken === 1), 'it asked');
    t.equal(unanswered.aborted, 0);
    socket.destroy();
    t.ok(await until(() => unanswered.aborted === 1), 'and went');
  });
}
