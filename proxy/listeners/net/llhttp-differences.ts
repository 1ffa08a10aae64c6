// Where this listener reads requests otherwise than llhttp, the parser of Node.js, with the section that lets or makes
// it. llhttp.test.ts holds both against each other on examples, and on generated and damaged requests: a difference
// that stands here in no row fails, and so does a row that is none any more.

import { METHODS } from 'node:http';

/** Refused here and taken by llhttp. */
export interface Stricter {
  /** How the refusal begins. */
  readonly reason: string;
  readonly section: string;
  /** A request that shows it. */
  readonly example: string;
}

/** Taken here and refused by llhttp. */
export interface Wider {
  readonly name: string;
  readonly section: string;
  readonly example: string;
  /** The first release of llhttp that takes it, too, such as 9.4; absent: none. */
  readonly takenFrom?: number;
  /** Whether these bytes, latin1, are of this kind. */
  fits(wire: string): boolean;
}

const chunked = 'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n';

export const stricter: readonly Stricter[] = [
  {
    reason: 'the method is not a token',
    section: 'RFC 9112 section 2.2: one empty line before a request line is passed over, not several, no bare LF',
    example: '\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n',
  },
  {
    reason: 'a bare carriage return before the request line',
    section: 'RFC 9112 section 2.2',
    example: '\r\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n',
  },
  {
    reason: 'the request target has a fragment',
    section: 'RFC 9112 section 3.2: no form of a target has one, and parsers cut it in different places',
    example: 'GET /a#b HTTP/1.1\r\nHost: h\r\n\r\n',
  },
  {
    reason: 'the request target is empty, or has spaces or control characters',
    section: 'RFC 9112 section 3: one space between the parts of a request line',
    example: 'GET  / HTTP/1.1\r\nHost: h\r\n\r\n',
  },
  {
    reason: 'a request line without a version',
    section: 'RFC 9112 section 3: the version is part of the line; HTTP/0.9 has no headers that could be inspected',
    example: 'GET /\r\n\r\n',
  },
  {
    reason: 'a request line that does not end with its version',
    section: 'RFC 9112 section 3',
    example: 'GET /  HTTP/1.1\r\nHost: h\r\n\r\n',
  },
  {
    reason: 'only HTTP/1.1 and HTTP/1.0 are spoken here',
    section: 'RFC 9110 section 15.6.6',
    example: 'GET / HTTP/2.0\r\nHost: h\r\n\r\n',
  },
  { reason: 'CONNECT', section: 'RFC 9110 section 9.3.6', example: 'CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n' },
  {
    reason: 'a request target that is another host',
    section: 'RFC 9112 section 3.2.2: which of two hosts is meant would be for the upstream to guess',
    example: 'GET http://i/ HTTP/1.1\r\nHost: h\r\n\r\n',
  },
  {
    reason: 'a request target that is not a path',
    section: 'RFC 9112 section 3.2.4: the asterisk is for OPTIONS',
    example: 'GET * HTTP/1.1\r\nHost: h\r\n\r\n',
  },
  { reason: 'no Host', section: 'RFC 9112 section 3.2', example: 'GET / HTTP/1.1\r\n\r\n' },
  {
    reason: 'more than one Host',
    section: 'RFC 9112 section 3.2',
    example: 'GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n',
  },
  {
    reason: 'a Host that is not a host name',
    section: 'RFC 9112 section 3.2',
    example: 'GET / HTTP/1.1\r\nHost: a@b\r\n\r\n',
  },
  {
    reason: 'an expectation other than 100-continue',
    section: 'RFC 9110 section 10.1.1',
    example: 'GET / HTTP/1.1\r\nHost: h\r\nExpect: a\r\n\r\n',
  },
  {
    reason: 'Transfer-Encoding in an HTTP/1.0 request',
    section: 'RFC 9112 section 6.1: "MUST treat the message as if the framing is faulty"',
    example: 'POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  },
  {
    reason: 'a Transfer-Encoding other than chunked',
    section: 'RFC 9112 section 6.1: what is not understood is answered with an error',
    example: 'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  },
  {
    reason: 'more than one Transfer-Encoding',
    section: 'RFC 9112 section 6.1: chunked is applied once',
    example: 'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  },
  {
    reason: 'a chunk size with too many digits',
    section: 'RFC 9112 section 7.1: large numbers are to be anticipated; 256 TiB in one chunk is beyond every limit',
    example: `${chunked}0000000000001\r\na\r\n0\r\n\r\n`,
  },
];

export const wider: readonly Wider[] = [
  {
    name: 'a method that llhttp does not know',
    section: 'RFC 9110 section 9.1: a method is any token; what it means is for the application to say',
    example: 'FOO / HTTP/1.1\r\nHost: h\r\n\r\n',
    fits: (wire) => !METHODS.includes(/^(?:\r\n)?([^ ]+) /.exec(wire)?.[1] ?? 'GET'),
  },
  {
    name: 'a tab behind the number of a Content-Length',
    section: 'RFC 9110 section 5.5: a tab is white space around a value, too; llhttp before 9.4 knows the blank only',
    example: 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\t\r\n\r\n',
    takenFrom: 9.4,
    fits: (wire) => /\r\ncontent-length:[ \t]*[0-9]+ *\t[ \t]*\r\n/i.test(wire),
  },
  {
    name: 'bytes beyond ASCII in a target',
    section: 'RFC 9112 section 3.2: no URI, but clients send file names so; what an upstream reads is what rules see',
    example: 'GET /caf\xe9 HTTP/1.1\r\nHost: h\r\n\r\n',
    fits: (wire) => /^(?:\r\n)?[^ ]+ [^ ]*[\x80-\xff]/.test(wire),
  },
  {
    name: 'a chunk extension without a name, or with a mark too many',
    section: 'RFC 9112 section 7.1.1: a recipient MUST ignore extensions that it does not know, and here that is all',
    example: `${chunked}1;a==b\r\na\r\n0\r\n\r\n`,
    fits: (wire) => /\r\n[0-9a-fA-F]+;/.test(wire),
  },
  {
    name: 'a framing field among the trailers',
    section: 'RFC 9110 section 6.5.1: no trailer may say how the body is framed; trailers are dropped here',
    example: `${chunked}0\r\nContent-Length: 1\r\n\r\n`,
    fits: (wire) => /\r\n0+(?:;[^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*(?:content-length|transfer-encoding):/i.test(wire),
  },
];
