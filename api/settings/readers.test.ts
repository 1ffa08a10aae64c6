// Who may see and change what of the settings.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { headId } from '../testing/settings.js';

async function readers(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { token } = await at.user('admin');
  await t.test('secrets never leave: not in answers, versions, diffs, audit or the stored text', async (t) => {
    await at.call('PATCH', '/api/settings', {
      token,
      body: {
        auth_secret: `Very-Secret-1${'-'.repeat(32)}`,
        siem_connectors: [{ name: 'hec', kind: 'webhook', target: 'https://x.example', token: 'Very-Secret-2' }],
      },
    });
    await at.call('PATCH', '/api/settings', { token, body: { auth_secret: `Very-Secret-3${'-'.repeat(32)}` } });
    const id = await headId(database);
    for (const url of [
      '/api/settings',
      '/api/config/versions',
      `/api/config/versions/${id}`,
      `/api/config/diff?from=${id - 1}&to=${id}`,
      '/api/audit',
      '/api/audit/export',
    ])
      t.notMatch((await at.call('GET', url, { token })).text, /Very-Secret|sealed:/, url);
    t.match(
      (await at.call('GET', `/api/config/diff?from=${id - 1}&to=${id}`, { token })).body['changes'],
      [{ path: '/auth_secret', kind: 'changed' }],
      'but a changed secret shows as changed',
    );
    t.notMatch(JSON.stringify(await database.sql`select * from settings_versions`), /Very-Secret/);
  });
  await t.test('governance by field', async (t) => {
    const operator = await at.user('operator');
    const read = await at.call('GET', '/api/settings', { token: operator.token });
    t.equal(
      (await at.call('PUT', '/api/settings', { token: operator.token, body: { ...read.body, paranoia_level: 4 } }))
        .status,
      200,
      'the whole object back with a tuned field',
    );
    const denied = await at.call('PUT', '/api/settings', {
      token: operator.token,
      body: {
        ...read.body,
        paranoia_level: 2,
        retention_audit_days: 1,
        sites: [],
        siem_webhook_url: 'https://evil.example',
      },
    });
    t.match(denied, { status: 403, body: { code: 'field_denied' } });
    t.same(
      (denied.body['errors'] as { path: string }[])
        .map((e) => e.path)
        .sort()
        .filter((p) => p !== '/sites'),
      ['/retention_audit_days', '/siem_webhook_url'],
    );
    t.equal(
      (await at.call('GET', '/api/settings', { token })).body['paranoia_level'],
      4,
      'the tuned half was not saved either',
    );
  });
  t.match(await at.parts.audit.verify(database.sql), { ok: true });
  await at.close();
}

t.test('readers', (t) => onBothDatabases(t, 'readers', readers));
