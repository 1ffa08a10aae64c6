// A report from what is asked for to the row that keeps it, for whoever acts: a request, or a schedule of its owner.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import { requireApplication, visibleApplications } from '../assets/resources.js';
import { allOf, json, type Fragment, type Tx } from '../database.js';
import { storeBytes } from '../kit/upload/stored-bytes.js';
import { reportBrandOf } from './drawn/brand.js';
import type { Reach } from '../kit/caller.js';
import { toId, unfit, type Acting } from '../kit/endpoint.js';
import { dayIn, daysBetween, firstHourOf, isTimeZone, showIn, usualZone } from './time-zone.js';
import { frameOf } from './frame.js';
import { requireTemplate, textsOf, type Texts } from '../templates/stored.js';
import { toPdf } from './pdf.js';
import { toCsv, toHtml, toJson } from './render.js';
import { makers, sectionNames, sections, type Only, type SectionName } from './offered.js';
import type { Report, Section } from './report.js';

export const closed = { additionalProperties: false } as const;
export const formats = ['html', 'pdf', 'csv', 'json'] as const;
export type Format = (typeof formats)[number];

export const mediaTypes: Readonly<Record<Format, string>> = {
  html: 'text/html; charset=utf-8',
  pdf: 'application/pdf',
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
};
/** What is read by programs has its moments in UTC. */
const isForPeople = (format: Format): boolean => format === 'html' || format === 'pdf';
const reportsMax = 10_000;
export const daysMax = 92;
export const usualDays = 30;

export const Scope = Type.Object(
  {
    application_id: Type.Optional(Type.String({ maxLength: 20 })),
    project_id: Type.Optional(Type.String({ maxLength: 20 })),
    tag: Type.Optional(Type.String({ maxLength: 60 })),
  },
  { ...closed, description: 'which applications; without any, all that you see' },
);
/** One line: it is the subject of mails, and a heading. */
export const Title = Type.String({
  ...{ minLength: 1, maxLength: 200, description: 'one line' },
  pattern: '^[^\\u0000-\\u001f]*[^\\u0000-\\u0020][^\\u0000-\\u001f]*$',
});

export const Wanted = Type.Object(
  {
    title: Type.Optional(Title),
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
/** Columns of `ReportRow`. */
export const reportFacts = [
  ...['id', 'title', 'scope', 'sections', 'format', 'created_by_name', 'created_at', 'schedule_id'],
];

export interface ReportRow {
  readonly id: number;
  readonly title: string;
  readonly scope: unknown;
  readonly sections: readonly string[];
  readonly format: Format;
  readonly created_by_name: string;
  readonly created_at: Date;
  readonly schedule_id: number | null;
}
export const ReportView = Type.Object({
  id: Type.String(),
  title: Type.String(),
  scope: Scope,
  sections: Type.Array(Type.String()),
  format: OneOf(formats),
  status: OneOf(['succeeded']),
  created_by: Type.String(),
  created_at: Time,
  schedule_id: Nullable(Type.String({ description: 'the schedule that built it' })),
});
export const view = (row: ReportRow) => ({
  id: String(row.id),
  title: row.title,
  scope: row.scope,
  sections: row.sections,
  format: row.format,
  status: 'succeeded' as const,
  created_by: row.created_by_name,
  created_at: row.created_at.toISOString(),
  schedule_id: row.schedule_id === null ? null : String(row.schedule_id),
});

/** Reports hold findings: who may not read those may build none. */
export function findingsReach({ caller }: Pick<Acting, 'caller'>): Reach {
  const reach = caller.reach('view_findings', false);
  if (reach === null) throw new ApiError('role_denied', 'This needs the permission view_findings as well.');
  return reach;
}

/** The one application that a scope resolves to; null where it resolves to several, to none or to all. */
async function onlyApplication(
  { sql }: Pick<Acting, 'sql'>,
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

type Builder = Pick<Acting, 'host' | 'sql' | 'now' | 'caller'>;

/** What the caller may see, as a report that has no form yet. Throws ApiError for a scope of nothing. */
export async function build(
  call: Builder,
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

/** The bytes of the file. */
export async function render(report: Report, format: Format): Promise<Buffer> {
  if (format === 'pdf') return toPdf(report);
  const write = { html: toHtml, csv: toCsv, json: toJson }[format];
  return Buffer.from(write(report), 'utf8');
}

/** What is built and kept: the body of POST /reports, or what a schedule says. */
export interface Order {
  readonly scope: Static<typeof Scope>;
  readonly names: readonly SectionName[];
  readonly format: Format;
  readonly days?: number | undefined;
  readonly title?: string | undefined;
  readonly template?: string | null | undefined;
  readonly zone?: string | undefined;
  readonly scheduleId?: number | undefined;
}

/** Builds it, and returns what stores it in a transaction. Throws ApiError, also of the transaction. */
export async function prepare(
  call: Builder,
  { scope, names, format, days, title: given, template = null, zone: asked = usualZone, scheduleId }: Order,
): Promise<(tx: Tx) => Promise<ReportRow>> {
  if (!isTimeZone(asked))
    throw unfit('/time_zone', 'is no time zone', 'use GMT+4, UTC or a name such as Europe/Vienna');
  if (template !== null) await requireTemplate(call.sql, 'report', template, '/template_id');
  const texts = await textsOf(call.sql, 'report', template);
  const zone = isForPeople(format) ? asked : 'UTC';
  const { report, only } = await build(call, { scope, names, title: given, zone, texts, ...(days && { days }) });
  const content = await render(report, format);
  return async (tx) => {
    const [count] = await tx<{ n: number }[]>`select count(*) as n from vm_reports`;
    if ((count?.n ?? 0) >= reportsMax)
      throw unfit('/reports', `are ${reportsMax} already`, 'delete those that nobody needs');
    const [row] = await tx<ReportRow[]>`
      insert into vm_reports ${tx({
        title: report.title,
        scope: json(tx, scope),
        sections: json(tx, names),
        format,
        application_id: only === null ? null : only.id,
        created_by: call.caller.person.userId,
        created_by_name: call.caller.person.email,
        created_at: call.now,
        schedule_id: scheduleId ?? null,
      } as never)} returning ${tx(reportFacts)}`;
    if (row === undefined) throw new Error('the report was not stored');
    await storeBytes(
      tx,
      content,
      (whole) => tx`insert into vm_report_contents (report_id, content) values (${row.id}, ${whole})`,
    );
    return row;
  };
}
