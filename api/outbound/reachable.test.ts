import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { receiveHttp } from '../siem/testing/receivers.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { createOutbound } from './outbound.js';

const connector = (target: string, more: object = {}) => ({ name: 'soc', kind: 'webhook', target, ...more });

async function targets(t: Test, database: Database): Promise<void> {
  const received: string[] = [];
  const receiver = await receiveHttp(t, ({ body }) => {
    received.push(body);
    return { status: 200 };
  });
  const resolveHost = async (host: string) => (host === 'inside.example' ? [{ address: '10.0.0.9', family: 4 }] : []);
  const outbound = createOutbound({ allow: [new URL(receiver.url).hostname], resolveHost });
  const at = await startTestApp(database, { outbound });
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const operator = await at.user('operator');
  const save = (...siem_connectors: object[]) =>
    at.call('PATCH', '/api/settings', { token, body: { siem_connectors } });
  const refused: readonly (readonly [target: string, kind: string])[] = [
    ['https://10.0.0.5/in', 'webhook'],
    ['https://inside.example/in', 'webhook'],
    ['https://[fd00::1]/in', 'webhook'],
    ['tcp://192.168.1.4:601', 'syslog'],
    ['udp://169.254.169.254:514', 'syslog'],
  ];
  for (const [target, kind] of refused) {
    const reply = await save(connector(target, { kind }));
    t.equal(reply.status, 422, target);
    const [error] = reply.body['errors'] as { path: string; fix: string }[];
    t.match(error, { path: '/siem_connectors/0/target', fix: /set OUTBOUND_ALLOW=/ }, target);
    const tried = await at.call('POST', '/api/siem/test', { token, body: connector(target, { kind }) });
    t.match(tried.body['errors'], [{ path: '/target', fix: /OUTBOUND_ALLOW/ }], `${target}, tried before it is saved`);
  }
  t.equal((await save(connector('https://away.example/in'))).status, 200, 'a name that leads nowhere may exist later');
  t.equal((await save(connector('https://10.0.0.5/in', { enabled: false }))).status, 200, 'one that is off is kept');
  const webhook = await at.call('PATCH', '/api/settings', { token, body: { siem_webhook_url: 'https://10.0.0.5/' } });
  t.match(webhook.body['errors'], [{ path: '/siem_webhook_url' }]);
  const rule = { name: 'r', metric: 'requests', threshold: 1, window_min: 5, cooldown_min: 5, type: 'chat' };
  const alert = await at.call('POST', '/api/alerts', { token, body: { ...rule, target: 'https://10.0.0.5/hook' } });
  t.match(alert.body['errors'], [{ path: '/target', fix: /OUTBOUND_ALLOW/ }]);

  const draft = connector(receiver.url, { token: 'of-the-draft' });
  const tried = await at.call('POST', '/api/siem/test', { token, body: draft });
  t.match(tried.body, { delivered: true, reason: null });
  t.match(received, [/Test event/], 'the event has arrived');
  t.match((await at.call('GET', '/api/siem', { token })).body['connectors'], [], 'and nothing is saved by it');
  t.equal((await save(draft)).status, 200);
  const kept = { ...draft, token: '********' };
  t.match(
    (await at.call('POST', '/api/siem/test', { token, body: kept })).body,
    { delivered: true },
    'the stored token',
  );
  const unknown = { ...kept, name: 'other' };
  t.equal(
    (await at.call('POST', '/api/siem/test', { token, body: unknown })).status,
    422,
    'of that name none is stored',
  );
  const odd = await at.call('POST', '/api/siem/test', { token, body: { ...draft, options: { colour: 'red' } } });
  t.match(odd.body, { delivered: false, reason: /colour is no option/ });
  t.equal((await at.call('POST', '/api/siem/test', { token: operator.token, body: draft })).status, 403);
}

t.test('targets of events and notices', (t) => onBothDatabases(t, 'targets', targets));
