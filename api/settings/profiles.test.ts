import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { headId } from '../testing/settings.js';

interface Change {
  readonly path: string;
}

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { token } = await at.user('operator');
  const call = (method: string, url: string, headers: Record<string, string> = {}) =>
    at.call(method, url, { token, headers });
  const list = await call('GET', '/api/settings/profiles');
  t.match(list, {
    status: 200,
    body: { items: [{ name: 'rest-api', settings: {}, why: {}, changes: [{ path: /^\// }] }] },
  });
  for (const { name, settings } of list.body['items'] as { name: string; settings: Record<string, unknown> }[]) {
    const before = await headId(database);
    const dry = await call('POST', `/api/settings/profiles/${name}?dry_run=true`);
    t.match(dry, { status: 200, body: { saved: false, version: before } }, dry.text.slice(0, 300));
    t.equal(await headId(database), before, 'a dry run saves nothing');
    const taken = await call('POST', `/api/settings/profiles/${name}`);
    t.match(
      taken,
      { status: 200, body: { saved: true, version: before + 1, profile: name } },
      taken.text.slice(0, 300),
    );
    t.same(taken.body['changes'], dry.body['changes'], 'what was announced is what changed');
    for (const { path } of taken.body['changes'] as Change[])
      t.ok(Object.hasOwn(settings, path.split('/')[1] ?? ''), `${name}: ${path} is one of its settings`);
    const now = (await call('GET', '/api/settings')).body;
    t.match(now, settings, `${name} is in the settings`);
    t.match(await call('POST', `/api/settings/profiles/${name}`), { body: { saved: false, changes: [] } }, 'once');
    const rows = (await call('GET', '/api/settings/profiles')).body['items'] as { name: string; changes: Change[] }[];
    t.same(rows.find((one) => one.name === name)?.changes, []);
  }
  t.match(await call('POST', '/api/settings/profiles/nope'), { status: 404, body: { detail: /rest-api, uploads/ } });
  t.equal((await call('POST', '/api/settings/profiles/graphql', { 'if-match': '"1-0"' })).status, 412);
  const viewer = await at.user('viewer');
  t.equal((await at.call('POST', '/api/settings/profiles/uploads', { token: viewer.token })).status, 403);
  t.equal((await at.call('GET', '/api/settings/profiles', { token: viewer.token })).status, 200);
  await at.close();
}

t.test('profiles', (t) => onBothDatabases(t, 'profiles', suite));
