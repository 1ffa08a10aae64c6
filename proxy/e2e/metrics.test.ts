// What a scraper gets from a node that refused in every way there is.
import { connect } from 'node:net';
import t from 'tap';
import { readExposition } from '../metrics/testing/read-exposition.js';
import { admin, listenerKinds, metricsWith, startBackend, startPlane, testMsMax } from './harness.js';
import { sendRaw, statusOf } from './raw-client.js';

t.setTimeout(testMsMax);

for (const kind of listenerKinds) {
  t.test(`${kind}: every refusal is counted alike, under new and old names`, async (t) => {
    const backend = await startBackend(t, (_request, response) => response.end('ok'));
    const plane = await startPlane(t, kind, {
      sites: [{ name: 'shop', prefix: '/shop', upstream: backend.url, protected: true }],
      limits: { request_body_bytes_max: 1024 },
      timeouts: { client_body_idle_ms: 100, drain_ms: 500 },
    });
    const { http } = plane.ports;
    await (await admin(plane, '/threats', { method: 'PUT', body: '127.0.0.1' })).text();
    const post = (bytes: number): string => `POST /shop HTTP/1.1\r\nHost: h\r\nContent-Length: ${bytes}\r\n\r\n`;
    const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`;
    const statuses = new Map<string, number>();
    const ask = async (name: string, wire: string): Promise<void> => {
      statuses.set(name, statusOf((await sendRaw(http, wire)).text));
    };
    await ask('no_site', get('/elsewhere'));
    await ask('head', get('/shop#fragment'));
    const denied = 'gatehouse_refused_total{status="403",reason="gate"}';
    do await ask('gate', get('/shop'));
    while (statuses.get('gate') !== 403); // until the list has reached the worker
    await (await admin(plane, '/threats', { method: 'PUT', body: '' })).text();
    do await ask('served', get('/shop'));
    while (statuses.get('served') !== 200);
    await ask('body_too_large', post(5000));
    const slow = connect(http, '127.0.0.1');
    t.teardown(() => slow.destroy());
    slow.on('error', () => {}); // the connection is cut
    slow.write(post(10));
    if (kind !== 'uws') await ask('unreadable', 'no request at all\r\n\r\n');
    t.strictSame(
      [...statuses],
      [
        ['no_site', 404],
        ['head', 400],
        ['gate', 403],
        ['served', 200],
        ['body_too_large', 413],
        ...(kind !== 'uws' ? [['unreadable', 400]] : []),
      ],
    );
    const { samples } = readExposition(await metricsWith(plane, 'reason="body_too_slow"} 1'));
    const one = (status: number, reason: string): number | undefined =>
      samples.get(`gatehouse_refused_total{status="${status}",reason="${reason}"}`);
    for (const [status, reason] of [
      [404, 'no_site'],
      [400, 'head'],
      [413, 'body_too_large'],
      [408, 'body_too_slow'],
    ] as const)
      t.equal(one(status, reason), 1, reason);
    t.ok((samples.get(denied) ?? 0) >= 1, 'gates as well');
    t.equal(samples.get('gatehouse_threats_matched_total'), samples.get(denied));
    if (kind !== 'uws') t.equal(one(400, 'unreadable'), 1);
    t.equal(samples.get('waap_refused_total{status="400"}'), kind === 'uws' ? 1 : 2, 'the old name adds them up');
    t.equal(samples.get('waap_config_version'), 1);
    for (const [key, value] of samples)
      if (key.startsWith('waap_') && !key.startsWith('waap_refused_total'))
        t.equal(samples.get(key.replace('waap_', 'gatehouse_')), value, key);
  });
}
