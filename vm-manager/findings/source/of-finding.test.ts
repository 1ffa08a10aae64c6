// The line at the host, over the API: by the import's commit, by the branch, and by the webhook that knows the host.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../../testing/import-client.js';
import { found, run, sarif } from '../../testing/reports-of-scopes.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

async function links(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const client = new Client(at, token);
  const application = await client.application();
  const report = sarif(run('house tool', [found('a')]));
  const send = (fields: Record<string, string>) =>
    client.send(application, report, { mode: 'sync', confirm_close: 'true', ...fields });
  await send({ commit: 'abcdef1234' });
  const [{ id }] = (await client.call('GET', '/findings')).body['items'] as [Json];
  const read = async (): Promise<Json> => (await client.call('GET', `/vulnerabilities/${String(id)}`)).body;
  const { location_detail: place, source_url: none } = await read();
  t.equal(none, null, 'no repository');
  const { path, line } = place as { path: string; line?: number };
  const at_ = line === undefined ? '' : `#L${line}`;
  const url = 'https://github.com/acme/shop.git';
  const made = await client.call('POST', '/repositories', { application_id: application, name: 'shop', url });
  t.equal(made.status, 201, made.text);
  t.equal((await read())['source_url'], `https://github.com/acme/shop/blob/abcdef1234/${path}${at_}`);
  await send({ branch: 'release/2' });
  t.equal(
    (await read())['source_url'],
    `https://github.com/acme/shop/blob/release/2/${path}${at_}`,
    'the newest import',
  );
  const own = { url: 'https://code.acme.example/team/shop' };
  await client.call('PATCH', `/repositories/${String(made.body['id'])}`, own);
  t.equal((await read())['source_url'], null, 'a host of an unknown kind');
  await client.call('POST', '/scm/hooks', {
    ...{ name: 'h', provider: 'gitea', repository: 'team/shop', application_id: application },
    secret: 'a-secret-of-the-hook-1',
  });
  t.equal((await read())['source_url'], `${own.url}/src/branch/release/2/${path}${at_}`, 'the webhook says what it is');
  await client.call('POST', '/repositories', { application_id: application, name: 'other', url });
  t.equal((await read())['source_url'], null, 'one of two: nobody knows which');
}

void onBothDatabases(t, 'links to source', links);
