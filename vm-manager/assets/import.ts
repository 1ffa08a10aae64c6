// POST /applications/import: applications as a register of them has them, as CSV or JSON. Each row is taken or refused
// by itself, with the reason; the same file again changes nothing.
import { ApiError, Nullable, OneOf } from '#http-kit';
import { Type, type Static, type TSchema } from '@sinclair/typebox';
import { Value, ValueErrorType } from '@sinclair/typebox/value';
import type { Tx } from '../database.js';
import { parseJson, readWhole } from '../imports/reading/report-file.js';
import { readRows } from '../imports/reading/csv.js';
import { receiveReport } from '../imports/receive-report.js';
import { endpoint, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { bodyOf, insertRow, refuseConflicts, toView, updateRow, type Row } from '../kit/resource.js';
import { isUnconfined, reachable } from '../kit/caller.js';
import { applications } from './resources.js';

const closed = { additionalProperties: false } as const;
export const rowsMax = 5000;
/** The embedded database is one connection: no transaction is longer. */
const atOnce = 50;
const bytesMax = 5 * 1024 * 1024;

const patch = bodyOf(applications, true);
const { demo: _demo, ...columns } = bodyOf(applications, false).properties;
/** The checker of rows knows unions of words, and no lists of them. */
const checkable = (schema: TSchema): TSchema =>
  Array.isArray(schema['enum']) ? Type.Union((schema['enum'] as string[]).map((word) => Type.Literal(word))) : schema;
const checkables = Object.fromEntries(
  Object.entries(columns).map(([name, schema]) => [name, name === 'name' ? schema : Type.Optional(checkable(schema))]),
);

/** Members of a row; `project` names one that is there. */
const RowBody = Type.Object(
  { ...checkables, project: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })) },
  { ...closed, minProperties: 1 },
);
type Given = Readonly<Record<string, unknown>>;

const Body = Type.Object(
  {
    items: Type.Array(Type.Unknown({ description: 'an object with members as POST /applications takes them' }), {
      minItems: 1,
      maxItems: rowsMax,
    }),
    dry_run: Type.Optional(Type.Boolean({ description: 'says what would become of each row, and changes nothing' })),
  },
  { ...closed, examples: [{ items: [{ external_id: 'cmdb-1', name: 'Ledger', environment: 'prod' }], dry_run: true }] },
);
const upload = {
  bytesMax,
  fields: Type.Object(
    {
      dry_run: Type.Optional(Type.Boolean()),
      format: Type.Optional(Type.Union([Type.Literal('csv'), Type.Literal('json')])),
    },
    closed,
  ),
};

const lists = new Set(['data_classes', 'tags']);
const known = new Set([...Object.keys(columns), 'project']);

interface Sheet {
  /** With the number that a person finds the row by: its line of CSV, its place in a list. */
  readonly rows: readonly (readonly [number, Given])[];
  readonly ignored: readonly string[];
}

const tooMany = (): ApiError => unfit('file', `has more than ${rowsMax} rows`, 'send it in several parts');

/** Empty cells say nothing; lists are written with `;` or `|`. */
const cellsOf = (row: Readonly<Record<string, string>>): Given =>
  Object.fromEntries(
    Object.entries(row)
      .filter(([name, value]) => known.has(name) && value.trim() !== '')
      .map(([name, value]) => [
        name,
        lists.has(name)
          ? [
              ...new Set(
                value
                  .split(/[;|]/)
                  .map((one) => one.trim())
                  .filter((one) => one !== ''),
              ),
            ]
          : value.trim(),
      ]),
  );

async function readCsv(file: Parameters<typeof readRows>[0]): Promise<Sheet> {
  const rows: (readonly [number, Given])[] = [];
  const ignored = new Set<string>();
  for await (const [line, row] of readRows(file)) {
    if (rows.length >= rowsMax) throw tooMany();
    for (const name of Object.keys(row)) if (!known.has(name)) ignored.add(name.slice(0, 100));
    rows.push([line, cellsOf(row)]);
  }
  if (rows.length === 0)
    throw unfit('file', 'has no rows', `its head line names columns such as ${[...known].join(', ')}`);
  if (ignored.size >= Object.keys(rows[0]?.[1] ?? {}).length + ignored.size)
    throw unfit('file', 'has no column that is known', `name some of ${[...known].join(', ')}`);
  return { rows, ignored: [...ignored] };
}

const listed = (items: readonly unknown[]): Sheet => {
  if (items.length > rowsMax) throw tooMany();
  return { rows: items.map((one, index) => [index + 1, one as Given]), ignored: [] };
};

async function readSheet(call: Call): Promise<Sheet & { readonly dryRun: boolean }> {
  if (/^application\/json\b/i.test(call.request.headers['content-type'] ?? '')) {
    const body: unknown = call.request.body;
    const [error] = Value.Errors(Body, body);
    if (error !== undefined) throw unfit(error.path || '/items', error.message.toLowerCase());
    const { items, dry_run: dryRun = false } = body as Static<typeof Body>;
    return { ...listed(items), dryRun };
  }
  const sent = await receiveReport<{ dry_run?: boolean; format?: 'csv' | 'json'; entry?: string }>(
    call.request,
    upload,
  );
  try {
    const { dry_run: dryRun = false } = sent.fields;
    const isJson =
      sent.fields.format === 'json' || (sent.fields.format === undefined && (await beginsAsJson(sent.file)));
    if (!isJson) return { ...(await readCsv(sent.file)), dryRun };
    const value = parseJson(await readWhole(sent.file), 'file');
    const items = Array.isArray(value) ? value : (value as { items?: unknown } | null)?.items;
    if (!Array.isArray(items)) throw unfit('file', 'is no list', 'write [{…}], or {"items": [{…}]}');
    return { ...listed(items), dryRun };
  } finally {
    await sent.discard();
  }
}

const beginsAsJson = async (file: Parameters<typeof readWhole>[0]): Promise<boolean> =>
  /^[\s\uFEFF]*[[{]/.test((await readWhole(file)).slice(0, 1000));

interface Outcome {
  readonly row: number;
  readonly external_id: string | null;
  readonly name: string | null;
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'refused';
  readonly id: string | null;
  readonly reason: string | null;
}

const textIn = (given: Given, name: string): string | null => (typeof given[name] === 'string' ? given[name] : null);

/** Of the words of a refusal: without the full stop, for a list. */
const reasonOf = (error: ApiError): string => error.message.replace(/\.$/, '').slice(0, 500);

const reasonFor = (type: ValueErrorType, message: string): string => {
  if (type === ValueErrorType.ObjectRequiredProperty) return 'is missing';
  return type === ValueErrorType.ObjectAdditionalProperties ? 'is not a known member' : message.toLowerCase();
};

/** No column takes NUL, which a file may have; the id of a project is asked for before its own check. */
function checkValues(given: Given): void {
  for (const [name, value] of Object.entries(given)) {
    const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (texts.some((one) => typeof one === 'string' && one.includes('\u0000')))
      throw unfit(name, 'has a NUL character');
  }
  const project = given['project_id'] ?? null;
  if (project !== null && !/^[1-9]\d{0,17}$/.test(project as string))
    throw unfit('project_id', 'names no project that you reach');
}

function checkShape(given: Given, isNew: boolean): void {
  const [error] = Value.Errors(isNew ? RowBody : { ...RowBody, required: [] }, given);
  if (error === undefined) return;
  const name = error.path.replace(/^\//, '') || 'the row';
  const { enum: words } = (patch.properties[name] ?? {}) as { enum?: readonly string[] };
  throw unfit(name, words === undefined ? reasonFor(error.type, error.message) : `must be one of ${words.join(', ')}`);
}

async function withProject(tx: Tx, { reach }: Call, { project, ...given }: Given): Promise<Record<string, unknown>> {
  if (project === undefined) return given;
  if (given['project_id'] !== undefined) throw unfit('project', 'does not go with project_id', 'give one of the two');
  const rows = await tx<{ id: number }[]>`
    select id from vm_projects where lower(name) = lower(${project as string})
      and ${reachable(tx, { ...reach, within: null }, tx`null::bigint`, tx`vm_projects.id`)} limit 2`;
  if (rows.length !== 1)
    throw unfit('project', rows.length === 0 ? 'names no project that you reach' : 'names several projects');
  return { ...given, project_id: String(rows[0]?.id) };
}

/**
 * The application that a row is of: by its external id, else by its name in its project; locked. One beyond reach is
 * none, so that nothing is said of it that POST /applications would not say.
 */
async function findRow(tx: Tx, { reach }: Call, given: Given): Promise<Row | null> {
  const external = textIn(given, 'external_id');
  const project = given['project_id'] ?? null;
  const [found] =
    external !== null
      ? await tx<Row[]>`
          select * from vm_applications where external_id = ${external} and ${applications.visible(tx, reach)}
          for update`
      : await tx<Row[]>`
          select * from vm_applications where lower(name) = lower(${textIn(given, 'name') ?? ''})
            and coalesce(project_id, 0) = ${project === null ? 0 : Number(project)}
            and ${applications.visible(tx, reach)} for update`;
  return found ?? null;
}

/** A site or a name that is said again by who may give it confirms what nobody has confirmed: that is a change. */
const isSame = (before: Row, given: Given, confirms: boolean): boolean => {
  if (confirms && typeof given['site'] === 'string' && before['site_confirmed'] === false) return false;
  const isNamed = given['name'] !== undefined || given['external_id'] !== undefined;
  if (confirms && isNamed && before['names_confirmed'] === false) return false;
  const view = toView(applications, before);
  return Object.entries(given).every(([name, value]) => JSON.stringify(view[name]) === JSON.stringify(value));
};

async function takeRow(
  tx: Tx,
  call: Call,
  raw: Given,
  sites: readonly string[] | null,
): Promise<Pick<Outcome, 'outcome' | 'id'>> {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) throw unfit('the row', 'is no object');
  checkShape(raw, false);
  checkValues(raw);
  const given = await withProject(tx, call, raw);
  const site = given['site'];
  const isWhole = isUnconfined(call.reach);
  // who may name no site does not learn which ones there are
  if (isWhole && typeof site === 'string' && sites?.includes(site) === false)
    throw unfit('site', 'names no site of the firewall');
  const before = await findRow(tx, call, given);
  if (before === null) {
    checkShape(raw, true);
    const made = await insertRow(tx, applications, call, given);
    return { outcome: 'created', id: String(made.id) };
  }
  const id = String(before.id);
  if (isSame(before, given, isWhole)) return { outcome: 'unchanged', id };
  await updateRow(tx, applications, call, given, before);
  return { outcome: 'updated', id };
}

/** Which of the rows say again what another one says first. */
function repeated(rows: Sheet['rows']): Map<number, number> {
  const first = new Map<string, number>();
  const again = new Map<number, number>();
  for (const [row, given] of rows) {
    if (typeof given !== 'object' || given === null) continue;
    const external = textIn(given, 'external_id');
    const project = (textIn(given, 'project_id') ?? textIn(given, 'project') ?? '').toLowerCase();
    const key = external === null ? `n ${project} ${(textIn(given, 'name') ?? '').toLowerCase()}` : `e ${external}`;
    const before = first.get(key);
    if (before === undefined) first.set(key, row);
    else again.set(row, before);
  }
  return again;
}

/** Ends a transaction whose outcome is known, and is not to be kept. */
class Undone extends Error {
  readonly outcomes: readonly Outcome[];
  constructor(outcomes: readonly Outcome[]) {
    super('a dry run');
    this.outcomes = outcomes;
  }
}

async function takeRows(
  tx: Tx,
  call: Call,
  rows: Sheet['rows'],
  about: { readonly sites: readonly string[] | null; readonly again: ReadonlyMap<number, number> },
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const [row, given] of rows) {
    const told = { row, external_id: textIn(given ?? {}, 'external_id'), name: textIn(given ?? {}, 'name') };
    try {
      const before = about.again.get(row);
      if (before !== undefined) throw new ApiError('conflict', `It is in the file already, in row ${before}`);
      const made = await refuseConflicts(applications, () =>
        tx.savepoint((inner) => takeRow(inner, call, given, about.sites)),
      );
      outcomes.push({ ...told, ...made, reason: null });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      outcomes.push({ ...told, outcome: 'refused', id: null, reason: reasonOf(error) });
    }
  }
  return outcomes;
}

const count = (outcomes: readonly Outcome[]) => {
  const of = (wanted: Outcome['outcome']): number => outcomes.filter(({ outcome }) => outcome === wanted).length;
  return { created: of('created'), updated: of('updated'), unchanged: of('unchanged'), refused: of('refused') };
};

async function takeAll(call: Call, { rows, dryRun }: Sheet & { readonly dryRun: boolean }): Promise<Outcome[]> {
  const about = { sites: (await call.host.firewall?.sites()) ?? null, again: repeated(rows) };
  const all: Outcome[] = [];
  for (let at = 0; at < rows.length; at += atOnce) {
    const part = rows.slice(at, at + atOnce);
    if (dryRun) {
      const tried = call.sql.begin(async (tx) => {
        throw new Undone(await takeRows(tx, call, part, about));
      });
      await tried.catch((error: unknown) => {
        if (!(error instanceof Undone)) throw error;
        all.push(...error.outcomes);
      });
      continue;
    }
    const made = await call.audited(
      'vm.import',
      (outcomes: Outcome[]) => {
        const { created, updated, refused } = count(outcomes);
        return `imported applications: ${created} created, ${updated} changed, ${refused} refused`;
      },
      (tx) => takeRows(tx, call, part, about),
      (outcomes) => ({
        ids: outcomes.filter(({ outcome }) => outcome === 'created' || outcome === 'updated').map(({ id }) => id),
      }),
    );
    all.push(...made);
  }
  return all;
}

export const importApplications: Endpoint = endpoint({
  method: 'POST',
  path: '/applications/import',
  permission: 'edit_assets',
  kind: 'I',
  summary:
    `Create and change up to ${rowsMax} applications by external_id, else by name and project: CSV or JSON as a ` +
    'file, or JSON as the body; each row by itself',
  upload,
  body: Body,
  answer: Type.Object({
    dry_run: Type.Boolean(),
    rows: Type.Integer(),
    created: Type.Integer(),
    updated: Type.Integer(),
    unchanged: Type.Integer(),
    refused: Type.Integer(),
    ignored_columns: Type.Array(Type.String()),
    items: Type.Array(
      Type.Object({
        row: Type.Integer({ description: 'the line of CSV; the place in a list, from 1' }),
        external_id: Nullable(Type.String()),
        name: Nullable(Type.String()),
        outcome: OneOf(['created', 'updated', 'unchanged', 'refused']),
        id: Nullable(Type.String({ description: 'in a dry run of what would be created: of nothing' })),
        reason: Nullable(Type.String()),
      }),
    ),
  }),
  handle: async (call) => {
    if (call.reach.within !== null && call.reach.within.length === 0)
      throw new ApiError('scope_denied', 'The token reaches no application.');
    const sheet = await readSheet(call);
    const outcomes = await takeAll(call, sheet);
    return {
      ...{ dry_run: sheet.dryRun, rows: sheet.rows.length, ...count(outcomes), ignored_columns: [...sheet.ignored] },
      items: outcomes.map((one) => (sheet.dryRun && one.outcome === 'created' ? { ...one, id: null } : one)),
    };
  },
});
