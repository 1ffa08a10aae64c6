// R12: a node that starts tells its control plane, so that what was applied meanwhile comes at once.
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { Crashes } from '../main/crashes.js';
import { FirstWord } from '../main/start/control.js';
import { sayHello } from '../records/hello.js';
import { configOf, startBackend, startPlane, testMsMax, until, type Backend } from './harness.js';
import { sendRaw, statusOf } from './raw-client.js';
import { freePort } from './waiting.js';

t.setTimeout(testMsMax);

t.test('R12: a node says that it has started', async (t) => {
  const heard: string[] = [];
  const control = await startBackend(t, (request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      if (request.url === '/api/dataplane/hello') heard.push(`${request.headers.authorization} ${body}`);
      response.end('{}');
    });
  });
  const shipping = { url: control.url, token: 'node-token', node: 'n1' };
  await startPlane(t, 'node', { sites: [] }, { shipping });
  t.ok(await until(() => heard.length === 1));
  t.same(heard, ['Bearer node-token {"node":"n1"}']);
});

t.test('R12: a control plane that is not quite up is asked again; one that is older is not', async (t) => {
  const statuses = [503, 200, 404];
  const control = await startBackend(t, (request, response) => {
    response.statusCode = statuses.shift() ?? 500;
    request.resume().on('end', () => response.end('fine'));
  });
  const say = (url: string, signal = new AbortController().signal): Promise<string> =>
    sayHello({ url, token: 't', node: 'n' }, signal);
  t.equal(await say(control.url), 'fine');
  t.equal(await say(control.url), 'no answer: 404');
  const free = createServer();
  await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
  const { port } = free.address() as AddressInfo;
  await new Promise((resolve) => free.close(resolve));
  t.match(await say(`http://127.0.0.1:${port}`, AbortSignal.abort()), /no answer/, 'a stop ends it');
});

t.test('R2: a node that answers 503 until it is sent something asks until it was', async (t) => {
  let asked = 0;
  const control = await startBackend(t, (request, response) => {
    asked += 1;
    response.statusCode = 503;
    request.resume().on('end', () => response.end());
  });
  const isWaiting = (): boolean => asked < 7; // more often than a node that serves asks
  const answer = await sayHello({ url: control.url, token: 't', node: 'n', isWaiting }, new AbortController().signal);
  t.same([asked, answer], [7, 'no answer: 503']);
});

/** Whether anybody takes connections there. */
const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

interface Ports {
  readonly http: number;
  readonly admin: number;
}

/** A control plane that answers a node that starts when `onHello` has resolved, with that status. */
const startControl = (t: Test, onHello: () => Promise<number>): Promise<Backend> =>
  startBackend(t, (request, response) => {
    request.resume().on('end', () => {
      if (request.url !== '/api/dataplane/hello') return response.end('{}');
      void onHello().then((status) => response.writeHead(status).end('{}'));
    });
  });

const siteTo = ({ url: upstream }: Backend, prefix: string): object => ({
  sites: [{ name: 'shop', prefix, upstream, protected: false }],
});

const put = (admin: number, config: object): Promise<Response> =>
  fetch(`http://127.0.0.1:${admin}/generation`, {
    method: 'PUT',
    headers: { authorization: 'Bearer test-token', connection: 'close' },
    body: JSON.stringify({ id: 0, sha256: '', artifactPath: '', config }),
  });

for (const workers of [1, 2])
  t.test(`R12: what was applied while it was away serves from the first request on, ${workers} workers`, async (t) => {
    const backend = await startBackend(t, (_request, response) => response.end('ok'));
    const ports: Ports = { http: await freePort(), admin: await freePort() };
    const seen: unknown[] = [];
    const control = await startControl(t, async () => {
      seen.push(await isOpen(ports.http));
      const status = await fetch(`http://127.0.0.1:${ports.admin}/healthz`, { headers: { connection: 'close' } });
      seen.push(status.status);
      seen.push((await put(ports.admin, configOf(siteTo(backend, '/new')))).status);
      seen.push(await isOpen(ports.http));
      return 200;
    });
    const shipping = { url: control.url, token: 'node-token', node: 'n1' };
    const options = { shipping, workers, port: ports.http, adminPort: ports.admin };
    const plane = await startPlane(t, 'net', siteTo(backend, '/old'), options);
    t.same(seen.slice(0, 3), [false, 503, 200], 'nobody is served before, and a generation is taken');
    const get = async (path: string): Promise<number> =>
      statusOf((await sendRaw(plane.ports.http, `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)).text);
    for (let nth = 0; nth < 4 * workers; nth += 1) t.same([await get('/new'), await get('/old')], [200, 404]);
    const { generation, workers: slots } = await plane.status();
    t.equal(generation, 2);
    t.ok((slots as { generation: number }[]).every((worker) => worker.generation === 2));
  });

t.test('R12: a refused generation, an older control plane and one that starts hold nobody up', async (t) => {
  const backend = await startBackend(t, (_request, response) => response.end('ok'));
  for (const status of [200, 404, 503]) {
    const admin = await freePort();
    let refused = 0;
    const control = await startControl(t, async () => {
      if (status === 200) refused = (await put(admin, { sites: 1 })).status;
      return status;
    });
    const shipping = { url: control.url, token: 'node-token', node: 'n1' };
    const plane = await startPlane(t, 'net', siteTo(backend, '/'), { shipping, adminPort: admin });
    t.equal(statusOf((await sendRaw(plane.ports.http, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')).text), 200, `${status}`);
    if (status === 200) t.equal(refused, 422);
    await plane.stop();
  }
});

t.test('R12: a control plane that says nothing is waited for within a bound, once', async (t) => {
  const backend = await startBackend(t, (_request, response) => response.end('ok'));
  let speak = (_status: number): void => {};
  let asked = 0;
  const control = await startControl(t, () => {
    asked += 1;
    return new Promise((resolve) => (speak = resolve));
  });
  const shipping = { url: control.url, token: 'node-token', node: 'n1' };
  const dataDir = t.testdir({});
  const plane = await startPlane(t, 'net', siteTo(backend, '/'), { shipping, dataDir });
  t.equal(asked, 1, 'it serves while the question stands');
  t.equal(statusOf((await sendRaw(plane.ports.http, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')).text), 200);
  const open = (): Crashes => new Crashes(dataDir, () => {}, dataDir); // not where the node itself keeps its tables
  const next = open();
  next.begin();
  t.equal(next.wasSilent, true, 'a run after a crash does not wait again');
  next.noteSilence(true);
  speak(200);
  t.ok(
    await until(() => {
      const after = open();
      after.begin();
      return !after.wasSilent;
    }),
    'until the control plane has spoken',
  );
});

t.test('R12: the wait ends with the first word, and with the bound', async (t) => {
  const heard = new FirstWord(2 ** 30);
  const waiting = heard.wait();
  heard.hear();
  t.equal(await waiting, true);
  t.equal(await heard.wait(), true, 'what was said while the workers loaded counts');
  t.equal(await new FirstWord(1).wait(), false);
  t.equal(await new FirstWord(0).wait(), false, 'none is expected');
});
