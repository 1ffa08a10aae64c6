// Requests with odd framing and a second request hidden behind it: nothing reaches the upstream that was not inspected
// and framed anew, and each client hears the answers to its own requests only.
import { createServer, type AddressInfo, type Socket } from 'node:net';
import fc from 'fast-check';
import t from 'tap';
import { isInFlight, listenerKinds, startPlane, testMsMax, until } from './harness.js';
import { sendRaw, statusOf } from './raw-client.js';

t.setTimeout(testMsMax);
fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

const count = 400;
/** Blocked where it is seen as a request, and wherever else it is inspected. */
const hidden = 'GET /hidden?EVIL HTTP/1.1\r\nHost: h\r\n\r\n';
const ends = ['\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r', '\r\r\n', ' \r\n', '\0\r\n'];
const names = [
  'Content-Length',
  'Transfer-Encoding',
  'transfer-encoding',
  'Content-Length ',
  'Transfer-Encoding\t',
  ' Transfer-Encoding',
  'Transfer_Encoding',
  'Content.Length',
  'X: y\nTransfer-Encoding',
  'X: y\rContent-Length',
  'Connection',
  'Trailer',
  'Expect',
  'Upgrade',
  'Host',
  'X-Request-Id',
];
const values = [
  '0',
  '3',
  '3',
  '+3',
  '03',
  '3, 3',
  '0x3',
  '3\x0b',
  '',
  '18446744073709551619',
  'chunked',
  'chunked',
  'Chunked',
  'xchunked',
  'chunked, identity',
  ', chunked',
  '\x0bchunked',
  'identity',
  'x\r\n chunked',
  '100-continue',
  'Content-Length',
  'h2c',
  'h',
  '01ARZ3NDEKTSV4RRFFQ69G5FAV',
];
const bodies = [
  '',
  'a=1',
  '3\r\na=1\r\n0\r\n\r\n',
  '0\r\n\r\n',
  '3;x=1\r\na=1\r\n0\r\n\r\n',
  '0x3\r\na=1\r\n0\r\n\r\n',
  '3\na=1\n0\n\n',
  '3\r\na=1XX0\r\n\r\n',
  '10000000000000003\r\na=1\r\n0\r\n\r\n',
  '3\r\na=1\r\n0\r\nX: 1\r\n',
  '\r\n',
  `5c\r\n${hidden}`,
];
const oddField = fc
  .tuple(fc.constantFrom(...names), fc.constantFrom(...values), fc.constantFrom(...ends))
  .map(([name, value, end]) => `${name}: ${value}${end}`);
const oddLine = fc.tuple(
  fc.constantFrom('GET', 'POST', 'HEAD', 'OPTIONS', 'PUT'),
  fc.constantFrom('http://h', 'http://i', '/', '\\', ''),
  fc.constantFrom(' HTTP/1.1', ' HTTP/1.0', ' HTTP/1.2', ' x HTTP/1.1', ''),
);
const plainLine = fc.tuple(fc.constantFrom('POST', 'GET', 'HEAD'), fc.constant(''), fc.constant(' HTTP/1.1'));
const right = fc.constantFrom(
  { fields: 'Content-Length: 3\r\n', body: 'a=1' },
  { fields: 'Transfer-Encoding: chunked\r\n', body: '3\r\na=1\r\n0\r\n\r\n' },
  { fields: '', body: '' },
);
const odd = fc.record({
  fields: fc.array(oddField, { minLength: 1, maxLength: 3 }).map((fields) => fields.join('')),
  body: fc.constantFrom(...bodies),
});
const both = fc.tuple(right, oddField).map(([{ fields, body }, field]) => ({ fields: fields + field, body }));
/** A right request has nothing hidden behind it (uws does not answer then), and must be answered. */
const request = fc.oneof(
  { weight: 1, arbitrary: fc.record({ line: plainLine, framing: right, isRight: fc.constant(true) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      line: fc.oneof({ weight: 4, arbitrary: plainLine }, { weight: 1, arbitrary: oddLine }),
      framing: fc.oneof(odd, both, right),
      isRight: fc.constant(false),
    }),
  },
);

const samples = fc
  .sample(request, count)
  .map(({ line: [method, prefix, rest], framing: { fields, body }, isRight }, index) => ({
    isRight,
    wire: `${method} ${prefix}/<${index}>${rest}\r\nHost: h\r\n${fields}\r\n${body}${isRight ? '' : hidden}`,
  }));

/** What is wrong with the bytes of a connection, if anything; answers each request with its target. */
function judge(socket: Socket, faults: string[]): void {
  let text = '';
  socket.on('error', () => {}); // the proxy cuts a connection whose client went away
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
      const [line = '', ...fields] = text.slice(0, end).split('\r\n');
      const target = /^[A-Z]+ (\/[!-~]*|\*) HTTP\/1\.1$/.exec(line)?.[1];
      const all = (name: string): string[] =>
        fields
          .filter((field) => field.toLowerCase().startsWith(`${name}: `))
          .map((field) => field.slice(name.length + 2));
      const ids = all('x-request-id');
      const [length = '0', ...lengths] = all('content-length');
      const isRight =
        target !== undefined &&
        fields.every((field) => /^[\w!#$%&'*+.^`|~-]+: [\t -~\x80-\xff]*$/.test(field)) &&
        all('host').length === 1 &&
        ids.length === 1 &&
        /^0[0-9A-HJKMNP-TV-Z]{25}$/.test(ids[0] as string) &&
        ids[0] !== '01ARZ3NDEKTSV4RRFFQ69G5FAV' &&
        lengths.length === 0 &&
        /^\d+$/.test(length) &&
        all('transfer-encoding').length === 0;
      if (!isRight || text.includes('EVIL')) faults.push(text);
      const rest = end + 4 + Number(length);
      if (text.length < rest) return;
      text = text.slice(rest);
      const body = `${target}`;
      socket.write(
        `HTTP/1.1 200 OK\r\nX-Target: ${target}\r\nContent-Length: ${body.length}\r\n\r\n` +
          (line.startsWith('HEAD') ? '' : body),
      );
    }
  });
}

for (const kind of listenerKinds) {
  t.test(`${kind}: ${count} requests with another one hidden in them`, async (t) => {
    const faults: string[] = [];
    const server = createServer((socket) => judge(socket, faults));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    const plane = await startPlane(t, kind, {
      sites: [
        {
          name: 'shop',
          prefix: '/',
          upstream: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
          protected: true,
        },
      ],
      limits: { upstream_connections_max: 2 },
      timeouts: { drain_ms: 500, upstream_connect_ms: 600_000 },
    });
    const foreign: string[] = [];
    for (let start = 0; start < count; start += 50) {
      await Promise.all(
        samples.slice(start, start + 50).map(async ({ wire, isRight }, offset) => {
          const { text } = isRight ? await sendRaw(plane.ports.http, wire) : await sendRaw(plane.ports.http, wire, 60);
          const own = [...text.matchAll(/<(\d+)>/g)].map(([, index]) => Number(index) === start + offset);
          if (own.includes(false) || (isRight && own.length === 0)) foreign.push(`${wire}\n→\n${text}`);
        }),
      );
    }
    t.ok(await until(async () => isInFlight(plane, 0)), 'nothing is left in flight');
    t.strictSame(faults, [], 'the upstream got whole, inspected requests');
    t.strictSame(foreign, [], 'each client got its own answers');
    t.equal((await plane.status())['restarts'], 0);
    t.equal(statusOf((await sendRaw(plane.ports.http, 'GET / HTTP/1.1\r\nHost: h\r\n\r\n')).text), 200);
  });
}
