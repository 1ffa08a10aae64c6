// P3: pii_mask on a node: answers in pieces and in codings are masked, others leave as they came. P2: GraphQL on the
// same road.
import t from 'tap';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { startBackend, startPlane, testMsMax } from './harness.js';

t.setTimeout(testMsMax);

const text = `{"id":1,"cards":["4111 1111 1111 1111",${'"x",'.repeat(20_000)}"5500000000000004"]}`;
const masked = text
  .replace('4111 1111 1111 1111', '**** **** **** 1111')
  .replace('5500000000000004', '************0004');

for (const isOn of [true, false]) {
  t.test(`P3: pii_mask ${isOn ? 'on' : 'off'}`, async (t) => {
    const seen: Record<string, unknown>[] = [];
    const backend = await startBackend(t, (incoming, response) => {
      seen.push(incoming.headers);
      const kind = (incoming.url ?? '').slice(1);
      const bytes = Buffer.from(text);
      response.setHeader('content-type', kind === 'binary' ? 'application/octet-stream' : 'application/json');
      response.setHeader('etag', '"tag"');
      if (kind === 'signed') response.setHeader('content-digest', 'sha-256=:AAAA=:');
      if (kind === 'partial') response.statusCode = 206;
      if (kind === 'gzip' || kind === 'br') response.setHeader('content-encoding', kind);
      const body = kind === 'gzip' ? gzipSync(bytes) : kind === 'br' ? brotliCompressSync(bytes) : bytes;
      if (kind === 'pieces') {
        for (let at = 0; at < 40; at += 1) response.write(body.subarray(at, at + 1));
        response.end(body.subarray(40));
        return;
      }
      response.setHeader('content-length', body.length);
      response.end(kind === 'broken' ? Buffer.alloc(body.length) : body);
    });
    const plane = await startPlane(t, 'net', {
      pii_mask: isOn,
      sites: [
        { name: 'shop', prefix: '/', upstream: backend.url, protected: true },
        { name: 'open', prefix: '/open', upstream: backend.url, protected: false },
      ],
    });
    const ask = async (path: string, headers: Record<string, string> = {}) => {
      const answer = await fetch(`http://127.0.0.1:${plane.ports.http}${path}`, {
        headers: { connection: 'close', 'accept-encoding': 'gzip, br', ...headers },
      });
      return { body: await answer.text(), headers: answer.headers };
    };
    for (const kind of ['plain', 'pieces', 'gzip', 'br']) {
      const { body, headers } = await ask(`/${kind}`);
      t.ok(body === (isOn ? masked : text), kind);
      t.equal(headers.get('etag'), isOn ? 'W/"tag"' : '"tag"');
      if (kind === 'plain') t.equal(headers.get('content-length'), String(text.length));
      if (isOn) t.equal(headers.get('content-encoding'), null);
    }
    for (const kind of ['signed', 'partial', 'binary', 'open']) {
      const { body, headers } = await ask(`/${kind}`);
      t.ok(body === text, `${kind} leaves as it came`);
      t.equal(headers.get('etag'), '"tag"');
    }
    await ask('/plain', { 'if-match': 'W/"tag"' });
    t.match(seen.at(-1), isOn ? { 'accept-encoding': 'identity', 'if-match': '"tag"' } : { 'if-match': 'W/"tag"' });
  });
}

t.test('P2: GraphQL on a node', async (t) => {
  const backend = await startBackend(t, (incoming, response) => {
    incoming.resume();
    response.setHeader('content-type', 'application/json');
    incoming.on('end', () => response.end('{"data":{}}'));
  });
  const plane = await startPlane(t, 'net', {
    graphql_protect: true,
    sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }],
  });
  const send = async (query: string, uri = '/graphql') =>
    (
      await fetch(`http://127.0.0.1:${plane.ports.http}${uri}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify({ query }),
      })
    ).status;
  t.equal(await send('query A { a { __typename } }'), 200);
  t.equal(await send('{ __schema { types { name } } }'), 403);
  t.equal(await send('{ __type(name: "A") { name } }', '/api'), 403, 'by its shape');
  t.equal(await send('{ a(x: "EVIL") }'), 403, 'rules see the string');
  t.equal(await send('{ EVIL }'), 200, 'and not the names');
  const get = `http://127.0.0.1:${plane.ports.http}/graphql?query=${encodeURIComponent('{__schema{types{name}}}')}`;
  t.equal((await fetch(get, { headers: { connection: 'close' } })).status, 403);
});
