// The stage of the cases of the vulnerability manager: a control plane on PostgreSQL over an organisation that the
// database itself makes (hashes of the row numbers: the same rows in every run), asked over HTTP. Other work on the
// machine makes wall time longer; processor time of the server and of PostgreSQL stands beside it for that reason.
import { loadavg } from 'node:os';
import postgres from 'postgres';
import type { BenchContext } from '../../context.js';
import { startControlPlane, startPostgres, type ControlPlane, type Postgres } from '../../control-plane.js';
import { cpuUs, residentBytes } from '../../cpu.js';
import { weaknesses } from '../chains.js';

export interface Asked {
  readonly wallMs: number;
  /** Of the control plane and of PostgreSQL together. */
  readonly cpuMs: number;
  readonly body: Record<string, unknown>;
}

/** A control plane over a database that is thrown away. */
export class Stage {
  readonly #context: BenchContext;
  readonly #postgres: Postgres;
  readonly sql: postgres.Sql;
  #control: ControlPlane | null = null;

  private constructor(context: BenchContext, database: Postgres) {
    this.#context = context;
    this.#postgres = database;
    this.sql = postgres(database.url, { max: 1, onnotice: () => undefined });
  }

  /** null where PostgreSQL is not installed; the results then say so. The tables are made, and empty. */
  static async open(context: BenchContext, name: string): Promise<Stage | null> {
    const database = await startPostgres();
    if (database === null) {
      context.recorder.note(`${name} was left out: apt-get install postgresql`);
      return null;
    }
    const stage = new Stage(context, database);
    try {
      await stage.start();
      await stage.rest();
    } catch (error) {
      await stage.close();
      throw error;
    }
    return stage;
  }

  get control(): ControlPlane {
    if (this.#control === null) throw new Error('the control plane is not started');
    return this.#control;
  }

  /** A control plane that knows nothing yet; its job that asks for chains is a minute away. */
  async start(): Promise<void> {
    await this.sql`update job_state set last_started_at = now() where name like 'vm-%'`.catch(() => undefined);
    // the administrator of the last start has another password by now
    await this.sql`delete from users`.catch(() => undefined);
    this.#control = await startControlPlane({ root: this.#context.root, databaseUrl: this.#postgres.url });
  }

  async rest(): Promise<void> {
    await this.#control?.stop();
    this.#control = null;
  }

  /** One request with what it cost; the body is read whole. */
  async ask(path: string): Promise<Asked> {
    const { url, token, pid } = this.control;
    const cpu = (): number => cpuUs(pid) + cpuUs(this.#postgres.pid);
    const [before, start] = [cpu(), performance.now()];
    const reply = await fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
    const text = await reply.text();
    const wallMs = performance.now() - start;
    if (!reply.ok) throw new Error(`GET ${path} answered ${reply.status}: ${text.slice(0, 300)}`);
    return { wallMs, cpuMs: (cpu() - before) / 1000, body: JSON.parse(text) as Record<string, unknown> };
  }

  residentMb(): number {
    return residentBytes(this.control.pid) / 1_048_576;
  }

  record(key: string, { wallMs, cpuMs }: Pick<Asked, 'wallMs' | 'cpuMs'>): void {
    this.#context.recorder.add(key, 'ms', 'lower', wallMs);
    this.#context.recorder.add(`${key}, processor time`, 'ms', 'lower', cpuMs);
    this.#context.recorder.add(`${key}, load of the machine`, 'processes', 'none', loadavg()[0] ?? Number.NaN);
  }

  async close(): Promise<void> {
    await this.rest();
    await this.sql.end({ timeout: 1 }).catch(() => undefined);
    await this.#postgres.stop();
  }
}

export interface OrganisationShape {
  readonly applications: number;
  /** Applications of one project; null: none has a project. */
  readonly perProject: number | null;
}

/** Fills the empty tables with applications; nothing is left of what was there. */
export async function makeApplications(
  sql: postgres.Sql,
  { applications, perProject }: OrganisationShape,
): Promise<void> {
  await sql`truncate vm_projects, vm_applications, vm_chain_changes restart identity cascade`;
  if (perProject !== null)
    await sql`insert into vm_projects (name, created_at, updated_at)
      select 'Project ' || n, now(), now() from generate_series(1, ${Math.ceil(applications / perProject)}::int) n`;
  await sql`
    insert into vm_applications (name, environment, business_criticality, project_id, created_at, updated_at)
    select 'Application ' || n, case when hashint8extended(n, 1) % 3 = 0 then 'prod' else 'staging' end,
      (array['critical', 'high', 'medium', 'low', 'unknown'])[1 + abs(hashint8extended(n, 2) % 5)],
      ${perProject === null ? sql`null` : sql`1 + (n - 1) / ${perProject}::int`}, now(), now()
    from generate_series(1, ${applications}::int) n`;
}

/**
 * Fills vm_findings without its indexes and triggers, which are made again afterwards as they were: a row at a time
 * they would cost ten times as much.
 */
export async function inBulk(sql: postgres.Sql, fill: () => Promise<void>): Promise<void> {
  const indexes = await sql<{ name: string; made: string }[]>`
    select indexname as name, indexdef as made from pg_indexes
    where tablename = 'vm_findings' and indexname not in (select conname from pg_constraint)`;
  for (const { name } of indexes) await sql`drop index ${sql(name)}`;
  await sql`set session_replication_role = replica`;
  await fill();
  await sql`set session_replication_role = origin`;
  await sql`set maintenance_work_mem = '512MB'`;
  for (const { made } of indexes) await sql.unsafe(made);
}

/**
 * `from` to `to` findings of each application (numbers within it), of which `openShare` percent are open. Statistics of
 * the planner are made afterwards, as autovacuum would. None is muted and of each deadline has been told: the jobs of
 * the control plane would else open half a million findings, and write notices, while the case measures.
 */
export async function makeFindings(sql: postgres.Sql, from: number, to: number, openShare: number): Promise<void> {
  await sql`
    insert into vm_findings (application_id, project_id, title, status, severity, source, tool, rule_id, cwes, vuln_ids,
      location, effective_risk, risk_score, priority_score, reachable, exploit_confirmed, kev, epss, fingerprint,
      sla_start, sla_told, due_at, first_seen, last_seen, created_at, updated_at)
    select a.id, a.project_id, w.title, case when r.b % 100 < ${openShare} then
        (array['new', 'triaged', 'confirmed', 'in_progress'])[1 + r.b % 4] else
        (array['resolved', 'false_positive', 'risk_accepted', 'out_of_scope'])[1 + r.b % 4] end,
      (array[0, 1, 1, 2, 2, 2, 3, 3, 4])[1 + r.c % 9], (array['sast', 'dast', 'sca', 'secrets'])[1 + r.b % 4],
      'bench', 'rule-' || r.c % 400, w.cwes::jsonb,
      case when r.c % 4 = 0 then jsonb_build_array('CVE-2024-' || (10000 + r.c % 50000)) else '[]' end,
      'src/module-' || r.c % 97 || '/file-' || n || '.ts:' || r.d % 900, r.a % 101, r.a % 101, r.d % 10000,
      case when r.a % 4 = 0 then true end, r.c % 50 = 0, r.d % 200 = 0, (r.c % 1000) / 1000.0, 'bench-' || n,
      s.seen, 2, case when r.b % 3 = 0 then s.seen + interval '60 days' end, s.seen, s.seen, s.seen, s.seen
    from vm_applications a
      cross join generate_series(${from}::bigint, ${to}::bigint) n
      cross join lateral (select abs(hashint8extended(a.id * 1000 + n, 3) % 1000003) as a,
        abs(hashint8extended(a.id * 1000 + n, 4) % 1000003) as b,
        abs(hashint8extended(a.id * 1000 + n, 5) % 1000003) as c,
        abs(hashint8extended(a.id * 1000 + n, 6) % 1000003) as d) r
      cross join lateral (select timestamptz '2027-01-01' - make_interval(secs => r.d * 60 + n) as seen) s
      join json_to_recordset(${JSON.stringify(weaknessRows)}::text::json) as w (at int, cwes text, title text)
        on w.at = r.a % ${weaknessRows.length}::int`;
  await sql`analyze vm_findings`;
  await sql`analyze vm_applications`;
}

const weaknessRows = weaknesses.map(([cwe, title], at) => ({ at, title, cwes: cwe === null ? '[]' : `[${cwe}]` }));
