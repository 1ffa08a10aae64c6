// What reports say of the firewall, over HTTP: counted events and those that are not counted yet, by day of the zone.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const signal = new AbortController().signal;

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  at.clock.nowMs = Date.parse('2026-11-29T05:20:00Z');
  const { token } = await at.user('admin');
  const call = (method: string, path: string, body?: unknown, who = token) =>
    at.call(method, `/api/v1${path}`, { token: who, body });
  let batch = 0;
  /** As nodes do: soon after they happened. */
  const send = async (events: readonly { at_ms: number }[]): Promise<void> => {
    const now = at.clock.nowMs;
    for (const one of events) {
      at.clock.nowMs = one.at_ms;
      const body = { node: 'n1', batch_id: `b${batch++}`, requests: [], events: [one] };
      const reply = await at.call('POST', '/api/dataplane/records', { token: 'c'.repeat(40), body });
      if (reply.status !== 200) throw new Error(reply.text);
    }
    at.clock.nowMs = now;
  };
  let number = 0;
  const event = (ago: number, more: object = {}) => ({
    at_ms: at.clock.nowMs - ago,
    request_id: `r${number++}`,
    site: 'shop',
    client_ip: '192.0.2.1',
    kind: 'waf',
    verdict: 'block',
    method: 'GET',
    status: 403,
    uri: '/x',
    rule_id: 942_100,
    inbound_score: 5,
    details: {},
    ...more,
  });
  const count = async (): Promise<void> => {
    for (const job of at.jobs.filter(({ name }) => /facet|count|rollup/.test(name)))
      await job.run({ nowMs: at.clock.nowMs, signal });
  };
  const content = async (body: object) => {
    const made = await call('POST', '/reports', { format: 'json', sections: ['security-events'], ...body });
    if (made.status !== 201) throw new Error(made.text);
    return call('GET', `/reports/${String(made.body['id'])}/download`);
  };

  await t.test('without events the report says so', async (t) => {
    const { body } = await content({});
    t.match(body, {
      security_events: { total: 0, blocked: 0, not_blocked: 0 },
      summary: ['The firewall recorded no security events in this time.'],
    });
    t.equal(body['events_by_day'].length, 30);
  });

  await t.test('events by day, kind and site; those that were not blocked are counted separately', async (t) => {
    await send([
      ...Array.from({ length: 4 }, () => event(0)),
      event(6 * hourMs, { verdict: 'flag', status: 200, rule_id: 941_100, site: 'pay', client_ip: '192.0.2.2' }),
      // 2026-11-27: the first of three days, and before that the time before
      event(2 * dayMs, { rule_id: 941_100 }),
      ...Array.from({ length: 3 }, () => event(4 * dayMs)),
      event(20 * dayMs),
    ]);
    const { body } = await content({ days: 3 });
    t.match(body, {
      security_events: { total: 6, blocked: 5, not_blocked: 1 },
      event_kinds: [
        { name: 'SQL injection', n: 4, blocked: 4 },
        { name: 'Cross-site scripting', n: 2, blocked: 1 },
      ],
      events_by_day: [
        { day: '2026-11-27', n: 1, blocked: 1 },
        { day: '2026-11-28', n: 1, blocked: 0 },
        { day: '2026-11-29', n: 4, blocked: 4 },
      ],
    });
    t.strictSame(body['summary'], [
      'The firewall recorded 6 security events on 2 sites and blocked 5 of them (83 %).',
      'The most frequent kind was SQL injection: 67 % of all events.',
      'The busiest day was 2026-11-29 with 4 events.',
      'That is 100 % more than in the time of the same length before.',
    ]);
    const html = (await content({ days: 3, format: 'html', time_zone: 'UTC' })).text;
    t.match(html, /2026-11-27 to 2026-11-29/);
    for (const part of ['Events by site', '>pay<']) t.ok(html.includes(part), part);
    t.notOk(html.includes('192.0.2.2'), 'a report names no client');
  });

  await t.test('days are those of the zone, whose first day is whole', async (t) => {
    const html = (await content({ days: 2, format: 'html', time_zone: 'GMT+4' })).text;
    t.match(html, /2026-11-28 to 2026-11-29/);
    // six hours ago was yesterday in UTC, and today 03:20 in GMT+4
    t.match(html, 'The busiest day was 2026-11-29 with 5 events.');
  });

  await t.test('records that begin later are said, and nothing is compared with them', async (t) => {
    const { body } = await content({ days: 30 });
    t.match(body, { security_events: { total: 10 } });
    const said = (body['summary'] as string[]).join(' ');
    t.match(said, 'Records begin on 2026-11-09: days before that show nothing.');
    t.notMatch(said, /time of the same length before/);
  });

  await t.test('counted events say the same, and new ones come on top', async (t) => {
    const before = (await content({ days: 3 })).text;
    await count();
    const [counted] = await database.sql<{ n: number }[]>`select count(*)::int as n from event_hours`;
    t.ok((counted?.n ?? 0) > 0, 'they were counted');
    t.equal((await content({ days: 3 })).text, before);
    await send([event(0)]);
    t.match((await content({ days: 3 })).body, { security_events: { total: 7 } });
  });

  await t.test('it is for who sees everything', async (t) => {
    const person = await at.user('operator');
    const one = await call('POST', '/applications', { name: 'One' });
    await call('PUT', `/rbac/grants/${person.id}`, {
      confined: true,
      items: [{ scope: 'application', scope_id: one.body['id'], role: 'operator' }],
    });
    const wish = { format: 'json', sections: ['security-events'] };
    t.equal((await call('POST', '/reports', wish, person.token)).status, 403);
    t.equal((await call('POST', '/reports/preview', { section: 'security-events' }, person.token)).status, 403);
    const { items } = (await call('GET', '/reports/sections', undefined, person.token)).body;
    t.strictSame(
      (items as { name: string }[]).map(({ name }) => name),
      ['attack-chains', 'open-findings'],
    );
    for (const days of [0, 93, 1.5, 'x']) t.equal((await call('POST', '/reports', { ...wish, days })).status, 422);
  });
}

void onBothDatabases(t, 'firewall activity', suite);
