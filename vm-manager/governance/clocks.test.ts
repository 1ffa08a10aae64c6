// Clocks that people stop, missed deadlines, and what may be changed of acceptances, through HTTP.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { exercise } from '../testing/api/examples.js';
import { Client, type Json } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const dayMs = 86_400_000;

async function startStage(t: Test, database: Database) {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const clientOf = async (): Promise<Client> => {
    const { token } = await at.user('admin');
    const made = await at.call('POST', '/api/v1/tokens', { token, body: { name: 't', scopes: ['admin'] } });
    return new Client(at, String(made.body['token']));
  };
  const [client, other] = [await clientOf(), await clientOf()];
  const application = await client.application();
  const finding = async (title = 'f'): Promise<string> => {
    const body = { application_id: application, title, severity: 'high' };
    return String((await client.call('POST', '/vulnerabilities', body)).body['id']);
  };
  const read = async (id: string): Promise<Json> => (await client.call('GET', `/vulnerabilities/${id}`)).body;
  /** Days from now to the deadline. */
  const left = async (id: string): Promise<number> => {
    const { sla } = (await read(id)) as { sla: { due_at: string } };
    return (Date.parse(sla.due_at) - at.clock.nowMs) / dayMs;
  };
  const later = async (days: number): Promise<void> => {
    at.clock.nowMs += days * dayMs;
    const job = at.jobs.find(({ name }) => name === 'vm-clocks');
    await job?.run({ nowMs: at.clock.nowMs, signal: AbortSignal.timeout(60_000) });
  };
  const inDays = (days: number): string => new Date(at.clock.nowMs + days * dayMs).toISOString();
  return { client, other, application, finding, read, left, later, inDays };
}
type Stage = Awaited<ReturnType<typeof startStage>>;

async function pauses(t: Test, { client, finding, read, left, later, inDays }: Stage): Promise<void> {
  const id = await finding();
  const act = (what: string, body: Json = {}) => client.call('POST', `/sla/clocks/${id}/${what}`, body);
  t.match(await act('pause'), { status: 422, body: { detail: /reason/ } });
  t.match(await act('resume'), { status: 409, body: { detail: /Nobody has stopped/ } });
  const before = await left(id);
  const stopped = await act('pause', { reason: 'supplier' });
  t.match(stopped, { status: 200, body: { finding: { sla: { state: 'paused' } }, pauses: [{ reason: 'supplier' }] } });
  t.equal((await act('pause', { reason: 'again' })).status, 409);
  await later(3);
  await client.call('POST', `/vulnerabilities/${id}/transition`, { to: 'triaged' });
  t.match(await read(id), { status: 'triaged', sla: { state: 'paused' } }, 'it stands while the finding is looked at');
  await later(2);
  t.match(await act('resume', { reason: 'answered' }), {
    status: 200,
    body: { paused_ms: 5 * dayMs, finding: { sla: { state: 'ok' } }, pauses: [{ resume_reason: 'answered' }] },
  });
  t.equal(await left(id), before, 'five days stood, five days are added');
  await client.call('PATCH', `/vulnerabilities/${id}`, { title: 'renamed' });
  t.equal(await left(id), before, 'and stay when numbers are worked out again');
  await act('pause', { reason: 'holidays', until: inDays(4) });
  await later(10);
  t.match(await read(id), { sla: { state: 'ok' } }, 'its time is over');
  t.equal(await left(id), before - 6, 'four of the ten days stood');
  t.equal((await act('pause', { reason: 'x', until: inDays(-1) })).status, 422);
  await act('pause', { reason: 'moot' });
  await later(1);
  await client.call('POST', `/vulnerabilities/${id}/transition`, { to: 'resolved', reason: 'r' });
  t.equal((await act('resume')).status, 409, 'the end of the finding ended the pause');
  const another = await finding('of the examples');
  await exercise(t, client, '/sla/clocks', (path) => path.replace(':id', another));
}

async function overlaps(t: Test, { client, other, finding, left, later, inDays }: Stage): Promise<void> {
  const id = await finding('accepted');
  const before = await left(id);
  const act = (what: string, body: Json = {}) => client.call('POST', `/sla/clocks/${id}/${what}`, body);
  await act('pause', { reason: 'p' });
  await later(1);
  const asked = { title: 'a', decision: 'accept', vuln_ids: [id], justification: 'j', expires_at: inDays(4) };
  const acceptance = String((await client.call('POST', '/acceptances', asked)).body['id']);
  t.equal((await other.call('POST', `/acceptances/${acceptance}/approve`, {})).status, 200);
  await later(1);
  t.equal((await act('resume')).status, 200);
  await later(1);
  t.equal((await other.call('POST', `/acceptances/${acceptance}/revoke`, {})).status, 200);
  t.equal(await left(id), before, 'three days stood, for two reasons, and count once');
}

async function breaches(t: Test, { client, application, finding, later }: Stage): Promise<void> {
  const [open, late] = [await finding('open'), await finding('late')];
  await later(32);
  const listed = async (query = ''): Promise<Json[]> =>
    (await client.call('GET', `/sla/breaches?application_id=${application}${query}`)).body['items'] as Json[];
  const has = (items: readonly Json[], id: string): boolean => items.some((one) => one['id'] === id);
  t.ok(has(await listed(), open) && has(await listed(), late));
  t.match(
    (await listed()).find((one) => one['id'] === open),
    { overdue_days: 2, sla: { state: 'breached' } },
  );
  await client.call('POST', `/vulnerabilities/${late}/transition`, { to: 'resolved', reason: 'r' });
  t.notOk(has(await listed(), late));
  t.ok(has(await listed('&state=closed'), late));
  t.same(await listed('&severity=low'), []);
}

async function acceptances(t: Test, { client, other, finding, later, inDays }: Stage): Promise<void> {
  const body = { title: 'a', decision: 'accept', vuln_ids: [await finding('kept')], justification: 'j' };
  const ask = async (): Promise<string> =>
    String((await client.call('POST', '/acceptances', { ...body, expires_at: inDays(10) })).body['id']);
  const id = await ask();
  const changed = await client.call('PATCH', `/acceptances/${id}`, { title: 'b', expires_at: inDays(20) });
  t.match(changed, { status: 200, body: { title: 'b', version: 2, extensions: [] } }, changed.text);
  t.equal((await client.call('PATCH', `/acceptances/${id}`, { expires_at: inDays(-1) })).status, 422);
  const extend = (as: Client, days: number) =>
    as.call('POST', `/acceptances/${id}/extend`, { expires_at: inDays(days), reason: 'the supplier is late' });
  t.equal((await extend(other, 30)).status, 409, 'nobody has decided yet');
  await other.call('POST', `/acceptances/${id}/approve`, {});
  t.match(await client.call('PATCH', `/acceptances/${id}`, { title: 'c' }), {
    status: 409,
    body: { detail: /extend/ },
  });
  t.equal((await client.call('DELETE', `/acceptances/${id}`)).status, 409, 'a record stays');
  t.equal((await extend(client, 30)).status, 403, 'four eyes');
  t.match(await extend(other, 5), { status: 422, body: { detail: /no later/ } });
  const longer = await extend(other, 30);
  t.match(longer, { status: 200, body: { extensions: [{ reason: 'the supplier is late' }] } }, longer.text);
  await later(25);
  t.match((await client.call('GET', `/acceptances/${id}`)).body, { status: 'approved' }, 'beyond its first end');
  const another = await ask();
  t.equal((await client.call('DELETE', `/acceptances/${another}`)).status, 204);
  t.equal((await client.call('GET', `/acceptances/${another}`)).status, 404);
}

t.test('clocks and terms', (t) =>
  onBothDatabases(t, 'vm_clocks', async (t, database) => {
    const stage = await startStage(t, database);
    for (const [name, test] of [
      ['30.sla: a clock stands with a reason, and its time is added once', pauses],
      ['30.sla: pauses and acceptances that overlap count once', overlaps],
      ['30.sla: missed deadlines, open and closed too late', breaches],
      ['30.acceptances: changed while pending, extended by somebody else', acceptances],
    ] as const)
      await t.test(name, (t) => test(t, stage));
  }),
);
