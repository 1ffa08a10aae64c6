// One client challenged on all paths, another slowed down, until their measures end; nobody else notices.
import t from 'tap';
import { admin, startBackend, startPlane, testMsMax, until } from './harness.js';
import { sendRaw, statusOf } from './raw-client.js';

t.setTimeout(testMsMax);

t.test('measures of the control plane: on all paths, without any other setting, and with an end', async (t) => {
  const backend = await startBackend(t, (_request, response) => response.end('ok'));
  const settings = {
    sites: [{ name: 'shop', upstream: backend.url }],
    rl_trust_proxy: true,
    rl_trusted_proxies: ['127.0.0.1'],
  };
  const plane = await startPlane(t, 'net', settings, { workers: 2 });
  const ask = async (clientIp: string, path = '/'): Promise<number> => {
    const head = `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Forwarded-For: ${clientIp}\r\n`;
    return statusOf((await sendRaw(plane.ports.http, `${head}Accept: text/html\r\n\r\n`)).text);
  };
  const give = async (lines: readonly string[]): Promise<number> =>
    (await admin(plane, '/measures', { method: 'PUT', body: lines.map((line) => `${line}\n`).join('') })).status;
  const untilMs = Date.now() + 3_600_000;
  t.equal(await ask('203.0.113.7'), 200);
  t.equal(await give([`~challenge:203.0.113.7 ${untilMs}`, `~throttle:198.51.100.0/24 ${untilMs}`]), 200);
  t.ok(await until(async () => (await ask('203.0.113.7')) === 403));
  for (const path of ['/', '/any/where', '/api?x=1']) t.equal(await ask('203.0.113.7', path), 403, path);
  const slowed: number[] = [];
  for (let count = 0; count < 40; count += 1) slowed.push(await ask('198.51.100.9'));
  t.ok(slowed.slice(0, 15).every((status) => status === 200));
  t.ok(slowed.includes(429), 'fifteen in ten seconds, and no more');
  t.equal(await ask('203.0.113.8'), 200, 'others are not touched');
  t.match(await plane.status(), { measures: { challenged: 1, throttled: 1, networks: 0 } });
  t.equal(await give([`~challenge:203.0.113.7 ${Date.now() + 500}`]), 200);
  t.ok(await until(async () => (await ask('203.0.113.7')) === 200), 'it ends by itself');
  for (const wrong of ['x', `~tarpit:203.0.113.7 ${untilMs}`, '~throttle:x', '~challenge:203.0.113.7 soon'])
    t.equal(await give([wrong]), 422, wrong);
});
