// Limits and bans over real sockets, with several workers, and what main says of them.
import t from 'tap';
import { admin, listenerKinds, metricsWith, startBackend, startPlane, testMsMax, until } from './harness.js';

t.setTimeout(testMsMax);
const limitedMetric = 'gatehouse_rate_limited_total{site="all",zone="default",outcome="enforced"}';

for (const kind of listenerKinds) {
  const workers = kind === 'uws' ? 2 : 1;
  t.test(`${kind}: 1, 2: limits hold over all workers, a ban is told, listed and lifted`, async (t) => {
    const backend = await startBackend(t, (_request, response) => response.end('ok'));
    const settings = {
      sites: [{ name: 'all', prefix: '/', upstream: backend.url, protected: true }],
      rl_trust_proxy: true,
      rl_trusted_proxies: ['127.0.0.1'],
      rl_enabled: true,
      rl_events: 10,
      rl_window: '1h',
      flood_autoban_enabled: true,
      flood_autoban_threshold: 5,
    };
    const plane = await startPlane(t, kind, settings, { workers });
    const ask = async (ip: string): Promise<number> => {
      const headers = { 'x-forwarded-for': ip, connection: 'close' };
      return (await fetch(`http://127.0.0.1:${plane.ports.http}/`, { headers })).status;
    };
    const counted = async (ip: string, requests: number): Promise<Record<number, number>> => {
      const counts: Record<number, number> = {};
      for (const status of await Promise.all(Array.from({ length: requests }, () => ask(ip))))
        counts[status] = (counts[status] ?? 0) + 1;
      return counts;
    };
    // A request that another worker is deciding at the very moment of the ban is limited like those before it.
    const { 200: passed, 429: limited = 0, 403: banned = 0 } = await counted('203.0.113.9', 40);
    t.strictSame([passed, limited + banned], [10, 30], 'exact, whichever worker took it');
    t.ok(limited >= 4 && limited <= 3 + workers, `${limited} were limited before the ban`);
    const enforced = limited + 2;
    t.strictSame(await counted('203.0.113.10', 12), { 200: 10, 429: 2 });
    const listed = async () => ((await (await admin(plane, '/bans')).json()) as { bans: unknown[] }).bans;
    await until(async () => (await listed()).length === 1);
    t.match(await listed(), [{ network: '203.0.113.9', zone: 'default', offence: 1, threshold: 5 }]);
    t.match(
      await metricsWith(plane, `${limitedMetric} ${enforced}`),
      new RegExp(`${limitedMetric} ${enforced}[^]*gatehouse_bans_active 1`),
    );
    t.match(await (await admin(plane, '/gates')).json(), {
      gates: [
        { name: 'crash-requests', appliesTo: 'all' },
        { name: 'deny-list' },
        { name: 'bans' },
        { name: 'tls-fingerprints' },
        { name: 'verdicts' },
        { name: 'flood-global', appliesTo: 'all' },
      ],
      zones: [{ site: 'all', zone: 'default', outcome: 'enforced', count: enforced }],
      heavy: [{ zone: 'default' }, { zone: 'default' }],
      rateKeys: { keys: 2, keysMax: 2_097_181, evicted: 0 },
      bans: 1,
    });
    const lift = (query: string) => admin(plane, `/bans${query}`, { method: 'DELETE' });
    t.equal((await lift('')).status, 400);
    t.match(await (await lift('?network=198.51.100.1')).json(), { lifted: false });
    t.match(await (await lift('?network=203.0.113.9')).json(), { lifted: true });
    t.equal(await ask('203.0.113.9'), 429, 'the ban is gone, the limit is not');
    t.strictSame(await listed(), []);
    const safe = (body: string) => admin(plane, '/ban-safe', { method: 'PUT', body });
    for (const body of ['{}', '[1]', '{"addresses":["nobody"]}']) t.equal((await safe(body)).status, 422, body);
    t.equal((await safe('{')).status, 400);
    t.equal((await safe('{"addresses":["203.0.113.11"]}')).status, 200);
    await until(async () => {
      await counted('203.0.113.11', 20);
      return (await ask('203.0.113.11')) === 429;
    });
    t.strictSame(await listed(), [], 'who is to be spared is limited and not banned');
  });
}
