// Proxies that the settings do not name, over a real listener with real records: one that cannot be banned because its
// requests look like many clients, one that is banned through a single abuser, and neither once the settings name it.
import { request } from 'node:http';
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { connectDataPlane } from '../nodes/link.js';
import { startTestApp, testEnv } from '../testing/app.js';
import { nodeToken, startNode, startUpstream } from '../testing/data-plane.js';
import { onBothDatabases } from '../testing/databases.js';
import { freePort } from '../testing/free-port.js';
import { writeRuleSet } from '../testing/rule-set.js';
import { makeDataDirectory } from '../testing/temporary.js';
import { until } from '../testing/waiting.js';

interface Item {
  readonly node: string;
  readonly kind: string;
  readonly address: string;
  readonly addresses: number;
  readonly requests: number;
  readonly request_id: string;
}

/** From an address of the loopback network, which stands for a proxy. */
const visit = (port: number, from: string, headers: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = { host: 'shop.example', connection: 'close', ...headers };
    request({ port, host: '127.0.0.1', localAddress: from, path: '/shop/', headers: sent }, (reply) =>
      reply.resume().once('end', () => resolve(reply.statusCode ?? 0)),
    )
      .once('error', reject)
      .end();
  });

async function open(t: Test, database: Database) {
  const port = await freePort();
  const upstream = await startUpstream(t);
  const node = await startNode(t, { upstream, controlUrl: `http://127.0.0.1:${port}` });
  const secret = { settingsEncryptionSecret: 'b'.repeat(40), dataAdminToken: nodeToken };
  const link = await connectDataPlane({
    env: {
      ...secret,
      dataAdminUrls: [node.url],
      dataDirectory: await makeDataDirectory(t, 'unnamed-proxies'),
      crsDirectory: await writeRuleSet(t),
      upstreams: { customer: upstream, payment: upstream },
    },
    database,
    now: Date.now,
  });
  const { applySettings, nodeGates } = link;
  const at = await startTestApp(database, { applySettings, nodeGates, now: Date.now, env: { ...testEnv, ...secret } });
  t.teardown(async () => {
    await at.close();
    await link.close();
  });
  await link.start(at.parts);
  const { token } = await at.user('admin');
  await at.app.listen({ host: '127.0.0.1', port });
  const apply = async (settings: object): Promise<void> => {
    for (const [method, path, body] of [
      ['PATCH', '/api/settings', settings] as const,
      ['POST', '/api/apply'] as const,
    ]) {
      const reply = await at.call(method, path, { token, ...(body === undefined ? {} : { body }) });
      if (reply.status !== 200) throw new Error(reply.text);
    }
  };
  const site = { name: 'shop', host: 'shop.example', prefix: '/shop', upstream, protected: true };
  const found = async (): Promise<Item[]> => (await at.call('GET', '/api/unnamed-proxies', { token })).body['items'];
  return { at, node, site, apply, found };
}

const banning = {
  rl_enabled: true,
  rl_events: 1,
  rl_window: '10m',
  flood_autoban_enabled: true,
  flood_autoban_window_sec: 600,
  flood_autoban_duration_sec: 600,
};

async function suite(t: Test, database: Database): Promise<void> {
  const { at, node, site, apply, found } = await open(t, database);
  await apply({ sites: [site], ...banning, flood_autoban_threshold: 24 });
  t.strictSame(await found(), [], 'nothing happened yet');

  const seen = new Set<number>();
  for (let client = 1; client <= 48; client += 1)
    seen.add(await visit(node.http, '127.0.0.2', { 'x-forwarded-for': `203.0.113.${client}` }));
  t.notOk(seen.has(403), 'many values: the address is limited, and never banned');
  await until('it is told', async () => (await found()).length > 0);
  t.match(await found(), [{ node: 'edge-1', kind: 'not_banned', address: '127.0.0.2', addresses: 1 }]);

  // One abuser behind a CDN: a single value, with what the CDN's other clients send between. And one without a proxy.
  for (const [from, headers] of [
    ['127.0.0.3', { 'x-forwarded-for': '198.51.100.7' }],
    ['127.0.0.4', {}],
    ['127.0.0.5', { 'x-forwarded-for': '127.0.0.5' }],
    ['127.0.0.6', { forwarded: 'for=198.51.100.8' }],
  ] as const) {
    let status = 0;
    for (let index = 0; index < 60 && status !== 403; index += 1) status = await visit(node.http, from, headers);
    t.equal(status, 403, `${from} is banned`);
  }
  const banned = async (): Promise<Item | undefined> => (await found()).find(({ kind }) => kind === 'banned');
  await until('both are told', async () => (await banned())?.addresses === 2);
  const told = await banned();
  t.match(
    told,
    { node: 'edge-1', address: '127.0.0.6', addresses: 2, requests: 2 },
    'not those that speak for themselves',
  );
  const { token } = await at.user('viewer');
  const { body } = await at.call('GET', `/api/events?request_id=${told?.request_id}`, { token });
  t.match(body['items'], [{ client_ip: '127.0.0.6', rule_id: 1_006_200 }], 'its event');

  await apply({ rl_trust_proxy: true, rl_trusted_proxies: ['127.0.0.2', '127.0.0.6/32'] });
  t.match(await found(), [{ kind: 'banned', address: '127.0.0.3', addresses: 1 }], 'what is named by now is not told');
  await apply({ rl_trust_proxy: true, rl_trusted_proxies: ['127.0.0.0/8'] });
  t.strictSame(await found(), []);
}

t.test('issue 22 B8: proxies that the settings do not name are told', (t) => onBothDatabases(t, 'unnamed', suite));
