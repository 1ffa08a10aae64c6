// Rules over HTTP: in order, tried before, once for each finding, never against people, undone as a whole.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const result = (rule: string, uri: string, level = 'error'): Json => ({
  ruleId: rule,
  level,
  message: { text: `${rule} in ${uri}` },
  properties: { 'security-severity': level === 'error' ? '8.1' : '3.1' },
  locations: [{ physicalLocation: { artifactLocation: { uri }, region: { startLine: 7 } } }],
});
const sarif = (results: readonly Json[]): Json => ({
  version: '2.1.0',
  runs: [{ tool: { driver: { name: 'Semgrep OSS', semanticVersion: '1.0.0' } }, results }],
});
const ofRule = (value: string): Json => ({ field: 'rule_id', op: 'eq', value });

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const admin = await at.user('admin');
  const client = new Client(at, admin.token);
  const userId = String((await client.call('GET', '/auth/me')).body['id']);
  const rule = async (name: string, predicate: Json, effects: readonly Json[], more: Json = {}): Promise<string> => {
    const made = await client.call('POST', '/rules', { name, predicate, effects, ...more });
    if (made.status !== 201) throw new Error(made.text);
    return String(made.body['id']);
  };
  const byRule = async (application: string): Promise<Json> =>
    Object.fromEntries((await client.findings(application)).map((one) => [String(one['rule_id']), one]));
  const until = new Date(at.clock.nowMs + 30 * 86_400_000).toISOString();
  const away = async (...ids: readonly string[]): Promise<void> => {
    for (const id of ids) t.equal((await client.call('DELETE', `/rules/${id}`)).status, 204);
  };

  await t.test('what a report brings is triaged before the import answers; the order counts', async (t) => {
    const application = await client.application();
    const ids = [
      await rule('low', ofRule('a'), [
        { set: 'severity', value: 'low', reason: 'only in tests' },
        { set: 'tag', value: 'tests' },
      ]),
      await rule(
        'tagged',
        { field: 'tag', op: 'contains', value: 'tests' },
        [{ set: 'tag', value: 'seen' }, { set: 'notice' }],
        { stop: true },
      ),
      await rule('all', { field: 'severity', op: 'gte', value: 'info' }, [
        { set: 'assignee', value: userId },
        { set: 'status', value: 'confirmed', reason: 'the scanner proves what it says' },
      ]),
      await rule('off', ofRule('a'), [{ set: 'tag', value: 'never' }], { enabled: false }),
    ];
    t.equal((await client.send(application, sarif([result('a', 'a.js'), result('b', 'b.js')]))).status, 202);
    const found = await byRule(application);
    t.match(found['a'], { severity: 'low', tags: ['tests', 'seen'], status: 'new', assignee_id: null });
    t.match(found['b'], { severity: 'high', tags: [], status: 'confirmed', assignee_id: userId });
    const { body: history } = await client.call('GET', `/vulnerabilities/${found['b'].id}/history`);
    t.match(history['items'][0], { to: 'confirmed', by: 'policy', reason: 'the scanner proves what it says' });
    const { body: notices } = await client.call('GET', '/events?type=rule.notice&limit=50');
    t.match(notices['items'], [{ entity_id: found['a'].id, payload: { rule: 'tagged' } }]);
    // the same again: nothing is done twice, and what people changed stays
    await client.call('PATCH', `/vulnerabilities/${found['a'].id}`, { tags: ['mine'] });
    await client.call('POST', `/vulnerabilities/${found['b'].id}/assign`, { user_id: null });
    const again = sarif([
      { ...result('a', 'a.js'), message: { text: 'another text' } },
      { ...result('b', 'b.js'), message: { text: 'as well' } },
    ]);
    t.equal((await client.send(application, again)).status, 202);
    const then = await byRule(application);
    t.match(
      then['a'],
      { severity: 'low', tags: ['mine'] },
      'the severity of the report is replaced again, the tag is not set again',
    );
    t.match(then['b'], { assignee_id: null });
    t.equal((await client.call('GET', '/events?type=rule.notice&limit=50')).body['items'].length, 1);
    await away(...ids);
  });

  await t.test(
    'a dry run says what a rule would do in its place; applied it does that; undone it is as before',
    async (t) => {
      const application = await client.application();
      t.equal(
        (await client.send(application, sarif([result('c', 'c.js'), result('d', 'd.js'), result('e', 'e.js')]))).status,
        202,
      );
      const first = await rule('stops', ofRule('c'), [{ set: 'tag', value: 'first' }], { stop: true });
      const second = await rule(
        'second',
        { and: [{ field: 'application_id', op: 'eq', value: application }] },
        [
          { set: 'severity', value: 'critical', reason: 'it is the shop' },
          { set: 'status', value: 'false_positive', reason: 'r', justification: 'component_not_present' },
        ],
        { enabled: false },
      );
      const { body: tried } = await client.call('POST', `/rules/${second}/dry-run`);
      t.match(tried, { matched: 3, looked_at: 3, would_change: 2 });
      t.same(tried['sample'][0].changes, [
        { member: 'severity', before: [3, 'report'], after: 4 },
        { member: 'status', before: 'new', after: 'false_positive' },
      ]);
      t.match((await byRule(application))['d'], { severity: 'high', status: 'new' }, 'nothing was changed');
      await client.call('PATCH', `/rules/${second}`, { enabled: true });
      const { body: run, status } = await client.call('POST', '/rules/runs');
      t.equal(status, 202);
      t.match(run, { status: 'succeeded', cause: 'stored', changed: 3, import_run: null });
      const after = await byRule(application);
      t.match(after['c'], { severity: 'high', tags: ['first'], status: 'new' });
      t.match(after['d'], { severity: 'critical', status: 'false_positive', severity_basis: 'person' });
      t.match((await client.call('POST', '/rules/runs')).body, { changed: 0 }, 'once');
      await client.call('PATCH', `/vulnerabilities/${after['e'].id}`, { severity: 'info' });
      const { body: undone } = await client.call('POST', `/rules/runs/${run['id']}/undo`);
      t.match(undone, { status: 'undone', changed: 4, kept: 1 });
      const back = await byRule(application);
      t.match(back['c'], { tags: [] });
      t.match(back['d'], { severity: 'high', severity_basis: 'report', status: 'new' });
      t.match(back['e'], { severity: 'info', status: 'new' }, 'what was changed since stays');
      t.equal((await client.call('POST', `/rules/runs/${run['id']}/undo`)).status, 409);
      t.match((await client.call('POST', '/rules/runs')).body, { changed: 0 }, 'what was undone is not done again');
      t.match((await client.call('GET', `/rules/runs/${run['id']}`)).body, { status: 'undone' });
      t.ok((await client.call('GET', '/rules/runs')).body['items'].length >= 3);
      await away(first, second);
    },
  );

  await t.test('a rule that mutes has a mute of its own, which ends with it', async (t) => {
    const application = await client.application();
    t.equal((await client.send(application, sarif([result('f', 'f.js'), result('g', 'g.js')]))).status, 202);
    const keeps = await rule(
      'keeps',
      { field: 'location', op: 'contains', value: 'g.js' },
      [{ set: 'tag', value: 'kept' }],
      { stop: true },
    );
    const mutes = await rule('mutes', { field: 'application_id', op: 'eq', value: application }, [
      { set: 'mute', reason: 'old code', until },
    ]);
    t.match(await byRule(application), { f: { status: 'muted' }, g: { status: 'new' } });
    const { body } = await client.call('GET', '/mutes?q=mutes');
    t.match(body['items'], [{ name: 'mutes', reason: 'old code', expires_at: until }]);
    const refused = await client.call('DELETE', `/mutes/${body['items'][0].id}`);
    t.match([refused.status, refused.body['detail']], [409, /belongs to the rule/]);
    t.equal((await client.call('PUT', '/rules/order', { ids: [mutes, keeps] })).status, 200);
    t.match(await byRule(application), { f: { status: 'muted' }, g: { status: 'muted' } }, 'the order changed');
    await away(mutes);
    t.match(await byRule(application), { f: { status: 'new' }, g: { status: 'new' } });
    t.equal((await client.call('GET', '/mutes?q=mutes')).body['total'], 0);
    await away(keeps);
  });

  await t.test('what is wrong is refused with its place', async (t) => {
    const good = { name: 'x', predicate: ofRule('x'), effects: [{ set: 'tag', value: 'x' }] };
    const id = await rule('x', good.predicate, good.effects);
    const cases: readonly (readonly [Json, number, RegExp])[] = [
      [{ ...good }, 409, /Another rule/],
      [{ ...good, name: 'y', effects: [] }, 422, /effects/],
      [{ ...good, name: 'y', effects: [{ set: 'tag' }] }, 422, /\/effects\/0\/value is needed for tag/],
      [{ ...good, name: 'y', effects: [{ set: 'severity', value: 'high' }] }, 422, /\/effects\/0\/reason is needed/],
      [{ ...good, name: 'y', effects: [{ set: 'severity', value: 'huge', reason: 'r' }] }, 422, /must be one of info/],
      [
        { ...good, name: 'y', effects: [{ set: 'status', value: 'resolved', reason: 'r' }] },
        422,
        /must be one of triaged/,
      ],
      [
        { ...good, name: 'y', effects: [{ set: 'status', value: 'false_positive', reason: 'r' }] },
        422,
        /justification/,
      ],
      [{ ...good, name: 'y', effects: [{ set: 'assignee', value: '999999' }] }, 422, /no active user/],
      [
        { ...good, name: 'y', effects: [{ set: 'mute', reason: 'r', until: '2001-01-01T00:00:00Z' }] },
        422,
        /over already/,
      ],
      [{ ...good, name: 'y', effects: [{ set: 'notice', value: 'x' }] }, 422, /means nothing for notice/],
      [{ ...good, name: 'y', effects: [...good.effects, ...good.effects] }, 422, /says already/],
      [
        { ...good, name: 'y', predicate: { field: 'nothing', op: 'eq', value: 1 } },
        422,
        /\/predicate\/field must be one of/,
      ],
    ];
    for (const [body, status, detail] of cases) {
      const reply = await client.call('POST', '/rules', body);
      t.match([reply.status, String(reply.body['detail'])], [status, detail], JSON.stringify(body['effects']));
    }
    for (const ids of [[], [id, '99999']])
      t.equal((await client.call('PUT', '/rules/order', { ids })).status, 422, JSON.stringify(ids));
    t.equal((await client.call('POST', '/rules/runs/999999/undo')).status, 404);
    await away(id);
  });

  await t.test('a run of many steps, and the way back', async (t) => {
    const application = await client.application();
    await database.sql`
      insert into vm_findings (application_id, title, severity, source, effective_risk, priority_score, fingerprint,
        sla_start, first_seen, last_seen, created_at, updated_at)
      select ${application}, 'many', 3, 'sast', 1, 1, 'many' || n, now(), now(), now(), now(), now()
      from generate_series(1, 450::int) n`;
    const tagged = async (): Promise<number> =>
      (await client.call('GET', `/findings?application_id=${application}&tag=many&limit=1`)).body['total'];
    const id = await rule('many', { field: 'title', op: 'eq', value: 'many' }, [{ set: 'tag', value: 'many' }]);
    const job = at.jobs.find(({ name }) => name === 'vm-rules');
    if (job === undefined) throw new Error('there is no job of rules');
    const over = async (run: Json): Promise<Json> => {
      while (run['status'] === 'running' || run['status'] === 'undoing') {
        at.clock.nowMs += 40_000; // the lease of the one that answered is over
        await job.run({ nowMs: at.clock.nowMs, signal: new AbortController().signal });
        run = (await client.call('GET', `/rules/runs/${run['id']}`)).body;
      }
      return run;
    };
    const run = await over((await client.call('POST', '/rules/runs')).body);
    t.match(run, { status: 'succeeded', changed: 450 });
    t.equal(await tagged(), 450);
    t.match(await over((await client.call('POST', `/rules/runs/${run['id']}/undo`)).body), {
      status: 'undone',
      changed: 450,
      kept: 0,
    });
    t.equal(await tagged(), 0);
    await away(id);
  });

  await t.test('a user with one application reads no rules and writes none', async (t) => {
    const application = await client.application();
    const other = await at.user('viewer');
    const { body: me } = await new Client(at, other.token).call('GET', '/auth/me');
    const items = [{ scope: 'application', scope_id: application, role: 'admin' }];
    t.equal((await client.call('PUT', `/rbac/grants/${me['id']}`, { items, confined: true })).status, 200);
    const confined = new Client(at, other.token);
    const id = await rule('z', ofRule('z'), [{ set: 'tag', value: 'z' }]);
    t.match((await confined.call('GET', '/rules')).body, { items: [] });
    t.equal((await confined.call('GET', `/rules/${id}`)).status, 404);
    t.equal(
      (await confined.call('POST', '/rules', { name: 'w', predicate: ofRule('w'), effects: [{ set: 'notice' }] }))
        .status,
      403,
    );
    t.equal((await confined.call('POST', '/rules/runs')).status, 403);
    await away(id);
  });
}

void onBothDatabases(t, 'rules', suite);
