// Requests of HTTP/2 that would be other requests, or more than one, if they were written down as HTTP/1.1.
import t, { type Test } from 'tap';
import { startBackend, startPlane, testMsMax } from '../../e2e/harness.js';
import { leftOutCases } from './differences.js';
import { frameTypes, flags, RawHttp2 } from '../testing/raw-http2.js';
import {
  hidden,
  leftOut,
  post,
  pseudo,
  refused,
  refusedOrLeftOut,
  withFields,
  type Case,
  type Seen,
} from '../testing/smuggling-cases.js';

t.setTimeout(testMsMax);

const fieldOf = ({ raw }: Seen, name: string): (string | undefined)[] =>
  raw.flatMap((text, index) => (index % 2 === 0 && text.toLowerCase() === name ? [raw[index + 1]] : []));

const passed: readonly Case[] = [
  {
    what: 'an ordinary request',
    fields: withFields(['x-own', 'a']),
    passes: (seen) => fieldOf(seen, 'x-own')[0] === 'a',
  },
  {
    what: 'split cookies, as one',
    fields: withFields(['cookie', 'a=1'], ['x-own', 'a'], ['cookie', 'b=2'], ['cookie', 'c=3']),
    passes: (seen) => fieldOf(seen, 'cookie').join('|') === 'a=1; b=2; c=3',
  },
  {
    what: 'the Host that is the authority',
    fields: withFields(['host', 'SHOP']),
    passes: (seen) => fieldOf(seen, 'host').length === 1,
  },
  {
    what: 'a Host without an authority',
    fields: [...pseudo({ ':authority': null }), ['host', 'shop']],
    passes: (seen) => fieldOf(seen, 'host')[0] === 'shop',
  },
  {
    what: 'TE: trailers',
    fields: withFields(['te', 'trailers']),
    passes: (seen) => fieldOf(seen, 'te')[0] === 'trailers',
  },
  {
    what: 'a body with its length',
    fields: post(['content-length', '3']),
    body: 'abc',
    passes: (seen) => seen.body === 'abc' && fieldOf(seen, 'content-length')[0] === '3',
  },
  { what: 'a body without a length', fields: post(), body: hidden, passes: (seen) => seen.body === hidden },
  { what: 'an empty body without a length', fields: post(), body: '', passes: (seen) => seen.body === '' },
  {
    what: 'bytes beyond ASCII',
    fields: withFields(['x-own', '\xe9\xff']),
    passes: (seen) => fieldOf(seen, 'x-own')[0] === '\xe9\xff',
  },
  {
    what: 'OPTIONS for all of the server',
    fields: pseudo({ ':method': 'OPTIONS', ':path': '*' }),
    passes: (seen) => seen.method === 'OPTIONS' && seen.url === '*',
  },
];

async function startEdge(t: Test, isProtected: boolean): Promise<{ readonly port: number; readonly seen: Seen[] }> {
  const seen: Seen[] = [];
  const { url: upstream } = await startBackend(t, (request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString('latin1')));
    request.on('end', () => {
      seen.push({ method: request.method ?? '', url: request.url ?? '', raw: request.rawHeaders, body });
      response.end('fine');
    });
  });
  const site = { name: 'shop', prefix: '/', upstream, protected: isProtected };
  const plane = await startPlane(t, 'net', { sites: [site] }, { tls: { port: 0 } });
  return { port: plane.ports.tls as number, seen };
}

async function send(port: number, { fields, body }: Case): Promise<number | string> {
  const client = await RawHttp2.open(port);
  client.headers(1, fields, body === undefined);
  if (body !== undefined) client.frame(frameTypes.data, flags.endStream, 1, Buffer.from(body, 'latin1'));
  const outcome = await client.outcome(1);
  client.close();
  return outcome;
}

t.test('TLS: what the library leaves out is listed', async (t) => {
  t.strictSame(leftOut.map(({ what }) => what).sort(), [...leftOutCases].sort());
});

for (const isProtected of [true, false]) {
  const where = isProtected ? 'a protected site' : 'a site without protection';
  t.test(`TLS: what would be another request in HTTP/1.1 does not reach ${where}`, async (t) => {
    const { port, seen } = await startEdge(t, isProtected);
    for (const one of refused) {
      const outcome = await send(port, one);
      t.ok(typeof outcome === 'string' || (outcome >= 400 && outcome <= 501), `${one.what}: ${outcome}`);
      // An upstream that has the head of a body that ends wrongly sees the connection break, and no request.
      t.strictSame(seen.splice(0), [], one.what);
    }
    for (const one of leftOut) {
      t.equal(await send(port, one), 200, one.what);
      const requests = seen.splice(0);
      t.equal(requests.length, 1, one.what);
      t.equal(requests[0]?.body, one.body ?? '', 'the body, as it was framed');
      t.notMatch(JSON.stringify(requests[0]?.raw), /x-?own|x:own|hidden|other|chunked "/, one.what);
    }
    for (const one of refusedOrLeftOut) {
      const outcome = await send(port, one);
      const requests = seen.splice(0);
      t.equal(requests.length, outcome === 200 ? 1 : 0, `${one.what}: ${outcome}`);
      t.notMatch(JSON.stringify(requests), /hidden|x-other/, one.what);
    }
    for (const one of passed) {
      t.equal(await send(port, one), 200, one.what);
      const [request] = seen.splice(0);
      t.ok(request !== undefined && one.passes?.(request) === true, `${one.what}, as the application sees it`);
    }
  });
}
