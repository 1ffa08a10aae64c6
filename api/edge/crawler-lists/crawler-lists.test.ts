// Lists of crawlers' addresses by URL: fetched, kept, told, and given to nodes, on both databases.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { withCrawlerRanges } from '../../change/steps/crawler-ranges.js';
import type { Database } from '../../db/client.js';
import { createOutbound } from '../../outbound/outbound.js';
import { startTestApp } from '../../testing/app.js';
import { onBothDatabases } from '../../testing/databases.js';
import { readCrawlerList } from './document.js';
import { createCrawlerListJob } from './job.js';
import { listCrawlerLists } from './store.js';

const published = (...prefixes: object[]): string =>
  JSON.stringify({ creationTime: '2026-03-01T00:00:00.000000', prefixes });

t.test('E3: what is taken for a list, and what is not', async (t) => {
  t.same(await readCrawlerList(published({ ipv4Prefix: '192.178.5.0/27' }, { ipv6Prefix: '2001:4860:4801:10::/64' })), [
    '192.178.5.0/27',
    '2001:4860:4801:10::/64',
  ]);
  t.same(await readCrawlerList('# ours\n192.178.5.0/27\n'), ['192.178.5.0/27'], 'lines');
  t.same(await readCrawlerList(published({ ipv4Prefix: '10.0.0.0/8' }, { ipv4Prefix: '192.178.5.1' })), [
    '192.178.5.1',
  ]);
  const many = Array.from({ length: 5001 }, (_, n) => ({ ipv4Prefix: `192.${n >> 8}.${n & 255}.0/24` }));
  const wide = Array.from({ length: 20 }, (_, n) => ({ ipv4Prefix: `${20 + n}.0.0.0/8` }));
  for (const [text, reason] of [
    ['<html>sorry</html>', /not a list/],
    ['', /not a list/],
    ['{}', /./],
    ['{"prefixes": 3}', /./],
    [published(), /not a list/],
    [published({ ipv4Prefix: 7 }, { ipv6Prefix: null }), /not a list/],
    [published({ ipv4Prefix: '127.0.0.1' }), /inner networks only/],
    [published(...many), /5001 networks/],
    [published(...wide), /8 % of all IPv4/],
  ] as const)
    await t.rejects(readCrawlerList(text), { message: reason }, text.slice(0, 60));
});

async function suite(t: Test, database: Database): Promise<void> {
  let answer = { status: 200, body: published({ ipv4Prefix: '192.178.5.0/27' }) };
  let asked = 0;
  const server = createServer((_, reply) => {
    asked += 1;
    reply.writeHead(answer.status).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/googlebot.json`;
  const at = await startTestApp(database, { outbound: createOutbound({ allow: ['127.0.0.1'] }) });
  t.teardown(async () => {
    await at.close();
    server.closeAllConnections();
    server.close();
  });
  const admin = await at.user('admin');
  /** Sessions end while the clock of the test goes on. */
  const tokenOf = async (): Promise<string> => String((await at.logIn(admin.email)).body['token']);
  const job = createCrawlerListJob(at.parts);
  const run = async (afterMinutes: number): Promise<string> => {
    at.clock.nowMs += afterMinutes * 60_000;
    return job.run({ nowMs: at.clock.nowMs, signal: new AbortController().signal });
  };
  const bots = async () => (await at.call('GET', '/api/bots', { token: await tokenOf() })).body;
  const rangesOf = async (name: string): Promise<unknown> =>
    ((await bots())['crawlers'] as { crawler: string; ranges: number }[]).find(({ crawler }) => crawler === name)
      ?.ranges;
  const set = async (body: object) => {
    const reply = await at.call('PATCH', '/api/settings', { token: await tokenOf(), body });
    t.equal(reply.status, 200, reply.text);
  };
  const verify = async (ip: string) =>
    at.call('POST', '/api/bots/verify', { token: await tokenOf(), body: { ip, crawler: 'DuckDuckBot' } });

  await t.test('E3: a list is fetched at its interval, and its last good copy outlives failures', async (t) => {
    t.equal(await run(0), 'nothing was due');
    await set({ bot_crawler_range_urls: [{ crawler: 'DuckDuckBot', url }], bot_crawler_range_hours: 2 });
    t.match((await bots())['lists'], [{ crawler: 'DuckDuckBot', state: 'waiting', networks: 0, next_at: null }]);
    t.match(await run(1), /DuckDuckBot: 1 networks/);
    t.match((await bots())['lists'], [{ state: 'ok', networks: 1, last_error: null, host: /^127\.0\.0\.1:/ }]);
    t.equal(await rangesOf('DuckDuckBot'), 1);
    t.equal(await run(60), 'nothing was due');
    for (const bad of [
      { status: 503, body: '' },
      { status: 200, body: '<html>' },
    ]) {
      answer = bad;
      t.match(await run(121), /DuckDuckBot failed: /);
      t.match((await bots())['lists'], [{ state: 'failed', networks: 1, last_error: /./ }], 'the copy of before');
    }
    answer = { status: 200, body: published({ ipv4Prefix: '192.178.6.0/27' }, { ipv6Prefix: '2001:4860::/48' }) };
    t.equal(await run(5), 'nothing was due');
    t.match(await run(11), /2 networks/, 'after a failure it is tried again soon');
    t.match((await bots())['lists'], [{ state: 'ok', networks: 2, last_error: null }]);
    t.equal(asked, 4);
  });
  await t.test('E3: a verdict on demand says which rule decided, and by what', async (t) => {
    t.match((await verify('192.178.6.9')).body, {
      verdict: 'verified',
      decided_by: 'ranges',
      network: '192.178.6.0/27',
      names: [],
    });
    t.match((await verify('2001:4860:0:1::7')).body, { verdict: 'verified', network: '2001:4860::/48' });
    t.match((await verify('192.178.7.9')).body, {
      verdict: 'impostor',
      decided_by: 'ranges',
      network: null,
      detail: /none of the 2 networks/,
    });
  });
  await t.test('E3: nodes get the copies with their configuration, beside those of the settings', async (t) => {
    const settings = await at.parts.currentSettings();
    const own = { crawler: 'Googlebot', prefixes: [{ ipv4Prefix: '66.249.64.0/27' }] };
    const lists = await listCrawlerLists(database.sql, settings);
    t.same(withCrawlerRanges({ bot_crawler_ranges: [own] }, lists).bot_crawler_ranges, [
      own,
      { crawler: 'DuckDuckBot', prefixes: [{ ipv4Prefix: '192.178.6.0/27' }, { ipv6Prefix: '2001:4860::/48' }] },
    ]);
    t.same(withCrawlerRanges({ bot_crawler_ranges: [own] }, []).bot_crawler_ranges, [own]);
  });
  await t.test('E3: a name that no crawler has, inner targets, and lists that are wanted no more', async (t) => {
    await set({
      bot_crawler_range_urls: [
        { crawler: 'Nobody', url },
        { crawler: 'GPTBot', url: 'http://169.254.169.254/' },
      ],
    });
    const said = await run(1);
    t.match(said, /1 lists are wanted no more/);
    t.match(said, /Nobody failed: no crawler is called Nobody/);
    t.match(said, /GPTBot failed: .*linkLocal/);
    t.equal(await rangesOf('DuckDuckBot'), 0);
    const lists = await listCrawlerLists(database.sql, await at.parts.currentSettings());
    t.same(withCrawlerRanges({ bot_crawler_ranges: [] }, lists).bot_crawler_ranges, [], 'nothing a node would refuse');
    t.match(
      await at.call('PATCH', '/api/settings', {
        token: await tokenOf(),
        body: { bot_crawler_range_urls: [{ crawler: 'GPTBot', url: 'ftp://lists.example/x' }] },
      }),
      { status: 400 },
    );
  });
}

t.test('lists of crawlers', (t) => onBothDatabases(t, 'lists of crawlers', suite));
