import t from 'tap';
import { checkRequestHead } from './request-syntax.js';

const limits = { uriBytesMax: 200, headerBytesMax: 500, headerFieldsMax: 10 };
const check = (headers: string[], uri = '/', method = 'GET', protocol = 'HTTP/1.1'): number | string => {
  const { refusal, framing } = checkRequestHead(method, uri, protocol, headers, limits);
  return refusal === null ? framing.kind : refusal.status;
};
const host = ['Host', 'shop.example'];

t.test('heads and what becomes of them', async (t) => {
  const cases: readonly [why: string, got: number | string, want: number | string][] = [
    ['plain', check(host), 'none'],
    ['a length', check([...host, 'Content-Length', '3']), 'length'],
    ['a length of 0', check([...host, 'Content-Length', '0']), 'none'],
    ['chunked, in any case', check([...host, 'Transfer-Encoding', 'Chunked']), 'chunked'],
    ['two lengths', check([...host, 'Content-Length', '3', 'Content-Length', '4']), 400],
    ['two equal lengths', check([...host, 'Content-Length', '3', 'content-length', '3']), 400],
    ['a list of lengths', check([...host, 'Content-Length', '3, 3']), 400],
    ['a signed length', check([...host, 'Content-Length', '+3']), 400],
    ['an empty length', check([...host, 'Content-Length', '']), 400],
    ['a length beyond doubles', check([...host, 'Content-Length', '9007199254740993']), 400],
    ['length and coding', check([...host, 'Content-Length', '3', 'Transfer-Encoding', 'chunked']), 400],
    ['two codings', check([...host, 'Transfer-Encoding', 'chunked', 'Transfer-Encoding', 'chunked']), 400],
    ['identity', check([...host, 'Transfer-Encoding', 'identity']), 400],
    ['gzip, chunked', check([...host, 'Transfer-Encoding', 'gzip, chunked']), 400],
    ['chunked, identity', check([...host, 'Transfer-Encoding', 'chunked, identity']), 400],
    ['xchunked', check([...host, 'Transfer-Encoding', 'xchunked']), 400],
    ['a coding with a vertical tab', check([...host, 'Transfer-Encoding', '\x0bchunked']), 400],
    ['chunked in HTTP/1.0', check([...host, 'Transfer-Encoding', 'chunked'], '/', 'POST', 'HTTP/1.0'), 400],
    ['two hosts', check([...host, 'Host', 'other.example']), 400],
    ['no host', check([]), 400],
    ['no host in HTTP/1.0', check([], '/', 'GET', 'HTTP/1.0'), 'none'],
    ['an empty host', check(['Host', '']), 400],
    ['a host with a user', check(['Host', 'a@b']), 400],
    ['a host with a path', check(['Host', 'a/b']), 400],
    ['an IPv6 host', check(['Host', '[::1]:8080']), 'none'],
    ['an IPv6 host without a port', check(['Host', '[fe80::1]']), 'none'],
    ['a host with a port', check(['Host', 'shop.example:8080']), 'none'],
    ['a host with an empty port', check(['Host', 'shop.example:']), 'none'],
    ['a host with two ports', check(['Host', 'shop.example:80:other.example']), 400],
    ['a host with a name for a port', check(['Host', 'shop.example:other.example']), 400],
    ['a host behind a bracket', check(['Host', '[::1]other.example']), 400],
    ['a bracket that is not closed', check(['Host', '[shop.example']), 400],
    ['a bracket within a host', check(['Host', 'shop.example[::1]']), 400],
    ['NUL in a value', check([...host, 'X', 'a\0b']), 400],
    ['line feed in a value', check([...host, 'X', 'a\nb']), 400],
    ['no name', check([...host, '', 'x']), 400],
    ['absolute form, same host', check(host, 'http://shop.example/x'), 'none'],
    ['absolute form, other host', check(host, 'http://evil.example/x'), 400],
    ['asterisk with OPTIONS', check(host, '*', 'OPTIONS'), 'none'],
    ['asterisk with GET', check(host, '*'), 400],
    ['neither path nor URL', check(host, 'x'), 400],
    ['a space in the target', check(host, '/a b'), 400],
    ['a fragment', check(host, '/a#b'), 400],
    ['CONNECT', check(host, 'a:443', 'CONNECT'), 501],
    ['HTTP/2 preface', check(host, '/', 'PRI', 'HTTP/2.0'), 505],
    ['a method with a space', check(host, '/', 'GE T'), 400],
    ['a long target', check(host, `/${'a'.repeat(200)}`), 414],
    ['many fields', check([...host, ...new Array<string>(22).fill('x')]), 431],
    ['long fields', check([...host, 'x', 'a'.repeat(600)]), 431],
    ['an unknown expectation', check([...host, 'Expect', 'something']), 417],
    ['100-continue', check([...host, 'Expect', '100-Continue']), 'none'],
  ];
  for (const [why, got, want] of cases) t.equal(got, want, why);
  t.equal(cases.length, 51);
});
