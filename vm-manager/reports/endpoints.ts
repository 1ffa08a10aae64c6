// /reports: built on demand from what the builder may see, and kept as they were.
import { Crowd, OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { isUnconfined } from '../kit/caller.js';
import { endpoint, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage, SortQuery } from '../kit/list.js';
import { build, closed, mediaTypes, prepare, ReportView, Scope, view, Wanted, type ReportRow } from './build.js';
import { readable, requireReport } from './kept.js';
import { toSection } from './render.js';
import { sectionNames, sections } from './offered.js';
import { sendingEndpoints } from './sending/endpoints.js';

const Preview = Type.Object({ scope: Type.Optional(Scope), section: OneOf(sectionNames) }, closed);

const sorts = { created_at: { column: 'created_at', type: 'time' } } as const;

/** Reports that people ask for. Those of schedules are built one after the other, and are not counted here. */
const reportsInTheMaking = new Crowd({
  what: 'reports',
  atOnce: { perPerson: 2, all: 4 },
  within: { minutes: 5, perPerson: 30, all: 120 },
});
const previewsInTheMaking = new Crowd({ what: 'previews of reports', atOnce: { perPerson: 2, all: 4 } });

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
      const { scope = {}, format, sections: names = ['attack-chains'], days, title } = call.body;
      const { time_zone: zone, template_id: template } = call.body;
      return reportsInTheMaking.within(call.caller.person.userId, async () => {
        const store = await prepare(call, { scope, names, format, days, title, zone, template });
        return view(await call.audited('vm.create', (row: ReportRow) => `built the report ${row.id}`, store));
      });
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
      return previewsInTheMaking.within(call.caller.person.userId, async () => {
        const { report } = await build(call, { scope, names: [section] });
        return report.sections.map((section) => toSection(section)).join('');
      });
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
    handle: async (call) => view(await requireReport(call, call.params['id'] ?? '')),
  }),
  endpoint({
    method: 'GET',
    path: '/reports/:id/download',
    permission: 'view_reports',
    kind: 'X',
    summary: 'A report as a file',
    handle: async (call) => {
      const { id, format } = await requireReport(call, call.params['id'] ?? '');
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
      const { id } = await requireReport(call, call.params['id'] ?? '');
      await call.audited('vm.delete', `deleted the report ${id}`, (tx) => tx`delete from vm_reports where id = ${id}`);
    },
  }),
];

/** What has a name of its own stands before what has an id. */
export const reportEndpoints: readonly Endpoint[] = [...sendingEndpoints, ...building, ...kept];
