// Deadlines behind a virtual patch: more time once, while the proof holds, never for the most urgent class.
import t from 'tap';
import { systemActor } from '#http-kit';
import { startTestApp } from '#api/testing/app';
import { onEmbeddedDatabase } from '#api/testing/databases';
import { Client } from '../testing/import-client.js';
import { setState } from '../vpatches/store.js';
import type { FindingRow } from './fields.js';
import { extensionOf } from './sla.js';
import { transition } from './transition.js';

const dayMs = 86_400_000;
const report = (severity: string) => `title,severity,cwe,file\nInjection,${severity},CWE-89,a.js\n`;

t.test('14.S1: what a proven patch adds to a term', (t) => {
  for (const [days, isPatched, policy, wanted] of [
    [30, true, 14, 14],
    [30, false, 14, 0],
    [4, true, 14, 14],
    [3, true, 14, 0],
    [1, true, 14, 0],
    [null, true, 14, 0],
    [90, true, 0, 0],
  ] as const)
    t.equal(extensionOf(days, isPatched, policy), wanted, `${days} days, ${isPatched}, ${policy}`);
  t.end();
});

t.test('14.S2: the deadline follows the proof', (t) =>
  onEmbeddedDatabase(t, 'deadlines', async (t, database) => {
    const { sql } = database;
    const at = await startTestApp(database);
    t.teardown(() => at.close());
    const client = new Client(at, (await at.user('admin')).token);
    const application = await client.application();
    await client.send(application, report('high'), { format: 'csv', mode: 'sync' });
    const [{ id }] = (await client.findings(application)) as [{ id: string }];
    const now = new Date(at.clock.nowMs);
    const [patch] = await sql<{ id: number }[]>`
      insert into vm_vpatches (application_id, rule_id, origin, strategy, name, seclang, attack, attack_origin,
        created_by, created_at, updated_at)
      values (${application}, 1007999, 'own', 'strict', 'n', 's', '{}', 'given', 'test', ${now}, ${now}) returning id`;
    const patchId = patch?.id ?? 0;
    await sql`insert into vm_vpatch_findings (vpatch_id, finding_id) values (${patchId}, ${id})`;
    const prove = (state: 'proven' | 'stale') => sql.begin((tx) => setState(tx, patchId, state, null, now));
    const days = async () => {
      const {
        sla,
        residual_risk: left,
        effective_risk: risk,
      } = (await client.call('GET', `/vulnerabilities/${id}`)).body;
      return [Math.round((Date.parse(String(sla.due_at)) - now.getTime()) / dayMs), sla.extended_days, left < risk];
    };
    const move = (to: 'resolved' | 'reopened') =>
      sql.begin(async (tx) => {
        const [row] = await tx<FindingRow[]>`select * from vm_findings where id = ${id} for update`;
        if (row !== undefined) await transition(tx, row, { to, by: 'proof' }, systemActor, now);
      });
    t.same(await days(), [30, 0, false]);
    await prove('proven');
    t.same(await days(), [44, 14, true], 'and the residual risk falls with it');
    await prove('proven');
    t.same(await days(), [44, 14, true], 'once, however often it is proven');
    await client.send(application, report('medium'), { format: 'csv', mode: 'sync' });
    t.same(await days(), [104, 14, true], 'a report that describes it otherwise keeps the time');
    await move('resolved');
    await move('reopened');
    t.same(await days(), [104, 14, true], 'a clock that begins again has it, too');
    await prove('stale');
    t.same(await days(), [90, 0, false], 'without a proof that holds it is taken back');
    await prove('proven');
    const policy = {
      name: 'p',
      selector: { field: 'source', op: 'exists', value: true },
      matrix: { medium: 20 },
      patched_days: 5,
    };
    const made = await client.call('POST', '/sla/policies', policy);
    t.match(made, { status: 201, body: { patched_days: 5 } }, made.text);
    t.same(await days(), [25, 5, true], 'a policy says how much');
    const path = `/sla/policies/${String(made.body['id'])}`;
    t.equal((await client.call('PATCH', path, { matrix: { medium: 3 } })).status, 200);
    t.same(await days(), [3, 0, true], 'never for the class of three days');
    t.match(await client.call('PATCH', path, { patched_days: 366 }), { status: 422, body: { detail: /patched_days/ } });
  }),
);
