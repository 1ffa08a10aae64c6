// A synchronised report closes what its own tool no longer has where that tool has looked: never what another tool, or
// the same tool on another image, host, site, kind of files or repository has found.
import { readFile } from 'node:fs/promises';
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../../testing/import-client.js';
import { found, packages, run, sarif, scopeCases, trivy, zap } from '../../testing/reports-of-scopes.js';

const migration = new URL('../../migrations/038-scopes-of-tools.sql', import.meta.url);

const suite = async (t: Test, database: Parameters<Parameters<typeof onBothDatabases>[2]>[1]) => {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const statusOf = async (app: string, id: unknown): Promise<unknown> =>
    (await client.findings(app)).find((one) => one['id'] === id)?.['status'];
  return { at, client, statusOf };
};

void onBothDatabases(t, 'a report closes what it looked at', async (t, database) => {
  const { client, statusOf } = await suite(t, database);
  for (const { what, first, other, fixed, format = 'auto' } of scopeCases) {
    const app = await client.application();
    const fields = { mode: 'sync', format };
    const sent = await client.send(app, first, fields);
    t.match(sent.body['report'], { created: 1, complete: true }, what);
    const [{ id } = {}] = await client.findings(app);
    // twice, as what was found by talking to an application is gone when it was missed twice
    for (const round of [1, 2]) {
      const preview = await client.send(app, other, fields, '/imports/preview');
      t.match(preview.body['report'], { closed: 0 }, `${what}: a preview, ${round}`);
      t.match((await client.send(app, other, fields)).body['report'], { closed: 0 }, `${what}: the other, ${round}`);
    }
    t.equal(await statusOf(app, id), 'new', `${what}: what the other did not look at stays`);
    for (const round of [1, 2])
      t.match(await client.send(app, fixed, fields), { status: 202 }, `${what}: fixed, ${round}`);
    t.equal(await statusOf(app, id), 'resolved', `${what}: what its own report no longer has is gone`);
  }
});

void onBothDatabases(t, 'reports of one commit: none takes back what another has found', async (t, database) => {
  const { client } = await suite(t, database);
  const secret = { ...found('aws'), properties: { 'security-severity': '9.8' } };
  const leak = sarif(run('gitleaks', [secret]));
  const clean = sarif(run('CodeQL', []));
  for (const [what, reports] of [
    ['the secret first', [leak, clean]],
    ['the secret last', [clean, leak]],
  ] as const) {
    const app = await client.application();
    const fields = { application_id: app, commit: 'c2', branch: 'feature' };
    const opened = await client.call('POST', '/ci/runs', fields);
    const id = String(opened.body['id']);
    for (const report of reports) {
      const { status } = await sendArtifact(client, id, report);
      t.equal(status, 202, what);
    }
    const done = await client.call('POST', `/ci/runs/${id}/complete`);
    t.match(done.body, { verdict: 'fail', exit_code: 1 }, what);
    t.match(await client.findings(app), [{ source: 'secret', status: 'new' }], what);
  }
});

async function sendArtifact(client: Client, id: string, report: unknown) {
  const reply = await client.at.app.inject({
    method: 'POST',
    url: `/api/v1/ci/runs/${id}/artifacts`,
    headers: { authorization: `Bearer ${client.token}`, 'content-type': 'application/octet-stream' },
    payload: JSON.stringify(report),
  });
  return { status: reply.statusCode, body: JSON.parse(reply.body) as Json };
}

void onBothDatabases(
  t,
  'what the main branch has is not new where its last report was of another part',
  async (t, database) => {
    const { client } = await suite(t, database);
    const app = await client.application();
    const send = (report: unknown, commit: string, branch: string) =>
      client.send(app, report, { mode: 'sync', commit, branch });
    const [one, two] = [zap('https://a.example', 'https://a.example/x'), zap('https://b.example')];
    for (const report of [one, two]) await send(report, 'c1', 'main');
    for (const report of [one, two]) await send(report, 'c2', 'feature');
    const { body } = await client.call('POST', '/gate/evaluate', { application_id: app, commit: 'c2' });
    t.match(body, { verdict: 'pass', exit_code: 0 });
    await send(zap('https://a.example', 'https://a.example/x', 'https://a.example/new'), 'c3', 'feature');
    t.match((await client.call('POST', '/gate/evaluate', { application_id: app, commit: 'c3' })).body, {
      exit_code: 1,
    });
  },
);

void onBothDatabases(t, '22 F3: the working directory of a CI service is what . is', async (t, database) => {
  const { client } = await suite(t, database);
  const { sql } = database;
  const fields = { mode: 'sync', format: 'trivy' };
  const directory = (name: string, ...names: string[]) => trivy(name, 'filesystem', packages(...names));
  const app = await client.application();
  const steps: readonly (readonly [string, readonly string[], object])[] = [
    ['.', ['x', 'y', 'z'], { created: 3, closed: 0 }],
    ['/builds/g/shop', ['x', 'y'], { created: 0, closed: 1 }],
    ['/github/workspace/', ['x'], { created: 0, closed: 1 }],
    ['', ['x', 'z'], { created: 0, reopened: 1, closed: 0 }],
    ['/srv/other', ['w'], { created: 1, closed: 0 }],
  ];
  for (const [name, names, report] of steps)
    t.match((await client.send(app, directory(name, ...names), fields)).body['report'], report, name);
  // where a release before this one has named its scope after the directory, it stays
  const old = await client.application();
  await client.send(old, directory('/home/al/shop', 'x', 'y'), fields);
  t.match((await client.send(old, directory('/builds/g/shop', 'x'), fields)).body['report'], { created: 0, closed: 1 });
  const keys = await sql<{ n: number }[]>`
    select count(distinct scope_key)::int as n from vm_runs where kind = 'import' and application_id = ${old}`;
  t.match(keys, [{ n: 1 }]);
});

void onBothDatabases(t, '22: a directory by several names', async (t, database) => {
  const { client } = await suite(t, database);
  const fields = { mode: 'sync', format: 'trivy' };
  const directory = (name: string, ...names: string[]) => trivy(name, 'filesystem', packages(...names));
  const app = await client.application();
  // a part, from the repository and by its whole path
  t.match((await client.send(app, directory('services/a', 'x', 'y'), fields)).body['report'], { created: 2 });
  const whole = '/github/workspace/services/a';
  t.match((await client.send(app, directory(whole, 'x'), fields)).body['report'], { closed: 1, problems: [] });
  t.match((await client.send(app, directory('/srv/a', 'w', 'v'), fields)).body['report'], { created: 2, problems: [] });
  // what nothing tells from two services stays two, and is told
  const twin = await client.send(app, directory('.', 'w'), fields);
  t.match(twin.body['report'], { created: 0, closed: 0 });
  t.match(twin.body['report'].problems, [
    { at: 'the report', detail: /"\.", and 1 of 1 findings are known of "a", too/ },
  ]);
});

void onBothDatabases(t, '22 Q7: a mass close in a small scope asks', async (t, database) => {
  const { client } = await suite(t, database);
  const fields = { mode: 'sync', format: 'trivy' };
  const report = (...names: string[]) => trivy('.', 'filesystem', packages(...names));
  for (const [before, after, status, question] of [
    ['abcde', 'e', 409, /4 of 5/],
    ['abcd', '', 409, /4 of 4/],
    ['abcdefgh', 'abcd', 202, /^$/],
    ['abcdefgh', 'abc', 409, /5 of 8/],
    ['abc', '', 202, /^$/],
  ] as const) {
    const app = await client.application();
    await client.send(app, report(...before), fields);
    const given = { Target: 'package-lock.json', Class: 'lang-pkgs' };
    const next = after === '' ? trivy('.', 'filesystem', given) : report(...after);
    const preview = await client.send(app, next, fields, '/imports/preview');
    const second = await client.send(app, next, fields);
    t.equal(second.status, status, `${before} to ${after}: ${JSON.stringify(second.body).slice(0, 200)}`);
    t.match(String(second.body['detail'] ?? ''), question);
    t.equal(preview.body['report']?.needs_confirm_close ?? false, status === 409, `preview of ${before} to ${after}`);
    if (status === 409)
      t.equal((await client.send(app, next, { ...fields, confirm_close: 'true' })).status, 202, 'confirmed');
  }
});

void onBothDatabases(t, 'an upgrade makes nothing new and closes nothing', async (t, database) => {
  const { client, statusOf } = await suite(t, database);
  const { sql } = database;
  const app = await client.application();
  const fields = { mode: 'sync', format: 'trivy' };
  const image = (name: string, ...names: string[]) => trivy(name, 'container_image', packages(...names));
  await client.send(app, image('img-a:1', 'x', 'y'), fields);
  const [x, y] = (await client.findings(app)).map(({ id }) => id as unknown);
  // as the release before has left it behind
  const former = `${app}|trivy||`;
  await sql`update vm_runs set scope_key = ${former}, input = input - 'subject' where application_id = ${app}`;
  await sql`update vm_occurrences set scope_key = ${former} where application_id = ${app}`;
  // and what the checks of advisories hold is theirs
  await sql`
    insert into vm_runs (kind, application_id, status, input, scope_key, created_by, created_at)
    values ('osv', ${app}, 'succeeded', '{}', ${`${app}|osv||`}, 'x', now())`;
  await sql.unsafe(await readFile(migration, 'utf8'));
  const keys = await sql<{ scope_key: string }[]>`
    select scope_key from vm_runs where application_id = ${app} union
    select scope_key from vm_occurrences where application_id = ${app} order by scope_key`;
  t.strictSame(
    keys.map((row) => row.scope_key),
    [`${app}|osv||`, `${app}|trivy|||trivy|`],
  );
  const other = await client.send(app, image('img-b:1', 'z'), { ...fields, branch: 'b' });
  t.match(other.body['report'], { closed: 0 });
  const first = await client.send(app, image('img-a:2', 'x'), fields);
  t.match(
    first.body['report'],
    { created: 0, updated: 0, unchanged: 1, closed: 0 },
    'known, and nothing is closed yet',
  );
  t.match(first.body['report'].problems, [{ detail: /earlier release/ }], 'which is told');
  t.match((await client.send(app, image('img-b:1', 'z'), fields)).body['report'], { closed: 0 }, 'another image');
  t.strictSame([await statusOf(app, x), await statusOf(app, y)], ['new', 'new']);
  t.match((await client.send(app, image('img-a:3', 'x'), fields)).body['report'], { closed: 1, unchanged: 1 });
  t.strictSame([await statusOf(app, x), await statusOf(app, y)], ['new', 'resolved'], 'from then on as ever');
});
