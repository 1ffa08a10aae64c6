// What may be sent, what is refused, and what follows a refused or unanswered request.
import { connect } from 'node:net';
import t from 'tap';
import { bodyOf, sendRaw, statusOf } from '../../e2e/raw-client.js';
import { until } from '../../e2e/waiting.js';
import type { Outcome } from '../differences.js';
import type { Suite } from './echo.contract.js';
import { cases, handshake, host, parts } from './request-cases.contract.js';

export function testRequests(suite: Suite): void {
  const { kind, own, seen, unanswered } = suite;

  t.test(`${kind}: ${cases.length} ways of sending a request`, async (t) => {
    let ran = 0;
    await Promise.all(
      cases.map(async ({ name, wire, outcome, body }) => {
        const want = own.get(name) ?? outcome;
        const reply = await sendRaw(suite.port(), wire, want === 'silent' ? 300 : undefined);
        const got: Outcome = statusOf(reply.text) !== 0 ? statusOf(reply.text) : reply.isClosed ? 'closed' : 'silent';
        t.equal(got, want, name);
        if (body !== undefined && got === 200) t.equal(bodyOf(reply.text), body, `${name}: its body`);
        if (typeof got === 'number' && got >= 400)
          t.match(reply.text.toLowerCase(), 'connection: close', `${name}: and the connection is given up`);
        const counted = (pattern: RegExp): number => (reply.text.match(pattern) ?? []).length;
        t.ok(counted(/\r\nDate: /gi) <= counted(/HTTP\/1\.1 \d/g), `${name}: one Date a response at most`);
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
      const { text, isClosed } = await sendRaw(suite.port(), head + hidden, undefined, () => false);
      t.ok(isClosed, JSON.stringify(head));
      t.ok((text.match(/HTTP\/1\.1 /g) ?? []).length <= 1, 'one answer, or none');
    }
    t.notOk(seen.includes('/hidden'));
  });

  t.test(`${kind}: requests behind one that is not answered`, async (t) => {
    const slow = `GET /slow HTTP/1.1\r\n${host}\r\n`;
    const isPipelining = own.get('two pipelined requests') !== 'closed';
    const { text } = await sendRaw(suite.port(), slow + `GET /a?second HTTP/1.1\r\n${host}\r\n`, undefined, (got) =>
      /X-Seen: [^]*\r\n\r\n$/.test(got),
    );
    t.equal(/\r\n\r\nslowHTTP\/1\.1 200 [^]*X-Seen: \/a\?second\r\n/.test(text), isPipelining, 'in their order');
    const behind = await sendRaw(suite.port(), `${slow}${handshake}\r\n`, undefined, () => false);
    // Whether it is served in its turn or not at all: nothing of it stands before or within the answer to the first.
    t.match(
      behind.text,
      isPipelining ? /^HTTP\/1\.1 200 [^]*\r\n\r\nslow(?:HTTP\/1\.1 500 [^]*a handshake)?$|^$/ : /^(?!.*a handshake)/s,
      'a handshake does not write into the answer of the one before',
    );
    if (isPipelining) {
      const last = await sendRaw(
        suite.port(),
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
    const socket = connect(suite.port(), '127.0.0.1');
    socket.on('error', () => {}); // uws closes it
    socket.write(`GET /never?1 HTTP/1.1\r\n${host}\r\nGET /b HTTP/1.1\r\n${host}\r\n`);
    t.ok(await until(() => unanswered.taken === 1), 'the first is taken');
    socket.destroy();
    t.ok(await until(() => unanswered.aborted === 1), 'and given up');
    t.strictSame(seen, ['/never?1'], 'the second was not begun');
    Object.assign(unanswered, { taken: 0, aborted: 0 });
  });
}
