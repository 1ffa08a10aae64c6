// An installation of the release before, with a deny list, bans and verdicts in three tables: everything is there after
// the upgrade, every view has it, it can be lifted, and other systems hear no old news.
import t, { type Test } from 'tap';
import { allModules } from '../app.js';
import { openEmbedded, openPostgres, type Database } from '../db/client.js';
import { migrate } from '../db/migrate.js';
import { createNodeGates } from '../edge/node-gates.js';
import { startTestApp } from '../testing/app.js';
import { copyEmbeddedTemplate, startCluster, withoutPostgres } from '../testing/databases.js';

const second = 1000;
const node = 'http://node-a';
const principal = 'session:0123456789abcdef';

/** Rows as the old release wrote them; times in seconds from `nowMs`. */
async function oldRows({ sql }: Database, nowMs: number): Promise<void> {
  const at = (seconds: number): Date => new Date(nowMs + seconds * second);
  const lists = [
    ['192.0.2.1', 'manual', 'ours', 'admin@example.org', null],
    ['192.0.2.1', 'tor', '', 'feed', null],
    ['192.0.2.0/24', 'feed', '', 'feed', null],
    ['2001:db8::/48', 'managed', '', 'feed', null],
    ['198.51.100.1', 'ai', 'risk 90', 'detection engine', at(600)],
    ['198.51.100.2', 'api-abuse', 'BOLA', 'system', at(600)],
    ['203.0.113.1', 'auto-ban', 'as the ban says', 'system', at(600)],
    ['203.0.113.2', 'auto-ban', 'as the ban says', 'system', at(1200)],
    ['198.51.100.3', 'manual', 'over', 'admin@example.org', at(-600)],
  ] as const;
  for (const [network, source, reason, by, end] of lists)
    await sql`
      insert into threat_addresses (network, source, reason, added_by, added_at, expires_at)
      values (${network}, ${source}, ${reason}, ${by}, ${at(-60)}, ${end})`;
  const bans = [
    ['203.0.113.1', 1, at(-60), at(600), null, null],
    ['203.0.113.2', 1, at(-2000), at(-1400), null, null],
    ['203.0.113.2', 2, at(-60), at(1200), null, null],
    ['203.0.113.3', 1, at(-60), at(600), at(-30), 'admin@example.org'],
    // taken off the deny list, which the next round would have seen
    ['203.0.113.4', 1, at(-60), at(600), null, null],
  ] as const;
  for (const [network, offence, begin, end, liftedAt, liftedBy] of bans)
    await sql`
      insert into bans (network, node, zone, request_id, offence, threshold, window_seconds, banned_at, expires_at,
        lifted_at, lifted_by)
      values (${network}, ${node}, 'login', 'R', ${offence}, 20, 60, ${begin}, ${end}, ${liftedAt}, ${liftedBy})`;
  const verdicts = [
    ['198.51.100.8', 'challenge', 'admin@example.org'],
    ['198.51.100.9', 'throttle', 'detection engine'],
    [principal, 'deny', 'detection engine'],
  ] as const;
  for (const [network, action, by] of verdicts)
    await sql`
      insert into verdicts (network, action, reason, added_by, added_at, expires_at)
      values (${network}, ${action}, 'why', ${by}, ${at(-60)}, ${at(600)})`;
}

async function suite(t: Test, database: Database): Promise<void> {
  const { sql } = database;
  const modules = await allModules();
  await migrate(
    database,
    modules.filter(({ name }) => name !== 'measures'),
  );
  await sql`insert into siem_connectors (name, enabled) values ('somebody', true)`;
  const nowMs = Date.now(); // what the migration calls now
  await oldRows(database, nowMs);
  await sql`delete from siem_outbox`;
  t.equal(await migrate(database, modules), 2);
  t.equal((await sql`select 1 from siem_outbox`).length, 0, 'no old news');

  const told: string[] = [];
  const gates = createNodeGates([node], {
    ask: async (_url, method, path) => {
      told.push(`${method} ${path}`);
      const ban = {
        network: '203.0.113.2',
        zone: 'login',
        requestId: 'R',
        offence: 2,
        threshold: 20,
        windowSeconds: 60,
      };
      return path === '/bans'
        ? { bans: [{ ...ban, atMs: nowMs - 60 * second, untilMs: nowMs + 1200 * second }] }
        : null;
    },
  });
  const at = await startTestApp(database, { nodeGates: gates });
  t.teardown(() => at.close());
  at.clock.nowMs = nowMs;
  const { token } = await at.user('operator');
  const items = async (path: string) => (await at.call('GET', path, { token })).body['items'] as Record<string, any>[];
  const denied = await items('/api/threat-intel');
  t.same(
    denied.map(({ network, source }) => `${network} ${source}`),
    [
      ...['192.0.2.0/24 feed', '192.0.2.1 manual', '192.0.2.1 tor', '198.51.100.1 ai', '198.51.100.2 api-abuse'],
      ...['2001:db8::/48 managed', '203.0.113.1 auto-ban', '203.0.113.2 auto-ban'],
    ],
  );
  t.match(denied[1], { reason: 'ours', added_by: 'admin@example.org', expires_at: null });
  const reason = '20 limited requests in 60 s by login, ban number 2, request R';
  const bans = await items('/api/bans?state=all&source=auto-ban');
  t.match(
    bans.filter(({ network }) => network === '203.0.113.2'),
    [
      { state: 'active', offence: 2, reason, node, earlier: [{ request_id: 'R' }] },
      { state: 'ended', offence: 1 },
    ],
    'with its history',
  );
  t.match(
    bans.filter(({ state }) => state === 'lifted').map(({ network, lifted_by: by }) => `${network} ${by}`),
    ['203.0.113.4 deny list', '203.0.113.3 admin@example.org'],
  );
  t.match(await items('/api/verdicts'), { length: 8 });
  t.match(await items('/api/measures?action=challenge,throttle'), [
    { subject: '198.51.100.8', source: 'manual', action: 'challenge' },
    { subject: '198.51.100.9', source: 'ai', action: 'throttle' },
  ]);
  t.match(await items('/api/measures?kind=principal'), [{ subject: principal, source: 'ai', action: 'deny' }]);

  const job = at.jobs.find(({ name }) => name === 'bans');
  const round = () => job?.run({ nowMs, signal: new AbortController().signal });
  t.equal(await round(), 'nothing new', 'a ban that a node still has is known');
  told.length = 0;
  t.equal((await at.call('DELETE', '/api/bans?network=203.0.113.2', { token })).status, 204);
  t.ok(told.includes('DELETE /bans?network=203.0.113.2'));
  for (const network of ['192.0.2.1', '198.51.100.1', principal])
    t.equal((await at.call('DELETE', `/api/verdicts?network=${network}`, { token })).status, 204, network);
  const left = (await items('/api/measures')).map(({ subject }) => String(subject));
  t.same(left, [...['192.0.2.0/24', '198.51.100.2', '198.51.100.8', '198.51.100.9', '2001:db8::/48', '203.0.113.1']]);
  await sql`update siem_connectors set enabled = true`; // the settings of the test name none
  await at.call('POST', '/api/bans', { token, body: { network: '198.51.100.20', action: 'challenge' } });
  t.match(
    await sql`select kind, body ->> 'network' as network from siem_outbox`,
    [{ kind: 'verdict', network: '198.51.100.20' }],
    'what comes now is told',
  );
}

t.test('the three tables of the release before', async (t) => {
  await t.test('embedded', async (t) => {
    const embedded = await openEmbedded(await copyEmbeddedTemplate(t));
    t.teardown(() => embedded.close());
    await suite(t, embedded);
  });
  await t.test('PostgreSQL', { skip: withoutPostgres }, async (t) => {
    const opened = openPostgres(await (await startCluster(t)).create());
    t.teardown(() => opened.close());
    await suite(t, opened);
  });
});
