// /compliance: controls of frameworks, how each stands, and what people answer to them.
import { Nullable, OneOf, Time, toCsvLine } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import { requireApplication } from '../assets/resources.js';
import { FindingView, viewFinding, type FindingRow } from '../findings/fields.js';
import { severityNames } from '../findings/words.js';
import { endpoint, notFound, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage } from '../kit/list.js';
import { complianceAnswerEndpoints } from './answer-endpoints.js';
import { AnswerView, ApplicationId, FrameworkId, viewAnswer } from './answers.js';
import { assess, controlResults, gapsOf, type Assessed, type Scope } from './assess.js';
import { catalogueWith, type Control } from './catalogue.js';
import { answersOf, catalogueOf, requireControl } from './lookup.js';

const closed = { additionalProperties: false } as const;

const ControlView = Type.Object({
  control: Type.String({ description: 'framework:number' }),
  number: Type.String(),
  title: Type.String(),
  cwe: Type.Array(Type.String()),
  sources: Type.Array(Type.String({ description: 'of findings: scans that look for them' })),
  checks: Type.Array(Type.String({ description: 'of the firewall' })),
});

const viewControl = (framework: string, { id, title, cwes, sources, checks }: Control) => ({
  control: `${framework}:${id}`,
  number: id,
  title,
  cwe: cwes.map((cwe) => `CWE-${cwe}`),
  sources,
  checks,
});

const frameworksList = endpoint({
  method: 'GET',
  path: '/compliance/frameworks',
  permission: 'view_compliance',
  kind: 'C',
  summary: 'Frameworks, with how many controls each has here',
  answer: Type.Object({
    items: Type.Array(
      Type.Object({ id: Type.String(), name: Type.String(), version: Type.String(), controls: Type.Integer() }),
    ),
  }),
  handle: async (call) => ({
    items: (await catalogueOf(call)).map(({ controls, ...framework }) => ({
      ...framework,
      controls: controls.length,
    })),
  }),
});

const oneFramework = endpoint({
  method: 'GET',
  path: '/compliance/frameworks/:id',
  permission: 'view_compliance',
  kind: 'C',
  summary: 'A framework with its controls: the weaknesses, scans and checks that answer for each',
  answer: Type.Object({
    id: Type.String(),
    name: Type.String(),
    version: Type.String(),
    controls: Type.Array(ControlView),
  }),
  handle: async (call) => {
    const id = call.params['id'] ?? '';
    const found = (await catalogueOf(call)).find((one) => one.id === id);
    if (found === undefined) throw notFound('framework', id.slice(0, 60));
    return { ...found, controls: found.controls.map((one) => viewControl(id, one)) };
  },
});

const AssessedView = Type.Composite([
  Type.Object({ framework: Type.String() }),
  ControlView,
  Type.Object({
    result: OneOf(controlResults),
    reason: Type.String(),
    open_findings: Type.Integer(),
    worst: Nullable(OneOf(severityNames)),
    scans: Type.Array(Type.Object({ source: Type.String(), at: Time })),
    covered: Type.Integer({ description: 'applications that one of these scans looked at' }),
    applications: Type.Integer({ description: 'active ones in reach, or the one that was asked for' }),
    answered: Type.Array(
      Type.Object({
        name: Type.String(),
        result: OneOf(['satisfied', 'not_satisfied', 'no_evidence']),
        reason: Type.String(),
        settings: Type.Array(Type.String()),
        evidence: Type.Array(
          Type.Object({ kind: Type.String(), text: Type.String(), at: Nullable(Time), link: Type.String() }),
        ),
      }),
      { description: 'checks of the firewall; empty for callers who do not reach the whole organisation' },
    ),
    attestation: Nullable(AnswerView),
    exception: Nullable(AnswerView),
    files: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), added_at: Time }), {
      description: 'of /evidence/files; empty for callers without view_evidence',
    }),
  }),
]);

const viewAssessed = (of: Assessed): Static<typeof AssessedView> => ({
  framework: of.framework.id,
  ...(viewControl(of.framework.id, of.control) as Static<typeof ControlView>),
  result: of.result,
  reason: of.reason,
  open_findings: of.openFindings,
  worst: of.worst,
  scans: of.scans.map(({ source, at }) => ({ source, at: at.toISOString() })),
  covered: of.covered,
  applications: of.applications,
  answered: of.checks.map(({ evidence, settings, ...check }) => ({
    ...check,
    settings: [...settings],
    evidence: evidence.map(({ at, ...one }) => ({ ...one, at: at?.toISOString() ?? null })),
  })),
  attestation: of.attestation === null ? null : viewAnswer(of.attestation),
  exception: of.exception === null ? null : viewAnswer(of.exception),
  files: of.files.map(({ id, name, created_at: at }) => ({ id: String(id), name, added_at: at.toISOString() })),
});

interface Wanted {
  readonly framework?: string | undefined;
  readonly application_id?: string | undefined;
}

async function assessWanted(call: Call, { framework, application_id: application }: Wanted): Promise<Assessed[]> {
  const { sql, reach, now } = call;
  const answers = await answersOf(call);
  const all = catalogueWith(answers);
  const wanted = all.filter(({ id }) => framework === undefined || id === framework);
  if (wanted.length === 0)
    throw unfit('framework', 'is not known', `name one of ${all.map(({ id }) => id).join(', ')}`);
  if (application !== undefined) await requireApplication(sql, reach, application);
  const withFiles = call.caller.reach('view_evidence', false) !== null;
  return assess(sql, wanted, answers, { reach, application: application ?? null, now, withFiles });
}

const countOf = (all: readonly Assessed[]) =>
  Object.fromEntries(controlResults.map((result) => [result, all.filter((one) => one.result === result).length]));

const assessment = endpoint({
  method: 'GET',
  path: '/compliance/assessment',
  permission: 'view_compliance',
  kind: 'A',
  summary: 'How each control stands now, by open findings, scans, checks of the firewall and what users attested',
  query: Type.Object(
    {
      framework: FrameworkId,
      application_id: ApplicationId,
      result: Type.Optional(OneOf(controlResults, 'gap: what is open')),
    },
    closed,
  ),
  answer: Type.Object({
    at: Time,
    counts: Type.Object(Object.fromEntries(controlResults.map((name) => [name, Type.Integer()])), {
      description: 'controls by result, of all that were assessed',
    }),
    items: Type.Array(AssessedView),
  }),
  handle: async (call) => {
    const all = await assessWanted(call, call.query);
    const { result } = call.query;
    return {
      at: call.now.toISOString(),
      counts: countOf(all),
      items: all.filter((one) => result === undefined || one.result === result).map(viewAssessed),
    };
  },
});

const controlFindings = endpoint({
  method: 'GET',
  path: '/compliance/controls/:id/findings',
  permission: 'view_findings',
  kind: 'A',
  summary: 'Open findings that speak against a control, the most urgent first; `id` is framework:number',
  query: Type.Object({ ...ListQuery, application_id: ApplicationId }, closed),
  answer: List(FindingView),
  handle: async (call) => {
    const { control } = await requireControl(call);
    const { application_id: application, ...wanted } = call.query;
    const { sql, reach, now } = call;
    if (application !== undefined) await requireApplication(sql, reach, application);
    const scope: Scope = { reach, application: application ?? null, now };
    const page = await readPage<FindingRow>(
      sql,
      {
        table: 'vm_findings',
        where: gapsOf(sql, control, scope),
        sorts: { priority: { column: 'priority_score', type: 'number' } },
        sort: '-priority',
      },
      wanted,
    );
    return { ...page, items: page.items.map((row) => viewFinding(row, now)) };
  },
});

const csvColumns = [
  'framework',
  'version',
  'number',
  'title',
  'result',
  'reason',
  'open_findings',
  'worst',
  'cwe',
  'last_scan',
  'checks',
  'attested_by',
  'excepted_until',
];

const cellsOf = (of: Assessed): unknown[] => [
  of.framework.name,
  of.framework.version,
  of.control.id,
  of.control.title,
  of.result,
  of.reason,
  of.openFindings,
  of.worst ?? '',
  of.control.cwes.map((cwe) => `CWE-${cwe}`).join(' '),
  of.scans
    .map(({ at }) => at.toISOString())
    .sort()
    .at(-1) ?? '',
  of.checks.map(({ name, result }) => `${name}: ${result}`).join('; '),
  of.attestation?.owner ?? '',
  of.exception?.expires_at.toISOString() ?? '',
];

const exported = endpoint({
  method: 'GET',
  path: '/compliance/export',
  permission: 'view_compliance',
  kind: 'X',
  summary: 'The assessment as a file: CSV with a line for each control, or JSON with everything',
  query: Type.Object(
    { framework: FrameworkId, application_id: ApplicationId, format: Type.Optional(OneOf(['csv', 'json'])) },
    closed,
  ),
  mediaType: 'text/csv; charset=utf-8',
  handle: async (call) => {
    const { format = 'csv' } = call.query;
    const all = await assessWanted(call, call.query);
    const day = call.now.toISOString().slice(0, 10);
    call.reply.header('content-disposition', `attachment; filename="compliance-${day}.${format}"`);
    if (format === 'csv') return [toCsvLine(csvColumns), ...all.map((one) => toCsvLine(cellsOf(one)))].join('');
    call.reply.type('application/json; charset=utf-8');
    return JSON.stringify(
      { at: call.now.toISOString(), counts: countOf(all), controls: all.map(viewAssessed) },
      null,
      1,
    );
  },
});

export const complianceEndpoints: readonly Endpoint[] = [
  frameworksList,
  oneFramework,
  assessment,
  controlFindings,
  ...complianceAnswerEndpoints,
  exported,
];
