// Sensors while they run, through the API and with the program itself: signs of life, the switch, keys, and which
// findings of scans an event proves.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { isSameOperation, linesBetween } from './same-place.js';
import { signatureOf } from './sensors.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
type Json = Record<string, unknown>;

t.test('an operation is the same by method and path, a line by its file', (t) => {
  const same: readonly [string, string, string, boolean][] = [
    ['GET http://shop.example:8080/search [q]', 'GET', '/search', true],
    ['GET https://shop.example/users/17/orders [id]', 'GET', '/users/{}/orders', true],
    ['/users/:id', 'GET', '/users/{}', true],
    ['GET http://shop.example/search/archive [q]', 'GET', '/search', false],
    ['GET http://shop.example/my/search [q]', 'GET', '/search', false],
    ['POST http://shop.example/search [q]', 'GET', '/search', false],
    ['http://shop.example/', 'GET', '/', true],
    ['src/search.js:3', 'GET', '/search', false],
  ];
  for (const [location, method, route, wanted] of same)
    t.equal(isSameOperation(location, method, route), wanted, `${location} · ${method} ${route}`);
  t.equal(linesBetween('src/app.js:12', 'src/app.js', 12), 0);
  t.equal(linesBetween('src/app.js:12', 'src/app.js', 14), 2);
  t.equal(linesBetween('repo/src/app.js:12:5', 'src/app.js', 12), 0, 'of a folder above');
  t.equal(linesBetween('src/app.js:12', 'src/app.js', 40), null, 'another call of the file');
  t.equal(linesBetween('src/myapp.js:12', 'app.js', 12), null, 'another file');
  t.equal(linesBetween('src/app.js', 'src/app.js', 40), 0, 'no line is named');
  t.end();
});

async function started(t: Test, database: Database) {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  at.clock.nowMs = Date.now(); // a program in another process signs by the clock of the host
  const { token } = await at.user('admin');
  const call = (method: string, path: string, body?: unknown, who = token) =>
    at.call(method, `/api/v1${path}`, { token: who, body });
  const made = async (path: string, body: object): Promise<Json> => {
    const reply = await call('POST', path, body);
    if (reply.status !== 201) throw new Error(reply.text);
    return reply.body;
  };
  const application = String((await made('/applications', { name: 'Shop' }))['id']);
  const ingest = String((await call('POST', '/tokens', { name: 's', scopes: ['ingest'] })).body['token']);
  const sensor = await made('/runtime/sensors', { application_id: application, name: 'shop-1', language: 'node' });
  const signed = async (path: string, body: object, key: string) => {
    const payload = JSON.stringify(body);
    const seconds = String(Math.floor(at.clock.nowMs / 1000));
    const reply = await at.app.inject({
      ...{ method: 'POST', url: `/api/v1${path}`, payload },
      headers: {
        ...{ authorization: `Bearer ${ingest}`, 'content-type': 'application/json', 'x-sensor-timestamp': seconds },
        'x-sensor-signature': signatureOf(key, seconds, Buffer.from(payload)),
      },
    });
    return { status: reply.statusCode, body: JSON.parse(reply.body) as Json };
  };
  return { at, call, made, application, ingest, sensor, signed, key: String(sensor['key']) };
}

async function keysAndSwitch(t: Test, database: Database): Promise<void> {
  const { at, call, made, application, ingest, sensor, signed, key } = await started(t, database);
  const path = `/runtime/sensors/${String(sensor['id'])}`;
  const beat = { application_id: application, sensor_id: 'shop-1', agent_version: '0.1.0', runtime: 'node 22.1.0' };
  const listed = async (): Promise<unknown> => (await call('GET', '/runtime/sensors')).body['items'];

  t.match(await signed('/runtime/heartbeat', beat, key), { status: 200, body: { enabled: true, registered: true } });
  t.match(await listed(), [{ agent_version: '0.1.0', runtime: 'node 22.1.0', enabled: true, last_seen_at: String }]);
  t.equal((await call('POST', '/runtime/heartbeat', beat, ingest)).status, 403, 'unsigned');
  t.match(
    await call('POST', '/runtime/heartbeat', { ...beat, sensor_id: 'free' }, ingest),
    { status: 200, body: { enabled: true, registered: false } },
    'a name that nobody registered needs the token only',
  );

  t.match(await call('PATCH', path, { enabled: false }), { status: 200, body: { enabled: false } });
  t.match(await signed('/runtime/heartbeat', beat, key), { body: { enabled: false } }, 'the switch');
  t.match(await call('PATCH', path, { enabled: true }), { body: { enabled: true } });

  const second = String((await call('POST', `${path}/key`, {})).body['key']);
  t.not(second, key);
  t.equal((await signed('/runtime/heartbeat', beat, second)).status, 200, 'the new key');
  t.equal((await signed('/runtime/heartbeat', beat, key)).status, 200, 'the one before, for a day');
  const third = String((await call('POST', `${path}/key`, { at_once: true })).body['key']);
  t.equal((await signed('/runtime/heartbeat', beat, second)).status, 403, 'at once');
  t.equal((await signed('/runtime/heartbeat', beat, third)).status, 200);
  const audit = (await call('GET', '/audit?limit=20')).text;
  t.ok(audit.includes('another key') && !audit.includes(third), 'audited, without the key');
  const viewer = await at.user('viewer');
  t.equal((await call('PATCH', path, { enabled: true }, viewer.token)).status, 403);
  t.equal((await call('POST', `${path}/key`, {}, viewer.token)).status, 403);
  const archive = await at.app.inject({
    ...{ method: 'GET', url: '/api/v1/runtime/sensor-package' },
    headers: { authorization: `Bearer ${viewer.token}` },
  });
  t.equal(archive.statusCode, 200);
  const text = gunzipSync(archive.rawPayload).toString('latin1');
  for (const name of ['package/package.json', 'package/register.mjs', 'package/LICENSE'])
    t.ok(text.includes(name), name);

  const fourth = String((await call('POST', `${path}/key`, {})).body['key']);
  const revoked = await made('/runtime/sensors', { application_id: application, name: 'shop-2' });
  const other = `/runtime/sensors/${String(revoked['id'])}`;
  t.equal((await call('DELETE', other)).status, 204);
  const late = { ...beat, sensor_id: 'shop-2' };
  t.equal((await signed('/runtime/heartbeat', late, String(revoked['key']))).status, 403, 'revoked');
  t.equal((await call('POST', `${other}/key`, {})).status, 409);
  t.equal((await signed('/runtime/heartbeat', beat, third)).status, 200, 'the one before, for a day');
  at.clock.nowMs += 25 * 3_600_000;
  t.equal((await signed('/runtime/heartbeat', beat, third)).status, 403, 'no longer');
  t.equal((await signed('/runtime/heartbeat', beat, fourth)).status, 200);
}

const application = `
const http = require('node:http');
const { exec } = require('node:child_process');
http.createServer((request, reply) => {
  const name = new URL(request.url, 'http://x').searchParams.get('name');
  exec('echo ' + name, () => reply.end('done'));
}).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
process.stdin.resume().on('end', () => process.exit(0));
`;
const register = fileURLToPath(new URL('../../sensor-package/register.mjs', import.meta.url));

/** The application above with the sensor in it; the port, and how it ends. */
async function attacked(t: Test, environment: Readonly<Record<string, string>>): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-sensed-'));
  writeFileSync(join(directory, 'app.cjs'), application);
  const env = { PATH: process.env['PATH'] ?? '', GATEHOUSE_SENSOR_BATCH_SECONDS: '0.05', ...environment };
  const child = spawn(process.execPath, ['--import', register, 'app.cjs'], {
    ...{ cwd: directory, env, stdio: ['pipe', 'pipe', 'inherit'] },
  });
  t.teardown(async () => {
    child.stdin?.end();
    await new Promise((done) => child.once('exit', done));
    rmSync(directory, { recursive: true, force: true });
  });
  return new Promise((done) => child.stdout?.once('data', (text: Buffer) => done(Number(text))));
}

async function proven(t: Test, database: Database): Promise<void> {
  const { at, call, made, application: id, ingest, key } = await started(t, database);
  const finding = async (location: string, cwe: string): Promise<string> =>
    String(
      (await made('/vulnerabilities', { application_id: id, cwe: [cwe], title: location, severity: 'high', location }))[
        'id'
      ],
    );
  const scanned = await finding('GET http://shop.example/run [name]', 'CWE-78');
  const coded = await finding('app.cjs:6', 'CWE-77');
  const elsewhere = await finding('app.cjs:60', 'CWE-78');
  const other = await finding('GET http://shop.example/run/all [name]', 'CWE-78');
  await at.app.listen({ port: 0, host: '127.0.0.1' });
  const { port: control } = at.app.server.address() as { port: number };
  const port = await attacked(t, {
    ...{ GATEHOUSE_SENSOR_URL: `http://127.0.0.1:${control}`, GATEHOUSE_SENSOR_APPLICATION: id },
    ...{ GATEHOUSE_SENSOR_NAME: 'shop-1', GATEHOUSE_SENSOR_KEY: key, GATEHOUSE_SENSOR_TOKEN: ingest },
  });
  for (const value of ['hello', 'a; echo pwned'])
    await (await fetch(`http://127.0.0.1:${port}/run?name=${encodeURIComponent(value)}`)).text();
  let events: Json[] = [];
  for (let turn = 0; turn < 1000 && events.length === 0; turn++) {
    await new Promise((done) => setTimeout(done, 50));
    events = (await call('GET', '/runtime/events')).body['items'] as Json[];
  }
  t.match(events, [{ attack_type: 'command_injection', confirmed: true, route: '/run', file: 'app.cjs', line: 6 }]);
  t.equal(events.length, 1, 'the harmless value is not told');
  t.match(events[0], { vuln_id: scanned, proof: { parameter: 'query name', value: 'a; echo pwned' } });
  const stateOf = async (one: string): Promise<Json> => (await call('GET', `/vulnerabilities/${one}`)).body;
  for (const one of [scanned, coded])
    t.match(await stateOf(one), { status: 'confirmed', runtime_confirmed: true, exploit_confirmed: true });
  for (const one of [elsewhere, other]) t.match(await stateOf(one), { exploit_confirmed: false });
  t.match((await call('GET', '/runtime/sensors')).body['items'], [{ name: 'shop-1', last_seen_at: String }]);

  await call('POST', `/runtime/events/${String(events[0]?.['id'])}/link`, { vuln_id: null });
  for (const one of [scanned, coded]) t.match(await stateOf(one), { exploit_confirmed: false }, 'and the proof goes');
}

void onBothDatabases(t, 'signs of life, the switch and keys', keysAndSwitch);
void onBothDatabases(t, 'the program proves findings of scans', proven);
