// U1: requests that would go round for ever end with 508 after one round, and a site that leads to a listener of its
// own node is refused where it is activated.
import { networkInterfaces } from 'node:os';
import t from 'tap';
import type { GenerationReply } from '../contract/index.js';
import { admin, configOf, listenerKinds, metricsWith, startBackend, startPlane, testMsMax } from './harness.js';
import { sendRaw, statusOf } from './raw-client.js';

t.setTimeout(testMsMax);

const site = (name: string, prefix: string, upstream: string): object => ({ name, prefix, upstream, protected: true });

for (const kind of listenerKinds) {
  t.test(`U1: ${kind}: a loop by way of others ends with 508`, async (t) => {
    let passed = 0;
    let port = 0;
    // A proxy in between, as a balancer would be: it hands on what it gets, with a new connection.
    const between = await startBackend(t, (request, response) => {
      passed += 1;
      if (request.url?.endsWith('/end') === true) {
        response.end(String(request.headers['cdn-loop']));
        return;
      }
      const lines = request.rawHeaders.flatMap((name, at, all) => (at % 2 === 0 ? [`${name}: ${all[at + 1]}`] : []));
      void sendRaw(port, `${request.method} ${request.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`).then(
        ({ text }) => {
          response.statusCode = statusOf(text);
          response.end();
        },
      );
    });
    const plane = await startPlane(t, kind, {
      sites: [site('shop', '/', between.url), site('api', '/api', between.url)],
    });
    port = plane.ports.http;
    const status = async (path: string, fields = ''): Promise<number> =>
      statusOf((await sendRaw(port, `GET ${path} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`)).text);
    t.equal(await status('/loop'), 508);
    t.equal(passed, 1, 'after one round');
    t.equal(await status('/loop', 'Connection: CDN-Loop\r\n'), 508, 'a client cannot have the mark removed');
    t.equal(passed, 2);
    t.equal(await status('/api/loop', 'CDN-Loop: cdn.example; x=1\r\n'), 508, 'behind what others wrote');
    const marks = await (await fetch(`http://127.0.0.1:${port}/end`)).text();
    t.match(marks, /^gatehouse-[0-9a-f]{20}$/);
    t.equal(await status('/api/end', `CDN-Loop: ${marks}\r\n`), 200, 'from one site to another is no loop');
    t.equal(await status('/end', `CDN-Loop: ${marks.toUpperCase()}\r\n`), 508);
    t.equal(await status('/end', 'CDN-Loop: gatehouse-other\r\n'), 200, 'another node before this one');
    t.equal(await status('/end', `CDN-Loop: ${'gatehouse-1,'.repeat(16)}\r\n`), 508, 'too many hops');
    await metricsWith(plane, 'gatehouse_refused_total{status="508",reason="loop"} 5');
  });
}

t.test('U1: a site that leads to its own node is refused by name', async (t) => {
  const backend = await startBackend(t, (_request, response) => response.end());
  const plane = await startPlane(t, 'node', { sites: [site('shop', '/', backend.url)] }, { host: '0.0.0.0' });
  const { http, admin: adminPort } = plane.ports;
  const put = async (upstream: string): Promise<GenerationReply> => {
    const config = configOf({ sites: [site('fine', '/', backend.url), site('own', '/own', upstream)] });
    const body = JSON.stringify({ id: 0, sha256: '', artifactPath: '', config });
    return (await (await admin(plane, '/generation', { method: 'PUT', body })).json()) as GenerationReply;
  };
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const names = ['127.0.0.1', '127.9.9.9', 'localhost', '0.0.0.0', '[::ffff:127.0.0.1]', 'LOCALHOST'];
  for (const host of [...names, ...own.filter(({ family }) => family === 'IPv4').map(({ address }) => address)]) {
    const reply = await put(`http://${host}:${http}/x`);
    t.match(reply, { outcome: 'refused', problems: [{ path: '/config/sites/1/upstream' }] }, host);
  }
  t.match(await put(`http://127.0.0.1:${adminPort}`), { outcome: 'refused' }, 'the admin interface');
  t.match(await put('http://no-such-name.invalid:9'), { outcome: 'active' }, 'a name that nobody knows is not ours');
  t.match(await put(backend.url), { outcome: 'active' });
});

t.test('U1: started with such a site, it answers 508 and not for ever', async (t) => {
  const first = await startPlane(t, 'node', { sites: [site('shop', '/', 'http://127.0.0.1:1')] });
  const { http } = first.ports;
  await first.stop();
  const plane = await startPlane(t, 'node', { sites: [site('shop', '/', `http://127.0.0.1:${http}`)] }, { port: http });
  const reply = await sendRaw(plane.ports.http, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  t.equal(statusOf(reply.text), 508);
});
