import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp, type TestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';

/** What an entry says of findings, applications and grants is for who may read it under /api/v1, too. */
async function hidesVm(t: Test, at: TestApp, admin: string): Promise<void> {
  const project = { token: admin, body: { name: 'Secret project' } };
  t.equal((await at.call('POST', '/api/v1/projects', project)).status, 201);
  for (const role of ['viewer', 'operator', 'admin'] as const) {
    const { token } = await at.user(role);
    const list = await at.call('GET', '/api/audit?limit=200', { token });
    t.equal(list.status, 200);
    t.ok((list.body['items'] as unknown[]).length > 10, 'the rest of the log is there');
    const csv = await at.call('GET', '/api/audit/export', { token });
    const only = await at.call('GET', '/api/audit?action=vm.', { token });
    for (const [what, text] of Object.entries({ list: list.text, csv: csv.text, only: only.text }))
      t.equal(text.includes('Secret project'), role === 'admin', `${what} of ${role}`);
    t.equal((await at.call('GET', '/api/v1/audit', { token })).status, role === 'admin' ? 200 : 403, 'the other half');
  }
}

async function auditRoutes(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { token, email } = await at.user('admin');
  for (let i = 0; i < 25; i++) await at.call('PATCH', '/api/settings', { token, body: { rl_events: 100 + i } });
  await database.sql.begin((tx) =>
    at.parts.audit.record(tx, {
      actor: { id: null, name: '=cmd|calc', role: 'system', sourceIp: '2001:db8::1' },
      action: 'licence.reject',
      summary: '=HYPERLINK("http://x")\n"quoted", 100%_sure',
    }),
  );
  const ids: number[] = [];
  for (let cursor: string | null = null; ; ) {
    const page: { body: Record<string, any> } = await at.call(
      'GET',
      `/api/audit?action=settings.&limit=10${cursor === null ? '' : `&cursor=${cursor}`}`,
      { token },
    );
    ids.push(...(page.body['items'] as { id: number }[]).map((e) => e.id));
    cursor = page.body['next_cursor'] as string | null;
    if (ids.length === 10) await at.call('PATCH', '/api/settings', { token, body: { rl_events: 9999 } });
    if (cursor === null) break;
  }
  t.equal(new Set(ids).size, 25, 'an entry that arrives while paging is neither repeated nor in the way');
  const find = async (query: string) =>
    (await at.call('GET', `/api/audit?${query}`, { token })).body['items'] as Record<string, any>[];
  t.match((await find('action=login'))[0], { actor: email, role: 'admin', source_ip: '192.0.2.10' });
  t.equal((await find('source_ip=2001:db8::1')).length, 1);
  t.equal((await find('q=100%25_SURE')).length, 1, 'wildcards are taken literally');
  t.equal((await find('q=100x')).length, 0);
  t.equal((await find('role=system&from=2026-01-01&to=2026-12-31T00:00:00Z')).length, 1);
  t.equal((await find('from=2027-01-01')).length, 0);
  t.match((await find('action=settings.update&limit=1'))[0]?.['summary'], /rl_events: 124 → 9999/);
  await hidesVm(t, at, token);
  const csv = await at.call('GET', '/api/audit/export?action=licence.reject', { token });
  t.match(csv.headers['content-type'], /text\/csv/);
  t.match(
    csv.text,
    /,'=cmd\|calc,system,2001:db8::1,licence\.reject,"'=HYPERLINK\(""http:\/\/x""\)\n""quoted"", 100%_sure"/,
  );
  t.match((await at.call('GET', '/api/audit/verify', { token })).body, { ok: true, first_broken: null });
  await database.sql`update audit_entries set summary = 'nothing' where id = 3`;
  t.match((await at.call('GET', '/api/audit/verify', { token })).body, {
    ok: false,
    first_broken: { id: 3, reason: 'the entry was changed' },
  });
  await at.close();
}

t.test('audit', (t) => onBothDatabases(t, 'audit routes', auditRoutes));
