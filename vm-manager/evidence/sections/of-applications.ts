// Sections about applications: findings and their history, scans, coverage, acceptances, gates, terms, virtual patches
// with their proofs, attack chains, compliance.
import { assess } from '../../compliance/assess.js';
import { viewFinding, type FindingRow } from '../../findings/fields.js';
import { currentChains } from '../../graph/live-engine.js';
import { scopeOf } from '../../graph/scope.js';
import { reachOfSystem } from '../../kit/caller.js';
import { chainSection } from '../../reports/sections/chain-report.js';
import { scanKinds } from '../../scanners/contract.js';
import { pathInPack } from '../store.js';
import { asJson, asLines, rowsById, rowsMax, type Collecting, type Section } from './section.js';

interface Numbered {
  readonly id: number;
}
const kindsOfRuns = ['import', ...scanKinds, 'dast'];

/** True of rows of the application, or of all. */
const ofApplication = ({ sql, application }: Collecting, column = 'application_id') =>
  application === null ? sql`true` : sql`${sql(column)} = ${application}`;

const findings = (of: Collecting) =>
  rowsById(
    of.sql,
    (after, page) => of.sql<FindingRow[]>`
      select * from vm_findings where ${ofApplication(of)} and first_seen < ${of.period.to}
        and (is_open or updated_at >= ${of.period.from}) and ${after} ${page}`,
  );

async function* viewedFindings(of: Collecting) {
  for await (const row of findings(of)) yield viewFinding(row, of.now);
}

const history = (of: Collecting) =>
  rowsById(
    of.sql,
    (after, page) => of.sql<Numbered[]>`
      select id, finding_id, from_status, to_status, actor, by, reason, justification, run_id, at from vm_transitions
      where at >= ${of.period.from} and at < ${of.period.to} and ${after}
        and finding_id in (select id from vm_findings where ${ofApplication(of)}) ${page}`,
  );

const scans = (of: Collecting) =>
  rowsById(
    of.sql,
    (after, page) => of.sql<Numbered[]>`
      select id, kind, application_id, status, input, result, error, created_by, created_at, started_at, finished_at
      from vm_runs where kind in ${of.sql(kindsOfRuns)} and created_at >= ${of.period.from}
        and created_at < ${of.period.to} and ${ofApplication(of)} and ${after} ${page}`,
  );

/** Applications without a scan are in it, too: they are what an auditor asks for. */
const coverage = ({ sql, application, period }: Collecting) => sql`
  select a.id as application_id, a.name, a.environment, a.business_criticality as criticality, a.owner,
    coalesce((select jsonb_object_agg(kind, last) from (select r.kind, max(r.finished_at) as last from vm_runs r
      where r.application_id = a.id and r.status = 'succeeded' and r.kind in ${sql(kindsOfRuns)}
        and r.finished_at < ${period.to} group by r.kind) seen), '{}') as last_scans,
    (select count(*)::integer from vm_runs r where r.application_id = a.id and r.status = 'succeeded'
      and r.kind in ${sql(kindsOfRuns)} and r.finished_at >= ${period.from} and r.finished_at < ${period.to})
      as scans_in_period
  from vm_applications a where a.status = 'active' and ${application === null ? sql`true` : sql`a.id = ${application}`}
  order by a.id limit ${rowsMax + 1}`;

const acceptances = (of: Collecting) =>
  rowsById(
    of.sql,
    (after, page) => of.sql<Numbered[]>`
      select a.*, (select jsonb_agg(f.finding_id order by f.finding_id) from vm_acceptance_findings f
        where f.acceptance_id = a.id) as vuln_ids
      from vm_acceptances a where a.created_at < ${of.period.to} and a.expires_at >= ${of.period.from} and ${after}
        and exists (select 1 from vm_acceptance_findings f join vm_findings v on v.id = f.finding_id
          where f.acceptance_id = a.id and ${ofApplication(of, 'v.application_id')})
      ${page}`,
    'a.id',
  );

const mutes = (of: Collecting) =>
  rowsById(
    of.sql,
    (after, page) => of.sql<Numbered[]>`
      select * from vm_mutes where created_at < ${of.period.to} and expires_at >= ${of.period.from}
        and (application_id is null or ${ofApplication(of)}) and ${after} ${page}`,
  );

const gates = (of: Collecting) =>
  rowsById(
    of.sql,
    (after, page) => of.sql<Numbered[]>`
      select * from vm_gate_evaluations where created_at >= ${of.period.from} and created_at < ${of.period.to}
        and ${ofApplication(of)} and ${after} ${page}`,
  );

const terms = (of: Collecting) =>
  rowsById(
    of.sql,
    (after, page) => of.sql<Numbered[]>`
      select * from bi_sla_v1 where ${ofApplication(of)} and started_at < ${of.period.to}
        and (is_open or closed_at >= ${of.period.from}) and ${after} ${page}`,
  );

const patches = (of: Collecting) =>
  rowsById(
    of.sql,
    (after, page) => of.sql<Numbered[]>`
      select id, application_id, rule_id, origin, strategy, cve, name, seclang, site, state, settings_version,
        generation, created_by, activated_at, created_at,
        (select jsonb_agg(finding_id order by finding_id) from vm_vpatch_findings f where f.vpatch_id = p.id)
          as vuln_ids
      from vm_vpatches p where created_at < ${of.period.to} and ${ofApplication(of)} and ${after} ${page}`,
  );

const proofs = (of: Collecting) =>
  rowsById(
    of.sql,
    (after, page) => of.sql<Numbered[]>`
      select * from vm_vpatch_proofs where at >= ${of.period.from} and at < ${of.period.to} and ${after}
        and vpatch_id in (select id from vm_vpatches where ${ofApplication(of)}) ${page}`,
  );

async function chainFiles({ host, sql, application }: Collecting) {
  const engine = await currentChains(host);
  const asked = application === null ? {} : { application_id: application };
  const scope = await scopeOf({ sql, reach: reachOfSystem }, engine, asked);
  return [asJson('chains.json', chainSection(engine.read(scope), 'chains').members)];
}

async function complianceFiles({ sql, frameworks, answers, application, now }: Collecting) {
  const all = await assess(sql, frameworks, answers, { reach: reachOfSystem, application, now, withFiles: true });
  const lines = all.map(({ framework, control, result, reason, openFindings, covered, applications, ...more }) => ({
    framework: framework.id,
    version: framework.version,
    control: control.id,
    title: control.title,
    result,
    reason,
    open_findings: openFindings,
    covered,
    applications,
    scans: more.scans,
    checks: more.checks,
    attestation: more.attestation,
    exception: more.exception,
    files: more.files.map(pathInPack),
  }));
  return [await asLines('compliance', lines)];
}

const lists =
  (made: Readonly<Record<string, (of: Collecting) => AsyncIterable<unknown>>>): Section['collect'] =>
  async (of) => {
    const files = [];
    for (const [name, rows] of Object.entries(made)) files.push(await asLines(name, rows(of)));
    return files;
  };

export const applicationSections = {
  findings: {
    title: 'Findings and their history',
    about: 'findings that are open or changed since the period began, and every change of state within it',
    source: 'findings',
    needs: ['view_findings'],
    topics: ['vulnerabilities', 'components'],
    collect: lists({ findings: viewedFindings, 'finding-history': history }),
  },
  scans: {
    title: 'Scans, imports and coverage',
    about: 'every scan and import of the period, and for each application when it was scanned last',
    source: 'runs',
    needs: ['view_scans', 'view_assets'],
    topics: ['testing', 'vulnerabilities'],
    collect: async (of) => [await asLines('scans', scans(of)), await asLines('coverage', await coverage(of))],
  },
  acceptances: {
    title: 'Acceptances and mutes',
    about: 'accepted risks that were in force in the period, with who asked and who approved, and mutes',
    source: 'governance',
    needs: ['view_findings'],
    topics: ['vulnerabilities'],
    collect: lists({ acceptances, mutes }),
  },
  gates: {
    title: 'Verdicts of the gate',
    about: 'every verdict of the period with all that it was made of, and overrides',
    source: 'gate',
    needs: ['view_gates'],
    topics: ['changes', 'testing'],
    collect: lists({ gates }),
  },
  terms: {
    title: 'Terms for fixes',
    about: 'deadlines of findings: when each began, is due, and whether it was met',
    source: 'SLA',
    needs: ['view_sla'],
    topics: ['vulnerabilities'],
    collect: lists({ terms }),
  },
  vpatches: {
    title: 'Virtual patches and their proofs',
    about: 'rules of the firewall before findings, and every proof of the period that they hold',
    source: 'virtual patches',
    needs: ['view_vpatch'],
    topics: ['vulnerabilities', 'perimeter', 'components'],
    collect: lists({ vpatches: patches, 'vpatch-proofs': proofs }),
  },
  chains: {
    title: 'Attack chains',
    about: 'the attack chains over the findings that are open now',
    source: 'attack graph',
    needs: ['view_findings'],
    topics: ['vulnerabilities', 'testing'],
    collect: chainFiles,
  },
  compliance: {
    title: 'Compliance',
    about: 'how each control stands now and why, with attestations and exceptions',
    source: 'compliance',
    needs: ['view_compliance', 'view_findings'],
    topics: [],
    collect: complianceFiles,
  },
} satisfies Record<string, Section>;
