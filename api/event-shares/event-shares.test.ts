// Links to events, through HTTP: who makes them, what their reader sees, and every way in which they end.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp, type TestApp } from '../testing/app.js';
import { event } from '../testing/builders/records.js';
import { onBothDatabases } from '../testing/databases.js';
import { until } from '../testing/waiting.js';

const hostile = `<script>alert(1)</script>\u202e\u0000${'x'.repeat(3000)}`;
const client = '203.0.113.7';
const stored = event(1, {
  client_ip: client,
  uri: '/login?password=hunter2&mail=ann@example.org',
  details: {
    headers: [
      ['Host', 'shop.example'],
      ['Cookie'],
      ['X-Forwarded-For', `${client}, 10.0.0.9`],
      ['User-Agent', 'probe'],
    ],
    messages: [
      {
        rule_id: 942_100,
        message: 'SQL injection',
        data: `Matched Data: x found within ARGS:mail: ann@example.org from ${client}`,
        match: `Matched "Operator \`rx'" against variable \`ARGS:q' (Value: \`${hostile}')`,
        severity: '2',
        tags: ['attack-sqli'],
        file: 'rules/x.conf',
        line: 1,
        internal: 'of a later release',
      },
    ],
    node_secret: 'of a later release',
  },
});

async function withEvent(t: Test, database: Database) {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const body = { node: 'node-7', batch_id: 'b1', requests: [], events: [stored] };
  t.match(await at.call('POST', '/api/dataplane/records', { token: 'c'.repeat(40), body }), { status: 200 });
  const operator = await at.user('operator');
  const list = await at.call('GET', '/api/events', { token: operator.token });
  return { at, operator, id: Number(list.body['items'][0].id) };
}

const open = (at: TestApp, token: unknown) => at.call('POST', '/api/shared-event', { body: { token } });

async function suite(t: Test, database: Database): Promise<void> {
  const { at, operator, id } = await withEvent(t, database);
  const { token } = operator;
  const make = (body: object = {}, of = id) => at.call('POST', `/api/events/${of}/shares`, { token, body });
  const made = await make();
  t.match(made, { status: 201, body: { token: /^ges_[\w-]{43}$/, details: { opened: 0, event_id: id } } }, made.text);
  t.equal(made.body['path'], `/shared#${made.body['token']}`);
  const daysOf = (reply: { body: Record<string, any> }): number =>
    (Date.parse(reply.body['details'].expires_at) - at.clock.nowMs) / 86_400_000;
  t.equal(daysOf(made), 7);

  await t.test('the reader sees the event, and nothing that is secret', async (t) => {
    const seen = await open(at, made.body['token']);
    t.match(seen, {
      status: 200,
      headers: {
        'x-robots-tag': 'noindex, nofollow, noarchive',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
      },
      body: {
        client_network: '203.0.113.0/24',
        summary: { category: 'sqli', what: 'SQL injection', text: /^SQL injection in body parameter `q`: `<script>/ },
        details: { headers: [['Host', 'shop.example'], ['Cookie'], ['X-Forwarded-For'], ['User-Agent', 'probe']] },
      },
    });
    t.notMatch(seen.text, /hunter2|ann@example|203\.0\.113\.7|node-7|of a later release|client_ip|10\.0\.0\.9/);
    t.match(await at.call('GET', '/api/event-shares', { token }), {
      body: { items: [{ id: made.body['details'].id, opened: 1, created_by: operator.email }] },
    });
    t.notMatch(
      (await at.call('GET', '/api/event-shares', { token })).text,
      new RegExp(String(made.body['token']).slice(4)),
      'the token is shown once',
    );
    const [{ rows }] =
      (await database.sql`select coalesce(string_agg(s::text, ' '), '') as rows from event_shares s`) as unknown as [
        { rows: string },
      ];
    t.notMatch(rows, new RegExp(String(made.body['token']).slice(4)), 'and stored as a hash');
  });

  await t.test('unknown, ended, revoked and switched off are one answer', async (t) => {
    const short = await make({ expires_in_days: 1 });
    const revoked = await make({ expires_in_days: 30 });
    t.equal(daysOf(revoked), 30);
    const ids = [short, revoked].map((one) => one.body['details'].id);
    t.match(await at.call('DELETE', `/api/event-shares/${ids[1]}`, { token }), { status: 204 });
    t.match(await at.call('DELETE', `/api/event-shares/${ids[1]}`, { token }), { status: 404 }, 'once');
    at.clock.nowMs += 2 * 86_400_000;
    const again = await at.logIn(operator.email);
    const answers = [];
    for (const one of [short.body['token'], revoked.body['token'], `ges_${'a'.repeat(43)}`, '', 'x y'])
      answers.push(await open(at, one));
    t.match(await open(at, made.body['token']), { status: 200 }, 'the others go on');
    const admin = await at.user('admin');
    const current = await at.call('GET', '/api/settings', { token: admin.token });
    const headers = { 'if-match': String(current.headers['etag']) };
    const saved = await at.call('PATCH', '/api/settings', {
      token: admin.token,
      headers,
      body: { event_share_links: false },
    });
    t.match(saved, { status: 200 }, saved.text);
    answers.push(await open(at, made.body['token']));
    t.match(await at.call('POST', `/api/events/${id}/shares`, { token: again.body['token'], body: {} }), {
      status: 409,
      body: { detail: /event_share_links/ },
    });
    const said = new Set(answers.map(({ status, body }) => `${status} ${body['code']} ${body['detail']}`));
    t.equal(said.size, 1, [...said].join('\n'));
    t.match([...said][0], /^404 not_found This link does not open an event/);
  });

  await t.test('viewers and tokens make none, bad input is named, and all of it is in the audit log', async (t) => {
    const viewer = await at.user('viewer');
    for (const [method, path] of [
      ['POST', `/api/events/${id}/shares`],
      ['GET', '/api/event-shares'],
      ['DELETE', '/api/event-shares/x'],
    ] as const)
      t.match(
        await at.call(method, path, { token: viewer.token, ...(method === 'POST' ? { body: {} } : {}) }),
        { status: 403, body: { code: 'role_denied' } },
        path,
      );
    const admin = await at.user('admin');
    const scoped = await at.call('POST', '/api/tokens', {
      token: admin.token,
      body: { name: 'ci', role: 'operator', scopes: ['events:read'] },
    });
    t.match(await at.call('POST', `/api/events/${id}/shares`, { token: scoped.body['token'], body: {} }), {
      status: 403,
    });
    for (const [path, body, at400] of [
      [`/api/events/${id}/shares`, { expires_in_days: 31 }, '/expires_in_days'],
      [`/api/events/${id}/shares`, { days: 1 }, '/days'],
      ['/api/events/x/shares', {}, '/id'],
    ] as const)
      t.match(await at.call('POST', path, { token: admin.token, body }), {
        status: 400,
        body: { errors: [{ path: at400 }] },
      });
    const actions = (await at.call('GET', '/api/audit?limit=100', { token: admin.token })).body['items'].map(
      (one: { action: string }) => one.action,
    );
    t.same(
      actions.filter((one: string) => one.startsWith('event.share')),
      ['event.share.revoke', 'event.share', 'event.share', 'event.share'],
    );
  });
}

t.test('27.2: share links', (t) => onBothDatabases(t, 'event-shares', suite));

t.test('a link ends with its event and with who made it', async (t) => {
  await onBothDatabases(t, 'event-shares-ends', async (t, database) => {
    const { at, operator, id } = await withEvent(t, database);
    const made = await at.call('POST', `/api/events/${id}/shares`, { token: operator.token, body: {} });
    const admin = await at.user('admin');
    const suspend = (suspended: boolean) =>
      at.call('PATCH', `/api/users/${operator.id}`, { token: admin.token, body: { suspended } });
    t.match(await suspend(true), { status: 200 });
    t.match(await open(at, made.body['token']), { status: 404 });
    t.match(await suspend(false), { status: 200 });
    t.match(await open(at, made.body['token']), { status: 200 });
    await database.sql`delete from security_events`;
    t.match(await open(at, made.body['token']), { status: 404 });
    t.match(await at.call('POST', `/api/events/${id}/shares`, { token: admin.token, body: {} }), { status: 404 });
  });
});

t.test('one user makes thirty links within five minutes, and others still make theirs', async (t) => {
  await onBothDatabases(t, 'event-shares-crowd', async (t, database) => {
    const { at, operator, id } = await withEvent(t, database);
    const make = (token: string) => at.call('POST', `/api/events/${id}/shares`, { token, body: {} });
    let made = 0;
    // the embedded database makes one after the other: five are never under way there
    if (database.kind === 'postgres')
      made = await database.sql
        .begin(async (tx) => {
          await tx`lock table event_shares in access exclusive mode`;
          const refused: Awaited<ReturnType<typeof make>>[] = [];
          const crowd = Array.from({ length: 12 }, async () => {
            const reply = await make(operator.token);
            if (reply.status === 429) refused.push(reply);
            return reply;
          });
          await until('all others are refused', () => Promise.resolve(refused.length === 7));
          for (const { body, headers } of refused) {
            t.match(body, { code: 'too_many_requests', detail: /5 of your share links are in the making/ });
            t.match(headers['retry-after'], /^[1-9]\d*$/);
          }
          return { crowd };
        })
        .then(async ({ crowd }) => (await Promise.all(crowd)).filter(({ status }) => status === 201).length);
    let last = await make(operator.token);
    for (; last.status === 201 && made < 40; last = await make(operator.token)) made++;
    t.equal(made, 30);
    t.match(last, { status: 429, body: { detail: /You have made 30 share links within 5 minutes/ } }, last.text);
    t.match(await make((await at.user('admin')).token), { status: 201 }, 'another user');
    const [row] = await database.sql<{ n: number }[]>`select count(*)::int as n from event_shares`;
    t.equal(row?.n, 31, 'what was refused is no link');
  });
});

t.test('one user has two hundred links that work, and others still make theirs', async (t) => {
  await onBothDatabases(t, 'event-shares-most', async (t, database) => {
    const { at, operator, id } = await withEvent(t, database);
    const make = (token: string) => at.call('POST', `/api/events/${id}/shares`, { token, body: {} });
    const first = await make(operator.token);
    t.equal(first.status, 201, first.text);
    await database.sql`
      insert into event_shares (id, token_hash, event_id, event_at, title, created_by, created_at, expires_at)
      select id || n, token_hash || n, event_id, event_at, title, created_by, created_at, expires_at
      from event_shares, generate_series(1, 199) as n`;
    t.match(await make(operator.token), { status: 409, body: { detail: /200 share links of yours work/ } });
    t.match(await make((await at.user('admin')).token), { status: 201 });
    t.equal(
      (await at.call('DELETE', `/api/event-shares/${first.body['details'].id}`, { token: operator.token })).status,
      204,
    );
    t.match(await make(operator.token), { status: 201 }, 'one that is revoked counts no more');
  });
});
