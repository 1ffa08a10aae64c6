// The deny list and the records for the control plane, over real sockets.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import {
  admin,
  auditLines,
  listenerKinds,
  metricsWith,
  startBackend,
  startPlane,
  testMsMax,
  until,
} from './harness.js';

t.setTimeout(testMsMax);

for (const kind of listenerKinds) {
  t.test(`${kind}: an address on the list is denied from the next request on, and let in again`, async (t) => {
    const backend = await startBackend(t, (_request, response) => response.end('ok'));
    const sites = [
      { name: 'all', prefix: '/', upstream: backend.url, protected: true },
      { name: 'watch', prefix: '/watch', upstream: backend.url, protected: true, mode: 'DetectionOnly' },
      { name: 'open', prefix: '/open', upstream: backend.url, protected: false },
    ];
    const plane = await startPlane(t, kind, { sites, rl_trust_proxy: true, rl_trusted_proxies: ['127.0.0.1'] });
    const ask = async (path: string, ip: string): Promise<number> =>
      (
        await fetch(`http://127.0.0.1:${plane.ports.http}${path}`, {
          headers: { 'x-forwarded-for': ip, connection: 'close' },
        })
      ).status;
    const put = async (body: string, token?: string) =>
      admin(plane, '/threats', { method: 'PUT', body, ...(token === undefined ? {} : { token }) });
    t.equal(await ask('/', '203.0.113.9'), 200);
    t.equal((await put('203.0.113.0/24', 'wrong')).status, 401);
    t.match(await (await put('203.0.113.0/24\n2001:db8:1::/48')).json(), { outcome: 'active', networks: 2 });
    await until(async () => (await ask('/', '203.0.113.9')) === 403);
    for (const [path, ip, status] of [
      ['/', '203.0.113.9', 403],
      ['/', '2001:db8:1::7', 403],
      ['/', '203.0.114.9', 200],
      ['/watch/', '203.0.113.9', 200],
      ['/open/', '203.0.113.9', 200],
    ] as const)
      t.equal(await ask(path, ip), status, `${ip} ${path}`);
    const refused = await put('203.0.113.0/99');
    t.equal(refused.status, 422);
    t.equal(await ask('/', '203.0.113.9'), 403, 'a refused list changes nothing');
    t.match(await plane.status(), { threats: { networks: 2, intervals: 2 } });
    t.match(
      await metricsWith(plane, /waap_threats_matched_total \d+[^]*waap_threat_networks 2/),
      /waap_threats_matched_total \d+[^]*waap_threat_networks 2/,
    );
    t.equal((await put('')).status, 200);
    await until(async () => (await ask('/', '203.0.113.9')) === 200);
    t.equal(await ask('/', '203.0.113.9'), 200);
    const lines = async (): Promise<string[]> =>
      (await auditLines(plane)).map((line) => JSON.stringify(line)).filter((line) => line.includes('1006000'));
    t.ok(
      await until(async () => (await lines()).length > 2 && (await lines()).some((line) => line.includes('/watch/'))),
      'blocked and withheld denials are on record under the rule',
    );
  });

  t.test(`${kind}: a line per request and the events reach the control plane`, async (t) => {
    const got: { path: string; body: { requests?: Record<string, unknown>[]; events?: Record<string, unknown>[] } }[] =
      [];
    const sink = createServer((request, response) => {
      let text = '';
      request
        .setEncoding('utf8')
        .on('data', (piece: string) => (text += piece))
        .on('end', () => {
          got.push({ path: request.url ?? '', body: JSON.parse(text) as never });
          response.end('{}');
        });
    });
    await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve));
    t.teardown(() => {
      sink.close();
      sink.closeAllConnections();
    });
    const backend = await startBackend(t, (_request, response) => response.end('four'));
    const plane = await startPlane(
      t,
      kind,
      { sites: [{ name: 'all', prefix: '/', upstream: backend.url, protected: true }] },
      { shipping: { url: `http://127.0.0.1:${(sink.address() as AddressInfo).port}`, token: 'x', node: 'n1' } },
    );
    const base = `http://127.0.0.1:${plane.ports.http}`;
    await fetch(`${base}/fine`, { headers: { 'user-agent': 'tester' } });
    await fetch(`${base}/?q=EVIL`);
    const requests = (): Record<string, unknown>[] => got.flatMap(({ body }) => body.requests ?? []);
    const events = (): Record<string, unknown>[] => got.flatMap(({ body }) => body.events ?? []);
    t.ok(await until(() => requests().length === 2 && events().length === 1));
    t.match(
      requests().find(({ uri }) => uri === '/fine'),
      {
        site: 'all',
        status: 200,
        verdict: 'pass',
        user_agent: 'tester',
        response_bytes: 4,
        method: 'GET',
        client_ip: '127.0.0.1',
      },
    );
    t.match(
      requests().find(({ uri }) => uri !== '/fine'),
      { status: 403, verdict: 'block' },
    );
    t.match(events()[0], { verdict: 'block', status: 403 });
    t.match(await metricsWith(plane, 'waap_records_shipped 3'), 'waap_records_shipped 3');
    await plane.stop();
  });
}
