import t from 'tap';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { createBreachCheck } from '../auth/breached.js';
import { createAllowList, refusalOf } from './allow-list.js';
import { createOutbound } from './outbound.js';

async function serve(t: { teardown(done: () => unknown): void }, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

t.test('addresses that are not public unicast', async (t) => {
  const refused = [
    '127.0.0.1',
    '127.8.8.8',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '240.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '::',
    '::1',
    'fe80::1',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:169.254.169.254',
    '::ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '2002:7f00:1::',
    '2001:0:7f00:1::',
    '2001:db8::1',
    '::127.0.0.1',
    '::7f00:1',
    '4000::1',
    'nonsense',
    '',
  ];
  for (const address of refused) t.ok(refusalOf(address), address);
  for (const address of ['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700:4700::1111', '::ffff:8.8.8.8'])
    t.equal(refusalOf(address), null, address);
  t.throws(() => createAllowList(['not a host!']), /OUTBOUND_ALLOW/);
  const allow = createAllowList(['10.0.0.0/8', 'fd00::1', 'Feeds.Internal']);
  t.ok(allow.hasAddress('10.255.0.1'));
  t.ok(allow.hasAddress('::ffff:10.0.0.1'));
  t.notOk(allow.hasAddress('11.0.0.1'));
  t.ok(allow.hasAddress('fd00::1'));
  t.notOk(allow.hasAddress('fd00::2'));
  t.ok(allow.hasHost('feeds.internal'));
});

t.test('SSRF targets are refused before a byte leaves', async (t) => {
  let touched = 0;
  const base = await serve(t, (_, reply) => {
    touched++;
    reply.end('inner');
  });
  const port = new URL(base).port;
  const outbound = createOutbound({
    allow: [],
    resolveHost: async (host) =>
      host === 'mixed.example'
        ? [
            { address: '8.8.8.8', family: 4 },
            { address: '127.0.0.1', family: 4 },
          ]
        : [{ address: '127.0.0.1', family: 4 }],
  });
  t.teardown(() => outbound.close());
  const targets = [
    base,
    `http://localhost:${port}`,
    `http://2130706433:${port}`,
    `http://0x7f.1:${port}`,
    `http://127.1:${port}`,
    `http://0177.0.0.1:${port}`,
    `http://[::ffff:127.0.0.1]:${port}`,
    `http://[::1]:${port}`,
    `http://rebind.example:${port}`,
    `http://mixed.example:${port}`,
    'http://169.254.169.254/latest/meta-data/',
    'http://[fd00:ec2::254]/',
    'file:///etc/passwd',
    'gopher://127.0.0.1/',
    `http://user:pw@8.8.8.8/`,
    'nonsense',
    `http://127.0.0.1.:${port}`,
  ];
  for (const target of targets) await t.rejects(outbound.send(target), { code: 'outbound_refused' }, target);
  await t.rejects(outbound.fetch(base), { code: 'outbound_refused' });
  t.equal(touched, 0);
});

t.test('a name that changes its mind between check and connection gains nothing', async (t) => {
  let touched = 0;
  let asked = 0;
  const base = await serve(t, (_, reply) => {
    touched++;
    reply.end('inner');
  });
  const outbound = createOutbound({
    allow: [],
    resolveHost: async () =>
      asked++ === 0 ? [{ address: '8.8.8.8', family: 4 }] : [{ address: '127.0.0.1', family: 4 }],
  });
  t.teardown(() => outbound.close());
  await t.rejects(outbound.send(`http://rebind.example:${new URL(base).port}/`));
  t.ok(asked >= 2);
  t.equal(touched, 0);
});

t.test('allow-listed targets are reached; size, time and redirects are bounded', async (t) => {
  const other = await serve(t, (_, reply) => reply.end('other'));
  const base = await serve(t, (incoming, reply) => {
    const url = incoming.url ?? '';
    if (url === '/big') return void reply.end(Buffer.alloc(200_000));
    if (url === '/slow') return;
    if (url === '/drip') {
      reply.write('x');
      return;
    }
    if (url === '/loop') return void reply.writeHead(302, { location: '/loop' }).end();
    if (url === '/once') return void reply.writeHead(302, { location: '/fine' }).end();
    if (url === '/away') return void reply.writeHead(302, { location: other }).end();
    if (url === '/meta') return void reply.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    reply.setHeader('x-agent', incoming.headers['user-agent'] ?? '').end(`fine ${incoming.method}`);
  });
  const outbound = createOutbound({ allow: ['127.0.0.0/8'], bytesMax: 100_000 });
  t.teardown(() => outbound.close());
  const reply = await outbound.send(`${base}/once`);
  t.match(reply, { status: 200, url: `${base}/fine`, headers: { 'x-agent': 'Gatehouse' } });
  t.equal(reply.body.toString(), 'fine GET');
  await t.rejects(outbound.send(`${base}/big`), { code: 'outbound_failed', message: /more than 100000 bytes/ });
  await t.rejects(outbound.send(`${base}/slow`, { timeoutMs: 500 }), { code: 'outbound_failed', message: /in time/ });
  await t.rejects(outbound.send(`${base}/drip`, { timeoutMs: 500 }), { code: 'outbound_failed', message: /in time/ });
  const unresolved = createOutbound({ allow: [], resolveHost: () => new Promise(() => undefined) });
  t.teardown(() => unresolved.close());
  await t.rejects(unresolved.send('http://nobody.example/', { timeoutMs: 50 }), {
    code: 'outbound_failed',
    message: /not resolved in time/,
  });
  await t.rejects(outbound.send(`${base}/loop`), { code: 'outbound_failed', message: /too often/ });
  await t.rejects(outbound.send(`${base}/away`), { code: 'outbound_refused' });
  await t.rejects(outbound.send(`${base}/meta`), { code: 'outbound_refused' });
  t.equal(await outbound.isAllowListed(base), true);
  t.equal(await outbound.isAllowListed('http://8.8.8.8'), false);
  t.equal(await (await outbound.fetch(base, { method: 'POST', body: 'a' })).text(), 'fine POST');
});

t.test('breach check: five digits leave, padding is ignored, an outage is an answer', async (t) => {
  const seen: string[] = [];
  const base = await serve(t, (incoming, reply) => {
    seen.push(incoming.url ?? '');
    t.equal(incoming.headers['add-padding'], 'true');
    if (incoming.url === '/range/5BAA6')
      return void reply.end('0018A45C4D1DEF81644B54AB7F969B88D65:3\r\n1E4C9B93F3F0682250B6CF8331B7EE68FD8:42\r\n');
    if (incoming.url === '/range/A94A8') return void reply.end('FE5CCB19BA61C4C0873D391E987982FBBD3:0\r\n');
    reply.writeHead(503).end();
  });
  const outbound = createOutbound({ allow: ['127.0.0.1'] });
  t.teardown(() => outbound.close());
  const check = createBreachCheck(outbound, `${base}/range/`, Date.now);
  t.same(await check('password'), { kind: 'known', count: 42 });
  t.same(await check('test'), { kind: 'unknown' }, 'a padded line does not count');
  t.match(await check('something else'), { kind: 'unreachable' });
  t.ok(seen.every((url) => /^\/range\/[0-9A-F]{5}$/.test(url)));
});

t.test('an answer in a coding that nobody asked for is read, within bounds', async (t) => {
  const plain = Buffer.from('{"code":0}');
  const answers: Record<string, readonly [coding: string, body: Buffer]> = {
    '/gzip': ['gzip', gzipSync(plain)],
    '/deflate': ['deflate', deflateSync(plain)],
    '/br': ['BR', brotliCompressSync(plain)],
    '/identity': ['identity', plain],
    '/bomb': ['gzip', gzipSync(Buffer.alloc(2_000_000))],
    '/lie': ['gzip', plain],
    '/half': ['gzip', gzipSync(plain).subarray(0, 12)],
    '/other': ['zstd', plain],
  };
  const base = await serve(t, (request, reply) => {
    const [coding, body] = answers[request.url ?? ''] ?? ['', plain];
    reply.writeHead(200, { 'content-encoding': coding });
    reply.end(body);
  });
  const outbound = createOutbound({ allow: ['127.0.0.1'], bytesMax: 100_000 });
  t.teardown(() => outbound.close());
  for (const path of ['/gzip', '/deflate', '/br', '/identity'])
    t.equal((await outbound.send(base + path)).body.toString(), plain.toString(), path);
  for (const [path, message] of [
    ['/bomb', /more than 100000 bytes/],
    ['/lie', /its body is none/],
    ['/half', /its body is none/],
    ['/other', /coding zstd/],
  ] as const)
    await t.rejects(outbound.send(base + path), { code: 'outbound_failed', message }, path);
});
