// Events of the vulnerability manager at a connector that asks for them by name.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { createOutbound } from '../outbound/outbound.js';
import { receiveHttp, type Call } from '../siem/testing/receivers.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';

const signal = new AbortController().signal;
const dayMs = 86_400_000;

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database, { outbound: createOutbound({ allow: ['127.0.0.1'] }) });
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  let isAway = false;
  const hook = await receiveHttp(t, () => ({ status: isAway ? 503 : 200 }));
  const run = async (...names: string[]): Promise<void> => {
    for (const name of names) await at.jobs.find((job) => job.name === name)?.run({ nowMs: at.clock.nowMs, signal });
  };
  const call = (method: string, path: string, body?: unknown, who = token) =>
    at.call(method, `/api/v1${path}`, { token: who, body });
  const made = async (path: string, body: object): Promise<string> => {
    const reply = await call('POST', path, body);
    if (reply.status !== 201) throw new Error(reply.text);
    return String(reply.body['id']);
  };
  const told = (name: string) =>
    hook.calls.filter(({ url }: Call) => url === `/${name}`).map(({ body }) => JSON.parse(body) as Record<string, any>);
  const connector = (name: string, events?: string) => ({
    name,
    kind: 'webhook',
    target: `${hook.url}/${name}`,
    ...(events === undefined ? {} : { options: { events } }),
  });
  const connect = async (...siem_connectors: object[]): Promise<void> => {
    const reply = await at.call('PATCH', '/api/settings', { token, body: { siem_connectors } });
    if (reply.status !== 200) throw new Error(reply.text);
  };
  const shop = await made('/applications', { name: 'Shop', environment: 'prod', business_criticality: 'critical' });
  const finding = (cwe: string, title: string, more = {}) =>
    made('/vulnerabilities', { application_id: shop, cwe: [cwe], title, severity: 'critical', ...more });

  await t.test('14.outbox: nothing leaves where no connector names the kind', async (t) => {
    await connect(connector('all'), connector('waf', 'waf vmx'), { ...connector('off', 'vm'), enabled: false });
    await finding('CWE-79', 'Script of others');
    await run('vm-outbox', 'siem');
    t.strictSame(hook.calls, []);
    const rows = await database.sql`select 1 from siem_outbox union all select 1 from vm_outbox`;
    t.equal(rows.length, 0, 'nor is it kept');
  });

  await t.test('14.outbox: what happens comes in its order, under one id, also after an outage', async (t) => {
    await connect(connector('all'), connector('soc', 'waf, vm'));
    const entry = await finding('CWE-918', 'Server-side request forgery', { reachable: true });
    await finding('CWE-639', 'Statements of others');
    await run('vm-chain-history', 'vm-outbox');
    isAway = true;
    await run('siem');
    const missed = told('soc')[0];
    hook.calls.splice(0);
    isAway = false;
    at.clock.nowMs += 120_000;
    await call('POST', `/vulnerabilities/${entry}/transition`, { to: 'triaged', reason: 'r' });
    await call('POST', '/gate/evaluate', { application_id: shop, commit: 'c1' });
    await call('POST', '/gate/evaluate', { application_id: shop, commit: 'c1' });
    await run('vm-outbox', 'siem');
    const events = told('soc');
    t.strictSame(
      events.map(({ details }) => details.type),
      ['finding.created', 'finding.created', 'chain.danger', 'finding.transition', 'gate.failed'],
      'a commit that is refused twice is told once',
    );
    t.equal(events[0]?.['id'], missed?.['id'], 'the one that came twice has its id');
    t.match(events[0], {
      kind: 'vm',
      name: 'Vulnerability manager: finding.created',
      severity: 9,
      action: 'observed',
      reason: 'a finding was added by hand: Server-side request forgery, in Shop',
      details: { entity: 'finding', entity_id: entry, application: 'Shop', application_id: shop },
    });
    t.match(events[2], { severity: 8, details: { title: / on Shop/, payload: { kind: 'kill-chain', hops: 2 } } });
    t.match(events[4], {
      action: 'blocked',
      severity: 6,
      reason: /: commit c1, in Shop$/,
      details: { payload: { commit: 'c1', reason: String } },
    });
    await run('vm-chain-history', 'vm-outbox', 'siem');
    t.equal(told('soc').length, events.length, 'nothing is told again');
    t.strictSame(told('all'), [], 'it has to be asked for by name');
  });

  await t.test('14.outbox: an acceptance says once that it ends soon, then that it has', async (t) => {
    const risky = await finding('CWE-328', 'Weak hash');
    const accepted = async (title: string, days: number): Promise<string> => {
      const expires = new Date(at.clock.nowMs + days * dayMs).toISOString();
      const id = await made('/acceptances', {
        title,
        decision: 'accept',
        vuln_ids: [risky],
        justification: 'j',
        expires_at: expires,
      });
      const other = await at.user('admin');
      t.equal((await call('POST', `/acceptances/${id}/approve`, {}, other.token)).status, 200);
      return id;
    };
    const [long, short] = [await accepted('Long', 60), await accepted('Short', 5)];
    const ends = async (afterDays: number): Promise<string[]> => {
      at.clock.nowMs += afterDays * dayMs;
      hook.calls.splice(0);
      await run('vm-clocks', 'vm-clocks', 'vm-outbox', 'siem');
      return told('soc')
        .filter(({ details }) => String(details.type).startsWith('acceptance.expir'))
        .map(({ details }) => `${String(details.entity_id)} ${String(details.title)} ${String(details.type)}`);
    };
    t.strictSame(await ends(3.9), []);
    t.strictSame(await ends(0.2), [`${short} Short acceptance.expiring`], 'a fifth of its time is left');
    t.strictSame(await ends(1), [`${short} Short acceptance.expired`]);
    t.strictSame(await ends(47), []);
    t.strictSame(await ends(1), [`${long} Long acceptance.expiring`], 'a week is left');
  });
}

t.test('events of the vulnerability manager', (t) => onBothDatabases(t, 'vm_events', suite));
