// Accounts, assets and findings through the API, on both databases, mounted in the control plane.
import t, { type Test } from 'tap';
import { startTestApp, testPassword, type TestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const v1 = '/api/v1';

async function applicationOf(at: TestApp, token: string, more: object = {}): Promise<string> {
  const made = await at.call('POST', `${v1}/applications`, {
    token,
    body: { name: `app ${Math.random()}`, environment: 'prod', ...more },
  });
  if (made.status !== 201) throw new Error(made.text);
  return String(made.body['id']);
}

async function findingOf(at: TestApp, token: string, application: string, more: object = {}) {
  const body = {
    title: 'SQL injection in search',
    severity: 'high',
    application_id: application,
    cwe: ['CWE-89'],
    ...more,
  };
  const made = await at.call('POST', `${v1}/vulnerabilities`, { token, body });
  if (made.status !== 201) throw new Error(made.text);
  return made.body;
}

async function tokenOf(at: TestApp, session: string): Promise<string> {
  const made = await at.call('POST', `${v1}/tokens`, { token: session, body: { name: 'all', scopes: ['admin'] } });
  return String(made.body['token']);
}

async function accounts(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const admin = await at.user('admin');
  const viewer = await at.user('viewer');
  await t.test('14.2: a session of the control plane is one of this API', async (t) => {
    const login = await at.call('POST', `${v1}/auth/login`, { body: { email: admin.email, password: testPassword } });
    t.match(login, { status: 200, body: { mfa_required: false, token_type: 'bearer' } });
    const me = await at.call('GET', `${v1}/auth/me`, { token: String(login.body['access_token']) });
    t.match(me.body, { email: admin.email, role: 'admin', credential: 'session', visible: { all: true } });
    t.match(await at.call('GET', `${v1}/auth/me`), { status: 401, body: { detail: String } });
    t.same(
      Object.keys((await at.call('GET', `${v1}/auth/me`)).body),
      ['detail'],
      'a refusal is detail and nothing else',
    );
    t.equal((await at.call('POST', `${v1}/auth/login`, { body: { email: admin.email, password: 'x' } })).status, 401);
  });
  await t.test(
    '14.2: apt_ tokens: shown once, hashed, scoped, expiring, revoked at once, last use noted',
    async (t) => {
      const made = await at.call('POST', `${v1}/tokens`, {
        token: admin.token,
        body: { name: 'ci', scopes: ['read'] },
      });
      t.equal(made.status, 201);
      const token = String(made.body['token']);
      t.match(token, /^apt_[0-9a-f]{8}_[\w-]{43}$/);
      const [row] = await database.sql<Record<string, string>[]>`select * from vm_tokens`;
      t.notOk(JSON.stringify(row).includes(token.slice(13)), 'the secret is not in the table');
      t.equal((await at.call('GET', `${v1}/applications`, { token })).status, 200);
      const write = await at.call('POST', `${v1}/applications`, { token, body: { name: 'x' } });
      t.match(write, { status: 403, body: { detail: /read-only/ } }, 'a read-only token is refused by a write');
      t.equal((await at.call('POST', `${v1}/tokens`, { token, body: { name: 'y', scopes: ['read'] } })).status, 403);
      const used = await at.call('GET', `${v1}/tokens/${made.body['id']}`, { token: admin.token });
      t.ok(used.body['last_used_at']);
      t.notOk('token' in used.body);
      t.equal((await at.call('DELETE', `${v1}/tokens/${made.body['id']}`, { token: admin.token })).status, 204);
      t.equal((await at.call('GET', `${v1}/applications`, { token })).status, 401, 'revoked');
      const end = new Date(at.clock.nowMs + 60_000).toISOString();
      const brief = await at.call('POST', `${v1}/tokens`, {
        token: admin.token,
        body: { name: 'b', scopes: ['write'], expires_at: end },
      });
      const text = String(brief.body['token']);
      t.equal((await at.call('GET', `${v1}/applications`, { token: text })).status, 200);
      at.clock.nowMs += 61_000;
      t.equal((await at.call('GET', `${v1}/applications`, { token: text })).status, 401, 'expired');
      const bad = await at.call('POST', `${v1}/tokens`, { token: admin.token, body: { name: 'b', scopes: ['all'] } });
      t.match(bad, { status: 422, body: { detail: /scopes/ } });
    },
  );
  await t.test('14.2: a token never may more than its owner', async (t) => {
    const made = await at.call('POST', `${v1}/tokens`, { token: viewer.token, body: { name: 'v', scopes: ['admin'] } });
    const token = String(made.body['token']);
    t.equal((await at.call('POST', `${v1}/applications`, { token, body: { name: 'x' } })).status, 403);
    t.equal((await at.call('GET', `${v1}/audit`, { token })).status, 403);
  });
  await t.test('14.2: what is outside of a grant does not exist', async (t) => {
    const project = (await at.call('POST', `${v1}/projects`, { token: admin.token, body: { name: 'shop' } })).body;
    const mine = await applicationOf(at, admin.token, { project_id: project['id'] });
    const other = await applicationOf(at, admin.token);
    const hidden = await findingOf(at, admin.token, other);
    const seen = await findingOf(at, admin.token, mine);
    const dev = await at.user('operator');
    const grants = { confined: true, items: [{ scope: 'project', scope_id: project['id'], role: 'developer' }] };
    t.equal((await at.call('PUT', `${v1}/rbac/grants/${dev.id}`, { token: admin.token, body: grants })).status, 200);
    const call = (method: string, url: string, body?: unknown) =>
      at.call(method, `${v1}${url}`, { token: dev.token, body });
    t.match((await call('GET', '/vulnerabilities')).body, { total: 1, items: [{ id: seen['id'] }] });
    t.match((await call('GET', '/findings')).body, { total: 1 });
    t.equal((await call('GET', `/vulnerabilities/${hidden['id']}`)).status, 404);
    t.equal((await call('GET', `/applications/${other}`)).status, 404);
    t.match((await call('GET', '/applications')).body, { total: 1 });
    t.equal((await call('POST', `/vulnerabilities/${hidden['id']}/transition`, { to: 'triaged' })).status, 404);
    t.equal((await call('POST', `/vulnerabilities/${seen['id']}/transition`, { to: 'triaged' })).status, 200);
    t.equal(
      (await call('POST', '/vulnerabilities/bulk', { ids: [hidden['id']], action: 'tag', add: ['x'] })).body['failed'],
      1,
    );
    t.match((await call('GET', '/findings/facets')).body, { severity: { high: 1 } });
    t.match((await call('GET', '/findings/stats')).body, { open_total: 1 });
    t.equal((await call('POST', '/applications', { name: 'x' })).status, 403, 'a developer writes no assets');
    const confined = await at.call('POST', `${v1}/tokens`, {
      token: admin.token,
      body: { name: 'c', scopes: ['read'], application_ids: [mine] },
    });
    const list = await at.call('GET', `${v1}/vulnerabilities`, { token: String(confined.body['token']) });
    t.match(list.body, { total: 1 }, 'a token confined to applications');
  });
}

async function findings(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token: session, id: adminId } = await at.user('admin');
  const token = await tokenOf(at, session); // the clock runs on for days; sessions end
  const call = (method: string, url: string, body?: unknown, headers: Record<string, string> = {}) =>
    at.call(method, `${v1}${url}`, { token, body, headers });
  const application = await applicationOf(at, token, { business_criticality: 'critical' });
  await t.test('14.3: a finding has its fields, risk, priority and deadline', async (t) => {
    const made = await findingOf(at, token, application, {
      cvss_vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
    });
    t.match(made, {
      status: 'new',
      severity: 'high',
      cwe: ['CWE-89'],
      cvss: { version: '3.1', score: 9.8 },
      sla: { state: 'ok', class: 'severity' },
      source: 'manual',
    });
    t.ok(Number(made['risk_score']) > 0 && made['effective_risk'] === made['risk_score']);
    const override = await call('PUT', `/vulnerabilities/${made['id']}/risk-override`, { risk: 0, reason: 'a test' });
    t.match(override.body, { risk_override: 0, effective_risk: 0 }, '0 is a value');
    const back = await call('PUT', `/vulnerabilities/${made['id']}/risk-override`, { risk: null, reason: 'over' });
    t.equal(back.body['effective_risk'], made['risk_score']);
    t.equal(
      (await call('PUT', `/vulnerabilities/${made['id']}/risk-override`, { risk: 101, reason: 'x' })).status,
      422,
    );
    const patch = await call('PATCH', `/vulnerabilities/${made['id']}`, { severity: 'low', cvss_vector: null });
    t.ok(Number(patch.body['risk_score']) < Number(made['risk_score']));
    t.equal((await call('PATCH', `/vulnerabilities/${made['id']}`, { title: 'x' }, { 'if-match': '"1"' })).status, 409);
    t.equal((await call('DELETE', `/vulnerabilities/${made['id']}`)).status, 204);
    t.equal((await call('GET', `/vulnerabilities/${made['id']}`)).status, 404);
  });
  await t.test('14.3: the status machine: each change is a row, what is not in the table is 409', async (t) => {
    const { id } = await findingOf(at, token, application);
    const move = (body: object) => call('POST', `/vulnerabilities/${id}/transition`, body);
    t.match(await move({ to: 'fix_pending' }), { status: 409, body: { detail: /can become/ } });
    t.equal((await move({ to: 'triaged' })).status, 200);
    t.equal((await move({ to: 'in_progress' })).status, 409, 'nobody has it');
    t.equal((await call('POST', `/vulnerabilities/${id}/assign`, { user_id: 'nobody' })).status, 422);
    t.equal((await call('POST', `/vulnerabilities/${id}/assign`, { user_id: adminId })).status, 200);
    t.equal((await move({ to: 'in_progress' })).status, 200);
    t.equal((await move({ to: 'fix_pending' })).status, 200);
    t.equal((await move({ to: 'resolved' })).status, 422, 'a reason is needed');
    t.match((await move({ to: 'resolved', reason: 'deployed' })).body, { status: 'resolved', sla: { state: 'met' } });
    t.match((await move({ to: 'reopened', reason: 'still there' })).body, { status: 'reopened', reopen_count: 1 });
    t.equal((await move({ to: 'false_positive', reason: 'no' })).status, 422, 'a justification is needed');
    t.equal((await move({ to: 'muted' })).status, 409, 'only a mute mutes');
    t.equal((await move({ to: 'risk_accepted' })).status, 409, 'only an acceptance accepts');
    t.equal(
      (await move({ to: 'false_positive', reason: 'no', justification: 'vulnerable_code_not_present' })).status,
      200,
    );
    const history = await call('GET', `/vulnerabilities/${id}/history`);
    t.same(
      history.body['items'].map(({ to }: { to: string }) => to),
      ['false_positive', 'reopened', 'resolved', 'fix_pending', 'in_progress', 'triaged', 'new'],
    );
    const twin = await findingOf(at, token, application);
    const same = await call('POST', `/vulnerabilities/${twin['id']}/transition`, {
      to: 'duplicate',
      canonical_id: twin['id'],
    });
    t.equal(same.status, 422, 'not of itself');
    const other = await findingOf(at, token, application);
    const dup = await call('POST', `/vulnerabilities/${twin['id']}/transition`, {
      to: 'duplicate',
      canonical_id: other['id'],
    });
    t.match(dup.body, { status: 'duplicate', canonical_id: other['id'] });
  });
  await t.test('14.3: mutes end, and give the state back', async (t) => {
    const { id } = await findingOf(at, token, application, { title: 'Quiet one', tags: ['noise'] });
    await call('POST', `/vulnerabilities/${id}/transition`, { to: 'triaged' });
    const expires = new Date(at.clock.nowMs + 3_600_000).toISOString();
    const predicate = { field: 'tag', op: 'contains', value: 'noise' };
    t.match((await call('POST', '/mutes/preview', { predicate })).body, { count: 1 });
    t.equal((await call('POST', '/mutes', { name: 'm', predicate, reason: 'r' })).status, 422, 'an end is needed');
    t.match(
      await call('POST', '/mutes', {
        name: 'm',
        predicate: { field: 'nope', op: 'eq', value: 1 },
        reason: 'r',
        expires_at: expires,
      }),
      {
        status: 422,
        body: { detail: /\/predicate\/field/ },
      },
    );
    t.equal((await call('POST', '/mutes', { name: 'm', predicate, reason: 'r', expires_at: expires })).status, 201);
    t.match((await call('GET', `/vulnerabilities/${id}`)).body, { status: 'muted' });
    at.clock.nowMs += 3_700_000;
    await runJob(at, 'vm-clocks');
    t.match((await call('GET', `/vulnerabilities/${id}`)).body, { status: 'triaged' });
  });
  await t.test('14.3: acceptances: four eyes, an end, the clock stands still', async (t) => {
    const made = await findingOf(at, token, application);
    const second = { token: await tokenOf(at, (await at.user('admin')).token) };
    const expires = new Date(at.clock.nowMs + 86_400_000).toISOString();
    const body = { title: 'a', decision: 'accept', vuln_ids: [made['id']], justification: 'j' };
    t.equal((await call('POST', '/acceptances', body)).status, 422, 'an end is mandatory');
    const asked = await call('POST', '/acceptances', { ...body, expires_at: expires });
    t.match(asked, { status: 201, body: { status: 'pending' } });
    const url = `/acceptances/${asked.body['id']}`;
    t.equal((await call('POST', `${url}/approve`, {})).status, 403, 'not by who asked');
    const approved = await at.call('POST', `${v1}${url}/approve`, { token: second.token, body: {} });
    t.match(approved, { status: 200, body: { status: 'approved' } });
    t.match((await call('GET', `/vulnerabilities/${made['id']}`)).body, {
      status: 'risk_accepted',
      sla: { state: 'paused' },
    });
    at.clock.nowMs += 86_500_000;
    await runJob(at, 'vm-clocks');
    const after = (await call('GET', `/vulnerabilities/${made['id']}`)).body;
    t.match(after, { status: 'new' });
    t.ok(Date.parse(after['sla']['due_at']) > Date.parse(made['sla']['due_at']), 'the pause was added');
    t.match((await call('GET', url)).body, { status: 'expired' });
    t.equal((await at.call('POST', `${v1}${url}/revoke`, { token: second.token, body: {} })).status, 409);
  });
  await t.test(
    '14.3: lists: filters, sorts, pages that are disjoint and everything, unknown parameters refused',
    async (t) => {
      const app = await applicationOf(at, token);
      for (let i = 0; i < 23; i++)
        await findingOf(at, token, app, { title: `n ${i}`, severity: i % 2 === 0 ? 'low' : 'critical' });
      const ids = new Set<string>();
      let cursor: string | null = null;
      do {
        const page = await call(
          'GET',
          `/findings?application_id=${app}&limit=5${cursor === null ? '' : `&cursor=${cursor}`}`,
        );
        t.equal(page.body['total'], 23);
        for (const { id } of page.body['items'] as { id: string }[]) ids.add(id);
        cursor = page.body['next_cursor'] as string | null;
      } while (cursor !== null);
      t.equal(ids.size, 23);
      const offset = new Set<string>();
      for (let at = 0; at < 23; at += 7)
        for (const { id } of (await call('GET', `/findings?application_id=${app}&limit=7&offset=${at}&sort=-severity`))
          .body['items'])
          offset.add(id);
      t.equal(offset.size, 23);
      t.match((await call('GET', `/vulnerabilities?application_id=${app}&severity=critical`)).body, {
        total: 11,
        limit: 50,
      });
      t.match((await call('GET', `/vulnerabilities?application_id=${app}&q=n%201`)).body, { total: 11 });
      t.equal((await call('GET', '/vulnerabilities?sevrity=high')).status, 422);
      t.equal((await call('GET', '/vulnerabilities?limit=501')).status, 422);
      t.equal((await call('GET', '/vulnerabilities?cursor=zzz')).status, 422);
      t.equal((await call('GET', '/vulnerabilities?application_id=x')).body['total'], 0);
      for (const sort of ['due_at', '-due_at', 'first_seen', '-risk', 'id']) {
        const first = await call('GET', `/findings?application_id=${app}&limit=4&sort=${sort}`);
        const rest = await call(
          'GET',
          `/findings?application_id=${app}&limit=500&cursor=${first.body['next_cursor']}&sort=${sort}`,
        );
        t.equal(rest.status, 200, rest.text);
        t.equal(first.body['items'].length + rest.body['items'].length, 23, sort);
      }
      const query = await call('POST', '/findings/query', {
        predicate: {
          and: [
            { field: 'application_id', op: 'eq', value: app },
            { field: 'severity', op: 'gte', value: 'high' },
          ],
        },
      });
      t.equal(query.body['total'], 11);
    },
  );
  await t.test('14.3: comments, saved filters, bulk, audit', async (t) => {
    const one = await findingOf(at, token, application);
    const two = await findingOf(at, token, application);
    const comment = await call('POST', '/comments', { entity: 'finding', entity_id: one['id'], text: 'look' });
    t.equal(comment.status, 201);
    t.equal((await call('DELETE', `/comments/${comment.body['id']}`)).status, 204);
    t.match((await call('GET', `/comments?entity=finding&entity_id=${one['id']}`)).body, { items: [{ text: null }] });
    const view = { name: 'mine', query: { field: 'kev', op: 'eq', value: true } };
    t.equal((await call('POST', '/findings/views', view)).status, 201);
    t.equal((await call('POST', '/findings/views', view)).status, 409);
    const done = await call('POST', '/vulnerabilities/bulk', {
      ids: [one['id'], two['id'], '999999'],
      action: 'transition',
      to: 'triaged',
    });
    t.match(done.body, { changed: 2, failed: 1 });
    const atomic = { ids: [one['id'], '999999'], action: 'transition', to: 'confirmed', atomic: true };
    t.equal((await call('POST', '/vulnerabilities/bulk', atomic)).status, 404);
    t.match((await call('GET', `/vulnerabilities/${one['id']}`)).body, { status: 'triaged' }, 'all or none');
    t.match((await call('GET', '/audit/verify')).body, { ok: true });
    t.match((await call('GET', '/audit?action=vm.')).body['items'][0], { action: /^vm\./, hash: String });
    t.match((await call('GET', '/events?limit=1')).body, { items: [{ type: 'finding.created' }] });
  });
}

async function runJob(at: TestApp, name: string): Promise<void> {
  const job = at.jobs.find((one) => one.name === name);
  if (job === undefined) throw new Error(`no job ${name}`);
  await job.run({ nowMs: at.clock.nowMs, signal: new AbortController().signal });
}

t.test('accounts', (t) => onBothDatabases(t, 'accounts of the vulnerability manager', accounts));
t.test('findings', (t) => onBothDatabases(t, 'findings', findings));
