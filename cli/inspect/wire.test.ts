import t from 'tap';
import type { RequestHead } from '#engine';
import { isReflection, reflect, sniffContentType } from './reflect.js';
import { parseWire } from './wire.js';

const parse = (text: string): NonNullable<ReturnType<typeof parseWire>> => {
  const wire = parseWire(Buffer.from(text, 'latin1'));
  if (wire === null) throw new Error('nothing parsed');
  return wire;
};
const host = 'Host: a.test\r\n';

t.test('requests', (t) => {
  const table: readonly {
    readonly what: string;
    readonly text: string;
    readonly head?: Partial<RequestHead>;
    readonly body?: string | null;
    readonly objection?: RegExp | null;
  }[] = [
    {
      what: 'plain',
      text: `GET /x?y=1 HTTP/1.1\r\n${host}A:  b \r\n\r\n`,
      head: { method: 'GET', uri: '/x?y=1', protocol: 'HTTP/1.1', headers: ['Host', 'a.test', 'A', 'b'] },
      body: null,
      objection: null,
    },
    {
      what: 'bare line feeds',
      text: 'GET / HTTP/1.1\nHost: a.test\n\n',
      head: { headers: ['Host', 'a.test'] },
      objection: null,
    },
    {
      what: 'duplicates are kept in order',
      text: `GET / HTTP/1.1\r\n${host}X: 1\r\nx: 2\r\n\r\n`,
      head: { headers: ['Host', 'a.test', 'X', '1', 'x', '2'] },
    },
    {
      what: 'folded lines join',
      text: `GET / HTTP/1.1\r\n${host}X: 1\r\n  2\r\n\r\n`,
      head: { headers: ['Host', 'a.test', 'X', '1 2'] },
    },
    {
      what: 'bytes stay bytes',
      text: `GET /\xe9 HTTP/1.1\r\n${host}X: \xff\r\n\r\n`,
      head: { uri: '/\xe9', headers: ['Host', 'a.test', 'X', '\xff'] },
    },
    {
      what: 'a body as long as it says',
      text: `POST / HTTP/1.1\r\n${host}Content-Length: 3\r\n\r\nabcdef`,
      body: 'abc',
    },
    {
      what: 'a body shorter than it says',
      text: `POST / HTTP/1.1\r\n${host}Content-Length: 30\r\n\r\nabc`,
      body: 'abc',
    },
    { what: 'no length, no body', text: `POST / HTTP/1.1\r\n${host}\r\nabc`, body: null },
    {
      what: 'chunks',
      text:
        `POST / HTTP/1.1\r\n${host}Content-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n` +
        '3;x=y\r\nabc\r\n2\r\nde\r\n0\r\n\r\n',
      head: { headers: ['Host', 'a.test', 'Transfer-Encoding', 'chunked'] },
      body: 'abcde',
    },
    {
      what: 'damaged chunks end the body',
      text: `POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\nde`,
      body: 'abc',
    },
    {
      what: 'blanks in the target',
      text: `GET /a b HTTP/1.1\r\n${host}\r\n`,
      head: { uri: '/a b' },
      objection: /white space/,
    },
    {
      what: 'blanks before the method',
      text: ` GET / HTTP/1.1\r\n${host}\r\n`,
      head: { method: 'GET' },
      objection: /before the method/,
    },
    { what: 'a method that is no token', text: `G(T / HTTP/1.1\r\n${host}\r\n`, objection: /not a token/ },
    { what: 'a fragment', text: `GET /#x HTTP/1.1\r\n${host}\r\n`, objection: /fragment/ },
    { what: 'no slash', text: `GET x HTTP/1.1\r\n${host}\r\n`, objection: /slash/ },
    { what: 'absolute form', text: `GET http://a.test/ HTTP/1.1\r\n${host}\r\n`, objection: null },
    { what: 'CONNECT', text: `CONNECT a.test:443 HTTP/1.1\r\n${host}\r\n`, objection: null },
    { what: 'CONNECT without a port', text: `CONNECT a.test HTTP/1.1\r\n${host}\r\n`, objection: /port/ },
    { what: 'HTTP/0.9 in words', text: `GET / HTTP/0.9\r\n${host}\r\n`, objection: /not HTTP\/1/ },
    { what: 'no Host', text: 'GET / HTTP/1.1\r\n\r\n', objection: /Host/ },
    { what: 'no Host in HTTP/1.0', text: 'GET / HTTP/1.0\r\n\r\n', objection: null },
    { what: 'a Host that is none', text: 'GET / HTTP/1.1\r\nHost: a%00\r\n\r\n', objection: /Host/ },
    { what: 'an IPv6 Host', text: 'GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n', objection: null },
    {
      what: 'a length that is none',
      text: `POST / HTTP/1.1\r\n${host}Content-Length: 3x\r\n\r\nabc`,
      objection: /Content-Length/,
      body: 'abc',
    },
    { what: 'a bare CR', text: `GET / HTTP/1.1\r\n${host}X: a\rY: b\r\n\r\n`, objection: /control/ },
    {
      what: 'no colon',
      text: `GET / HTTP/1.1\r\n${host}X\r\n\r\n`,
      head: { headers: ['Host', 'a.test', 'X', ''] },
      objection: /colon/,
    },
  ];
  for (const { what, text, head, body, objection } of table) {
    const wire = parse(text);
    if (head !== undefined) t.match(wire.head, head, what);
    if (body !== undefined) t.equal(wire.body?.toString('latin1') ?? null, body, what);
    if (objection === null) t.equal(wire.objection, null, what);
    else if (objection !== undefined) t.match(wire.objection, objection, what);
  }
  t.equal(parse('GET /\r\n\r\n').hasNoStatusLine, true, 'HTTP/0.9 has no status line');
  t.equal(parse(`GET / HTTP/1.1\r\n${host}X: a\rb\r\n\r\n`).isUnreadable, true);
  t.equal(parseWire(Buffer.from('\r\n\r\n')), null, 'no request line');
  t.end();
});

t.test('the reflecting backend', (t) => {
  const request = { ...parse(`POST /reflect HTTP/1.1\r\n${host}\r\n`).head };
  const answer = (body: string): ReturnType<typeof reflect> => reflect(request, Buffer.from(body));
  t.match(answer('{"status":418,"headers":{"X-A":"b"},"body":"hello"}'), {
    head: { status: 418, headers: ['X-A', 'b', 'Content-Type', 'text/plain; charset=utf-8', 'Content-Length', '5'] },
  });
  t.equal(answer('{"body":"plain","encodedBody":"eA=="}').body.toString(), 'plain', 'body wins');
  t.equal(answer('{"encodedBody":"eA=="}').body.toString(), 'x');
  t.same(
    answer('{"headers":{"content-type":"a/b"},"body":"<html>"}').head.headers,
    ['content-type', 'a/b', 'Content-Length', '6'],
    'a type of its own',
  );
  for (const bad of ['{', '{"status":99}', '{"status":600}', '']) t.equal(answer(bad).head.status, 400, bad);
  t.equal(reflect({ ...request, uri: '/other' }, null).head.status, 200);
  t.equal(isReflection({ ...request, method: 'GET' }), false);
  t.end();
});

t.test('types are sniffed', (t) => {
  for (const [body, type] of [
    ['  <HTML><', 'text/html; charset=utf-8'],
    ['<htmlx', 'text/plain; charset=utf-8'],
    ['<!-- x', 'text/html; charset=utf-8'],
    ['<?xml version', 'text/xml; charset=utf-8'],
    ['{"a":1}', 'text/plain; charset=utf-8'],
    ['GIF89a..', 'image/gif'],
    ['a\x01b', 'application/octet-stream'],
  ] as const) {
    t.equal(sniffContentType(Buffer.from(body, 'latin1')), type, body);
  }
  t.end();
});
