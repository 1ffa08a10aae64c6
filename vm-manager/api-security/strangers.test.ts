// What a stranger sends as a specification, and what one of a part sees of those of others, on both databases.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const head = '{"openapi":"3.1.0","info":{"title":"t","version":"1"}';
const operation = '{"get":{"responses":{"200":{"description":"x"}}}}';
const withPath = (path: string): string => `${head},"paths":{"${path}":${operation}}}`;

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const admin = new Client(at, token);
  const made = async (path: string, body: Json): Promise<string> =>
    String((await admin.call('POST', path, body)).body['id']);
  const [project, elsewhere] = [await made('/projects', { name: 'p' }), await made('/projects', { name: 'q' })];
  const mine = await made('/applications', { name: 'mine', project_id: project });
  const theirs = await made('/applications', { name: 'theirs', project_id: elsewhere });
  const user = await at.user('operator');
  const items = [{ scope: 'project', scope_id: project, role: 'operator' }];
  await admin.call('PUT', `/rbac/grants/${user.id}`, { items, confined: true });
  const confined = new Client(at, user.token);
  const send = (as: Client, application: string, text: string, name = 'default') =>
    as.call('POST', '/api-security/specs', { application_id: application, text, name });

  await t.test('no path has a NUL or half of a character, however it is written', async (t) => {
    for (const path of ['/a\\u0000b', '/a\\ud800b']) {
      const refused = await send(confined, mine, withPath(path));
      t.match(refused, { status: 422, body: { detail: /line 1: .*NUL or half of a character/ } }, refused.text);
      for (const url of ['/api/spec?site=customer', '/api/ci-scan'])
        t.match(
          await at.call('POST', url, { token, body: withPath(path), headers: { 'content-type': 'application/yaml' } }),
          { status: 422, body: { detail: /NUL or half/ } },
          url,
        );
    }
    // one that an older release took spoils nothing of the others
    t.equal((await send(confined, mine, withPath('/good'))).status, 201);
    const poison = withPath('/a\\u0000b');
    await database.sql`
      insert into api_specifications
        (site, name, version, at, author, title, declared_version, openapi, format, operations, sha256, body)
      values (${`~application-${mine}`}, 'old', 1, now(), 'x', 't', '1', '3.1.0', 'json', 1, 'abc', ${poison})`;
    const list = await admin.call('GET', '/api-security/endpoints');
    t.match(list, { status: 200, body: { items: [{ template: '/good' }] } }, list.text);
    t.equal((await admin.call('GET', '/api-security/posture')).status, 200);
    t.equal((await admin.call('POST', '/api-security/posture', { application_id: mine })).status, 200);
  });

  await t.test('specifications of applications are of their people, whatever the role in the firewall', async (t) => {
    const sent = await send(admin, theirs, withPath('/secret-of-theirs'));
    const id = String(sent.body['id']);
    const other = await at.user('viewer');
    for (const as of [user.token, other.token]) {
      const call = (method: string, url: string) => at.call(method, url, { token: as });
      t.notMatch((await call('GET', '/api/spec')).text, /~application/);
      t.notMatch((await call('GET', `/api/spec?site=~application-${theirs}`)).text, /"id"/);
      for (const url of [id, `compare?from=${id}&to=${id}`, `${id}/preview`, `${id}/reality`])
        t.equal((await call('GET', `/api/spec/${url}`)).status, 404, url);
    }
    t.equal((await at.call('DELETE', `/api/spec/${id}`, { token: user.token })).status, 404);
    t.match((await at.call('GET', '/api/spec', { token })).text, /~application/, 'administrators are never confined');
    t.match(await at.call('GET', `/api/spec/${id}`, { token }), {
      body: { operations: [{ method: 'GET', path: '/secret-of-theirs' }] },
    });
    t.equal((await at.call('DELETE', `/api/spec/${id}`, { token })).status, 204);
  });

  await t.test('a document of many operations is scanned while others are served', async (t) => {
    const paths = Array.from(
      { length: 2000 },
      (_, n) => `  /a${n}:\n    get: {responses: {"200": {description: ok}}}\n`,
    );
    const text = `openapi: 3.1.0\ninfo: {title: t, version: "1"}\npaths:\n${paths.join('')}`;
    const turns = { count: 0 };
    const clock = setInterval(() => turns.count++, 5);
    const headers = { 'content-type': 'application/yaml' };
    const scan = await at.call('POST', '/api/ci-scan', { token, body: text, headers });
    const uploaded = await at.call('POST', '/api/spec?site=customer&activate=false', { token, body: text, headers });
    clearInterval(clock);
    t.match(scan, { status: 200, body: { operations: 2000, passed: false, medium: 2000 } });
    t.match(uploaded, { status: 200, body: { specification: { operations: 2000 } } }, uploaded.text.slice(0, 300));
    t.ok(turns.count > 20, `this thread had its turns: ${turns.count}`);
  });

  await t.test('a posture of nothing is no posture, and closes nothing', async (t) => {
    const refused = await admin.call('POST', '/api-security/posture', { application_id: theirs });
    t.match(refused, { status: 409, body: { detail: /nothing to look at.*no site of the firewall/ } }, refused.text);
    const kept = await admin.call('POST', '/api-security/posture', { application_id: mine });
    t.match(kept.body, { hint: /goes through no site/, report: { closed: 0 } });
  });

  await t.test('a host that is found in a specification has no login and no token in its address', async (t) => {
    const servers = '"servers":[{"url":"https://user:hunter2secret@api.example.org/v1?token=abcdef"}]';
    t.equal((await send(confined, mine, `${head},${servers},"paths":{"/x":${operation}}}`, 'servers')).status, 201);
    const run = await admin.call('POST', '/discovery/runs', { sources: ['specification'] });
    const stateOf = async () => (await admin.call('GET', `/discovery/runs/${run.body['id']}`)).body;
    for (let left = 200; left > 0 && (await stateOf())['status'] === 'running'; left--)
      await new Promise((resolve) => setTimeout(resolve, 50));
    const { body, text } = await admin.call('GET', '/discovery/assets');
    t.match(body['items'], [{ host: 'api.example.org', url: 'https://api.example.org/v1' }], text);
    t.notMatch(text, /hunter2|abcdef/);
  });
}

void onBothDatabases(t, 'api_strangers', suite);
