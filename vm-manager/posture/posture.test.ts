// The rollup against a slow recount of everything, after random changes over several days, on both databases.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { severityNames } from '../findings/words.js';
import { Organisation, type Body } from '../testing/organisation.js';
import { factors, importance } from './score.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const openWords = ['new', 'triaged', 'confirmed', 'in_progress', 'fix_pending', 'reopened'];
const dayMs = 86_400_000;

/** Numbers that look random and are the same in every run. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

interface Finding {
  readonly id: number;
  readonly application_id: number;
  readonly status: string;
  readonly severity: number;
  readonly source: string;
  readonly kev: boolean;
  readonly due_at: Date | null;
}
interface Move {
  readonly finding_id: number;
  readonly from_status: string | null;
  readonly to_status: string;
  readonly at: Date;
}

/** Today's numbers of an application, counted one by one. */
async function recount({ sql }: Database, application: number, now: Date): Promise<Body> {
  const findings = await sql<Finding[]>`select * from vm_findings where application_id = ${application}`;
  const moves = await sql<Move[]>`select * from vm_transitions`;
  const open = findings.filter(({ status }) => openWords.includes(status));
  const at = (severity: string): number => open.filter((one) => severityNames[one.severity] === severity).length;
  const today = moves.filter(
    (move) =>
      findings.some(({ id }) => id === move.finding_id) &&
      move.at.toISOString().slice(0, 10) === now.toISOString().slice(0, 10),
  );
  const was = (move: Move): boolean => move.from_status !== null && openWords.includes(move.from_status);
  const is = (move: Move): boolean => openWords.includes(move.to_status);
  const sources: Record<string, number[]> = {};
  for (const { source, severity } of open) {
    const cell = (sources[source] ??= [0, 0]);
    cell[0] = (cell[0] ?? 0) + 1;
    if (severity >= 3) cell[1] = (cell[1] ?? 0) + 1;
  }
  return {
    open_critical: at('critical'),
    open_high: at('high'),
    open_medium: at('medium'),
    open_low: at('low'),
    open_info: at('info'),
    overdue: open.filter(({ due_at: due }) => due !== null && due < now).length,
    kev: open.filter(({ kev }) => kev).length,
    sources,
    opened: today.filter((move) => is(move) && !was(move)).length,
    closed: today.filter((move) => !is(move) && was(move)).length,
    fixed: today.filter((move) => was(move) && move.to_status === 'resolved').length,
    reopened: today.filter((move) => is(move) && !was(move) && move.from_status !== null).length,
  };
}

async function posture(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  let here = new Organisation(at, (await at.user('admin')).token);
  /** Sessions end when time passes. */
  const later = async (ms: number): Promise<void> => {
    at.clock.nowMs += ms;
    here = new Organisation(at, (await at.user('admin')).token);
  };
  const project = await here.made('/projects', { name: 'shop' });
  const applications = [
    await here.application('One', { project_id: project }),
    await here.application('Two', { project_id: project, business_criticality: 'low' }),
    await here.application('Three'),
  ];
  const job = at.jobs.find(({ name }) => name === 'vm-posture');
  const look = async (): Promise<string> => String(await job?.run({ nowMs: at.clock.nowMs } as never));
  const read = async (path: string, token = here.token): Promise<Body> => {
    const reply = await here.call('GET', path, undefined, token);
    if (reply.status !== 200) throw new Error(`${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body;
  };

  await t.test('G9: before the first look there is no number, and no error', async (t) => {
    t.match(await read('/posture/score'), { as_of: null, score: null, applications: 0 });
    t.match(await read('/posture/trend'), { items: [] });
    t.match(await read('/posture/heatmap'), { items: [], total: 0 });
  });

  await t.test('G9: every column that a chain or a number depends on leaves a note when it changes', async (t) => {
    const id = await here.finding(applications[2] as string, 'CWE-89', 'Noted', { severity: 'low' });
    const { sql } = database;
    // an expression that differs from every value here, and whether chains depend on the column
    const columns: Record<string, [string, boolean]> = {
      title: [`'Other'`, true],
      severity: ['4', true],
      status: [`'resolved'`, true],
      source: [`'other'`, true],
      cwes: [`'[79]'`, true],
      effective_risk: ['effective_risk + 1', true],
      priority_score: ['priority_score + 1', true],
      reachable: ['not coalesce(reachable, false)', true],
      exploit_confirmed: ['not exploit_confirmed', true],
      runtime_confirmed: ['not runtime_confirmed', true],
      virtually_patched: ['not virtually_patched', true],
      kev: ['not kev', false],
      due_at: [`now() + interval '9 days'`, false],
    };
    for (const [column, [other, forChains]] of Object.entries(columns)) {
      await sql`delete from vm_chain_changes`;
      await sql.unsafe(`update vm_findings set ${column} = ${other} where id = ${Number(id)}`);
      const notes = await sql<Body[]>`select application_id::text as id, for_chains from vm_chain_changes`;
      t.strictSame([...notes], [{ id: applications[2], for_chains: forChains }], column);
    }
    await sql`delete from vm_chain_changes`;
    await sql`update vm_findings set updated_at = now() where id = ${Number(id)}`;
    t.equal((await sql`select 1 from vm_chain_changes`).length, 0, 'nobody depends on this one');
  });

  await t.test('G9: after random changes every row is what a slow recount gives', async (t) => {
    const roll = dice(Number(process.env['SEED'] ?? 20_261_122));
    const known: string[] = [];
    const kev = [false, true];
    for (let step = 0; step < 60; step++) {
      const application = applications[roll(applications.length)] as string;
      const pick = known[roll(Math.max(known.length, 1))];
      const kind = roll(10);
      if (kind < 4 || pick === undefined)
        known.push(
          await here.finding(application, 'CWE-89', `Finding ${step}`, { severity: severityNames[roll(5)] as string }),
        );
      else if (kind < 7) {
        const to = ['triaged', 'resolved', 'reopened', 'false_positive', 'risk_accepted'][roll(5)];
        // a move that is not allowed changes nothing
        await here.call('POST', `/vulnerabilities/${pick}/transition`, {
          to,
          reason: 'test',
          justification: 'component_not_present',
        });
      } else if (kind === 7) await here.call('PATCH', `/vulnerabilities/${pick}`, { severity: severityNames[roll(5)] });
      else if (kind === 8) await database.sql`update vm_findings set kev = ${kev[roll(2)] === true} where id = ${pick}`;
      else await here.call('DELETE', `/vulnerabilities/${pick}`);
      if (roll(4) === 0) await later(roll(3) * dayMs + roll(7_200_000));
      if (roll(2) === 0) continue;
      await look();
      const now = new Date(at.clock.nowMs);
      for (const id of applications) {
        const [row] = await database.sql<Body[]>`
          select * from vm_app_days where application_id = ${id} and day = ${now.toISOString().slice(0, 10)}::date`;
        const { day, application_id: _, ...numbers } = row ?? {};
        t.strictSame(
          numbers,
          await recount(database, Number(id), now),
          `step ${step}, application ${id}, ${String(day)}`,
        );
      }
    }
    await look();
    t.equal(await look(), '0 applications were counted', 'nothing has changed since');
  });

  await t.test('G9: what only time changes is seen, too', async (t) => {
    await here.finding(applications[0] as string, 'CWE-89', 'With a clock', { severity: 'critical' });
    await look();
    const before = await read('/posture/score');
    await later(400 * dayMs);
    await look();
    const after = await read('/posture/score');
    t.ok(Number(after['overdue']) > Number(before['overdue']), JSON.stringify([before, after]));
    t.ok(Number(after['score']) < Number(before['score']));
  });

  await t.test('G9: the endpoints show the rows, days without a change included', async (t) => {
    const { items } = (await read('/posture/trend?days=7')) as { items: Body[] };
    t.equal(items.length, 7, 'a row for every day, also for those that nobody looked on');
    t.match(items.at(-1), { day: new Date(at.clock.nowMs).toISOString().slice(0, 10), applications: 3 });
    const rows = await database.sql<Record<string, number>[]>`
      select d.*, a.business_criticality as critical from vm_app_days d join vm_applications a on a.id = application_id
      where day = ${new Date(at.clock.nowMs).toISOString().slice(0, 10)}::date`;
    let [sum, weights] = [0, 0];
    for (const row of rows) {
      const cost = factors.reduce((all, { column, weight }) => all + (row[column] ?? 0) * weight, 0);
      const weight = importance[String(row['critical'])] ?? 0;
      sum += (4000 / (40 + cost)) * weight;
      weights += weight;
    }
    t.equal((await read('/posture/score'))['score'], Math.round((sum / weights) * 10) / 10);
    const heat = (await read('/posture/heatmap')) as { items: Body[]; total: number };
    t.equal(heat.total, 3);
    t.strictSame(
      heat.items.map(({ score }) => score),
      heat.items.map(({ score }) => score).sort((one, other) => Number(one) - Number(other)),
    );
    t.match(await read(`/applications/${applications[0]}/score-history?days=1`), { items: [{ applications: 1 }] });
    t.match(await read(`/posture/score?project_id=${project}`), { applications: 2 });
    for (const wrong of [
      '/posture/trend?days=0',
      '/posture/trend?days=x',
      '/posture/score?x=1',
      '/posture/heatmap?limit=0',
    ])
      t.match(await here.call('GET', wrong), { status: 422, body: { detail: String } }, wrong);
    for (const gone of ['/posture/score?application_id=999999', '/posture/trend?project_id=x'])
      t.match(await here.call('GET', gone), { status: 404, body: { detail: String } }, gone);
  });

  await t.test('G9: numbers of others are not counted in; archived and deleted applications are gone', async (t) => {
    const person = await at.user('operator');
    await here.call('PUT', `/rbac/grants/${person.id}`, {
      confined: true,
      items: [{ scope: 'application', scope_id: applications[1], role: 'developer' }],
    });
    t.match(await read('/posture/score', person.token), { applications: 1 });
    t.match(await read('/posture/heatmap', person.token), { total: 1, items: [{ application: 'Two' }] });
    const other = `/posture/score?application_id=${applications[0]}`;
    t.equal((await here.call('GET', other, undefined, person.token)).status, 404);
    await database.sql`update vm_applications set status = 'archived' where id = ${applications[2] as string}`;
    t.match(await read('/posture/score'), { applications: 2 });
    await database.sql`delete from vm_applications where id = ${applications[2] as string}`;
    t.equal(await look(), '0 applications were counted', 'whoever is gone has no row');
  });
}
void onBothDatabases(t, 'G9 posture', posture);
