// /vex/import and /vex/statements: what others and people here say of vulnerabilities, and what findings made of it.
import { Nullable, OneOf, Time } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import { requireApplication, visibleByApplication } from '../assets/resources.js';
import { allOf, json, type Tx } from '../database.js';
import { justifications } from '../findings/words.js';
import { readJson } from '../imports/reading/report-file.js';
import { isUnconfined } from '../kit/caller.js';
import { hasOneOf, SomeOf } from '../kit/comma-list.js';
import { endpoint, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage } from '../kit/list.js';
import { receive } from '../kit/upload/receive.js';
import { apply, type Outcome } from './apply.js';
import { vexFormats } from './documents.js';
import { meet } from './meeting.js';
import { readVex, type Stated, type VexDocument } from './read.js';

const closed = { additionalProperties: false } as const;
const bytesMax = 32 * 1024 * 1024;
/** Of each list in an answer; the numbers count all. */
const shownMax = 500;
const idsShown = 100;
const statuses = ['affected', 'not_affected', 'fixed', 'under_investigation'] as const;
const vexSources = [...vexFormats, 'person'] as const;

const OutcomeView = Type.Object({
  vulnerability: Type.String(),
  aliases: Type.Array(Type.String()),
  product: Type.String(),
  status: OneOf(statuses),
  justification: Nullable(Type.String()),
  application_id: Nullable(Type.String()),
  vuln_ids: Type.Array(Type.String(), { description: `findings that it met, ${idsShown} at most` }),
  changed: Type.Integer(),
});
const ConflictView = Type.Object({
  finding_id: Type.String(),
  vulnerability: Type.String(),
  stated: OneOf(statuses),
  status: Type.String(),
  reason: Type.String(),
});
const Report = Type.Object({
  statements: Type.Integer(),
  matched_total: Type.Integer({ description: 'statements that met a finding' }),
  unmatched_total: Type.Integer(),
  changed: Type.Integer({ description: 'findings that followed' }),
  conflicts_total: Type.Integer(),
  matched: Type.Array(OutcomeView, { description: `${shownMax} at most` }),
  unmatched: Type.Array(OutcomeView, { description: `${shownMax} at most` }),
  conflicts: Type.Array(ConflictView, { description: `findings that say otherwise, and stay; ${shownMax} at most` }),
});

const viewOutcome = ({ stated, application, findings, changed }: Outcome) => ({
  vulnerability: stated.ids[0] ?? '',
  aliases: stated.ids.slice(1),
  product: stated.product,
  status: stated.status,
  justification: stated.justification,
  application_id: application === null ? null : String(application),
  vuln_ids: findings.slice(0, idsShown).map(String),
  changed,
});

function report(statements: readonly Stated[], outcomes: readonly Outcome[]) {
  const matched = outcomes.filter(({ application }) => application !== null);
  const unmatched = outcomes.filter(({ application }) => application === null);
  const conflicts = outcomes.flatMap(({ stated, conflicts: some }) =>
    some.map((one) => ({ ...one, vulnerability: stated.ids[0] ?? '', stated: stated.status })),
  );
  return {
    statements: statements.length,
    matched_total: statements.length - unmatched.length,
    unmatched_total: unmatched.length,
    changed: outcomes.reduce((sum, { changed }) => sum + changed, 0),
    conflicts_total: conflicts.length,
    matched: matched.slice(0, shownMax).map(viewOutcome),
    unmatched: unmatched.slice(0, shownMax).map(viewOutcome),
    conflicts: conflicts.slice(0, shownMax),
  };
}

const batch = 500;

/** What met nothing is kept for callers of the whole organisation only: it belongs to no application. */
async function keep(
  tx: Tx,
  call: Call,
  outcomes: readonly Outcome[],
  from: { readonly source: (typeof vexSources)[number]; readonly document: string; readonly author: string },
  given: { readonly id: number } | null,
): Promise<void> {
  const rows = outcomes.flatMap(({ stated, application, findings, changed, conflicts }) => {
    const of = application ?? given?.id ?? null;
    if (of === null && !isUnconfined(call.reach)) return [];
    return [
      {
        ...from,
        application_id: of,
        vulnerability: stated.ids[0] ?? '',
        aliases: json(tx, stated.ids.slice(1)),
        product: stated.product,
        status: stated.status,
        justification: stated.justification,
        statement: stated.statement,
        ...{ matched: findings.length, changed, conflicts: conflicts.length },
        stated_at: stated.at,
        created_by: call.caller.actor.name,
        created_at: call.now,
      },
    ];
  });
  for (let at = 0; at < rows.length; at += batch)
    await tx`insert into vm_vex_statements ${tx(rows.slice(at, at + batch) as never)}`;
}

const ImportFields = Type.Object(
  {
    application_id: Type.Optional(
      Type.String({ maxLength: 20, description: 'absent: every application within reach that has the product' }),
    ),
    dry_run: Type.Optional(Type.Boolean({ description: 'what would follow; nothing is kept' })),
  },
  closed,
);
const upload = { bytesMax, fields: ImportFields };

const DocumentView = Type.Object({
  format: OneOf(vexFormats),
  id: Type.String(),
  author: Type.String(),
  dry_run: Type.Boolean(),
  unread: Type.Array(Type.Object({ at: Type.String(), reason: Type.String() })),
});

type Given = Awaited<ReturnType<typeof requireApplication>> | null;

/** The application that the fields name, and what the document meets there; nothing is written, or held. */
async function prepare(call: Call, document: VexDocument, fields: Static<typeof ImportFields>) {
  const given: Given =
    fields.application_id === undefined ? null : await requireApplication(call.sql, call.reach, fields.application_id);
  // a supplier's word on its own product says nothing of each application that has the same vulnerability
  if (given === null && document.statements.some(({ product }) => product === ''))
    throw unfit('application_id', 'is missing', 'the document speaks of its product as a whole: name the application');
  const application = given === null ? null : Number(given.id);
  return { given, meeting: await meet(call.sql, call.reach, application, document.statements) };
}

type Prepared = Awaited<ReturnType<typeof prepare>>;

async function importDocument(tx: Tx, call: Call, document: VexDocument, isTrial: boolean, ready: Prepared) {
  const { given, meeting } = ready;
  const applying = { meeting, isTrial, actor: call.caller.actor, now: call.now };
  const outcomes = await apply(tx, document.statements, applying);
  const { format, id, author, unread } = document;
  if (!isTrial) await keep(tx, call, outcomes, { source: format, document: id, author }, given);
  return { format, id, author, dry_run: isTrial, unread: [...unread], ...report(document.statements, outcomes) };
}

export const VexReport = Type.Object({ ...DocumentView.properties, ...Report.properties });

/** Applies a document with the rights that `call.reach` says, and audits it. */
export async function takeDocument(call: Call, document: VexDocument, fields: Static<typeof ImportFields>) {
  const isTrial = fields.dry_run === true;
  const ready = await prepare(call, document, fields);
  return call.audited(
    'vm.import',
    (made: Static<typeof Report>) =>
      `${isTrial ? 'tried' : 'imported'} VEX: ${made.matched_total} of ${made.statements} ` +
      `statements met findings, ${made.changed} changed`,
    (tx) => importDocument(tx, call, document, isTrial, ready),
    ({ matched_total, unmatched_total, changed, conflicts_total }) => ({
      ...{ matched_total, unmatched_total, changed, conflicts_total },
      document: document.id,
    }),
  );
}

const importing = endpoint({
  method: 'POST',
  path: '/vex/import',
  permission: 'triage_findings',
  kind: 'I',
  summary: 'Apply an OpenVEX, CSAF 2.0 or CycloneDX document to findings: which statements met some, and which none',
  upload,
  answer: VexReport,
  handle: async (call) => {
    const sent = await receive<Static<typeof ImportFields>>(call.request, upload);
    try {
      const document = readVex(await readJson({ path: sent.file, bytes: sent.bytes }));
      return await takeDocument(call, document, sent.fields);
    } finally {
      await sent.discard();
    }
  },
});

const StatementView = Type.Object({
  id: Type.String(),
  application_id: Nullable(Type.String()),
  vulnerability: Type.String(),
  aliases: Type.Array(Type.String()),
  product: Type.String(),
  status: OneOf(statuses),
  justification: Nullable(Type.String()),
  statement: Type.String(),
  source: OneOf(vexSources),
  document: Type.String(),
  author: Type.String(),
  matched: Type.Integer({ description: 'findings that it met' }),
  changed: Type.Integer(),
  conflicts: Type.Integer(),
  stated_at: Nullable(Time),
  created_by: Type.String(),
  created_at: Time,
});
type StatementRow = Static<typeof StatementView> & {
  readonly id: number;
  readonly application_id: number | null;
  readonly stated_at: Date | null;
  readonly created_at: Date;
};

const viewStatement = ({ sort_value: _, ...row }: StatementRow & Record<string, unknown>) => ({
  ...row,
  id: String(row.id),
  application_id: row.application_id === null ? null : String(row.application_id),
  stated_at: (row.stated_at as Date | null)?.toISOString() ?? null,
  created_at: (row.created_at as Date).toISOString(),
});

const listing = endpoint({
  method: 'GET',
  path: '/vex/statements',
  permission: 'view_findings',
  kind: 'C',
  summary: 'Statements that were imported or written here, the newest first, with what they met',
  query: Type.Object(
    {
      ...ListQuery,
      application_id: Type.Optional(Type.String({ maxLength: 20 })),
      vulnerability: Type.Optional(Type.String({ maxLength: 60, description: 'by any of its names' })),
      status: Type.Optional(SomeOf(statuses)),
      source: Type.Optional(SomeOf(vexSources)),
      matched: Type.Optional(Type.Boolean()),
    },
    closed,
  ),
  answer: List(StatementView),
  handle: async ({ sql, reach, query }) => {
    const { application_id: application, vulnerability, status, source, matched, ...wanted } = query;
    const id = (vulnerability ?? '').toUpperCase();
    const where = allOf(sql, [
      visibleByApplication('vm_vex_statements')(sql, reach),
      ...(application === undefined
        ? []
        : [/^\d{1,18}$/.test(application) ? sql`application_id = ${application}` : sql`false`]),
      ...(vulnerability === undefined ? [] : [sql`(vulnerability = ${id} or aliases @> ${json(sql, [id])})`]),
      ...(status === undefined ? [] : [hasOneOf(sql, 'status', status)]),
      ...(source === undefined ? [] : [hasOneOf(sql, 'source', source)]),
      ...(matched === undefined ? [] : [matched ? sql`matched > 0` : sql`matched = 0`]),
    ]);
    const sorts = { id: { column: 'id', type: 'number' } } as const;
    const page = await readPage<StatementRow>(sql, { table: 'vm_vex_statements', where, sorts, sort: '-id' }, wanted);
    return { ...page, items: page.items.map((row) => viewStatement(row as never)) };
  },
});

const VulnId = Type.String({ minLength: 3, maxLength: 60, pattern: '\\S', description: 'such as CVE-2021-44228' });
const Write = Type.Object(
  {
    application_id: Type.String({ maxLength: 20 }),
    vulnerability: VulnId,
    aliases: Type.Optional(Type.Array(VulnId, { maxItems: 20 })),
    product: Type.Optional(
      Type.String({ maxLength: 1000, description: 'a purl, with a version or without; absent: wherever it is' }),
    ),
    status: OneOf(statuses),
    justification: Type.Optional(OneOf(justifications, 'needed for not_affected')),
    statement: Type.Optional(Type.String({ maxLength: 2000 })),
  },
  {
    ...closed,
    examples: [
      {
        ...{ application_id: '1', vulnerability: 'CVE-2021-44228', status: 'not_affected' },
        justification: 'vulnerable_code_not_present',
        statement: 'The class was taken out of the archive.',
      },
    ],
  },
);

const writing = endpoint({
  method: 'POST',
  path: '/vex/statements',
  permission: 'triage_findings',
  kind: 'B',
  summary: 'State how an application is affected by a vulnerability; its findings follow',
  body: Write,
  status: 201,
  answer: Report,
  handle: async (call) => {
    const { body, now, reach, caller } = call;
    if (body.status === 'not_affected' && body.justification === undefined)
      throw unfit('/justification', 'is needed for not_affected', `one of ${justifications.join(', ')}`);
    const ids = [body.vulnerability, ...(body.aliases ?? [])].map((one) => one.trim().toUpperCase());
    const stated: Stated = {
      ids: [...new Set(ids)],
      product: body.product ?? '',
      within: '',
      status: body.status,
      justification: body.justification ?? null,
      statement: body.statement?.trim() ?? '',
      at: now,
    };
    return call.audited(
      'vm.create',
      `stated that ${stated.ids[0]} is ${body.status} in the application ${body.application_id}`,
      async (tx) => {
        const given = await requireApplication(tx, reach, body.application_id);
        const meeting = await meet(tx, reach, Number(given.id), [stated]);
        const applying = { meeting, isTrial: false, actor: caller.actor, now };
        const outcomes = await apply(tx, [stated], applying);
        await keep(tx, call, outcomes, { source: 'person', document: '', author: caller.actor.name }, given);
        return report([stated], outcomes);
      },
      () => body,
    );
  },
});

export const vexStatementEndpoints: readonly Endpoint[] = [importing, listing, writing];
