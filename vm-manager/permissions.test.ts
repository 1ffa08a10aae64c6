// Every endpoint, as everybody: what its row declares is what happens.
import t, { type Test } from 'tap';
import { startTestApp, type TestApp } from '#api/testing/app';
import { onBothDatabases, withoutPostgres } from '#api/testing/databases';
import { otherProject } from './testing/other-project.js';
import { endpoints } from './endpoints.js';
import { writes, type Endpoint } from './kit/endpoint.js';
import { builtInRoles, scopeNames, scopesAllow } from './kit/permissions.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const v1 = '/api/v1';
/** Logging in and out changes who asks. */
const setsSessions = new Set(['/auth/login', '/auth/mfa', '/auth/logout', '/auth/logout-all', '/auth/refresh']);

const concrete = (row: Endpoint): string => `${v1}${row.path.replace(/:\w+/g, '999999')}`;

const few = new Set(['nobody', 'viewer', 'operator', 'scope read']);

interface Who {
  readonly name: string;
  readonly token: string | null;
  readonly role: string;
  readonly scopes: readonly string[] | null;
}

function expected(row: Endpoint, who: Who): 'admitted' | 401 | 403 {
  if (row.permission === 'public') return 'admitted';
  if (who.token === null) return 401;
  if (row.inPerson === true && who.scopes !== null) return 403;
  const authors = row.anyScope === true ? scopeNames.filter((scope) => scope !== 'read') : ['write', 'admin'];
  const mayWrite = who.scopes === null || who.scopes.some((scope) => authors.includes(scope));
  if (row.permission === 'self') return mayWrite || !writes(row) ? 'admitted' : 403;
  const held = builtInRoles[who.role]?.includes(row.permission) === true;
  const allowed = who.scopes === null || scopesAllow(who.scopes, row.permission, writes(row));
  return held && allowed ? 'admitted' : 403;
}

/** An empty body is refused by the schema, so that nothing is changed by asking. */
async function ask(at: TestApp, row: Endpoint, token: string | null) {
  const body = row.method === 'GET' || row.method === 'DELETE' ? undefined : { nonsense_member: true };
  return at.call(row.method, concrete(row), { token, body });
}

async function matrix(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const people = {
    admin: await at.user('admin'),
    operator: await at.user('operator'),
    viewer: await at.user('viewer'),
  };
  const who: Who[] = [{ name: 'nobody', token: null, role: '', scopes: null }];
  for (const [role, { token }] of Object.entries(people)) who.push({ name: role, token, role, scopes: null });
  for (const scope of scopeNames) {
    const made = await at.call('POST', `${v1}/tokens`, {
      token: people.admin.token,
      body: { name: scope, scopes: [scope] },
    });
    who.push({ name: `scope ${scope}`, token: String(made.body['token']), role: 'admin', scopes: [scope] });
  }
  // who is admitted is decided by the same code for both databases: the slower one gets one caller of each kind
  const asked =
    database.kind === 'postgres' || withoutPostgres !== false ? who : who.filter(({ name }) => few.has(name));
  let checked = 0;
  for (const row of endpoints) {
    for (const one of asked) {
      if (setsSessions.has(row.path)) continue;
      const reply = await ask(at, row, one.token);
      const wanted = expected(row, one);
      const isRight =
        wanted === 'admitted'
          ? reply.status !== 401 && reply.status < 500 && !(reply.status === 403 && reply.text.includes('permission'))
          : reply.status === wanted;
      if (!isRight) t.fail(`${row.method} ${row.path} as ${one.name}: ${reply.status} ${reply.text}, not ${wanted}`);
      if (reply.status >= 400 && typeof reply.body['detail'] !== 'string')
        t.fail(`${row.method} ${row.path}: a refusal without detail: ${reply.text}`);
      checked++;
    }
  }
  t.ok(checked > 180 * asked.length, `14.1: ${checked} combinations of endpoint and caller`);
  await t.test('14.1: endpoint × other project', (t) => otherProject(t, at, database, people.admin.token));
}

t.test('14.1: endpoint × caller', (t) => onBothDatabases(t, 'endpoints', matrix));

t.test('14.1: the document and the explorer are made of the rows, and need nothing of others', async (t) => {
  const seen = new Set(endpoints.map(({ method, path }) => `${method} ${path}`));
  t.equal(seen.size, endpoints.length, 'no endpoint twice');
  await onBothDatabases(t, 'documents', async (t, database) => {
    const at = await startTestApp(database);
    t.teardown(() => at.close());
    const document = (await at.call('GET', `${v1}/openapi.json`)).body;
    t.equal(document['openapi'], '3.1.0');
    const listed = Object.values(document['paths'] as object).flatMap((methods: object) => Object.keys(methods));
    t.equal(listed.length, endpoints.length);
    for (const path of ['/docs', `${v1}/docs`]) {
      const page = await at.call('GET', path);
      t.match(page, { status: 200, headers: { 'content-security-policy': /default-src 'none'/ } });
      t.notMatch(page.text, /https?:\/\//, 'nothing is fetched from elsewhere');
      t.notMatch(page.text, /<script>|style="/, 'nothing that the policy would stop');
    }
    t.match((await at.call('GET', `${v1}/docs/explorer.js`)).headers, { 'content-type': /javascript/ });
  });
});
