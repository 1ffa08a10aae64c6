// /templates: texts of tickets, notices, reports and write-ups, their versions, and what they become.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { brandNameOf } from '../branding/current.js';
import { Name } from '../assets/resources.js';
import { json, type Tx } from '../database.js';
import { endpoint, notFound, unfit, type Endpoint } from '../kit/endpoint.js';
import { requireRow, resourceEndpoints, toView, viewSchema, type Resource, type Row } from '../kit/resource.js';
import { checkText, faultsOf } from './engine.js';
import { completed, kinds } from './kinds.js';
import { renderTexts, toldOf } from './render.js';
import { templateKinds, type TemplateKind, type Texts } from './stored.js';

const closed = { additionalProperties: false } as const;
const templatesMax = 500;
const versionsKept = 100;
const Parts = Type.Record(Type.String({ pattern: '^[a-z]{1,30}$' }), Type.String({ maxLength: 10_000 }), {
  description:
    'name → text, as GET /templates/kinds lists them; one that is left out is that of the release, in a change ' +
    'that of before',
});

/** What is wrong with a text as a whole, whatever stands in it. */
function wholeFault(kind: TemplateKind, name: string, text: string) {
  const { parts: known } = kinds[kind];
  const part = known.find((one) => one.name === name);
  if (part === undefined)
    return { reason: `is no text of a ${kind}`, fix: `it has ${known.map((one) => one.name).join(', ')}` };
  if (text.length > part.charactersMax)
    return { reason: `is longer than ${part.charactersMax} characters`, fix: 'write a shorter one' };
  if (part.isLine && /[\r\n]/.test(text)) return { reason: 'has several lines', fix: 'write it as one line' };
  return null;
}

/** Throws 422 for a text that the kind does not have, and for the first fault in one, with line and column. */
function checkParts(kind: TemplateKind, parts: Texts): Texts {
  const { placeholders, whose } = kinds[kind];
  for (const [name, text] of Object.entries(parts)) {
    const path = `/parts/${name}`;
    const fault = wholeFault(kind, name, text);
    if (fault !== null) throw unfit(path, fault.reason, fault.fix);
    checkText(text, placeholders, whose, path);
  }
  return completed(kind, parts);
}

const storeVersion = async (tx: Tx, row: Row, by: string, now: Date): Promise<void> => {
  const parts = row['parts'] as Texts | null;
  await tx`
    insert into vm_template_versions (template_id, version, parts, saved_by, saved_at)
    values (${row.id}, ${row.version}, ${parts === null ? null : json(tx, parts)}, ${by}, ${now})`;
  await tx`
    delete from vm_template_versions where template_id = ${row.id} and version <= ${row.version - versionsKept}`;
};

/** Throws 409 naming who uses it. */
async function refuseUsed(tx: Tx, row: Row): Promise<void> {
  if (row['is_default'] === true)
    throw new ApiError('conflict', 'It is the default of its kind: restore its text instead.');
  const [route] = await tx<{ name: string }[]>`
    select name from vm_notice_routes where template_id = ${row.id} limit 1`;
  const [integration] = await tx<{ name: string }[]>`
    select name from vm_integrations where config ->> 'template_id' = ${String(row.id)} limit 1`;
  const user = route === undefined ? integration && `integration ${integration.name}` : `route ${route.name}`;
  if (user !== undefined) throw new ApiError('conflict', `The ${user} uses it: have it use another one first.`);
}

const templates: Resource = {
  path: '/templates',
  noun: 'template',
  table: 'vm_templates',
  ofOrganisation: 'Templates',
  view: 'view_reports',
  edit: 'manage_templates',
  visible: (sql) => sql`true`,
  columns: {
    kind: { schema: OneOf(templateKinds), as: 'plain', write: 'create', required: true, filter: 'equal' },
    name: { schema: Name, as: 'plain', write: 'always', required: true, searched: true, sort: 'text' },
    is_default: { schema: Type.Boolean(), as: 'plain', write: 'never' },
    parts: { schema: Parts, as: 'json', write: 'always' },
    created_by: { schema: Type.String(), as: 'plain', write: 'never' },
  },
  check: async (tx, call, values, before) => {
    const kind = (values['kind'] ?? before?.['kind']) as TemplateKind;
    if (values['parts'] !== undefined || before === null)
      values['parts'] = checkParts(kind, {
        ...(before?.['parts'] as Texts | null | undefined),
        ...(values['parts'] as Texts | undefined),
      });
    if (before !== null) return;
    values['created_by'] = call.caller.actor.name;
    const [count] = await tx<{ n: number }[]>`select count(*)::integer as n from vm_templates`;
    if ((count?.n ?? 0) >= templatesMax)
      throw new ApiError('conflict', `There are ${templatesMax} templates already: delete some first.`);
  },
  after: (tx, call, row) => storeVersion(tx, row, call.caller.actor.name, call.now),
  beforeDelete: (tx, _, row) => refuseUsed(tx, row),
};

const kindList = endpoint({
  method: 'GET',
  path: '/templates/kinds',
  permission: 'view_reports',
  kind: 'A',
  summary:
    'Kinds of templates: the texts of each with what the release says, and the placeholders that may stand there',
  answer: Type.Object({
    items: Type.Array(
      Type.Object({
        kind: OneOf(templateKinds),
        title: Type.String(),
        about: Type.String(),
        placeholders: Type.Array(Type.String()),
        parts: Type.Array(
          Type.Object({
            name: Type.String(),
            title: Type.String(),
            about: Type.String(),
            characters_max: Type.Integer(),
            line: Type.Boolean({ description: 'one line only' }),
            text: Type.String({ description: 'of the release' }),
          }),
        ),
      }),
    ),
  }),
  handle: async () => ({
    items: templateKinds.map((kind) => {
      const { title, about, placeholders, parts } = kinds[kind];
      return {
        ...{ kind, title, about, placeholders },
        parts: parts.map(({ charactersMax, isLine, ...part }) => ({
          ...part,
          characters_max: charactersMax,
          line: isLine,
        })),
      };
    }),
  }),
});

const FaultView = Type.Object({
  part: Type.String(),
  line: Type.Integer(),
  column: Type.Integer(),
  reason: Type.String(),
  fix: Type.String(),
});

const check = endpoint({
  method: 'POST',
  path: '/templates/check',
  permission: 'view_reports',
  kind: 'B',
  reads: true,
  summary: 'Every fault in the texts of a template, with line and column; nothing is kept',
  body: Type.Object(
    { kind: OneOf(templateKinds), parts: Parts },
    { ...closed, examples: [{ kind: 'ticket', parts: { title: '[{{severity}}] {{title}}' } }] },
  ),
  answer: Type.Object({ ok: Type.Boolean(), faults: Type.Array(FaultView) }),
  handle: async ({ body: { kind, parts } }) => {
    const { placeholders, whose } = kinds[kind];
    const faults = Object.entries(parts).flatMap(([part, text]) => {
      const whole = wholeFault(kind, part, text);
      return [
        ...(whole === null ? [] : [{ part, line: 1, column: 1, ...whole }]),
        ...faultsOf(text, placeholders, whose).map((fault) => ({ part, ...fault })),
      ];
    });
    return { ok: faults.length === 0, faults };
  },
});

const formats = ['plain', 'markdown', 'wiki'] as const;
const render = endpoint({
  method: 'POST',
  path: '/templates/:id/render',
  permission: 'view_reports',
  kind: 'B',
  reads: true,
  summary: 'What a template becomes, over a finding or a sample; with `parts`, what it would become',
  body: Type.Object(
    {
      vulnerability_id: Type.Optional(Type.String({ maxLength: 20, description: 'absent: a sample' })),
      format: Type.Optional(OneOf(formats, 'of the place that it goes to; values are escaped for it')),
      parts: Type.Optional(Parts),
    },
    { ...closed, examples: [{ format: 'markdown' }] },
  ),
  answer: Type.Object({
    sample: Type.Boolean(),
    parts: Type.Array(Type.Object({ name: Type.String(), text: Type.String() })),
  }),
  handle: async (call) => {
    const row = await requireRow(call.sql, templates, call.reach, call.params['id'] ?? '');
    const kind = row['kind'] as TemplateKind;
    const { vulnerability_id: id, format = 'markdown', parts } = call.body;
    const texts = parts === undefined ? ((row['parts'] ?? {}) as Texts) : checkParts(kind, parts);
    const told = await toldOf(call, id);
    const made = renderTexts(call, { kind, texts, format, brand: await brandNameOf(call.host) }, told);
    return { sample: id === undefined, parts: Object.entries(made).map(([name, text]) => ({ name, text })) };
  },
});

interface VersionRow {
  readonly version: number;
  readonly parts: Texts | null;
  readonly saved_by: string;
  readonly saved_at: Date;
}
const VersionView = Type.Object({
  version: Type.Integer(),
  parts: Nullable(Parts),
  saved_by: Type.String(),
  saved_at: Time,
});

const versions = endpoint({
  method: 'GET',
  path: '/templates/:id/versions',
  permission: 'view_reports',
  kind: 'A',
  summary: `The newest ${versionsKept} versions of a template; \`parts\` null: the text of the release`,
  answer: Type.Object({ items: Type.Array(VersionView) }),
  handle: async ({ sql, reach, params }) => {
    const { id } = await requireRow(sql, templates, reach, params['id'] ?? '');
    const rows = await sql<VersionRow[]>`
      select version, parts, saved_by, saved_at from vm_template_versions where template_id = ${id}
      order by version desc`;
    return { items: rows.map(({ saved_at: at, ...row }) => ({ ...row, saved_at: at.toISOString() })) };
  },
});

const restore = endpoint({
  method: 'POST',
  path: '/templates/:id/restore',
  permission: 'manage_templates',
  ofOrganisation: 'Templates',
  kind: 'B',
  summary: 'Save the text of an earlier version again, or with null that of the release; it is a version of its own',
  body: Type.Object(
    { version: Nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 })) },
    { ...closed, examples: [{ version: null }] },
  ),
  answer: viewSchema(templates),
  handle: async (call) => {
    const { version } = call.body;
    const row = await call.audited(
      'vm.update',
      (made: Row) =>
        `restored ${version === null ? 'the text of the release' : `version ${version}`} of template ${made.id}`,
      async (tx) => {
        const before = await requireRow(tx, templates, call.reach, call.params['id'] ?? '', true);
        const [old] =
          version === null
            ? [{ parts: null }]
            : await tx<Pick<VersionRow, 'parts'>[]>`
          select parts from vm_template_versions where template_id = ${before.id} and version = ${version}`;
        if (old === undefined) throw notFound('version', String(version));
        const [made] = await tx<Row[]>`
          update vm_templates set parts = ${old.parts === null ? null : json(tx, old.parts)},
            version = version + 1, updated_at = ${call.now} where id = ${before.id} returning *`;
        if (made === undefined) throw notFound('template', String(before.id));
        await storeVersion(tx, made, call.caller.actor.name, call.now);
        return made;
      },
    );
    return toView(templates, row);
  },
});

/** What has names of its own stands before what has an id. */
export const templateEndpoints: readonly Endpoint[] = [
  kindList,
  check,
  ...resourceEndpoints(templates),
  versions,
  restore,
  render,
];
