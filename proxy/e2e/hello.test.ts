// R12: a node that starts tells its control plane, so that what was applied meanwhile comes at once.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { sayHello } from '../records/hello.js';
import { startBackend, startPlane, testMsMax, until } from './harness.js';

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
