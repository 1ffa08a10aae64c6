// Ways of sending a request, and what becomes of each; where a listener differs, differences.ts says so.
import type { Outcome } from '../differences.js';

export interface Case {
  readonly name: string;
  readonly wire: string | readonly string[];
  readonly outcome: Outcome;
  /** Of the echoed body, when the outcome is 200. */
  readonly body?: string;
}

export const host = 'Host: h\r\n';
const chunkedPost = `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n`;
const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
export const handshake =
  `GET /a HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: websocket\r\n` + `Sec-WebSocket-Version: 13\r\n${key}`;
const many = Array.from({ length: 60 }, (_, index) => `X-${index}: 1\r\n`).join('');

export const cases: readonly Case[] = [
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
  { name: 'an unknown method', wire: `FOO /a HTTP/1.1\r\n${host}\r\n`, outcome: 200 },
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
export const parts: readonly {
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
