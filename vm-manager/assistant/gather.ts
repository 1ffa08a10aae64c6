// What a model is told: facts of rows that the caller sees, each with an id that an answer may cite.
import { allOf, type Sql } from '../database.js';
import { severityNames } from '../findings/words.js';
import { visibleFindings } from '../findings/query.js';
import { weaknessName } from '../findings/weaknesses/names.js';
import { reachable, type Reach } from '../kit/caller.js';
import { notFound, toId } from '../kit/endpoint.js';

const descriptionMax = 4000;
const relatedMax = 10;
const topMax = 15;

/** What may be cited: `finding:12` → its title. */
export type Sources = ReadonlyMap<string, { readonly kind: string; readonly id: string; readonly title: string }>;

export interface Gathered {
  /** In a word of the log: `finding:12`. */
  readonly about: string;
  readonly data: unknown;
  readonly sources: Sources;
  /** Names of applications and projects → what stands for them. */
  readonly names: ReadonlyMap<string, string>;
}

interface FindingFacts {
  readonly id: number;
  readonly application_id: number;
  readonly title: string;
  readonly severity: number;
  readonly status: string;
  readonly source: string;
  readonly cwes: readonly number[];
  readonly vuln_ids: readonly string[];
  readonly location: string;
  readonly effective_risk: number;
  readonly reachable: boolean | null;
  readonly exploit_confirmed: boolean;
  readonly virtually_patched: boolean;
  readonly kev: boolean;
  readonly epss: number | null;
  readonly fix_state: string;
  readonly first_seen: Date;
  readonly due_at: Date | null;
}

const dayOf = (at: Date | null): string | null => at?.toISOString().slice(0, 10) ?? null;

const factsOf = (row: FindingFacts) => ({
  id: `finding:${row.id}`,
  title: row.title.slice(0, 300),
  application: `application:${row.application_id}`,
  severity: severityNames[row.severity] ?? 'info',
  ...{ status: row.status, found_by: row.source, risk_of_100: row.effective_risk },
  weaknesses: row.cwes.map((cwe) => `CWE-${cwe} ${weaknessName(cwe) ?? ''}`.trim()),
  vulnerabilities: row.vuln_ids.slice(0, 10),
  location: row.location.slice(0, 300),
  ...{ reachable: row.reachable, proven: row.exploit_confirmed, behind_virtual_patch: row.virtually_patched },
  ...{ known_exploited: row.kev, exploit_probability: row.epss, fix: row.fix_state },
  ...{ first_seen: dayOf(row.first_seen), due: dayOf(row.due_at) },
});

const columns = (sql: Sql) => sql`
  id, application_id, title, severity, status, source, cwes, vuln_ids, location, effective_risk, reachable,
  exploit_confirmed, virtually_patched, kev, epss, fix_state, first_seen, due_at`;

interface ApplicationFacts {
  readonly id: number;
  readonly name: string;
  readonly environment: string;
  readonly exposure: string;
  readonly business_criticality: string;
  readonly data_classes: readonly string[];
  readonly site: string | null;
}

const applicationFacts = (one: ApplicationFacts) => ({
  id: `application:${one.id}`,
  name: one.name,
  ...{ environment: one.environment, exposure: one.exposure, criticality: one.business_criticality },
  ...{ data: one.data_classes, behind_firewall: one.site !== null },
});

const applicationsOf = async (sql: Sql, ids: readonly number[]): Promise<ApplicationFacts[]> =>
  ids.length === 0
    ? []
    : sql<ApplicationFacts[]>`
        select id, name, environment, exposure, business_criticality, data_classes, site from vm_applications
        where id in ${sql([...new Set(ids)])} order by id`;

function sourcesOf(findings: readonly FindingFacts[], applications: readonly ApplicationFacts[]): Sources {
  const sources = new Map<string, { readonly kind: string; readonly id: string; readonly title: string }>();
  for (const { id, title } of findings) sources.set(`finding:${id}`, { kind: 'finding', id: String(id), title });
  for (const { id, name } of applications)
    sources.set(`application:${id}`, { kind: 'application', id: String(id), title: name });
  return sources;
}

function namesOf(applications: readonly ApplicationFacts[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { id, name, site } of applications)
    for (const one of [name, site]) if (one !== null) names.set(one, `application:${id}`);
  return names;
}

/** Throws 404 for a finding that is not within both reaches. */
export async function gatherFinding(sql: Sql, reaches: readonly Reach[], given: string): Promise<Gathered> {
  const visible = allOf(
    sql,
    reaches.map((reach) => visibleFindings(sql, reach)),
  );
  const [row] = await sql<FindingFacts[]>`
    select ${columns(sql)} from vm_findings where id = ${toId(given, 'finding')} and ${visible}`;
  if (row === undefined) throw notFound('finding', given);
  const [details] = await sql<{ description: string; fix: unknown }[]>`
    select description, fix from vm_finding_details where finding_id = ${row.id}`;
  const related = await sql<FindingFacts[]>`
    select ${columns(sql)} from vm_findings
    where application_id = ${row.application_id} and id <> ${row.id} and is_open and source <> 'quality' and ${visible}
    order by priority_score desc, id limit ${relatedMax}`;
  const applications = await applicationsOf(sql, [row.application_id]);
  return {
    about: `finding:${row.id}`,
    data: {
      finding: {
        ...factsOf(row),
        description: (details?.description ?? '').slice(0, descriptionMax),
        fix_text: JSON.stringify(details?.fix ?? {}).slice(0, 1000),
      },
      application: applications.map(applicationFacts)[0] ?? null,
      other_open_findings: related.map(factsOf),
    },
    sources: sourcesOf([row, ...related], applications),
    names: namesOf(applications),
  };
}

interface Counts {
  readonly severity: number;
  readonly n: number;
  readonly overdue: number;
  readonly proven: number;
  readonly exploited: number;
}

/** Sums and the worst of what the caller sees, of one application, a project or all. */
export async function gatherSummary(
  sql: Sql,
  reaches: readonly Reach[],
  scope: { readonly application_id?: string; readonly project_id?: string },
  now: Date,
): Promise<Gathered> {
  const { application_id: application, project_id: project } = scope;
  if (application !== undefined) {
    const seen = reaches.map((reach) => reachable(sql, reach, sql`id`, sql`project_id`));
    const [row] = await sql`
      select 1 from vm_applications where id = ${toId(application, 'application')} and ${allOf(sql, seen)}`;
    if (row === undefined) throw notFound('application', application);
  }
  const here = allOf(sql, [
    ...reaches.map((reach) => visibleFindings(sql, reach)),
    sql`source <> 'quality'`,
    ...(application === undefined ? [] : [sql`application_id = ${application}`]),
    ...(project === undefined ? [] : [sql`project_id = ${toId(project, 'project')}`]),
  ]);
  const counts = await sql<Counts[]>`
    select severity, count(*)::int as n, (count(*) filter (where due_at < ${now}))::int as overdue,
      (count(*) filter (where exploit_confirmed))::int as proven, (count(*) filter (where kev))::int as exploited
    from vm_findings where is_open and ${here} group by 1 order by 1 desc`;
  const since = new Date(now.getTime() - 30 * 86_400_000);
  const [moves] = await sql<{ opened: number; closed: number }[]>`
    select (count(*) filter (where first_seen >= ${since}))::int as opened,
      (count(*) filter (where closed_at >= ${since}))::int as closed from vm_findings where ${here}`;
  const top = await sql<FindingFacts[]>`
    select ${columns(sql)} from vm_findings where is_open and ${here} order by priority_score desc, id limit ${topMax}`;
  const ids = top.map((one) => one.application_id);
  const applications = await applicationsOf(sql, application === undefined ? ids : [...ids, Number(application)]);
  return {
    about:
      application !== undefined ? `application:${application}` : project !== undefined ? `project:${project}` : 'all',
    data: {
      open: counts.map(({ severity, ...rest }) => ({ severity: severityNames[severity] ?? 'info', ...rest })),
      last_30_days: moves ?? { opened: 0, closed: 0 },
      worst_open_findings: top.map(factsOf),
      applications: applications.map(applicationFacts),
    },
    sources: sourcesOf(top, applications),
    names: namesOf(applications),
  };
}
