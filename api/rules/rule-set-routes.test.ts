// Another core rule set for what serves: through an ordinary apply, and back where that is refused.
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { activeOutcome, startTestApp, testEnv } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { writeRuleSet } from '../testing/rule-set.js';
import { makeDirectory } from '../testing/temporary.js';
import { createRuleSets, fixedRuleSet } from './rule-set-directory.js';

const headers = { authorization: `Bearer ${testEnv.dataAdminToken}` };

async function moving(t: Test, database: Database): Promise<void> {
  const data = await makeDirectory(t, 'rule-sets');
  await mkdir(join(data, 'crs'));
  const from = await writeRuleSet(t);
  for (const version of ['3.3.4', '4.9.0']) await cp(from, join(data, 'crs', version), { recursive: true });
  const ruleSets = createRuleSets({ dataDirectory: data, crsDirectory: null });
  const at = await startTestApp(database, { ruleSets });
  const move = (version: string, more: Record<string, string> = headers) =>
    at.call('POST', '/api/dataplane/rules', { token: null, body: { version }, headers: more });
  const chosen = async (): Promise<unknown> => JSON.parse(await readFile(join(data, 'crs/current.json'), 'utf8'));
  t.equal(ruleSets.directory(), join(data, 'crs/4.9.0'), 'the newest where nothing was chosen');

  t.equal((await move('3.3.4', {})).status, 401, 'for who holds the token of the nodes');
  t.match(await move('3.3.4'), { status: 200, body: { version: '3.3.4', unchanged: false } });
  t.same(await chosen(), { version: '3.3.4', by: 'operator' });
  t.equal(ruleSets.directory(), join(data, 'crs/3.3.4'));
  t.equal(at.applied.length, 1, 'it was applied');

  // 8.1: a dry run of another one
  const inUse = ruleSets.directory();
  const tried: (string | null)[] = [];
  at.nextOutcome = async () => {
    tried.push(ruleSets.directory());
    await new Promise((resolve) => setImmediate(resolve));
    tried.push(ruleSets.directory());
    return { ...activeOutcome, kind: 'dry_run', unchanged: false } as never;
  };
  const dry = (version: string) =>
    at.call('POST', '/api/dataplane/rules', { token: null, body: { version, dry_run: true }, headers });
  const running = dry('4.9.0');
  t.equal(ruleSets.directory(), inUse);
  t.match(await running, { status: 200, body: { version: '4.9.0', dry_run: true, unchanged: false } });
  t.same(tried, Array(2).fill(join(data, 'crs/4.9.0')), 'compiled with the rules that are tried out');
  t.equal(at.applied.at(-1)?.dryRun, true, 'as a dry run');
  t.equal(ruleSets.directory(), inUse, 'and nobody else sees them');
  t.same(await chosen(), { version: '3.3.4', by: 'operator' }, 'nothing is stored');
  t.match(await dry('4.8.0'), { status: 409, body: { detail: /no rule set 4\.8\.0/ } });
  at.nextOutcome = async () => ({ kind: 'refused', reason: 'no', diagnostics: [], tookMs: 1 }) as never;
  t.match(await dry('4.9.0'), { status: 422, body: { code: 'apply_refused' } }, 'as the apply would be');
  t.equal(ruleSets.directory(), inUse);

  at.nextOutcome = async () =>
    ({ kind: 'refused', reason: 'it does not compile', diagnostics: [], tookMs: 1 }) as never;
  t.match(await move('4.9.0'), { status: 422, body: { code: 'apply_refused' } });
  t.same(await chosen(), { version: '3.3.4', by: 'operator' }, 'refused: nothing is changed');
  at.nextOutcome = async () => Promise.reject(new Error('the compile process died'));
  t.equal((await move('4.9.0')).status, 500);
  t.same(await chosen(), { version: '3.3.4', by: 'operator' }, 'nor where it breaks');
  at.nextOutcome = async () => activeOutcome;
  t.match(await move('4.8.0'), { status: 409, body: { detail: /no rule set 4\.8\.0 .*\(4\.9\.0, 3\.3\.4\)/ } });
  t.equal((await move('../..')).status, 400);

  const { token } = await at.user('admin');
  await at.call('PATCH', '/api/settings', { token, body: { paranoia_level: 2 } });
  t.match(await move('4.9.0'), { status: 409, body: { detail: /saved and not in force/ } });
  t.equal((await at.call('POST', '/api/apply', { token })).status, 200);
  t.match(await move('4.9.0'), { status: 200, body: { version: '4.9.0' } });
  const audit = await at.call('GET', '/api/audit?action=rule_set.use', { token });
  t.equal(audit.body['items'].length, 2);
  await at.close();
}

t.test('8.1: moving to another rule set', (t) => onBothDatabases(t, 'moving', moving));

async function telling(t: Test, database: Database): Promise<void> {
  const directory = await writeRuleSet(t);
  const first = join(directory, 'rules/REQUEST-901-INITIALIZATION.conf');
  const text = await readFile(first, 'utf8');
  const at = await startTestApp(database, { ruleSets: fixedRuleSet(directory) });
  t.match((await at.call('GET', '/api/health', { token: null })).body, { rules: { recommended: null, how: null } });
  await writeFile(first, text.replace('4.99.0', '3.3.4'));
  const { body } = await at.call('GET', '/api/health', { token: null });
  t.match(body, {
    status: 'ok',
    rules: {
      version: '3.3.4',
      recommended: /^4\.\d+\.\d+$/,
      how: 'bin/gatehouse rules update',
      notice: /^CRS 3\.3\.4; 4\.\d+\.\d+ recommended: /,
    },
  });
  t.equal(
    (await at.call('POST', '/api/dataplane/rules', { token: null, body: { version: '4.9.0' }, headers })).status,
    409,
    'CRS_DIR is the operator’s own',
  );
  await at.close();
}
t.test('8.1: the health answer says which rules there are', (t) => onBothDatabases(t, 'telling', telling));
