// The second step of a login: until it is taken, nothing of the API answers.
import t, { type Test } from 'tap';
import { startTestApp, testPassword } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { codeAt, enrol } from '#api/testing/second-factor';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const v1 = '/api/v1';

async function secondStep(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { email, token } = await at.user('admin');
  const { secret } = await enrol(at, token);
  const login = await at.call('POST', `${v1}/auth/login`, { body: { email, password: testPassword } });
  t.match(login, { status: 200, body: { mfa_required: true, access_token: null, pre_mfa_token: String } });
  const challenge = String(login.body['pre_mfa_token']);
  t.equal((await at.call('GET', `${v1}/vulnerabilities`, { token: challenge })).status, 401, 'it opens nothing');
  const answer = (code: string) => at.call('POST', `${v1}/auth/mfa`, { body: { pre_mfa_token: challenge, code } });
  t.equal((await answer('000000')).status, 401);
  const passed = await answer(codeAt(secret, at.clock.nowMs));
  t.match(passed, { status: 200, body: { mfa_required: false, access_token: String } });
  const session = String(passed.body['access_token']);
  t.equal((await at.call('GET', `${v1}/vulnerabilities`, { token: session })).status, 200);
}

t.test('14.2: the step of the second factor', (t) => onBothDatabases(t, 'second factor', secondStep));
