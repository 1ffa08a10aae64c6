// /reports: built on demand from what the builder may see, and kept as they were.
import { ApiError, OneOf, Time } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import { requireApplication, visibleApplications } from '../assets/resources.js';
import { allOf, json, type Fragment } from '../database.js';
import { storeBytes } from '../kit/upload/stored-bytes.js';
import { reportBrandOf } from './drawn/brand.js';
import { isUnconfined, type Reach } from '../kit/caller.js';
import { endpoint, notFound, toId, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage, SortQuery } from '../kit/list.js';
import { dayIn, daysBetween, firstHourOf, isTimeZone, showIn, usualZone } from './time-zone.js';
import { frameOf } from './frame.js';
import { requireTemplate, textsOf, type Texts } from '../templates/stored.js';
import { toPdf } from './pdf.js';
import { toCsv, toHtml, toJson, toSection } from './render.js';
import { makers, sectionNames, sections, type Only, type SectionName } from './offered.js';
import type { Report, Section } from './report.js';

const closed = { additionalProperties: false } as const;
const formats = ['html', 'pdf', 'csv', 'json'] as const;
type Format = (typeof formats)[number];

const mediaTypes: Readonly<Record<Format, string>> = {
  html: 'text/html; charset=utf-8',
  pdf: 'application/pdf',
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
};
/** What is read by programs has its moments in UTC. */
const isForPeople = (format: Format): boolean => format === 'html' || format === 'pdf';
const reportsMax = 10_000;
const daysMax = 92;
const usualDays = 30;

const Scope = Type.Object(
  {
    application_id: Type.Optional(Type.String({ maxLength: 20 })),
    project_id: Type.Optional(Type.String({ maxLength: 20 })),
    tag: Type.Optional(Type.String({ maxLength: 60 })),
  },
  { ...closed, description: 'which applications; without any, all that you see' },
);
const Wanted = Type.Object(
  {
    title: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    scope: Type.Optional(Scope),
    sections: Type.Optional(
      Type.Array(OneOf(sectionNames), { minItems: 1, maxItems: sectionNames.length, uniqueItems: true }),
    ),
    format: OneOf(formats),
    days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: daysMax, description: 'how far the report looks back; absent: 30' }),
    ),
    template_id: Type.Optional(
      Type.String({ maxLength: 20, description: 'of a template of reports; absent: the default' }),
    ),
    time_zone: Type.Optional(
      Type.String({
        maxLength: 60,
        pattern: '^[A-Za-z]+[A-Za-z0-9/_+-]*$',
        description: 'of the moments in HTML and PDF: GMT+4 (the default), UTC, or a name such as Europe/Vienna',
      }),
    ),
  },
  closed,
);
const Preview = Type.Object({ scope: Type.Optional(Scope), section: OneOf(sectionNames) }, closed);

interface ReportRow {
  readonly id: number;
  readonly title: string;
  readonly scope: unknown;
  readonly sections: readonly string[];
  readonly format: Format;
  readonly created_by_name: string;
  readonly created_at: Date;
}
const ReportView = Type.Object({
  id: Type.String(),
  title: Type.String(),
  scope: Scope,
  sections: Type.Array(Type.String()),
  format: OneOf(formats),
  status: OneOf(['succeeded']),
  created_by: Type.String(),
  created_at: Time,
});
const view = (row: ReportRow) => ({
  id: String(row.id),
  title: row.title,
  scope: row.scope,
  sections: row.sections,
  format: row.format,
  status: 'succeeded' as const,
  created_by: row.created_by_name,
  created_at: row.created_at.toISOString(),
});

/** Reports hold findings: who may not read those may build none. */
function findingsReach({ caller }: Call): Reach {
  const reach = caller.reach('view_findings', false);
  if (reach === null) throw new ApiError('role_denied', 'This needs the permission view_findings as well.');
  return reach;
}

/** The one application that a scope resolves to; null where it resolves to several, to none or to all. */
async function onlyApplication(
  { sql }: Pick<Call, 'sql'>,
  reach: Reach,
  scope: Static<typeof Scope>,
): Promise<Only | null> {
  const where: Fragment[] = [visibleApplications(sql, reach), sql`status = 'active'`];
  if (scope.application_id !== undefined) where.push(sql`id = ${toId(scope.application_id, 'application')}`);
  if (scope.project_id !== undefined) where.push(sql`project_id = ${toId(scope.project_id, 'project')}`);
  if (scope.tag !== undefined) where.push(sql`tags @> ${json(sql, [scope.tag])}`);
  const rows = await sql<{ id: number; name: string }[]>`
    select id, name from vm_applications where ${allOf(sql, where)} order by id limit 2`;
  const [row] = rows;
  if (scope.application_id !== undefined && row === undefined)
    await requireApplication(sql, reach, scope.application_id);
  // a scope of nothing is a typing error, and no report about everything
  if (scope.tag !== undefined && row === undefined)
    throw unfit(
      '/scope/tag',
      'is the tag of no active application in the scope',
      'GET /api/v1/applications lists tags',
    );
  if (scope.project_id !== undefined && row === undefined)
    throw unfit('/scope/project_id', 'names a project without an active application that you see');
  return rows.length === 1 && row !== undefined ? { id: String(row.id), name: row.name } : null;
}

interface Wish {
  readonly scope: Static<typeof Scope>;
  readonly names: readonly SectionName[];
  /** absent: by the template */
  readonly title?: string | undefined;
  readonly zone?: string;
  readonly days?: number;
  readonly texts?: Texts;
}

async function build(
  call: Call,
  { scope, names, title, zone = usualZone, days = usualDays, texts = {} }: Wish,
): Promise<{ readonly report: Report; readonly only: Only | null }> {
  const reach = findingsReach(call);
  const only = await onlyApplication(call, reach, scope);
  const made: Section[] = [];
  const from = firstHourOf(zone, call.now, days);
  for (const name of names) made.push(await makers[name](call, reach, only, { zone, days, from }));
  const about = only === null ? 'The organisation' : `The application ${only.name}`;
  const shownAt = showIn(zone, call.now);
  const brand = await reportBrandOf(call.host);
  const [first = ''] = daysBetween(zone, from, call.now);
  const { title: usual, ...frame } = frameOf(texts, {
    brand: brand.name,
    sections: names.map((name) => sections[name].title).join(', '),
    scope: about,
    date: shownAt,
    by: call.caller.person.email,
  });
  const report = {
    title: title ?? usual,
    scope: about,
    generated_at: call.now.toISOString(),
    shown_at: shownAt,
    sections: made,
    brand,
    by: call.caller.person.email,
    ...(names.some((name) => name !== 'attack-chains') ? { period: `${first} to ${dayIn(zone, call.now)}` } : {}),
    ...frame,
  };
  return { report, only };
}

async function render(report: Report, format: Format): Promise<Buffer> {
  if (format === 'pdf') return toPdf(report);
  const write = { html: toHtml, csv: toCsv, json: toJson }[format];
  return Buffer.from(write(report), 'utf8');
}

/** A token that is confined reads what was built of one of its applications alone, whoever built it for its owner. */
function readable({ sql, caller, reach }: Pick<Call, 'sql' | 'caller' | 'reach'>): Fragment {
  if (isUnconfined(reach)) return sql`true`;
  const isOwn = sql`created_by = ${caller.person.userId}`;
  if (reach.within === null) return isOwn;
  return reach.within.length === 0 ? sql`false` : sql`${isOwn} and application_id in ${sql(reach.within)}`;
}
const facts = ['id', 'title', 'scope', 'sections', 'format', 'created_by_name', 'created_at'];

async function requireReport(call: Call): Promise<ReportRow> {
  const id = call.params['id'] ?? '';
  const [row] = await call.sql<ReportRow[]>`
    select ${call.sql(facts)} from vm_reports where id = ${toId(id, 'report')} and ${readable(call)}`;
  if (row === undefined) throw notFound('report', id);
  return row;
}

const sorts = { created_at: { column: 'created_at', type: 'time' } } as const;

const building: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/reports',
    permission: 'build_reports',
    kind: 'R',
    summary: 'Build a report of what you may see',
    body: Wanted,
    status: 201,
    answer: ReportView,
    handle: async (call) => {
      const { scope = {}, format, sections: names = ['attack-chains'], days = usualDays } = call.body;
      const { time_zone = usualZone } = call.body;
      if (!isTimeZone(time_zone))
        throw unfit('/time_zone', 'is no time zone', 'use GMT+4, UTC or a name such as Europe/Vienna');
      const { template_id: template = null, title: given } = call.body;
      if (template !== null) await requireTemplate(call.sql, 'report', template, '/template_id');
      const texts = await textsOf(call.sql, 'report', template);
      const zone = isForPeople(format) ? time_zone : 'UTC';
      const { report, only } = await build(call, { scope, names, title: given, zone, days, texts });
      const { title } = report;
      const content = await render(report, format);
      return view(
        await call.audited(
          'vm.create',
          (row: ReportRow) => `built the report ${row.id}`,
          async (tx) => {
            const [count] = await tx<{ n: number }[]>`select count(*) as n from vm_reports`;
            if ((count?.n ?? 0) >= reportsMax)
              throw unfit('/reports', `are ${reportsMax} already`, 'delete those that nobody needs');
            const [row] = await tx<ReportRow[]>`
              insert into vm_reports ${tx({
                title,
                scope: json(tx, scope),
                sections: json(tx, names),
                format,
                application_id: only === null ? null : only.id,
                created_by: call.caller.person.userId,
                created_by_name: call.caller.person.email,
                created_at: call.now,
              } as never)} returning ${tx(facts)}`;
            if (row === undefined) throw new Error('the report was not stored');
            await storeBytes(
              tx,
              content,
              (whole) => tx`insert into vm_report_contents (report_id, content) values (${row.id}, ${whole})`,
            );
            return row;
          },
        ),
      );
    },
  }),
  endpoint({
    method: 'POST',
    path: '/reports/preview',
    permission: 'build_reports',
    kind: 'B',
    reads: true,
    summary: 'One section as HTML, not kept',
    body: Preview,
    mediaType: mediaTypes.html,
    handle: async (call) => {
      const { scope = {}, section } = call.body;
      const { report } = await build(call, { scope, names: [section] });
      return report.sections.map((section) => toSection(section)).join('');
    },
  }),
];

const kept: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/reports',
    permission: 'view_reports',
    kind: 'R',
    summary: 'Reports that you built; all of them for who sees everything',
    query: Type.Object({ ...ListQuery, sort: SortQuery(sorts) }, closed),
    answer: List(ReportView),
    handle: async (call) => {
      const source = { table: 'vm_reports', where: readable(call), sorts, sort: '-created_at' };
      const page = await readPage<ReportRow>(call.sql, source, call.query);
      return { ...page, items: page.items.map(view) };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/reports/sections',
    permission: 'view_reports',
    kind: 'A',
    summary: 'What a report can hold',
    answer: Type.Object({
      items: Type.Array(Type.Object({ name: OneOf(sectionNames), title: Type.String(), description: Type.String() })),
    }),
    handle: async ({ host, caller }) => {
      const reach = caller.reach('view_findings', false);
      const isWhole = host.firewallActivity !== undefined && reach !== null && isUnconfined(reach);
      const offered = sectionNames.filter((name) => name !== 'security-events' || isWhole);
      return { items: offered.map((name) => ({ name, ...sections[name] })) };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/reports/:id',
    permission: 'view_reports',
    kind: 'R',
    summary: 'A report: what it is about',
    answer: ReportView,
    handle: async (call) => view(await requireReport(call)),
  }),
  endpoint({
    method: 'GET',
    path: '/reports/:id/download',
    permission: 'view_reports',
    kind: 'X',
    summary: 'A report as a file',
    handle: async (call) => {
      const { id, format } = await requireReport(call);
      const [row] = await call.sql<
        { content: Buffer }[]
      >`select content from vm_report_contents where report_id = ${id}`;
      call.reply
        .type(mediaTypes[format])
        .header('content-disposition', `attachment; filename="report-${id}.${format}"`)
        .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
      return Buffer.from(row?.content ?? []);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/reports/:id',
    permission: 'build_reports',
    kind: 'C',
    summary: 'Delete a report',
    status: 204,
    handle: async (call) => {
      const { id } = await requireReport(call);
      await call.audited('vm.delete', `deleted the report ${id}`, (tx) => tx`delete from vm_reports where id = ${id}`);
    },
  }),
];

export const reportEndpoints: readonly Endpoint[] = [...building, ...kept];
