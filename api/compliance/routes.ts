// Compliance over the API: a report as JSON, and what auditors take along.
import { brandNameIn } from '#vm-manager';
import { Type } from '@sinclair/typebox';
import { closed, Nullable, OneOf, refusals, Time, type App } from '../http-kit/index.js';
import { frameworkIds, frameworks } from './controls.js';
import { toCsv, toHtml, toOscal } from './exports.js';
import type { ComplianceParts } from './facts.js';
import { makeReport, type LastChange, type Report } from './report.js';
import { evidenceKinds, results, worstOf } from './result.js';

const formats = ['json', 'csv', 'html', 'oscal'] as const;

const ResultName = OneOf(results, 'no_evidence: set up, and nothing shows that it is at work');
const CheckView = Type.Object({
  name: Type.String(),
  result: ResultName,
  reason: Type.String(),
  settings: Type.Array(
    Type.Object({
      name: Type.String(),
      value: Type.Unknown({ description: 'in force; secrets are hidden' }),
      enforced_by: Nullable(Type.String({ description: 'file of this program that makes it so' })),
      last_change: Nullable(
        Type.Object({
          version: Type.Integer(),
          at: Time,
          author: Type.String(),
          audit_entry: Nullable(Type.Integer()),
        }),
      ),
    }),
  ),
  evidence: Type.Array(
    Type.Object({
      kind: OneOf(evidenceKinds),
      text: Type.String(),
      at: Nullable(Time),
      link: Type.String({ description: 'where the API says more' }),
    }),
  ),
});
const FrameworkView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  version: Type.String(),
  result: ResultName,
  satisfied: Type.Integer(),
  controls: Type.Array(
    Type.Object({ id: Type.String(), title: Type.String(), result: ResultName, checks: Type.Array(CheckView) }),
  ),
});
const ReportView = Type.Object({
  at: Time,
  active_version: Nullable(Type.Integer({ description: 'of the settings' })),
  frameworks: Type.Array(FrameworkView),
});
const text = (description: string) => ({ schema: Type.String({ description }) });
const schema = {
  tags: ['compliance'],
  summary: 'Controls of PCI DSS, GDPR, SOC 2 and OWASP, answered from what runs, with evidence',
  querystring: Type.Object(
    {
      framework: Type.Optional(OneOf(frameworkIds, 'this one only')),
      format: Type.Optional(OneOf(formats, 'json without it; oscal: assessment results of OSCAL 1.1.2')),
    },
    closed,
  ),
  response: {
    200: {
      description: 'the report',
      content: {
        'application/json': { schema: ReportView },
        'text/csv': text('one line for each check'),
        'text/html': text('a page'),
        'application/oscal+json': { schema: Type.Unknown() },
      },
    },
    ...refusals,
  },
};

const viewChange = ({ version, at, author, auditEntry }: LastChange) => ({
  version,
  at: at.toISOString(),
  author,
  audit_entry: auditEntry,
});

function view(report: Report, wanted: readonly (typeof frameworkIds)[number][]) {
  return {
    at: report.at.toISOString(),
    active_version: report.activeVersion,
    frameworks: wanted.map((id) => {
      const controls = report.controls.filter(({ framework }) => framework === id);
      const { name, version } = frameworks[id];
      return {
        id,
        name,
        version,
        result: worstOf(controls.map(({ result }) => result)),
        satisfied: controls.filter(({ result }) => result === 'satisfied').length,
        controls: controls.map(({ framework: _, checks, ...control }) => ({
          ...control,
          checks: checks.map(({ settings, evidence, ...check }) => ({
            ...check,
            settings: settings.map(({ enforcedBy, lastChange, ...one }) => ({
              ...one,
              enforced_by: enforcedBy,
              last_change: lastChange === null ? null : viewChange(lastChange),
            })),
            evidence: evidence.map(({ at, ...one }) => ({ ...one, at: at?.toISOString() ?? null })),
          })),
        })),
      };
    }),
  };
}

export function registerComplianceRoutes(app: App, parts: ComplianceParts): void {
  app.get('/api/compliance', { schema }, async ({ query: { framework, format = 'json' } }, reply) => {
    const wanted = framework === undefined ? frameworkIds : [framework];
    const report = await makeReport(parts, wanted);
    const brand = await brandNameIn(parts.database.sql, parts.brandName);
    const day = report.at.toISOString().slice(0, 10);
    const asFile = (type: string, ending: string): typeof reply =>
      reply.type(type).header('content-disposition', `attachment; filename="compliance-${day}.${ending}"`);
    if (format === 'csv') return asFile('text/csv; charset=utf-8', 'csv').send(toCsv(report));
    if (format === 'html')
      return asFile('text/html; charset=utf-8', 'html')
        .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
        .send(toHtml(report, brand));
    if (format === 'oscal') return asFile('application/oscal+json', 'json').send(toOscal(report, brand));
    return reply.type('application/json').send(view(report, wanted));
  });
}
