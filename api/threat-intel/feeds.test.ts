import t, { type Test } from 'tap';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOutbound } from '../outbound/outbound.js';
import { startTestApp, type Reply, type TestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { createFeedJob } from './feeds.js';

/** issue 22 E: a failed feed is fetched when somebody asks for it, by those who may, and says how it went. */
async function fetchNow(
  t: Test,
  at: TestApp,
  state: () => Promise<Reply['body']>,
  answerWith: (answer: { status: number; body: string }) => void,
): Promise<void> {
  const path = '/api/threat-intel/feeds/feed/fetch';
  const [operator, viewer] = [await at.user('operator'), await at.user('viewer')];
  const ask = (as: { email: string }, where = path) =>
    at.logIn(as.email).then(({ body }) => at.call('POST', where, { token: String(body['token']) }));
  t.match(await state(), { feeds: [{ state: 'failed' }] });
  answerWith({ status: 503, body: '' });
  t.match(await ask(operator), { status: 200, body: { feeds: [{ state: 'failed', last_error: /it answered 503/ }] } });
  answerWith({ status: 200, body: '203.0.113.2\n203.0.113.3\n' });
  t.match(await ask(operator), { status: 200, body: { feeds: [{ state: 'ok', last_error: null, entries: 2 }] } });
  t.equal((await ask(viewer)).status, 403);
  t.match(await ask(operator, '/api/threat-intel/feeds/tor/fetch'), {
    status: 404,
    body: { detail: /there are: feed/ },
  });
}

t.test('feeds', (t) =>
  onBothDatabases(t, 'feeds', async (t, database) => {
    let answer: { status: number; body: string } = { status: 200, body: '203.0.113.1\n203.0.113.2\n' };
    let asked = 0;
    const server = createServer((_, reply) => {
      asked++;
      reply.writeHead(answer.status).end(answer.body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/list`;
    let pushed = 0;
    const at = await startTestApp(database, {
      outbound: createOutbound({ allow: ['127.0.0.1'] }),
      measuresChanged: async () => void pushed++,
    });
    const admin = await at.user('admin');
    const job = createFeedJob({ ...at.parts, torExitsUrl: `${url}/tor` });
    const signal = new AbortController().signal;
    const run = async (afterMinutes: number): Promise<string> => {
      at.clock.nowMs += afterMinutes * 60_000;
      return job.run({ nowMs: at.clock.nowMs, signal });
    };
    const set = async (body: object) => {
      const reply = await at.call('PATCH', '/api/settings', {
        token: String((await at.logIn(admin.email)).body['token']),
        body,
      });
      t.equal(reply.status, 200, reply.text);
    };
    const list = async () =>
      (await database.sql<{ network: string }[]>`select subject as network from client_measures order by subject`).map(
        (row) => row.network,
      );
    const state = async () =>
      (
        await at.call('GET', '/api/threat-intel/feeds', {
          token: String((await at.logIn(admin.email)).body['token']),
        })
      ).body;
    t.equal(await run(0), 'nothing was due');
    t.strictSame((await state())['feeds'], []);
    await set({ ti_feed_url: url, ti_feed_interval_hours: 2 });
    t.match(await run(1), /feed: 2 networks, 0 removed/);
    t.same(await list(), ['203.0.113.1', '203.0.113.2']);
    t.match(await state(), {
      interval_hours: 2,
      feeds: [{ name: 'feed', state: 'ok', entries: 2, last_error: null, host: /^127\.0\.0\.1:/ }],
    });
    t.equal(await run(60), 'nothing was due');
    answer = { status: 200, body: '203.0.113.2\n203.0.113.3\n' };
    t.match(await run(61), /2 networks, 1 removed/);
    t.equal(pushed, 2);
    for (const bad of [
      { status: 500, body: '' },
      { status: 200, body: '' },
      { status: 200, body: '<html>\n<body>\nsorry\n203.0.113.9' },
    ]) {
      answer = bad;
      t.match(await run(121), /feed failed: /);
      t.same(await list(), ['203.0.113.2', '203.0.113.3'], 'yesterday’s list stays in force');
    }
    t.match(await state(), {
      feeds: [{ state: 'failed', last_error: /not a list of addresses .*first is entry \d+: "/, entries: 2 }],
    });
    t.equal(await run(5), 'nothing was due');
    await fetchNow(t, at, state, (next) => (answer = next));
    t.same(await list(), ['203.0.113.2', '203.0.113.3']);
    answer = { status: 500, body: '' };
    t.match(await run(121), /feed failed/);
    t.equal(await run(5), 'nothing was due');
    answer = { status: 200, body: '203.0.113.4' };
    t.match(await run(11), /1 networks, 2 removed/, 'after a failure it is tried again soon');
    answer = { status: 200, body: '203.0.113.5\n10.0.0.0/8\n192.168.1.1\n127.0.0.1\nfd00::/16\n' };
    t.match(
      await run(121),
      /1 networks, 1 removed, 4 inner networks left out/,
      'behind a load balancer those are the clients',
    );
    t.same(await list(), ['203.0.113.5']);
    answer = { status: 200, body: Array.from({ length: 20 }, (_, i) => `${20 + i}.0.0.0/8`).join('\n') };
    t.match(await run(121), /feed failed: it would deny 8 % of all IPv4/);
    answer = { status: 200, body: '203.0.113.4' };
    t.match(await run(16), /1 networks/);
    await set({ ti_feed_url: '', ti_tor_enabled: true });
    t.match(await run(1), /feed: switched off, 1 networks removed; tor: 1 networks/);
    await set({ ti_tor_enabled: false, ti_feed_url: 'http://169.254.169.254/latest' });
    t.match(await run(1), /tor: switched off.*feed failed: .*linkLocal/, 'inner targets are refused');
    t.same(await list(), []);
    t.equal(asked, 13);
    await at.close();
    server.closeAllConnections();
    server.close();
  }),
);
