// /threat-models: models of data flows, written or read from documents, and their pictures.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { Id, Name, requireApplication, visibleByApplication } from '../assets/resources.js';
import { allOf, type Tx } from '../database.js';
import { severityNames } from '../findings/words.js';
import { isUnconfined } from '../kit/caller.js';
import { endpoint, toId, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage, SortQuery } from '../kit/list.js';
import { requireRow, resourceEndpoints, type Resource, type Row } from '../kit/resource.js';
import { textOf } from '../kit/values/text.js';
import { maskSecrets } from '../secrets/mask.js';
import { factsOf, merge, seedOf } from './derive/seed.js';
import { drawDfd, type Count } from './diagram/svg.js';
import { documentCharactersMax, readDocument, writeDocument } from './formats/document.js';
import { checkDfd, Dfd, emptyDfd } from './model.js';
import { findingsFor } from './standing.js';
import { deriveInto, saveDfd } from './store.js';
import { ruleById, threatRules } from './rules/index.js';
import { threatEndpoints } from './threat-endpoints.js';

const closed = { additionalProperties: false } as const;
const modelsMax = 200;
const bodyBytesMax = 1_048_576;
const formats = ['gatehouse', 'threagile', 'otm'] as const;

/** What people wrote of others' systems may hold a password. */
const masked = (dfd: Dfd): Dfd => ({
  ...dfd,
  elements: dfd.elements.map((one) =>
    one.description === undefined ? one : { ...one, description: maskSecrets(one.description) },
  ),
});

/** A document in the place of a model becomes one; throws 422 for either that does not hold together. */
function readGiven(values: Record<string, unknown>, isNew: boolean): void {
  const { document, dfd } = values;
  delete values['document'];
  if (document !== undefined && dfd !== undefined)
    throw unfit('/document', 'does not go with dfd', 'give one of the two');
  if (document !== undefined) {
    const read = readDocument(document as string);
    [values['dfd'], values['format'], values['notes']] = [masked(read.dfd), read.format, read.notes];
  } else if (dfd !== undefined) {
    values['dfd'] = masked(checkDfd(dfd as Dfd));
  } else if (isNew) values['dfd'] = emptyDfd;
}

export const threatModels: Resource = {
  path: '/threat-models',
  noun: 'threat model',
  table: 'vm_threat_models',
  view: 'view_threat_models',
  edit: 'edit_threat_models',
  visible: visibleByApplication('vm_threat_models'),
  only: ['get', 'create', 'patch', 'delete'],
  columns: {
    application_id: { schema: Id, as: 'id', write: 'create', required: true },
    name: { schema: Name, as: 'plain', write: 'always', required: true },
    description: { schema: Type.String({ maxLength: 5000 }), as: 'plain', write: 'always' },
    dfd: { schema: Dfd, as: 'json', write: 'always', isLong: true },
    // never stored: `check` makes the model of it
    document: {
      schema: Type.String({
        maxLength: documentCharactersMax,
        description: 'in the place of `dfd`: YAML or JSON of our own form, of Threagile or of the Open Threat Model',
      }),
      as: 'secret',
      write: 'always',
    },
    format: { schema: OneOf(formats, 'of the document that it was read from'), as: 'plain', write: 'never' },
    notes: { schema: Type.Array(Type.String()), as: 'json', write: 'never' },
    generated_at: { schema: Nullable(Time), as: 'time', write: 'never' },
    created_by: { schema: Type.String(), as: 'plain', write: 'never' },
  },
  check: async (tx, call, values, before) => {
    readGiven(values, before === null);
    if (before !== null) return;
    const { id } = await requireApplication(tx, call.reach, textOf(values['application_id']));
    [values['application_id'], values['created_by']] = [id, call.caller.actor.name];
    const [count] = await tx<{ n: number }[]>`
      select count(*)::integer as n from vm_threat_models where application_id = ${id}`;
    if ((count?.n ?? 0) >= modelsMax)
      throw new ApiError('conflict', `The application has ${modelsMax} threat models already: delete some first.`);
  },
};

const sorts = {
  name: { column: 'name', type: 'text' },
  updated_at: { column: 'updated_at', type: 'time' },
} as const;

interface CountRow {
  readonly model_id: number;
  readonly status: string;
  readonly n: number;
  readonly worst: number;
}

const list = endpoint({
  method: 'GET',
  path: '/threat-models',
  permission: 'view_threat_models',
  kind: 'C',
  summary: 'Threat models: how large each is, and how many of its threats are open',
  query: Type.Object(
    {
      ...ListQuery,
      sort: SortQuery(sorts),
      application_id: Type.Optional(Id),
      q: Type.Optional(Type.String({ maxLength: 200, description: 'words in the name' })),
    },
    closed,
  ),
  answer: List(
    Type.Object({
      id: Type.String(),
      application_id: Type.String(),
      name: Type.String(),
      description: Type.String(),
      format: OneOf(formats),
      elements: Type.Integer(),
      flows: Type.Integer(),
      threats: Type.Record(Type.String(), Type.Integer(), { description: 'by state' }),
      worst_open: Nullable(OneOf(severityNames)),
      generated_at: Nullable(Time),
      created_by: Type.String(),
      version: Type.Integer(),
      created_at: Time,
      updated_at: Time,
    }),
  ),
  handle: async ({ sql, reach, query }) => {
    const { application_id: application, q } = query;
    const where = allOf(sql, [
      threatModels.visible(sql, reach),
      ...(application === undefined ? [] : [sql`application_id = ${toId(application, 'application')}`]),
      ...(q === undefined ? [] : [sql`strpos(lower(name), lower(${q})) > 0`]),
    ]);
    const page = await readPage<Row>(sql, { table: 'vm_threat_models', where, sorts, sort: 'name' }, query);
    const ids = page.items.map(({ id }) => id);
    const counts =
      ids.length === 0
        ? []
        : await sql<CountRow[]>`
      select model_id, status, count(*)::int as n, max(severity)::int as worst from vm_threats
      where is_current and model_id in ${sql(ids)} group by 1, 2`;
    return { ...page, items: page.items.map((row) => summaryOf(row, counts)) };
  },
});

function summaryOf(row: Row, counts: readonly CountRow[]) {
  const own = counts.filter(({ model_id: id }) => id === row.id);
  const dfd = row['dfd'] as Dfd;
  const at = (name: string): string | null => (row[name] as Date | null)?.toISOString() ?? null;
  const worst = own.find(({ status }) => status === 'open')?.worst;
  return {
    ...{ id: String(row.id), application_id: textOf(row['application_id']), name: row['name'] },
    ...{ description: row['description'], format: row['format'], created_by: row['created_by'] },
    ...{ elements: dfd.elements.length, flows: dfd.flows?.length ?? 0 },
    threats: Object.fromEntries(own.map(({ status, n }) => [status, n])),
    worst_open: worst === undefined ? null : (severityNames[worst] ?? null),
    ...{ generated_at: at('generated_at'), version: row.version },
    ...{ created_at: at('created_at'), updated_at: at('updated_at') },
  };
}

const modelOf = async (call: Call, lockedBy?: Tx) => {
  const row = await requireRow(
    lockedBy ?? call.sql,
    threatModels,
    call.reach,
    call.params['id'] ?? '',
    lockedBy !== undefined,
  );
  return {
    id: row.id,
    application: row['application_id'] as number,
    name: textOf(row['name']),
    dfd: row['dfd'] as Dfd,
  };
};

const generate = endpoint({
  method: 'POST',
  path: '/threat-models/:id/generate',
  permission: 'edit_threat_models',
  kind: 'B',
  summary: 'Add to the model what is known of the application, and derive its threats; the same threat keeps its state',
  body: Type.Object(
    {
      derive: Type.Optional(
        Type.Boolean({
          default: true,
          description: 'add what application, inventory, specifications, bill of materials and findings say',
        }),
      ),
    },
    { ...closed, examples: [{ derive: true }] },
  ),
  answer: Type.Object({
    added: Type.Integer({ description: 'elements and flows' }),
    threats: Type.Integer(),
    created: Type.Integer(),
    returned: Type.Integer({ description: 'were of the model once, and are again' }),
    gone: Type.Integer({ description: 'no longer of the model; kept with what was decided' }),
    reopened: Type.Integer({ description: 'were mitigated, and a proven finding is open' }),
  }),
  handle: async (call) => {
    const { application } = await modelOf(call);
    // asked before the transaction, which keeps the connection
    const facts =
      call.body.derive === false ? null : await factsOf(call.sql, call.host, application, isUnconfined(call.reach));
    return call.audited(
      'vm.update',
      (made: { threats: number }) => `derived ${made.threats} threats of the threat model ${call.params['id']}`,
      async (tx) => {
        const model = await modelOf(call, tx);
        const { dfd, added } = facts === null ? { dfd: model.dfd, added: 0 } : merge(model.dfd, seedOf(facts));
        if (JSON.stringify(dfd) !== JSON.stringify(model.dfd)) await saveDfd(tx, model.id, checkDfd(dfd), call.now);
        const reach = call.caller.reach('view_findings', false);
        const findings = await findingsFor(tx, application, reach, ruleById.keys());
        return { added, ...(await deriveInto(tx, { id: model.id, dfd }, findings, call.now)) };
      },
    );
  },
});

const diagram = endpoint({
  method: 'GET',
  path: '/threat-models/:id/diagram',
  permission: 'view_threat_models',
  kind: 'X',
  summary: 'The picture of the model as SVG: elements, flows, boundaries, and how many threats are open at each',
  query: Type.Object(
    {
      of: Type.Optional(
        Type.String({ maxLength: 60, description: 'anything: a browser asks anew for another address' }),
      ),
    },
    closed,
  ),
  mediaType: 'image/svg+xml',
  handle: async (call) => {
    const { id, name, dfd } = await modelOf(call);
    const rows = await call.sql<{ subject_id: string; open: number; worst: number }[]>`
      select subject_id, count(*)::int as open, max(severity)::int as worst from vm_threats
      where model_id = ${id} and is_current and status = 'open' group by 1`;
    const counts = new Map<string, Count>(rows.map(({ subject_id: subject, ...count }) => [subject, count]));
    call.reply.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'");
    return drawDfd(name, dfd, counts);
  },
});

const documentOf = endpoint({
  method: 'GET',
  path: '/threat-models/:id/document',
  permission: 'view_threat_models',
  kind: 'X',
  summary: 'The model as a document that POST and PATCH read again',
  query: Type.Object({ format: Type.Optional(OneOf(['yaml', 'json'])) }, closed),
  mediaType: 'application/yaml',
  handle: async (call) => {
    const { id, name, dfd } = await modelOf(call);
    const { format = 'yaml' } = call.query;
    call.reply
      .type(format === 'json' ? 'application/json; charset=utf-8' : 'application/yaml; charset=utf-8')
      .header('content-disposition', `attachment; filename="threat-model-${id}.${format}"`);
    return Buffer.from(writeDocument(name, dfd, format));
  },
});

const rules = endpoint({
  method: 'GET',
  path: '/threat-models/rules',
  permission: 'view_threat_models',
  kind: 'A',
  summary: 'The rules that threats are derived by',
  answer: Type.Object({
    items: Type.Array(
      Type.Object({
        id: Type.String(),
        stride: Type.String(),
        of: OneOf(['element', 'flow']),
        title: Type.String(),
        about: Type.String(),
        fix: Type.String(),
        cwes: Type.Array(Type.Integer()),
        measures: Type.Array(Type.String(), { description: 'of the firewall' }),
        when: Type.Array(Type.Array(Type.Unknown()), { description: 'conditions on facts of the subject; all hold' }),
        severity: OneOf(severityNames),
        worse: Type.Array(Type.Array(Type.Unknown()), { description: 'each that holds makes it one worse' }),
      }),
    ),
  }),
  handle: async () => ({
    items: threatRules.map((rule) => ({ ...rule, severity: severityNames[rule.severity] ?? 'low' })),
  }),
});

/** Models are longer than other bodies. */
const withLongBody = (row: Endpoint): Endpoint =>
  row.body === undefined ? row : { ...row, raw: { bytesMax: bodyBytesMax } };

/** What has a name of its own stands before what has an id. */
export const threatModelEndpoints: readonly Endpoint[] = [
  list,
  rules,
  ...resourceEndpoints(threatModels).map(withLongBody),
  generate,
  diagram,
  documentOf,
  ...threatEndpoints,
];
