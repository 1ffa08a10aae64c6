import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { createRetentionJob } from '../retention/job.js';
import { startTestApp, type TestApp } from '../testing/app.js';
import { event, request, start } from '../testing/builders/records.js';
import { onBothDatabases } from '../testing/databases.js';

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { token } = await at.user('viewer');
  const node = 'c'.repeat(40);
  const send = (batch: object) => at.call('POST', '/api/dataplane/records', { token: node, body: batch });
  await t.test('a batch is stored once, however often it is sent', async (t) => {
    const batch = {
      node: 'n1',
      batch_id: 'b1',
      requests: [0, 1, 2].map((n) => request(n)),
      events: [event(1)],
      dropped: 3,
    };
    const replies = await Promise.all([send(batch), send(batch), send(batch)]);
    t.same(replies.map((r) => r.body['stored']).sort(), [0, 0, 4], JSON.stringify(replies.map((r) => r.body)));
    t.match(await send(batch), { status: 200, body: { duplicate: true } });
    t.match(
      await send({ ...batch, node: 'n2' }),
      { status: 200, body: { duplicate: false } },
      'another node may use the same id',
    );
    t.match(await send({ ...batch, batch_id: 'b2', requests: [{ ...request(1), surprise: 1 }] }), { status: 400 });
    t.match((await at.call('GET', '/api/policy/stats', { token })).body, {
      requests_stored: 6,
      events_stored: 2,
      records_dropped_by_nodes: 6,
      records_sampled_out: 0,
    });
  });
  await t.test('attackers’ bytes, wrong clocks and other days are stored', async (t) => {
    const strange = [
      request(10, { uri: '/\u0000\ud800"\\u0000', user_agent: '=cmd\n' }),
      request(11, { at_ms: 0 }),
      request(12, { at_ms: start + 400 * 86_400_000 }),
      request(13, { at_ms: start - 86_400_000 }),
    ];
    t.match(await send({ node: 'n1', batch_id: 'odd', requests: strange, events: [] }), {
      status: 200,
      body: { stored: 4 },
    });
    const found = await at.call('GET', '/api/requests?request_id=r10', { token });
    t.equal(found.body['items'][0].uri, '/\ufffd\ufffd"\\u0000');
    t.match(
      (await at.call('GET', '/api/requests?request_id=r11', { token })).body['items'][0].at,
      '2026-02-27T12:00:00.000Z',
      'no further back than two days',
    );
  });
  await t.test('filters and a cursor that neither skips nor repeats while rows arrive', async (t) => {
    await send({
      node: 'n1',
      batch_id: 'many',
      requests: Array.from({ length: 200 }, (_, n) => request(1000 + n)),
      events: Array.from({ length: 50 }, (_, n) => event(1000 + n, { rule_id: n % 2 === 0 ? 1 : 2 })),
    });
    const count = async (query: string, path = 'requests') =>
      ((await at.call('GET', `/api/${path}?limit=500&${query}`, { token })).body['items'] as unknown[]).length;
    const base = `from=${new Date(start + 1000).toISOString()}&to=${new Date(start + 1200).toISOString()}`;
    t.equal(await count(base), 200);
    t.equal(await count(`${base}&site=shop`), 100);
    t.equal(await count(`${base}&verdict=block`), 20);
    t.equal(await count(`${base}&rule_id=942100`), 66);
    t.equal(await count(`${base}&q=ORDERS/1000`), 1);
    t.equal(await count(`${base}&q=%25`), 0, 'wildcards are taken literally');
    t.equal(await count('rule_id=2', 'events'), 25);
    const ids: number[] = [];
    for (let cursor: string | null = null, page = 0; ; page++) {
      const reply: { body: Record<string, any> } = await at.call(
        'GET',
        `/api/requests?limit=30&${base}${cursor === null ? '' : `&cursor=${cursor}`}`,
        { token },
      );
      ids.push(...(reply.body['items'] as { id: number }[]).map((r) => r.id));
      if (page === 1) await send({ node: 'n1', batch_id: 'late', requests: [request(1190)], events: [] });
      cursor = reply.body['next_cursor'] as string | null;
      if (cursor === null) break;
    }
    t.equal(ids.length, 200);
    t.equal(new Set(ids).size, 200);
  });
  await t.test('the stream follows ids and resumes where it was', async (t) => {
    await at.app.listen({ port: 0, host: '127.0.0.1' });
    const base = `http://127.0.0.1:${(at.app.server.address() as { port: number }).port}/api/events/stream`;
    const first = await readStream(base, token, {}, 3, async () => {
      await send({ node: 'n1', batch_id: 's1', requests: [], events: [1, 2, 3].map((n) => event(5000 + n)) });
    });
    t.same(
      first.map((e) => e.data.details),
      [{ n: 5001 }, { n: 5002 }, { n: 5003 }],
    );
    await send({ node: 'n1', batch_id: 's2', requests: [], events: [4, 5].map((n) => event(5000 + n)) });
    const second = await readStream(base, token, { 'last-event-id': String(first[0]?.id) }, 4, async () => undefined);
    t.same(
      second.map((e) => e.data.details),
      [{ n: 5002 }, { n: 5003 }, { n: 5004 }, { n: 5005 }],
    );
    t.equal((await fetch(base)).status, 401);
  });
  await retention(t, at, database);
  await at.close();
}

async function readStream(
  url: string,
  token: string,
  headers: Record<string, string>,
  count: number,
  afterOpen: () => Promise<void>,
): Promise<{ id: number; data: { details: unknown } }[]> {
  const stop = new AbortController();
  const reply = await fetch(url, { headers: { authorization: `Bearer ${token}`, ...headers }, signal: stop.signal });
  const found: { id: number; data: { details: unknown } }[] = [];
  let text = '';
  let isOpen = false;
  for await (const chunk of reply.body as unknown as AsyncIterable<Uint8Array>) {
    if (!isOpen) await afterOpen();
    isOpen = true;
    text += Buffer.from(chunk).toString();
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const [, id, data] = /^id: (\d+)\nevent: security\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
      if (id !== undefined && data !== undefined)
        found.push({ id: Number(id), data: JSON.parse(data) as { details: unknown } });
      text = text.slice(end + 2);
    }
    if (found.length >= count) break;
  }
  stop.abort();
  return found;
}

async function retention(t: Test, at: TestApp, database: Database): Promise<void> {
  await t.test('retention drops whole days and keeps the audit chain whole', async (t) => {
    const root = await at.user('admin');
    await at.call('PATCH', '/api/settings', {
      token: root.token,
      body: { retention_requests_days: 1, retention_audit_days: 1 },
    });
    const days = async () =>
      (
        await database.sql<
          { day: string }[]
        >`select distinct to_char(at at time zone 'UTC', 'YYYY-MM-DD') as day from request_records order by day`
      ).map((row) => row.day);
    t.same(await days(), ['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-03']);
    const job = createRetentionJob(at.parts);
    const context = { nowMs: Date.parse('2026-03-02T13:00:00Z'), signal: new AbortController().signal };
    at.clock.nowMs = context.nowMs;
    t.match(await job.run(context), /[1-9]\d* audit entries.* 2 days of requests and events/);
    t.same(await days(), ['2026-03-01', '2026-03-03'], 'a day goes when all of it is too old');
    // R5: a week between two runs is a jump of the clock until somebody says that it is right
    at.clock.nowMs = Date.parse('2026-03-10T00:00:00Z');
    t.match(await job.run({ ...context, nowMs: at.clock.nowMs }), /^refused to prune/);
    const later = await at.user('admin', 'later@example.test'); // the session of a week ago is over
    t.equal((await at.call('POST', '/api/retention/confirm', { token: later.token })).status, 200);
    t.match(await job.run({ ...context, nowMs: at.clock.nowMs }), /\d audit entries.* [1-9] days/);
    t.match(await at.parts.audit.verify(database.sql), { ok: true, checked: 3 });
    t.same(await days(), []);
  });
}

t.test('requests and events', (t) => onBothDatabases(t, 'events', suite));
