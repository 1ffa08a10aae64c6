// Part 2, sections 4 to 6, for every endpoint there is: lists take limit and offset, a login that is not through opens
// nothing, and what changes something is in the audit log. docs/conformance-vm.md names the test of each statement.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { startTestApp, testPassword, type TestApp } from '#api/testing/app';
import { onBothDatabases, onEmbeddedDatabase } from '#api/testing/databases';
import { enrol } from '#api/testing/second-factor';
import { endpoints } from '../endpoints.js';
import { writes, type Endpoint } from '../kit/endpoint.js';
import { memoryPlace } from '../testing/api/backup-place.js';
import { fillOrganisation, type Filled } from '../testing/filled-organisation.js';
import { sampleOf } from '../testing/sample.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const v1 = '/api/v1';
const root = fileURLToPath(new URL('../../../', import.meta.url));

const urlOf = (row: Endpoint, filled: Filled): string => `${v1}${row.path.replace(/:\w+/, filled.idOf(row.path))}`;

async function pages(t: Test, at: TestApp, filled: Filled, token: string): Promise<void> {
  let checked = 0;
  for (const row of endpoints) {
    const items = (row.answer?.['properties'] as Record<string, unknown> | undefined)?.['items'];
    if (row.method !== 'GET' || items === undefined) continue;
    const needed = row.path === '/comments' ? `entity=finding&entity_id=${filled.finding}&` : '';
    const ask = (query: string) => at.call('GET', `${urlOf(row, filled)}?${needed}${query}`, { token });
    const all = await ask('limit=500&offset=0');
    if (row.path.includes(':') && all.status === 404) continue; // of single sign-on, which is not set up
    t.equal(all.status, 200, `S4 ${row.path} takes limit and offset: ${all.text.slice(0, 200)}`);
    if (all.status !== 200) continue;
    const list = all.body['items'] as unknown[];
    const second = (await ask('limit=1&offset=1')).body['items'] as unknown[];
    t.same(second.length, Math.min(1, Math.max(0, list.length - 1)), `S4 ${row.path}: one from the second on`);
    for (const wrong of ['limit=0', 'limit=501', 'limit=x', 'offset=-1', 'limit=1.5'])
      t.equal((await ask(wrong)).status, 422, `S4 ${row.path}?${wrong}`);
    checked++;
  }
  t.ok(checked >= 45, `S4: ${checked} lists`);
}

/** Calls that change nothing that is kept, beside the note of who asked. */
const keepsNothing = new Set(['POST /rbac/check', 'POST /sso/providers/:id/test']);

async function auditOfWrites(t: Test, at: TestApp, database: Database, filled: Filled, token: string): Promise<void> {
  const count = async (): Promise<number> => {
    const [row] = await database.sql<{ n: number }[]>`select count(*)::int as n from audit_entries`;
    return row?.n ?? 0;
  };
  let checked = 0;
  for (const row of [...endpoints].sort((a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'))) {
    const name = `${row.method} ${row.path}`;
    if (!writes(row) || row.upload !== undefined || row.path.startsWith('/auth/') || keepsNothing.has(name)) continue;
    const body = row.body === undefined ? undefined : { ...(sampleOf(row.body) as object), ...filled.bodyOf(row) };
    const before = await count();
    const reply = await at.call(row.method, urlOf(row, filled), { token, body });
    if (reply.status >= 300) continue;
    t.ok((await count()) > before, `S6 ${name} is in the audit log`);
    checked++;
  }
  t.ok(checked >= 50, `S6: ${checked} calls that change something`);
}

/** As the specification writes them: strings, and nothing but what it names. */
async function documentedCalls(t: Test, at: TestApp, filled: Filled, token: string): Promise<void> {
  const { application } = filled;
  const ask = async (query: string) => (await at.call('GET', `${v1}/vulnerabilities?${query}`, { token })).body;
  const high = await ask(`application_id=${application}&severity=high`);
  t.ok(high['total'] >= 2 && (high['items'] as { severity: string }[]).every(({ severity }) => severity === 'high'));
  t.match(await ask(`application_id=${application}&severity=low`), { total: 0, items: [] });
  t.match(await ask('application_id=999999'), { total: 0 });
  t.match(await ask(`application_id=${application}&limit=1&offset=1`), { limit: 1, offset: 1, items: [{}] });
  const gate = (body: object) => at.call('POST', `${v1}/gate/evaluate`, { token, body });
  t.match(await gate({ application_id: application, commit: 'abcdef1' }), {
    status: 200,
    body: { application_id: application, commit: 'abcdef1', verdict: /^(?:pass|fail|warn)$/, exit_code: Number },
  });
  t.match(await gate({ application_id: application }), { status: 422, body: { detail: /commit/ } });
  t.match(await gate({ application_id: '999999', commit: 'abcdef1' }), { status: 404, body: { detail: String } });
}

async function all(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database, { backupTools: memoryPlace().tools });
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const filled = await fillOrganisation(at, database, token);
  await t.test('S4 every list takes limit and offset', (t) => pages(t, at, filled, token));
  await t.test(
    'S4 the documented calls: findings by application and severity, the gate by application and commit',
    (t) => documentedCalls(t, at, filled, token),
  );
  await t.test('S6 every call that changes something is in the audit log', (t) =>
    auditOfWrites(t, at, database, filled, token),
  );
}

t.test('lists and the audit log', (t) => onEmbeddedDatabase(t, 'every endpoint', all));

t.test('S5 before the second factor, and after the version of the user has moved, no endpoint answers', (t) =>
  onEmbeddedDatabase(t, 'sessions', async (t, database) => {
    const at = await startTestApp(database);
    t.teardown(() => at.close());
    const { email, token } = await at.user('admin');
    const other = await at.user('admin');
    const logIn = async (who: string) =>
      (await at.call('POST', `${v1}/auth/login`, { body: { email: who, password: testPassword } })).body;
    const [first, second] = [await logIn(other.email), await logIn(other.email)];
    t.equal(
      (await at.call('POST', `${v1}/auth/logout-all`, { token: String(first['access_token']) })).status,
      204,
      'all sessions end',
    );
    await enrol(at, token);
    const challenge = String((await logIn(email))['pre_mfa_token']);
    t.ok(challenge.length > 20);
    const dead = { 'before the second factor': challenge, 'of an earlier version': String(second['access_token']) };
    for (const [what, held] of Object.entries(dead))
      for (const row of endpoints) {
        if (row.permission === 'public') continue;
        const reply = await at.call(row.method, `${v1}${row.path.replace(/:\w+/g, '1')}`, { token: held });
        if (reply.status !== 401) t.fail(`S5 ${row.method} ${row.path} with a token ${what}: ${reply.status}`);
      }
    t.equal((await at.call('GET', `${v1}/vulnerabilities`, { token: other.token })).status, 401);
  }),
);

/** Rows of the document: section, statement, test, file. */
function documented() {
  const text = readFileSync(join(root, 'docs/conformance-vm.md'), 'utf8');
  return text
    .split('\n')
    .filter((line) => /^\| \d/.test(line))
    .map((line) => line.split('|').slice(1, -1))
    .map(([section = '', statement = '', shown = '']) => ({
      section: section.trim(),
      statement: statement.trim().replaceAll('`', ''),
      shown: [...shown.matchAll(/`([\w./-]+\.test\.ts)` “([^”]+)”/g)].map(([, file = '', title = '']) => [file, title]),
      note: shown,
    }));
}

t.test('docs/conformance-vm.md names tests that there are', (t) => {
  const rows = documented();
  t.ok(rows.length > 90, `${rows.length} statements`);
  for (const { section, statement, shown, note } of rows) {
    if (shown.length === 0) t.match(note, /not shown|not built/, `${section} ${statement} is shown by something`);
    for (const [file = '', title = ''] of shown) {
      const path = join(root, file);
      t.ok(existsSync(path) && readFileSync(path, 'utf8').includes(title), `${section} ${statement}: ${file} ${title}`);
    }
  }
  t.end();
});

const spec = join(process.env['GATEHOUSE_SHARED'] ?? join(root, '../shared'), 'spec/2-vulnerability-management.md');
const noSpec = existsSync(spec) ? false : `the specification is not at ${spec}`;

t.test('docs/conformance-vm.md has every row and rule of the specification', { skip: noSpec }, (t) => {
  const known = new Set(documented().map(({ section, statement }) => `${section} ${statement}`));
  for (const statement of statementsOf(readFileSync(spec, 'utf8')))
    t.ok(known.has(statement), `${statement} has a row`);
  t.end();
});

/** Section and first cell of every row of a table, section and beginning of every point of a list. */
function statementsOf(text: string): string[] {
  let section = '';
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    section = /^## (\d)\./.exec(line)?.[1] ?? section;
    const plain = line.replaceAll('`', '');
    if (plain.startsWith('|')) {
      if (plain.startsWith('|-') || lines[index + 1]?.startsWith('|-') === true) return [];
      const [, first = '', second = ''] = plain.split('|').map((cell) => cell.trim());
      return [`${section} ${/^(?:GET|POST)$/.test(first) ? `${first} ${second}` : first}`];
    }
    const point = /^\s*(?:-|\d+\.) (.*)/.exec(plain)?.[1];
    return point === undefined || section === '' ? [] : [`${section} ${point.slice(0, 60).trim()}`];
  });
}
