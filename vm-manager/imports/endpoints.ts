// /imports: a report comes in, findings come of it, and the answer's numbers add up.
import { Type } from '@sinclair/typebox';
import { allOf, type Queryable, type Tx } from '../database.js';
import { requireApplication, visibleByApplication } from '../assets/resources.js';
import { applyNewMutes } from '../governance/new-mutes.js';
import { hasOneOf, SomeOf } from '../kit/comma-list.js';
import { endpoint, notFound, toId, toMoment, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { emit } from '../kit/events.js';
import { List, ListQuery, readPage } from '../kit/list.js';
import { resourceEndpoints } from '../kit/resource.js';
import { finishRun, insertRun, RunView, runStatuses, viewRun, type Run } from '../kit/runs.js';
import { storeComponents } from '../components/store.js';
import { findFormat, formats } from './formats/index.js';
import type { Format } from './formats/format.js';
import { mappedFormat, type Mapping } from './formats/tabular.js';
import { closePercentDefault } from './closing.js';
import type { ImportReport } from './import-report.js';
import { importItems, type ImportScope } from './pipeline.js';
import { mappings } from './mappings.js';
import { previewItems } from './preview.js';
import { receiveReport } from './receive-report.js';
import { lockScope } from './scope-lock.js';
import { readyForImport } from './protect-stored.js';
import { maskSecrets, maskValues } from '../secrets/mask.js';
import type { Keyed } from '../secrets/protect-record.js';
import { cut, severalAtOnce, type ReportFacts } from './record.js';
import type { ReportFile } from './reading/report-file.js';
import { inRepository } from './roots/resolve.js';

export const bytesMax = 64 * 1024 * 1024;
const Short = Type.String({ maxLength: 200 });

/** Fields of every upload of a report that may close findings. */
export const PlaceFields = {
  root: Type.Optional(
    Type.String({ maxLength: 1000, description: 'directory of the checkout, which is no part of the stored paths' }),
  ),
  strip_prefix: Type.Optional(Type.String({ maxLength: 1000, description: 'the same as root' })),
  confirm_close: Type.Optional(
    Type.Boolean({ description: 'close also more than vm_import_close_percent of what is open' }),
  ),
};

const ImportFields = Type.Object(
  {
    application_id: Type.String({ maxLength: 20 }),
    format: Type.Optional(Type.String({ maxLength: 120, description: 'auto, the name of a format, or mapping:NAME' })),
    // a union, because the fields of an upload are checked by TypeBox itself, which knows no bare enum
    mode: Type.Optional(
      Type.Union([Type.Literal('add'), Type.Literal('sync')], {
        description: 'sync closes what this scope no longer reports',
      }),
    ),
    scope_key: Type.Optional(Short),
    branch: Type.Optional(Short),
    commit: Type.Optional(Short),
    scan_date: Type.Optional(Type.String({ maxLength: 40 })),
    entry: Type.Optional(Type.String({ maxLength: 255, description: 'which file of an archive is the report' })),
    ...PlaceFields,
  },
  { additionalProperties: false },
);
export type Fields = typeof ImportFields.static;
const upload = { bytesMax, fields: ImportFields };

const ImportView = Type.Intersect([RunView, Type.Object({ report: Type.Unknown() })]);
const viewImport = (run: Run) => ({ ...viewRun(run), report: { ...run.result, problems: run.problems } });

/** What the report says of itself is text of the report, too. */
class MaskedFacts implements ReportFacts {
  complete = true;
  isPartial = false;
  inventory: Set<string> | null = null;
  scannedAt: Date | null = null;
  roots: readonly string[] = [];
  #root: string | null = null;
  #tool = '';
  #version = '';
  #components: ReportFacts['components'] = null;
  get tool(): string {
    return this.#tool;
  }
  set tool(text: string) {
    this.#tool = maskSecrets(cut(text, 200));
  }
  get root(): string | null {
    return this.#root;
  }
  set root(path: string | null) {
    this.#root = path === null ? null : maskSecrets(cut(path, 1000));
  }
  get version(): string {
    return this.#version;
  }
  set version(text: string) {
    this.#version = maskSecrets(cut(text, 200));
  }
  get components(): ReportFacts['components'] {
    return this.#components;
  }
  set components(listed: ReportFacts['components']) {
    this.#components = maskValues(listed, (text) => maskSecrets(text));
  }
}

export async function formatOf(call: Pick<Call, 'sql'>, name: string, file: ReportFile): Promise<Format> {
  if (!name.startsWith('mapping:')) return findFormat(name, file);
  const [mapping] = await call.sql<Mapping[]>`select * from vm_mappings where name = ${name.slice(8)}`;
  if (mapping === undefined) throw unfit('format', `names no mapping ${name.slice(8)}`);
  return mappedFormat(mapping);
}

/** When it was seen: what the request says, else what the report says, else now; never later than now. */
function seenAt(fields: Fields, facts: ReportFacts, now: Date): Date {
  if (fields.scan_date !== undefined) {
    const at = toMoment(fields.scan_date, 'scan_date');
    if (at > now) throw unfit('scan_date', 'lies ahead');
    return at;
  }
  return facts.scannedAt !== null && facts.scannedAt <= now ? facts.scannedAt : now;
}

export interface Done {
  readonly run: Run;
  readonly report: ImportReport;
  readonly facts: ReportFacts;
}

/** What is read before the transaction of an import: the embedded database serves nobody else within one. */
export interface ImportTerms {
  /** The key of identities; rows from before are stored under it then. */
  readonly keyed: Keyed;
  /** 100: it may close everything. */
  readonly closePercentMax: number;
}

export async function termsFor(call: Call, fields: Pick<Fields, 'application_id' | 'confirm_close'>) {
  const { id } = await requireApplication(call.sql, call.reach, fields.application_id);
  const percent = (await call.host.closePercentMax?.()) ?? closePercentDefault;
  const terms: ImportTerms = {
    keyed: await readyForImport(call.host, id),
    closePercentMax: fields.confirm_close === true ? 100 : percent,
  };
  return terms;
}

/** Where the report belongs. */
type Target = Pick<ImportScope, 'applicationId' | 'scopeKey'>;

/** Reads as far as the first record: with it the report's own facts are known. */
async function openReport(call: Call, fields: Fields, file: ReportFile, format: Format, sql: Queryable, to: Target) {
  if (fields.root !== undefined && fields.strip_prefix !== undefined && fields.root !== fields.strip_prefix)
    throw unfit('strip_prefix', 'contradicts root', 'send one of them');
  const facts = new MaskedFacts();
  const source = {
    ...to,
    sql,
    root: fields.root ?? fields.strip_prefix,
    again: () => severalAtOnce(format.read(file, new MaskedFacts())),
  };
  const items = inRepository(severalAtOnce(format.read(file, facts)), facts, source);
  const first = await items.next();
  const rest = async function* () {
    if (first.done !== true) yield first.value;
    yield* items;
  };
  return { facts, items: rest(), seenAt: seenAt(fields, facts, call.now) };
}

const scopeKeyOf = (id: number, { branch = '', scope_key = '' }: Fields, format: Format): string =>
  [id, format.name, branch, scope_key].join('|');

/** The whole import within a transaction of the caller's. */
export async function importInto(
  tx: Tx,
  call: Call,
  fields: Fields,
  file: ReportFile,
  format: Format,
  terms: ImportTerms,
): Promise<Done> {
  const { now, caller } = call;
  const application = await requireApplication(tx, call.reach, fields.application_id);
  const { mode = 'add', branch = '', commit = '' } = fields;
  const scopeKey = scopeKeyOf(application.id, fields, format);
  await lockScope(tx, scopeKey);
  const input = { format: format.name, mode, branch, commit, scope_key: fields.scope_key ?? '', bytes: file.bytes };
  const run = await insertRun(
    tx,
    { kind: 'import', applicationId: application.id, input, createdBy: caller.actor.name, scopeKey, status: 'running' },
    now,
  );
  const target = { applicationId: application.id, scopeKey };
  const { facts, items, seenAt: at } = await openReport(call, fields, file, format, tx, target);
  const scope = {
    applicationId: application.id,
    projectId: application.project_id,
    scopeKey,
    mode,
    runId: run.id,
    actor: caller.actor,
    now,
    seenAt: at,
    ...terms,
  };
  const report = await importItems(tx, items, facts, scope);
  const { problems, ...counters } = report;
  const components =
    facts.components === null ? {} : { components: await storeComponents(tx, facts.components, scope) };
  const { tool, version, complete: isWhole, isPartial, root } = facts;
  const complete = isWhole && report.unknown_severities === 0;
  const unfinished = !isWhole && !isPartial && report.unread === 0;
  const result = { ...counters, ...components, tool, tool_version: version, complete, unfinished, root };
  const done = await finishRun(tx, run.id, { status: 'succeeded', result, problems }, now);
  if (report.created + report.updated > 0) await applyNewMutes(tx, caller.actor, run.id, now);
  const payload = { created: report.created, reopened: report.reopened, closed: report.closed };
  await emit(
    tx,
    [{ type: 'import.done', entity: 'run', entityId: run.id, applicationId: application.id, payload }],
    now,
  );
  return { run: done, report, facts };
}

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
      const { run } = await call.audited(
        'vm.import',
        ({ run: made, facts }: Done) => `imported a report of ${facts.tool} (run ${made.id})`,
        (tx) => importInto(tx, call, sent.fields, file, format, terms),
        ({ report }) => ({ ...report, problems: report.problems.length }),
      );
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
      const application = await requireApplication(call.sql, call.reach, fields.application_id);
      const target = { applicationId: application.id, scopeKey: scopeKeyOf(application.id, fields, format) };
      const { facts, items, seenAt: at } = await openReport(call, fields, file, format, call.sql, target);
      const report = await previewItems(call.sql, items, facts, {
        ...target,
        projectId: application.project_id,
        mode: fields.mode ?? 'add',
        runId: 0,
        actor: call.caller.actor,
        now: call.now,
        seenAt: at,
        ...terms,
      });
      return { report: { ...report, root: facts.root }, tool: facts.tool };
    } finally {
      await sent.discard();
    }
  },
});

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
    handle: async ({ sql, reach, params }) => {
      const id = toId(params['id'] ?? '', 'import');
      const [run] = await sql<Run[]>`
        select * from vm_runs where id = ${id} and kind = 'import' and ${visibleByApplication('vm_runs')(sql, reach)}`;
      if (run === undefined) throw notFound('import', id);
      return viewImport(run);
    },
  }),
];
