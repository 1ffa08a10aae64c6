// /imports: a report comes in, findings come of it, and the answer's numbers add up.
import { Type } from '@sinclair/typebox';
import { allOf, type Queryable } from '../database.js';
import { requireApplication, visibleByApplication } from '../assets/resources.js';
import { hasOneOf, SomeOf } from '../kit/comma-list.js';
import type { Reach } from '../kit/caller.js';
import { endpoint, notFound, toId, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage } from '../kit/list.js';
import { resourceEndpoints } from '../kit/resource.js';
import { RunView, runStatuses, viewRun, type Run } from '../kit/runs.js';
import { formats } from './formats/index.js';
import { mappings } from './mappings.js';
import { previewItems } from './preview.js';
import { receiveReport } from './receive-report.js';
import { bytesMax, ImportFields, type Fields } from './run/fields.js';
import { openReport, withReport } from './run/open-report.js';
import { formatOf, runImport, termsFor } from './run/run-import.js';
import { baseKeyOf, scopeKeyOf } from './run/scope-key.js';

const upload = { bytesMax, fields: ImportFields };

const ImportView = Type.Intersect([RunView, Type.Object({ report: Type.Unknown() })]);
const viewImport = (run: Run) => ({ ...viewRun(run), report: { ...run.result, problems: run.problems } });

const importEndpoint = endpoint({
  method: 'POST',
  path: '/imports',
  permission: 'import_findings',
  kind: 'I',
  summary: 'Import the report of a tool: multipart with the part "file", or the file alone and the fields in the query',
  upload,
  status: 202,
  answer: ImportView,
  handle: async (call) => {
    const sent = await receiveReport<Fields>(call.request, upload);
    try {
      const { file } = sent;
      const format = await formatOf(call, sent.fields.format ?? 'auto', file);
      const terms = await termsFor(call, sent.fields);
      const given = { fields: sent.fields, file, format, terms };
      const { run } = await runImport(call, given, {
        action: 'vm.import',
        summary: ({ run: made, facts }) => `imported a report of ${facts.tool} (run ${made.id})`,
        details: ({ report }) => ({ ...report, problems: report.problems.length }),
      });
      return viewImport(run);
    } finally {
      await sent.discard();
    }
  },
});

const previewEndpoint = endpoint({
  method: 'POST',
  path: '/imports/preview',
  permission: 'import_findings',
  kind: 'B',
  reads: true,
  summary: 'What an import would do; nothing is kept',
  upload,
  answer: Type.Object({ report: Type.Unknown(), tool: Type.String() }),
  handle: async (call) => {
    const sent = await receiveReport<Fields>(call.request, upload);
    try {
      const { file } = sent;
      const format = await formatOf(call, sent.fields.format ?? 'auto', file);
      const terms = await termsFor(call, sent.fields);
      const { fields } = sent;
      const { id, project_id: projectId } = await requireApplication(call.sql, call.reach, fields.application_id);
      const given = { fields, file, format };
      return await withReport(given, async (begun) => {
        const key = await scopeKeyOf(call.sql, baseKeyOf(id, fields, format), format, begun.facts);
        const target = { applicationId: id, projectId, ...key };
        const { facts, items, seenAt: at } = await openReport(call, given, begun, call.sql, target);
        const { mode = 'add', commit = '' } = fields;
        const { actor } = call.caller;
        const scope = { ...target, mode, runId: 0, actor, now: call.now, seenAt: at, commit, ...terms };
        const { report } = await previewItems(call.sql, items, facts, scope);
        return { report: { ...report, root: facts.root }, tool: facts.tool };
      });
    } finally {
      await sent.discard();
    }
  },
});

/** Throws 404 for one that is not there, or not within reach. */
async function requireImport(sql: Queryable, reach: Reach, given: string): Promise<Run> {
  const id = toId(given, 'import');
  const [run] = await sql<Run[]>`
    select * from vm_runs where id = ${id} and kind = 'import' and ${visibleByApplication('vm_runs')(sql, reach)}`;
  if (run === undefined) throw notFound('import', id);
  return run;
}

export const importEndpoints: readonly Endpoint[] = [
  importEndpoint,
  previewEndpoint,
  endpoint({
    method: 'GET',
    path: '/imports/formats',
    permission: 'view_findings',
    kind: 'A',
    summary: 'Formats that can be imported, and how they are known',
    answer: Type.Object({
      items: Type.Array(Type.Object({ name: Type.String(), label: Type.String(), detection: Type.String() })),
      bytes_max: Type.Integer(),
    }),
    handle: async () => ({
      items: formats.map(({ name, label, detection }) => ({ name, label, detection })),
      bytes_max: bytesMax,
    }),
  }),
  ...resourceEndpoints(mappings),
  endpoint({
    method: 'GET',
    path: '/imports/:id/errors',
    permission: 'view_findings',
    kind: 'R',
    summary: 'What of a report was not taken as it is, and why, with the place in the report',
    query: Type.Object({ limit: ListQuery.limit, offset: ListQuery.offset }, { additionalProperties: false }),
    answer: Type.Object({
      items: Type.Array(
        Type.Object({
          at: Type.String({ description: 'JSON pointer, line or path in the report; empty: of the report as a whole' }),
          detail: Type.String(),
        }),
      ),
      total: Type.Integer(),
    }),
    handle: async ({ sql, reach, params, query }) => {
      const { problems } = await requireImport(sql, reach, params['id'] ?? '');
      const { limit = 50, offset = 0 } = query;
      return { items: problems.slice(offset, offset + limit), total: problems.length };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/imports',
    permission: 'view_findings',
    kind: 'R',
    summary: 'Imports, newest first',
    query: Type.Object(
      {
        ...ListQuery,
        application_id: Type.Optional(Type.String({ maxLength: 20 })),
        status: Type.Optional(SomeOf(runStatuses)),
      },
      { additionalProperties: false },
    ),
    answer: List(ImportView),
    handle: async ({ sql, reach, query }) => {
      const id = query.application_id;
      const where = allOf(sql, [
        sql`kind = 'import'`,
        visibleByApplication('vm_runs')(sql, reach),
        id === undefined ? sql`true` : /^\d{1,18}$/.test(id) ? sql`application_id = ${id}` : sql`false`,
        query.status === undefined ? sql`true` : hasOneOf(sql, 'status', query.status),
      ]);
      const sorts = { id: { column: 'id', type: 'number' } } as const;
      const page = await readPage<Run>(sql, { table: 'vm_runs', where, sorts, sort: '-id' }, query);
      return { ...page, items: page.items.map(viewImport) };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/imports/:id',
    permission: 'view_findings',
    kind: 'R',
    summary: 'One import with its numbers',
    answer: ImportView,
    handle: async ({ sql, reach, params }) => viewImport(await requireImport(sql, reach, params['id'] ?? '')),
  }),
];
