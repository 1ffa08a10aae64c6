// Backups through the API, over tools that are told what to answer. That the tools do it is api/e2e/restore-over-http.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onOneDatabase } from '#api/testing/databases';
import { until } from '#api/testing/waiting';
import { Client, type Json } from '../testing/import-client.js';
import { memoryPlace as place } from '../testing/api/backup-place.js';
import { exercise } from '../testing/api/examples.js';
import { whenQuiet } from '../kit/runs/background.js';

type Database = Parameters<Parameters<typeof onOneDatabase>[2]>[1];
const key = 'a passphrase of the test';

async function suite(t: Test, database: Database): Promise<void> {
  const { files, asked, add, state, tools } = place();
  const asked_at = '2026-02-28T12:00:00Z';
  state.outcome = {
    name: 'gatehouse-20260227T120000Z.tar',
    by: 'a',
    asked_at,
    ended_at: asked_at,
    ok: true,
    said: 'x',
  };
  const runBackup = async () => ({
    ...{ place: '/copies', name: add(), bytes: 1, sha256: 'a'.repeat(64), tables: 1, rows: 7, release: '1.0.0' },
    ...{ secrets: 'sealed', checked: 'complete' as const, removed: [] },
  });
  const at = await startTestApp(database, { runBackup, backupTools: tools });
  t.teardown(() => at.close());
  const admin = await at.user('admin');
  const client = new Client(at, admin.token);
  const list = async (): Promise<Json> => (await client.call('GET', '/backups')).body;
  const run = async (id: unknown): Promise<Json> => (await client.call('GET', `/runs/${String(id)}`)).body;
  const audit = async (): Promise<string[]> =>
    (await database.sql<{ summary: string }[]>`select summary from audit_entries order by id desc limit 3`).map(
      ({ summary }) => summary,
    );

  await t.test('30.backups: made, listed with what is known of each, and the last restore', async (t) => {
    t.match(await list(), { place: '/copies', total: 0, last_restore: { ok: true, by: 'a', said: 'x' } });
    const begun = await client.call('POST', '/backups');
    t.match(begun, { status: 202, body: { state: /running|made/, by: admin.email } }, begun.text);
    await until('it is made', async () => (await list())['total'] === 1);
    await until('it is noted', async () => (await list())['items'][0].rows === 7);
    const { items } = (await client.call('GET', '/backups/made')).body;
    t.match(items, [{ state: 'made', backup: 'gatehouse-20260301T120000Z.tar', error: null }]);
    t.match((await list())['items'], [
      { made_at: '2026-03-01T12:00:00.000Z', sealed: false, rows: 7, checked: 'complete', verified: null },
    ]);
    const id = String((await list())['items'][0].id);
    t.match(await client.call('GET', `/backups/${id}`), { status: 200, body: { id, bytes: 1001 } });
    for (const other of ['..%2F.env', 'gatehouse-20990101T000000Z.tar'])
      t.equal((await client.call('GET', `/backups/${other}`)).status, 404, 'only what the place lists');
  });

  await t.test('30.backups: verified by a restore into a scratch database', async (t) => {
    const sealed = add(true);
    t.match(await client.call('POST', `/backups/${sealed}/verify`, {}), {
      status: 422,
      body: { detail: /secret key/ },
    });
    let finish: () => void = () => undefined;
    state.finish = new Promise((resolve) => (finish = resolve));
    const begun = await client.call('POST', `/backups/${sealed}/verify`, { key });
    t.match(begun, { status: 202, body: { kind: 'backup.verify', status: 'running' } }, begun.text);
    t.match(await client.call('POST', `/backups/${sealed}/verify`, { key }), { status: 409 }, 'one at a time');
    finish();
    await whenQuiet();
    t.match(await run(begun.body['id']), { status: 'succeeded', result: { restored: true, rows: 99 } });
    t.match((await list())['items'][0], { id: sealed, verified: { ok: true, restored: true, secrets: 'opened' } });
    state.fails = new Error('The table users differs from the backup (9 rows expected, 8 found).');
    const bad = await client.call('POST', `/backups/${sealed}/verify`, { key });
    await whenQuiet();
    t.match(await run(bad.body['id']), { status: 'failed', error: /9 rows expected/ });
    t.match((await list())['items'][0].verified, { ok: false, error: /9 rows/ });
    t.equal(files.size, 2, 'a bad backup is not removed by itself');
    const rows = await database.sql`select 1 from vm_runs where input::text like '%passphrase%'`;
    const told = await database.sql`select 1 from audit_entries where details like '%passphrase%'`;
    t.equal(rows.length + told.length, 0, 'the key is nowhere');
    state.fails = null;
  });

  await t.test(
    '30.backups: a sealed one is downloaded by a person who may restore it, and that is noted',
    async (t) => {
      const [plain = '', sealed = ''] = [...files.keys()];
      const path = `/backups/${sealed}/download`;
      const reply = await at.app.inject({
        method: 'GET',
        url: `/api/v1${path}`,
        headers: { authorization: `Bearer ${admin.token}` },
      });
      t.equal(reply.statusCode, 200);
      t.equal(reply.rawPayload.length, files.get(sealed), 'all of it');
      t.equal(reply.headers['content-disposition'], `attachment; filename="${sealed}"`);
      t.match((await audit())[0], new RegExp(`downloaded the backup ${sealed}`));
      t.match(await client.call('GET', `/backups/${plain}/download`), {
        status: 409,
        body: { detail: /not sealed.*backup_encrypt/ },
      });
      t.equal((await client.call('GET', '/backups/..%2F.env/download')).status, 404);
      const made = (await client.call('POST', '/tokens', { name: 'd', scopes: ['admin'] })).body;
      t.equal((await new Client(at, String(made['token'])).call('GET', path)).status, 403, 'no token');
      const operator = new Client(at, (await at.user('operator')).token);
      t.equal((await operator.call('GET', path)).status, 403);
      state.fails = new Error('/copies: there is no such file.');
      for (let again = 0; again < 3; again++)
        t.match(
          await client.call('GET', path),
          { status: 409, body: { detail: /no such file/ } },
          'and none is counted',
        );
      state.fails = null;
      t.equal((await client.call('GET', path)).status, 200);
    },
  );

  await t.test(
    '30.backups: a restore is proved and confirmed first, and needs a person who is an administrator',
    async (t) => {
      const id = [...files.keys()][0] ?? '';
      asked.length = 0;
      const made = (await client.call('POST', '/tokens', { name: 't', scopes: ['admin'] })).body;
      const token = new Client(at, String(made['token']));
      t.match(await token.call('POST', `/backups/${id}/restore`, { confirm: id }), { status: 403 }, 'no token');
      const operator = new Client(at, (await at.user('operator')).token);
      for (const [method, path] of [
        ['GET', '/backups'],
        ['POST', '/backups'],
        ['POST', `/backups/${id}/restore`],
        ['DELETE', `/backups/${id}`],
      ] as const)
        t.equal((await operator.call(method, path, method === 'POST' ? { confirm: id } : undefined)).status, 403, path);
      t.match(await client.call('POST', `/backups/${id}/restore`, { confirm: 'yes' }), {
        status: 422,
        body: { detail: /\/confirm/ },
      });
      state.hindrance = 'BACKUP_RECIPIENT is not set.';
      for (const path of [`/backups/${id}/restore`, '/backups'])
        t.match(await client.call('POST', path, path === '/backups' ? undefined : { confirm: id, key }), {
          status: 409,
          body: { detail: /BACKUP_RECIPIENT/ },
        });
      t.match(await list(), { hindrance: /BACKUP_RECIPIENT/ });
      t.strictSame(asked, [], 'nothing is read, made or begun');
      state.hindrance = null;
      state.fails = new Error('The archive is truncated.');
      const refused = await client.call('POST', `/backups/${id}/restore`, { confirm: id });
      await whenQuiet();
      t.match(await run(refused.body['id']), { status: 'failed', error: /truncated/ });
      t.strictSame(asked, [['verify', id, null]], 'what cannot be restored is not tried');
      state.fails = null;
      for (const [found, words] of [
        [{ secrets: 'sealed' as const, hindrance: null }, /Give the secret key/],
        [{ secrets: 'opened' as const, hindrance: 'another SETTINGS_ENCRYPTION_SECRET' }, /another SETTINGS/],
      ] as const) {
        state.found = found;
        const stopped = await client.call('POST', `/backups/${id}/restore`, { confirm: id });
        await whenQuiet();
        t.match(await run(stopped.body['id']), { status: 'failed', error: words });
      }
      t.notOk(
        asked.some((one) => (one as string[])[0] === 'restore'),
        'the control plane does not restart for what it would refuse',
      );
      state.found = { secrets: 'opened', hindrance: null };
      if (database.kind === 'postgres')
        await database.sql.begin(async (tx) => {
          await tx`set local application_name = 'gatehouse-api of another'`;
          const beside = await client.call('POST', `/backups/${id}/restore`, { confirm: id });
          t.match(beside, { status: 409, body: { detail: /Another control plane works/ } }, beside.text);
        });
      const sealed = [...files.keys()].find((name) => name.endsWith('.age')) ?? '';
      t.match(await client.call('POST', `/backups/${sealed}/restore`, { confirm: sealed }), {
        status: 422,
        body: { detail: /\/key/ },
      });
      const begun = await client.call('POST', `/backups/${id}/restore`, { confirm: id, key });
      t.equal(begun.status, 202, begun.text);
      await whenQuiet();
      t.match(await run(begun.body['id']), { status: 'succeeded', result: { before: /^gatehouse-/ } });
      t.match(asked.at(-1), ['restore', { name: id, key, by: admin.email }]);
      t.equal(files.size, 3, 'the present state was backed up before');
      t.ok((await audit()).some((line) => line.includes(`asked for the backup ${id} to be restored`)));
    },
  );

  await t.test('30.backups: removed, pruned, scheduled', async (t) => {
    const names = [...files.keys()];
    const newest = names.at(-1) ?? '';
    t.match(await client.call('DELETE', `/backups/${newest}`), { status: 409, body: { detail: /newest/ } });
    t.equal((await client.call('DELETE', `/backups/${names[0]}`)).status, 204);
    t.notOk(files.has(names[0] ?? ''));
    t.match(await client.call('POST', '/backups/prune', { keep: 1 }), { body: { left: 1, removed: [names[1]] } });
    t.match(await client.call('GET', '/backups/schedule'), { body: { every_hours: 0, next_at: null } });
    const changed = await client.call('PATCH', '/backups/schedule', { every_hours: 24, keep: 3 });
    t.match(changed, { status: 200, body: { every_hours: 24, keep: 3, encrypt: true, next_at: String } }, changed.text);
    t.equal((await at.parts.currentSettings()).backup_every_hours, 24, 'it is the setting');
    t.match(await client.call('PATCH', '/backups/schedule', { every_hours: 9999 }), { status: 422 });
    t.ok((await audit())[0]?.includes('saved settings version'));
    await exercise(t, client, '/backups');
  });
}

t.test('backups over HTTP', (t) => onOneDatabase(t, 'backups', suite));

t.test('30.backups: a server that has no place for them says so', (t) =>
  onOneDatabase(t, 'no backups', async (t, database) => {
    const at = await startTestApp(database);
    t.teardown(() => at.close());
    const client = new Client(at, (await at.user('admin')).token);
    t.match(await client.call('GET', '/backups'), { status: 409, body: { detail: /Start the control plane/ } });
  }),
);
