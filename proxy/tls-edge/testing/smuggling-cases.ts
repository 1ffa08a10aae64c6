// Requests of HTTP/2 that would be other requests in HTTP/1.1.

type Field = readonly [name: string, value: string];

export interface Case {
  readonly what: string;
  /** Instead of those of an ordinary request. */
  readonly fields: readonly Field[];
  /** Left out: the request ends with its head. */
  readonly body?: string;
  /** What the application is not to see does not come. */
  readonly passes?: (seen: Seen) => boolean;
}

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly raw: readonly string[];
  readonly body: string;
}

export const pseudo = (changes: Readonly<Record<string, string | null>> = {}): Field[] =>
  Object.entries({ ':method': 'GET', ':scheme': 'https', ':authority': 'shop', ':path': '/', ...changes }).flatMap(
    ([name, value]) => (value === null ? [] : [[name, value] as const]),
  );
export const withFields = (...fields: Field[]): Field[] => [...pseudo(), ...fields];
export const post = (...fields: Field[]): Field[] => [...pseudo({ ':method': 'POST' }), ...fields];
export const hidden = 'GET /hidden HTTP/1.1\r\nHost: shop\r\n\r\n';

export const refused: readonly Case[] = [
  { what: 'a Content-Length that is too small', fields: post(['content-length', '3']), body: `abc${hidden}` },
  { what: 'a Content-Length of 0 with a body', fields: post(['content-length', '0']), body: hidden },
  { what: 'a Content-Length that is too large', fields: post(['content-length', '100']), body: 'abc' },
  { what: 'a Content-Length without a body', fields: post(['content-length', '5']) },
  { what: 'two lengths', fields: post(['content-length', '3'], ['content-length', '4']), body: 'abc' },
  { what: 'the same length twice', fields: post(['content-length', '3'], ['content-length', '3']), body: 'abc' },
  { what: 'a list of lengths', fields: post(['content-length', '3, 3']), body: 'abc' },
  { what: 'a signed length', fields: post(['content-length', '+3']), body: 'abc' },
  { what: 'a hexadecimal length', fields: post(['content-length', '0x3']), body: 'abc' },
  { what: 'chunked', fields: post(['transfer-encoding', 'chunked']), body: `0\r\n\r\n${hidden}` },
  { what: 'chunked without a body', fields: post(['transfer-encoding', 'chunked']) },
  { what: 'Connection', fields: withFields(['connection', 'x-own']) },
  { what: 'Keep-Alive', fields: withFields(['keep-alive', 'timeout=5']) },
  { what: 'Proxy-Connection', fields: withFields(['proxy-connection', 'keep-alive']) },
  { what: 'Upgrade', fields: withFields(['upgrade', 'websocket']) },
  { what: 'HTTP2-Settings', fields: withFields(['http2-settings', 'AAMAAABk']) },
  { what: 'a TE other than trailers', fields: withFields(['te', 'gzip']) },
  { what: 'a list in TE', fields: withFields(['te', 'trailers, gzip']) },
  { what: 'capitals in a name', fields: withFields(['X-Own', 'a']) },
  { what: 'capitals in Transfer-Encoding', fields: post(['Transfer-Encoding', 'chunked']), body: `0\r\n\r\n${hidden}` },
  { what: 'a request line in :path', fields: pseudo({ ':path': '/ HTTP/1.1\r\nHost: shop\r\n\r\nGET /hidden' }) },
  { what: 'a space in :path', fields: pseudo({ ':path': '/a b' }) },
  { what: 'a tab in :path', fields: pseudo({ ':path': '/a\tb' }) },
  { what: 'a fragment in :path', fields: pseudo({ ':path': '/a#b' }) },
  { what: 'another host in :path', fields: pseudo({ ':path': 'http://other/' }) },
  { what: 'the same host in :path', fields: pseudo({ ':path': 'https://shop/' }) },
  { what: 'a :path without a slash', fields: pseudo({ ':path': 'hidden' }) },
  { what: 'an asterisk without OPTIONS', fields: pseudo({ ':path': '*' }) },
  { what: 'an empty :path', fields: pseudo({ ':path': '' }) },
  { what: 'no :path', fields: pseudo({ ':path': null }) },
  { what: 'two :path', fields: [...pseudo(), [':path', '/hidden']] },
  { what: 'a request line in :method', fields: pseudo({ ':method': 'GET /hidden HTTP/1.1\r\nHost: shop\r\n\r\nGET' }) },
  { what: 'a space in :method', fields: pseudo({ ':method': 'GET /' }) },
  { what: 'an empty :method', fields: pseudo({ ':method': '' }) },
  { what: 'no :method', fields: pseudo({ ':method': null }) },
  { what: 'two :method', fields: [...pseudo(), [':method', 'POST']] },
  { what: 'no :scheme', fields: pseudo({ ':scheme': null }) },
  { what: 'a URL in :scheme', fields: pseudo({ ':scheme': 'https://other/?' }) },
  { what: 'another scheme', fields: pseudo({ ':scheme': 'file' }) },
  { what: 'no :authority and no Host', fields: pseudo({ ':authority': null }) },
  { what: 'an empty :authority', fields: pseudo({ ':authority': '' }) },
  { what: 'a user in :authority', fields: pseudo({ ':authority': 'shop@other' }) },
  { what: 'a path in :authority', fields: pseudo({ ':authority': 'shop/other' }) },
  { what: 'two names in :authority', fields: pseudo({ ':authority': 'shop,other' }) },
  { what: 'two :authority', fields: [...pseudo(), [':authority', 'other']] },
  { what: 'a Host that is not the authority', fields: withFields(['host', 'other']) },
  { what: 'two Host', fields: [...pseudo({ ':authority': null }), ['host', 'shop'], ['host', 'other']] },
  {
    what: 'a pseudo-header behind a field',
    fields: [...pseudo({ ':path': null }), ['x-own', 'a'], [':path', '/hidden']],
  },
  { what: 'a pseudo-header behind Host', fields: [['host', 'shop'], ...pseudo()] },
  { what: 'an unknown pseudo-header', fields: [...pseudo(), [':own', 'a']] },
  { what: ':status in a request', fields: [...pseudo(), [':status', '200']] },
  { what: ':protocol', fields: [...pseudo({ ':method': 'CONNECT' }), [':protocol', 'websocket']] },
  { what: 'CONNECT', fields: pseudo({ ':method': 'CONNECT', ':scheme': null, ':path': null }) },
  { what: 'an expectation', fields: post(['expect', '200-ok']), body: 'a' },
];

/**
 * Fields that the library leaves out, against the standard, which would have the request refused: what is in them is
 * neither inspected nor forwarded (differences.ts).
 */
export const leftOut: readonly Case[] = [
  { what: 'a colon in a name', fields: withFields(['x:own', 'a']) },
  { what: 'a space in a name', fields: withFields(['x own', 'a']) },
  { what: 'a space behind a name', fields: post(['transfer-encoding ', 'chunked']), body: `0\r\n\r\n${hidden}` },
  { what: 'no name', fields: withFields(['', 'a']) },
  { what: 'a line end in a value', fields: withFields(['x-own', `a\r\n\r\n${hidden}`]) },
  { what: 'a bare line feed in a value', fields: withFields(['x-own', 'a\nx-other: b']) },
  { what: 'a bare carriage return in a value', fields: withFields(['x-own', 'a\rx-other: b']) },
  { what: 'NUL in a value', fields: withFields(['x-own', 'a\0b']) },
];

/** Refused by nghttp2 up to 1.61 (Node 20), left out by later ones (1.70, Node 24); harmless both ways. */
export const refusedOrLeftOut: readonly Case[] = [
  { what: 'a line end in a name', fields: withFields([`a: b\r\n\r\n${hidden}x`, 'a']) },
  { what: 'a line end in a name without capitals', fields: withFields(['a: b\r\nx-other: c', 'a']) },
];
