// How each control stands, derived from what is there at this moment: open findings by weakness, scans, checks of the
// firewall, and what people attested. Nothing of it is stored.
import type { Source } from '../findings/words.js';
import { severityNames, type Severity } from '../findings/words.js';
import { allOf, anyOf, json, type Fragment, type Queryable, type Sql } from '../database.js';
import { visibleFindings } from '../findings/query.js';
import type { FirewallAnswers, FirewallCheck } from '../host.js';
import { isUnconfined, reachable, type Reach } from '../kit/caller.js';
import { visibleAnswers, type AnswerRow } from './answers.js';
import type { Control, Framework } from './catalogue.js';

export const controlResults = ['met', 'gap', 'excepted', 'not_applicable', 'no_evidence', 'manual'] as const;
export type ControlResult = (typeof controlResults)[number];

/** A scan that is older shows nothing of today. */
export const scanDaysMax = 90;
const dayMs = 86_400_000;

interface Group {
  readonly cwes: readonly number[];
  readonly source: Source;
  readonly overdue: boolean;
  readonly n: number;
  readonly worst: number;
}

export interface Assessed {
  readonly framework: Framework;
  readonly control: Control;
  readonly result: ControlResult;
  /** In a sentence. */
  readonly reason: string;
  readonly openFindings: number;
  readonly worst: Severity | null;
  readonly scans: readonly { readonly source: Source; readonly at: Date }[];
  /** Applications that one of these scans looked at, of `applications`. */
  readonly covered: number;
  readonly applications: number;
  readonly checks: readonly (FirewallCheck & { readonly name: string })[];
  readonly attestation: AnswerRow | null;
  readonly exception: AnswerRow | null;
  /** Files that people added for it; none where the caller may not read them. */
  readonly files: readonly EvidenceFile[];
}

export interface EvidenceFile {
  readonly id: number;
  readonly name: string;
  readonly controls: readonly string[];
  readonly created_at: Date;
}

export interface Scope {
  readonly reach: Reach;
  readonly application: string | null;
  readonly now: Date;
  /** The caller may read files of evidence. */
  readonly withFiles?: boolean;
}

/** Open findings that count: what linters say is no gap. */
function openOf(sql: Queryable, { reach, application }: Scope): Fragment {
  return allOf(sql, [
    visibleFindings(sql, reach),
    sql`is_open and source <> 'quality'`,
    ...(application === null ? [] : [sql`application_id = ${application}`]),
  ]);
}

/** Findings that speak against the control. */
export function gapsOf(sql: Queryable, control: Control, scope: Scope): Fragment {
  return allOf(sql, [
    openOf(sql, scope),
    anyOf(sql, [
      ...control.cwes.map((cwe) => sql`cwes @> ${json(sql, [cwe])}`),
      ...(control.openIn.length === 0 ? [] : [sql`source in ${sql(control.openIn)}`]),
      ...(control.overdue ? [sql`due_at < ${scope.now}`] : []),
    ]),
  ]);
}

const speaksAgainst = ({ cwes, openIn, overdue }: Control, group: Group): boolean =>
  group.cwes.some((cwe) => cwes.includes(cwe)) || openIn.includes(group.source) || (overdue && group.overdue);

/** Kinds of runs that are scans of a source; imports are known by what they found. */
const sourceOfRun: Readonly<Record<string, Source>> = {
  sast: 'sast',
  sca: 'sca',
  secrets: 'secret',
  iac: 'iac',
  k8s: 'k8s',
};

interface LastScan {
  readonly source: Source;
  readonly application: number;
  readonly at: Date;
}

/** The newest scan of each source and application. A run that read no file has looked at nothing. */
async function lastScans(sql: Sql, scope: Scope): Promise<readonly LastScan[]> {
  const { reach, application, now } = scope;
  const since = new Date(now.getTime() - scanDaysMax * dayMs);
  const seen = await sql<LastScan[]>`
    select source, application_id as application, max(last_seen) as at from vm_findings
    where last_seen >= ${since} and tool <> '' and ${visibleFindings(sql, reach)}
      and ${application === null ? sql`true` : sql`application_id = ${application}`} group by 1, 2`;
  const runs = await sql<(Omit<LastScan, 'source'> & { kind: string })[]>`
    select r.kind, a.id as application, max(r.finished_at) as at
    from vm_runs r join vm_applications a on a.id = r.application_id
    where r.status = 'succeeded' and r.kind in ${sql(Object.keys(sourceOfRun))} and r.finished_at >= ${since}
      and coalesce((r.result ->> 'files_scanned')::bigint, 0) > 0
      and ${reachable(sql, reach, sql`a.id`, sql`a.project_id`)}
      and ${application === null ? sql`true` : sql`a.id = ${application}`} group by 1, 2`;
  return [...seen, ...runs.map(({ kind, ...run }) => ({ ...run, source: sourceOfRun[kind] ?? 'sast' }))];
}

/** Applications that scans have to cover: the one that is asked for, or all active ones in reach. */
async function applicationsOf(sql: Sql, { reach, application }: Scope): Promise<ReadonlySet<number>> {
  const rows = await sql<{ id: number }[]>`
    select a.id from vm_applications a where ${reachable(sql, reach, sql`a.id`, sql`a.project_id`)}
      and ${application === null ? sql`a.status = 'active'` : sql`a.id = ${application}`}`;
  return new Set(rows.map(({ id }) => id));
}

/** Of one control: the newest scan of each of its sources, and how many applications these cover. */
function scansFor({ sources }: Control, scans: readonly LastScan[], applications: ReadonlySet<number>) {
  const own = scans.filter(({ source }) => sources.includes(source));
  const newest = sources.flatMap((source) => {
    const times = own.filter((scan) => scan.source === source).map(({ at }) => at.getTime());
    return times.length === 0 ? [] : [{ source, at: new Date(Math.max(...times)) }];
  });
  const covered = new Set(own.map(({ application }) => application).filter((id) => applications.has(id))).size;
  return { scans: newest, covered, applications: applications.size };
}

export async function assess(
  sql: Sql,
  frameworks: readonly Framework[],
  answers: FirewallAnswers | null,
  scope: Scope,
): Promise<Assessed[]> {
  const groups = await sql<Group[]>`
    select cwes, source, coalesce(due_at < ${scope.now}, false) as overdue, count(*)::int as n,
      max(severity)::int as worst
    from vm_findings where ${openOf(sql, scope)} group by 1, 2, 3`;
  const [scans, applications] = [await lastScans(sql, scope), await applicationsOf(sql, scope)];
  const given = await sql<AnswerRow[]>`
    select * from vm_compliance_answers
    where revoked_at is null and expires_at > ${scope.now} and ${visibleAnswers(sql, scope.reach)}
      and (application_id is null ${scope.application === null ? sql`` : sql`or application_id = ${scope.application}`})
    order by application_id nulls last, id desc`;
  const files =
    scope.withFiles === true && isUnconfined(scope.reach)
      ? await sql<EvidenceFile[]>`select id, name, controls, created_at from vm_evidence_files order by id limit 1000`
      : [];
  // what the firewall says names sites: it is for those who reach the whole organisation
  const checks = isUnconfined(scope.reach) ? (answers?.checks ?? null) : null;
  return frameworks.flatMap((framework) =>
    framework.controls.map((control) => {
      const own = given.filter((row) => row.framework === framework.id && row.control === control.id);
      const against = groups.filter((group) => speaksAgainst(control, group));
      const worst = severityNames[Math.max(-1, ...against.map((group) => group.worst))] ?? null;
      const facts = {
        framework,
        control,
        openFindings: against.reduce((sum, { n }) => sum + n, 0),
        worst,
        ...scansFor(control, scans, applications),
        checks: control.checks.flatMap((name) => {
          const check = checks?.get(name);
          return check === undefined ? [] : [{ name, ...check }];
        }),
        attestation: own.find(({ kind }) => kind === 'attestation') ?? null,
        exception: own.find(({ kind }) => kind === 'exception') ?? null,
        files: files.filter(({ controls }) => controls.includes(`${framework.id}:${control.id}`)),
      };
      return { ...facts, ...judge(facts) };
    }),
  );
}

type Facts = Omit<Assessed, 'result' | 'reason'>;

/** What is wrong first; then what people attested; then what shows that it holds. */
function judge(of: Facts): Pick<Assessed, 'result' | 'reason'> {
  const wrong = of.checks.filter(({ result }) => result === 'not_satisfied').map(({ reason }) => reason);
  const gaps = [
    ...(of.openFindings === 0 ? [] : [`${of.openFindings} open findings, the worst of them ${of.worst}.`]),
    ...wrong,
    ...(of.attestation?.answer === 'not_met' ? [`${of.attestation.owner} attested that it is not met.`] : []),
  ];
  const reason = gaps.join(' ').slice(0, 2000);
  if (of.attestation?.answer === 'not_applicable')
    return { result: 'not_applicable', reason: `It does not apply: ${of.attestation.reason}` };
  if (gaps.length > 0 && of.exception !== null)
    return { result: 'excepted', reason: `${reason} Excepted until ${day(of.exception.expires_at)}.` };
  if (gaps.length > 0) return { result: 'gap', reason };
  if (of.attestation !== null)
    return { result: 'met', reason: `${of.attestation.owner} attested it: ${of.attestation.reason}` };
  const isCovered = of.covered > 0 && of.covered === of.applications;
  const shown = [
    ...of.checks.filter(({ result }) => result === 'satisfied').map((check) => check.reason),
    ...(isCovered ? of.scans.map(({ source, at }) => `A ${source} scan of ${day(at)} left nothing open.`) : []),
  ];
  const partly = `scans of the last ${scanDaysMax} days cover ${of.covered} of ${of.applications} applications.`;
  if (shown.length > 0) return { result: 'met', reason: shown.join(' ').slice(0, 2000) };
  if (of.covered > 0) return { result: 'no_evidence', reason: `Nothing speaks against it, but ${partly}` };
  const asks = of.control.sources.length > 0 || of.control.checks.length > 0;
  return asks
    ? { result: 'no_evidence', reason: 'Nothing speaks against it, and no scan or check shows that it holds.' }
    : { result: 'manual', reason: 'People answer for it: attest it.' };
}

const day = (at: Date): string => at.toISOString().slice(0, 10);
