// `gatehouse health` against servers of the test: healthy, unwell, away, and what a container asks.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { devNull } from 'node:os';
import t, { type Test } from 'tap';
import { inContainer } from '../environment/in-container.js';
import { readEnvironment } from '../environment/read-environment.js';
import { Refusal } from '../refusal.js';
import { runHealth } from './health.js';

async function part(t: Test, path: string, status: number): Promise<string> {
  const server = createServer((request, answer) => {
    answer.statusCode = request.url === path ? status : 404;
    answer.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close());
  return String((server.address() as AddressInfo).port);
}

t.beforeEach(() => {
  process.env['GATEHOUSE_ENV_FILE'] = devNull;
});

t.test('each part is asked where it serves', async (t) => {
  const cases: [string, string, string][] = [
    ['data-plane', '--gatehouse-admin-port', '/healthz'],
    ['control-plane', '--api-port', '/api/health'],
    ['console', '--ui-port', '/'],
  ];
  for (const [name, flag, path] of cases) {
    t.equal(await runHealth([name, flag, await part(t, path, 200)]), 0, name);
    await t.rejects(runHealth([name, flag, await part(t, path, 503)]), /answers 503/, `${name} is unwell`);
    await t.rejects(runHealth([name, flag, '1']), Refusal, `${name} is away`);
  }
});

t.test('without a name all of them have to be healthy', async (t) => {
  const ports = [await part(t, '/healthz', 200), await part(t, '/api/health', 200)];
  const flags = ['--gatehouse-admin-port', ports[0] ?? '', '--api-port', ports[1] ?? ''];
  t.equal(await runHealth([...flags, '--ui-port', await part(t, '/', 200)]), 0);
  await t.rejects(runHealth([...flags, '--ui-port', await part(t, '/', 500)]), /console .* answers 500/);
  await t.rejects(runHealth(['kitchen']), /does not know kitchen/);
});

t.test('inside a container the ports are those that Compose publishes, whatever the host maps them to', async (t) => {
  const asked = { WAF_PORT: '80', UI_PORT: '443', API_PORT: '9', ADMIN_BIND: '::1' };
  const outside = readEnvironment(asked);
  t.equal(inContainer(outside), outside, 'outside nothing changes');
  t.match(inContainer(readEnvironment({ ...asked, IN_CONTAINER: '1' })), {
    WAF_PORT: '8080',
    JA3_PORT: '8443',
    UI_PORT: '3010',
    API_PORT: '8090',
    ADMIN_BIND: '0.0.0.0',
    GATEHOUSE_CONTROL_URL: 'http://control-plane:8090',
  });
});
