// 24: match scoring is on in new installations, and stays as it was in existing ones.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { headId, storedBody } from '../testing/settings.js';
import { readHead, seedSettings } from './store.js';

async function initial(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { token } = await at.user('admin');
  const told = async (): Promise<unknown> =>
    (await at.call('GET', '/api/settings', { token })).body['second_opinion' as never];
  t.equal(await told(), 'enforce', 'a new installation has it on');
  const body = JSON.parse(await storedBody(database, await headId(database))) as Record<string, unknown>;
  const types = ['application/json'];
  for (const [stored, expected] of [
    [undefined, 'off'],
    ['off', 'off'],
    ['monitor', 'monitor'],
  ] as const) {
    const { second_opinion: _, ...others } = body;
    const older = stored === undefined ? others : { ...others, second_opinion: stored };
    const text = JSON.stringify({ ...older, allowed_content_types: types });
    await database.sql`update settings_versions set body = ${text} where id = (select head_id from settings_state)`;
    await seedSettings(database, new Date(0));
    const { settings } = await readHead(database.sql);
    const kept = { second_opinion: expected, allowed_content_types: types };
    t.match(settings, kept, `stored ${stored ?? 'before it was'}`);
    t.equal(await told(), expected, 'as people see it');
  }
  await at.close();
}

t.test('beginnings', (t) => onBothDatabases(t, 'what an installation begins with', initial));
