// What policies leave behind: a record for each finding that one holds for, and one notice.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onOneDatabase } from '#api/testing/databases';
import { Client, type Json } from '../testing/import-client.js';
import { recordViolations } from './violations.js';

type Database = Parameters<Parameters<typeof onOneDatabase>[2]>[1];
const minuteMs = 60_000;

async function suite(t: Test, database: Database): Promise<void> {
  const { sql } = database;
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  // by a token: hours pass, and a session ends
  const inPerson = new Client(at, (await at.user('admin')).token);
  const { body: given } = await inPerson.call('POST', '/tokens', { name: 'n', scopes: ['read', 'write'] });
  const client = new Client(at, String(given['token']));
  const { body: wide } = await inPerson.call('POST', '/tokens', { name: 'a', scopes: ['admin'] });
  const admin = new Client(at, String(wide['token']));
  const application = await client.application();
  const made = async (path: string, body: Json): Promise<string> => {
    const reply = await client.call('POST', path, body);
    if (reply.status !== 201) throw new Error(reply.text);
    return String(reply.body['id']);
  };
  const finding = (title: string, severity = 'high'): Promise<string> =>
    made('/vulnerabilities', { application_id: application, title, severity });
  const policy = (name: string, action: string, predicate: Json): Promise<string> =>
    made('/policies', { name, action, predicate, severity: 'critical' });
  const change = async (path: string, body: Json): Promise<void> => {
    const reply = await client.call('PATCH', path, body);
    if (reply.status !== 200) throw new Error(reply.text);
  };
  const move = async (id: string, to: string): Promise<void> => {
    const reply = await client.call('POST', `/vulnerabilities/${id}/transition`, { to, reason: 'r' });
    if (reply.status !== 200) throw new Error(reply.text);
  };
  const round = (minutes = 1): ReturnType<typeof recordViolations> => {
    at.clock.nowMs += minutes * minuteMs;
    return recordViolations(sql, new Date(at.clock.nowMs));
  };
  const listed = async (query: string): Promise<Json[]> =>
    (await client.call('GET', `/policies/violations?${query}`)).body['items'] as Json[];
  const notices = async (): Promise<string[]> =>
    ((await client.call('GET', '/events?type=policy.notice&limit=500')).body['items'] as Json[]).map(
      ({ entity_id: id, payload }) => `${String(id)} ${String((payload as Json)['policy'])}`,
    );
  const severe = { field: 'severity', op: 'gte', value: 'high' };

  const first = await finding('first');
  await finding('harmless', 'low');
  const noted = await policy('noted', 'violation', severe);
  const told = await policy('told', 'notify', severe);
  await policy('gate', 'gate', severe);

  await t.test('14.P1: each finding that a policy holds for is a record, and what is told is told once', async (t) => {
    t.match(await round(), { begun: 2, ended: 0, told: 1 });
    const since = new Date(at.clock.nowMs).toISOString();
    t.match(await listed(`policy_id=${noted}`), [
      { policy: 'noted', finding_id: first, title: 'first', severity: 'high', since, ended_at: null, told_at: null },
    ]);
    t.match(await listed(`policy_id=${told}`), [{ policy: 'told', policy_severity: 'critical', told_at: since }]);
    t.match(await round(), { begun: 0, ended: 0, told: 0 });
    t.same(await notices(), [`${first} told`]);
  });
  await t.test('14.P1: what is fixed ends; again it is a violation anew, and no second notice', async (t) => {
    await move(first, 'resolved');
    t.match(await round(), { begun: 0, ended: 2, told: 0 });
    t.same(await listed(''), []);
    t.match(await listed(`state=ended&finding_id=${first}`), [{ policy: 'told' }, { policy: 'noted' }]);
    await move(first, 'reopened');
    t.match(await round(), { begun: 2, ended: 0, told: 0 });
    t.match(await listed(`policy_id=${noted}`), [{ since: new Date(at.clock.nowMs).toISOString(), ended_at: null }]);
    t.same(await notices(), [`${first} told`]);
  });
  await t.test('14.P2: a round looks at what changed; in time, and after a change of the policy, at all', async (t) => {
    await sql`alter table vm_findings disable trigger vm_findings_added`; // so that the change is in no list
    const second = await finding('second');
    await sql`alter table vm_findings enable trigger vm_findings_added`;
    t.match(await round(), { begun: 0 }, 'its application is not looked at');
    await change(`/policies/${noted}`, { severity: 'low' });
    t.match(await round(), { begun: 1, told: 0 }, 'of the policy that was changed');
    t.match(await round(61), { begun: 1, told: 1 }, 'of the other');
    t.same(await notices(), [`${first} told`, `${second} told`]);
  });
  await t.test('14.P1: a policy that is out of force, or does something else, holds for nothing', async (t) => {
    await change(`/policies/${noted}`, { enabled: false });
    await change(`/policies/${told}`, { action: 'gate' });
    t.match(await round(), { begun: 0, ended: 4, told: 0 });
    t.match(await round(), { begun: 0, ended: 0, told: 0 });
    await change(`/policies/${noted}`, { enabled: true, action: 'notify' });
    t.match(await round(), { begun: 2, told: 2 }, 'what it noted was told by nobody');
    t.equal((await client.call('DELETE', `/policies/${noted}`)).status, 204);
    t.same(await listed(`state=all&policy_id=${noted}`), [], 'its records go with it');
  });
  await t.test('30.policies: a violation is waived until a moment, without a notice', async (t) => {
    const only = await finding('waived');
    const own = await policy('own', 'notify', { field: 'title', op: 'contains', value: 'waived' });
    await sql`insert into vm_violations (policy_id, finding_id, application_id, since)
      values (${own}, ${only}, ${application}, ${new Date(at.clock.nowMs)})`;
    const [row] = await listed(`policy_id=${own}`);
    const waive = (id: unknown, days: number) =>
      admin.call('POST', `/policies/violations/${String(id)}/waive`, {
        reason: 'a test system',
        expires_at: new Date(at.clock.nowMs + days * 86_400_000).toISOString(),
      });
    t.match(await waive(row?.['id'], -1), { status: 422, body: { detail: /over already/ } });
    t.equal((await waive('999999', 1)).status, 404);
    const waived = await waive(row?.['id'], 1);
    t.match(waived, { status: 200, body: { id: row?.['id'], waived: { reason: 'a test system' } } }, waived.text);
    t.same(await listed(`policy_id=${own}`), [], 'no current one');
    t.match(await listed(`policy_id=${own}&state=waived`), [{ finding_id: only }]);
    await round();
    t.notOk(
      (await notices()).some((one) => one.endsWith(' own')),
      'no notice of it',
    );
    await round(2 * 24 * 60);
    t.match(await listed(`policy_id=${own}`), [{ finding_id: only }], 'then it counts again');
    t.ok((await notices()).some((one) => one.endsWith(' own')));
  });
}

void onOneDatabase(t, 'violations of policies', suite);
