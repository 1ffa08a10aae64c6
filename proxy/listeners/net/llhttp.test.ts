// The parser beside llhttp, the parser of Node.js: what both take they read alike; what one of them refuses stands in a
// table. And beside itself: into which pieces the bytes are cut changes nothing.
import { METHODS } from 'node:http';
import { createRequire } from 'node:module';
import fc from 'fast-check';
import t from 'tap';
import { dataPlaneDefaults } from '#settings';
import { checkRequestHead } from '../../http/request-syntax.js';
import { HeadParser } from './head-parser.js';
import { stricter, wider } from './llhttp-differences.js';
import { RequestBodyReader } from './request-body.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_122) });

const { limits } = dataPlaneDefaults();

interface Message {
  readonly method: string;
  readonly uri: string;
  readonly protocol: string;
  readonly headers: readonly string[];
  readonly body: string;
}
type Outcome =
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'incomplete' };

const refused = (reason: string): Outcome => ({ kind: 'refused', reason });

/** The first request in these pieces, as this listener reads it. */
function readHere(pieces: readonly Buffer[]): Outcome {
  const parser = new HeadParser(() => limits);
  let reader: RequestBodyReader | null = null;
  let head: Omit<Message, 'body'> | null = null;
  let body = '';
  for (const piece of pieces) {
    let rest = piece;
    if (reader === null) {
      const used = parser.push(rest);
      if (parser.fault !== null) return refused(parser.fault.reason);
      if (!parser.isDone) continue;
      head = parser.take();
      if (head === null) throw new Error('a head that is done is there');
      const checked = checkRequestHead(head.method, head.uri, head.protocol, head.headers, limits);
      if (checked.refusal !== null) return refused(checked.refusal.reason);
      reader = new RequestBodyReader(checked.framing);
      rest = rest.subarray(used);
    }
    while (rest.length > 0 && !reader.isDone) {
      rest = rest.subarray(reader.push(rest, (chunk) => (body += chunk.toString('latin1'))));
      if (reader.fault !== null) return refused(reader.fault);
    }
    if (reader.isDone && head !== null) return { kind: 'message', message: { ...head, body } };
  }
  return { kind: 'incomplete' };
}

// What Node.js itself is built on; there is no other way to its parser. A test may use it.
interface Llhttp {
  initialize(type: number, resource: object): void;
  execute(bytes: Buffer): number | Error;
  [callback: number]: unknown;
}
interface LlhttpClass {
  new (): Llhttp;
  readonly REQUEST: number;
  readonly kOnHeaders: number;
  readonly kOnHeadersComplete: number;
  readonly kOnBody: number;
  readonly kOnMessageComplete: number;
}
const { HTTPParser } = createRequire(import.meta.url)('_http_common') as { readonly HTTPParser: LlhttpClass };

function readThere(bytes: Buffer, nameOf: (method: number) => string): Outcome {
  const parser = new HTTPParser();
  parser.initialize(HTTPParser.REQUEST, {});
  const headers: string[] = [];
  let message: Omit<Message, 'body' | 'headers'> | null = null;
  let uri = '';
  let body = '';
  let isDone = false;
  parser[HTTPParser.kOnHeaders] = (fields: string[], url: string): void => {
    if (message !== null) return; // trailers
    headers.push(...fields);
    uri += url;
  };
  parser[HTTPParser.kOnHeadersComplete] = (
    major: number,
    minor: number,
    fields: string[] | undefined,
    method: number,
    url: string | undefined,
  ): number => {
    if (isDone) return 0;
    headers.push(...(fields ?? []));
    uri += url ?? '';
    message = { method: nameOf(method), uri, protocol: `HTTP/${major}.${minor}` };
    return 0;
  };
  parser[HTTPParser.kOnBody] = (chunk: Buffer): void => {
    if (!isDone) body += chunk.toString('latin1');
  };
  parser[HTTPParser.kOnMessageComplete] = (): void => {
    isDone = true;
  };
  const result = parser.execute(bytes);
  if (message !== null && isDone)
    return { kind: 'message', message: { ...(message as Omit<Message, 'body' | 'headers'>), headers, body } };
  return typeof result === 'number' ? { kind: 'incomplete' } : refused(result.message);
}

/** llhttp tells a method by number. */
const methodNames = new Map<number, string>();
for (const method of METHODS)
  readThere(Buffer.from(`${method} / HTTP/1.1\r\nHost: h\r\n\r\n`), (number) => {
    methodNames.set(number, method);
    return method;
  });
const nameOf = (method: number): string => methodNames.get(method) ?? String(method);

const bytesOf = (wire: string): Buffer => Buffer.from(wire, 'latin1');
const isTrimmed = (value: string): string => value.replace(/^[ \t]+|[ \t]+$/g, '');

/** Null: alike, or a difference that stands in a table; else what differs. */
function unexplained(wire: string): string | null {
  const here = readHere([bytesOf(wire)]);
  const there = readThere(bytesOf(wire), nameOf);
  if (here.kind === 'message' && there.kind === 'message') {
    const other = { ...there.message, headers: there.message.headers.map(isTrimmed) };
    return JSON.stringify(here.message) === JSON.stringify(other)
      ? null
      : `read as ${JSON.stringify(here.message)} and ${JSON.stringify(other)}`;
  }
  if (here.kind === 'refused')
    return there.kind !== 'message' || stricter.some(({ reason }) => here.reason.startsWith(reason))
      ? null
      : `refused here (${here.reason}), taken by llhttp`;
  if (there.kind !== 'refused') return here.kind === there.kind ? null : `${here.kind} here, ${there.kind} there`;
  // Refused there; here it is taken, or more of it is waited for, and refused then.
  const isWider = here.kind === 'incomplete' || wider.some(({ fits }) => fits(wire));
  return isWider ? null : `taken here, refused there (${there.reason})`;
}

t.test('every row of the differences is one', (t) => {
  for (const { reason, example } of stricter) {
    const here = readHere([bytesOf(example)]);
    t.ok(
      here.kind === 'refused' && here.reason.startsWith(reason),
      `refused here: ${reason} (${JSON.stringify(here)})`,
    );
    t.equal(readThere(bytesOf(example), nameOf).kind, 'message', `taken by llhttp: ${JSON.stringify(example)}`);
  }
  const release = Number(/^\d+\.\d+/.exec(process.versions['llhttp'] ?? '')?.[0]);
  for (const { name, example, takenFrom = Number.POSITIVE_INFINITY, fits } of wider) {
    t.ok(fits(example));
    t.equal(readHere([bytesOf(example)]).kind, 'message', name);
    t.equal(readThere(bytesOf(example), nameOf).kind, release < takenFrom ? 'refused' : 'message', name);
  }
  t.end();
});

const token = fc.constantFrom('X-A', 'x_b', 'A.B', "a!#$%&'*+-.^_`|~9", 'Accept', 'Cookie', 'Host', 'Expect');
const value = fc.oneof(
  fc.constantFrom('', ' ', 'a', ' b\t', 'caf\xe9', '100-continue', 'a b', 'h'),
  fc.stringMatching(/^[ -~]{0,12}$/),
);
const field = fc.tuple(token, value).map(([name, text]) => `${name}: ${text}\r\n`);
const target = fc.constantFrom('/', '/a?b=c', '/%2e', '*', 'http://h/a', '/caf\xe9', '//x', '/a;b');
const chunk = fc
  .tuple(fc.stringMatching(/^[a-z]{1,20}$/), fc.constantFrom('', ';a', ';a=b', ';a="b"'))
  .map(([text, extension]) => `${text.length.toString(16)}${extension}\r\n${text}\r\n`);
const trailer = fc.constantFrom('', 'X-T: 1\r\n', 'X-T:\r\nX-U: a b\r\n');
const body = fc.oneof(
  fc.constant('\r\n'),
  fc.stringMatching(/^[ -~]{0,40}$/).map((text) => `Content-Length: ${text.length}\r\n\r\n${text}`),
  fc
    .tuple(fc.array(chunk, { maxLength: 4 }), trailer)
    .map(([chunks, last]) => `Transfer-Encoding: chunked\r\n\r\n${chunks.join('')}0\r\n${last}\r\n`),
);
const request = fc
  .tuple(
    fc.constantFrom('GET', 'POST', 'PUT', 'PURGE', 'PROPFIND', 'FOO', 'OPTIONS'),
    target,
    fc.array(field, { maxLength: 6 }),
    body,
    fc.constantFrom('1.1', '1.0'),
  )
  .map(
    ([method, path, fields, rest, version]) =>
      `${method} ${path} HTTP/${version}\r\nHost: h\r\n${fields.join('')}${rest}`,
  );
const edit = fc.record({
  at: fc.nat(300),
  cut: fc.nat(4),
  insert: fc.oneof(
    fc.constantFrom('\r\n', '\n', '\r', '\0', ' ', ':', ',', '\xff', '\t', ';', '-', '0', '#', '\r\n ', '\x0b'),
    fc.constantFrom('Content-Length: 1\r\n', 'Transfer-Encoding: chunked\r\n', '99999999999999999999', 'HTTP/1.1'),
  ),
});
const damaged = fc.tuple(request, fc.array(edit, { minLength: 0, maxLength: 3 })).map(([text, edits]) => {
  let wire = text;
  for (const { at, cut, insert } of edits) {
    const start = at % (wire.length + 1);
    wire = wire.slice(0, start) + insert + wire.slice(start + cut);
  }
  return wire;
});

t.test('20,000 requests, whole and damaged: read like llhttp, or a listed difference', (t) => {
  let taken = 0;
  fc.assert(
    fc.property(damaged, (wire) => {
      if (readHere([bytesOf(wire)]).kind === 'message') taken += 1;
      const problem = unexplained(wire);
      if (problem !== null) throw new Error(problem);
    }),
    { numRuns: 20_000 },
  );
  t.ok(taken > 2000, `${taken} of them were taken`);
  t.end();
});

t.test('into which pieces the bytes are cut changes nothing', (t) => {
  fc.assert(
    fc.property(damaged, fc.array(fc.nat(300), { maxLength: 6 }), (wire, cuts) => {
      const bytes = bytesOf(wire);
      const whole = JSON.stringify(readHere([bytes]));
      const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
      const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
      if (JSON.stringify(readHere(pieces.map((piece) => Buffer.from(piece)))) !== whole)
        throw new Error('cut otherwise');
      const single = [...bytes].map((code) => Buffer.from([code]));
      if (JSON.stringify(readHere(single)) !== whole) throw new Error('byte by byte otherwise');
    }),
    { numRuns: 3000 },
  );
  t.end();
});

t.test('a head that comes byte by byte costs no more than its length', (t) => {
  // Each byte is looked at once, and copied a bounded number of times.
  const parser = new HeadParser(() => ({ ...limits, headerBytesMax: 10_000_000 }));
  const wire = bytesOf(`GET / HTTP/1.1\r\nHost: h\r\nX: ${'a'.repeat(200_000)}\r\n\r\n`);
  for (let at = 0; at < wire.length; at += 1) parser.push(wire.subarray(at, at + 1));
  t.ok(parser.isDone);
  t.equal(parser.take()?.headers[3]?.length, 200_000);
  t.end();
});
