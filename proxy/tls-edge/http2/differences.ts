// Where a request of HTTP/2 does not fare as the same one of HTTP/1.1 (listeners/differences.ts has the listeners of
// that). smuggling.test.ts expects exactly these cases.

/** Fields that the library leaves out instead of refusing the request; nobody sees what is in them. */
export const leftOutCases: readonly string[] = [
  'a colon in a name',
  'a space in a name',
  'a space behind a name',
  'no name',
  'a line end in a value',
  'a bare line feed in a value',
  'a bare carriage return in a value',
  'NUL in a value',
];

export const notes: readonly string[] = [
  'a name with a line end is refused or left out, as the nghttp2 of the Node that runs has it',
  'a head that is malformed ends its request with a reset (PROTOCOL_ERROR), without an answer, where the library ' +
    'finds it; what only the own check finds is answered 400 and recorded',
  'a head of more than 64 KiB, or of more than 1,100 fields, ends its request without an answer; the limits of the ' +
    'settings below that are answered 414 and 431',
  'fields that stand in a head of more than 4,096 characters already (HPACK names one again by a byte) may be 1,024 ' +
    'characters together, beyond it 431; HTTP/1.1 has no such limit, because there they are sent',
  'WebSockets (RFC 8441) and server push are not offered',
  'an answer that ends a connection of HTTP/1.1 ends the request only',
  'a response that fails half-way ends with a reset of its request (INTERNAL_ERROR)',
  'fields of a response that may stand once (Content-Type and the like) and stand there twice are joined to a list',
];
