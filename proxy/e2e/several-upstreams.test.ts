// Several upstreams of one site: turns by weight, checks that take one out and bring it back, requests that move on
// where nothing was lost, and what happens when none is up.
import t, { type Test } from 'tap';
import { admin, listenerKinds, metricsWith, startBackend, startPlane, testMsMax, until } from './harness.js';
import { bodyOf, sendRaw, statusOf } from './raw-client.js';

t.setTimeout(testMsMax);

interface Named {
  readonly url: string;
  readonly hosts: string[];
  status: number;
  close(): Promise<void>;
}

async function startNamed(t: Test, name: string): Promise<Named> {
  const state = { status: 200, hosts: [] as string[] };
  const backend = await startBackend(t, (request, response) => {
    if (request.url === '/healthz') {
      response.statusCode = state.status;
      response.end();
      return;
    }
    state.hosts.push(request.headers.host ?? '');
    request.resume().on('end', () => response.end(name));
  });
  return Object.assign(state, { url: backend.url, close: backend.close });
}

const ask = async (port: number, method = 'GET'): Promise<string> => {
  const length = method === 'POST' ? 'Content-Length: 2\r\n\r\nhi' : '\r\n';
  const { text } = await sendRaw(port, `${method} / HTTP/1.1\r\nHost: shop\r\n${length}`);
  return statusOf(text) === 200 ? bodyOf(text) : String(statusOf(text));
};

const asks = async (port: number, count: number, method = 'GET'): Promise<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (let nth = 0; nth < count; nth += 1) {
    const name = await ask(port, method);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
};

const site = (changes: object): object => ({
  sites: [{ name: 'shop', prefix: '/', protected: true, ...changes }],
  timeouts: { drain_ms: 200 },
});

for (const kind of listenerKinds) {
  t.test(`several upstreams: ${kind}: weights, and a POST moves on where no connection was made`, async (t) => {
    const [a, b] = [await startNamed(t, 'a'), await startNamed(t, 'b')];
    const upstreams = [{ url: a.url, weight: 3 }, { url: b.url }];
    const plane = await startPlane(t, kind, site({ upstreams, host_policy: 'upstream' }));
    const { http } = plane.ports;
    t.same(await asks(http, 8), { a: 6, b: 2 });
    t.same(new Set([...a.hosts, ...b.hosts]), new Set([a.url.slice(7), b.url.slice(7)]), 'each under its own name');
    await a.close();
    t.same(await asks(http, 12, 'POST'), { b: 12 }, 'none is lost');
    await metricsWith(plane, 'gatehouse_upstream_ejections_total{site="shop"} 1');
    await metricsWith(plane, /gatehouse_upstream_failovers_total\{site="shop"\} [5-9]/);
    const status = (await (await admin(plane, '/status')).json()) as { sites: { upstreams: object[] }[] };
    t.match(status.sites[0]?.upstreams, [
      { url: a.url, weight: 3, state: 'ejected', workers: 1, workersUp: 0, detail: /connect/ },
      { url: b.url, weight: 1, state: 'up', workers: 1, workersUp: 1, detail: '' },
    ]);
    await b.close();
    t.equal(await ask(http), '502', 'when none answers, it is told');
  });
}

t.test('several upstreams: checks take one out and bring it back; when all are down, all are tried', async (t) => {
  const [a, b] = [await startNamed(t, 'a'), await startNamed(t, 'b')];
  const health_check = { path: '/healthz', interval_ms: 100, unhealthy_after: 2, healthy_after: 2 };
  const plane = await startPlane(t, 'node', site({ upstreams: [{ url: a.url }, { url: b.url }], health_check }));
  const { http } = plane.ports;
  t.same(await asks(http, 4), { a: 2, b: 2 });
  a.status = 500;
  await metricsWith(plane, 'gatehouse_upstreams_down 1');
  t.same(await asks(http, 4), { b: 4 });
  b.status = 404;
  await metricsWith(plane, 'gatehouse_upstreams_down 2');
  t.same(await asks(http, 4), { a: 2, b: 2 }, 'a wrong check takes no site away');
  a.status = 204;
  await metricsWith(plane, 'gatehouse_upstreams_down 1');
  t.same(await asks(http, 2), { a: 2 });
  b.status = 200;
  t.ok(await until(async () => Object.keys(await asks(http, 2)).length === 2), 'both again');
});

t.test('several upstreams: one left out comes back after its time', async (t) => {
  const [a, b] = [await startNamed(t, 'a'), await startNamed(t, 'b')];
  const health_check = { failures_max: 1, ejection_ms: 100 };
  const plane = await startPlane(t, 'node', site({ upstreams: [{ url: a.url }, { url: b.url }], health_check }));
  const { http } = plane.ports;
  const port = Number(new URL(a.url).port);
  await a.close();
  t.same(await asks(http, 3), { b: 3 });
  const { createServer } = await import('node:http');
  const again = createServer((request, response) => request.resume().on('end', () => response.end('a')));
  await new Promise<void>((resolve) => again.listen(port, '127.0.0.1', resolve));
  t.teardown(() => {
    again.closeAllConnections();
    again.close();
  });
  t.ok(await until(async () => (await ask(http)) === 'a'));
});
