// /evidence: packs of what is there, signed, and verified from their bytes on.
import { ApiError, Nullable, OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { brandNameOf } from '../branding/current.js';
import { Name, requireApplication } from '../assets/resources.js';
import { catalogueOf } from '../compliance/lookup.js';
import { allOf, json, type Sql, type Tx } from '../database.js';
import { isUnconfined } from '../kit/caller.js';
import { inBackground } from '../kit/runs/background.js';
import { endpoint, toMoment, unfit, When, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage, SortQuery } from '../kit/list.js';
import { checkVersion } from '../kit/resource.js';
import { insertRun } from '../kit/runs.js';
import { buildEvidence } from './build.js';
import { namesOfApplications, sectionNames, sections, type SectionName } from './sections/index.js';
import { keepDays, keepUntil, PackView, packStates, requirePack, viewPack, type PackRow } from './store.js';

const closed = { additionalProperties: false } as const;
export const runKind = 'evidence';
const packsMax = 500;
const view = { permission: 'view_evidence', ofOrganisation: 'Packs of evidence' } as const;
const build = { permission: 'build_evidence', ofOrganisation: 'Packs of evidence' } as const;
const daysKept = { minimum: keepDays.least, maximum: keepDays.most };
export const KeepDays = Type.Integer({ ...daysKept, default: keepDays.usual });
/** Of a change: what is not said stays, so that a default would be a change that was not asked for. */
export const KeepLonger = Type.Integer({ ...daysKept, description: 'from the day that it was made on' });

const list = endpoint({
  method: 'GET',
  path: '/evidence',
  ...view,
  kind: 'C',
  summary: 'Packs of evidence, the newest first',
  query: Type.Object(
    {
      ...ListQuery,
      sort: SortQuery({ created_at: { column: 'created_at', type: 'time' } }),
      framework: Type.Optional(Type.String({ maxLength: 60 })),
      state: Type.Optional(OneOf(packStates)),
    },
    closed,
  ),
  answer: List(PackView),
  handle: async ({ sql, query }) => {
    const { framework, state, ...wanted } = query;
    const isAlive = sql`run_id in (select id from vm_runs where kind = ${runKind} and status in ('queued', 'running'))`;
    const where = allOf(sql, [
      ...(framework === undefined ? [] : [sql`framework = ${framework}`]),
      ...(state === undefined
        ? []
        : state === 'ready'
          ? [sql`root is not null`]
          : [sql`root is null and ${state === 'building' ? isAlive : sql`not ${isAlive}`}`]),
    ]);
    const sorts = { created_at: { column: 'created_at', type: 'time' } } as const;
    const page = await readPage<PackRow>(
      sql,
      { table: 'vm_evidence_packs', where, sorts, sort: '-created_at' },
      wanted,
    );
    const runs = await runsOf(sql, page.items);
    return { ...page, items: page.items.map((row) => viewPack({ ...row, ...runs(row) })) };
  },
});

async function runsOf(sql: Sql, packs: readonly PackRow[]) {
  const ids = packs.flatMap(({ run_id: id }) => id ?? []);
  const rows =
    ids.length === 0
      ? []
      : await sql<{ id: number; status: string; error: string | null }[]>`
          select id, status, error from vm_runs where id in ${sql(ids)}`;
  return ({ run_id: id }: PackRow) => {
    const run = rows.find((one) => one.id === id);
    return { run_status: run?.status ?? null, run_error: run?.error ?? null };
  };
}

const one = endpoint({
  method: 'GET',
  path: '/evidence/:id',
  ...view,
  kind: 'C',
  summary: 'One pack: what is in it, with source, moment, SHA-256 and controls of each file',
  answer: PackView,
  handle: async ({ sql, params, reply }) => {
    const row = await requirePack(sql, params['id'] ?? '');
    reply.header('etag', `"${row.version}"`);
    return viewPack(row);
  },
});

const Wanted = Type.Object(
  {
    title: Type.Optional(Name),
    framework: Type.Optional(Nullable(Type.String({ maxLength: 60, description: 'null: of no framework, all files' }))),
    period: Type.Object({ from: When, to: When }, closed),
    scope: Type.Optional(
      Type.Object(
        { application_id: Type.Optional(Type.String({ maxLength: 20 })) },
        { ...closed, description: 'absent: the whole organisation' },
      ),
    ),
    sections: Type.Optional(
      Type.Array(OneOf(sectionNames), {
        minItems: 1,
        maxItems: sectionNames.length,
        uniqueItems: true,
        description: 'absent: every section that you may read; about one application, those of applications',
      }),
    ),
    keep_days: Type.Optional(KeepDays),
  },
  {
    ...closed,
    examples: [
      { framework: 'pci-dss', period: { from: '2026-01-01T00:00:00Z', to: '2026-03-31T00:00:00Z' }, keep_days: 730 },
    ],
  },
);

const lacks = ({ caller }: Call, name: SectionName): readonly string[] =>
  sections[name].needs.filter((permission) => {
    const reach = caller.reach(permission, false);
    return reach === null || !isUnconfined(reach);
  });

/** Throws 403 for a section that was named and that the caller may not read. */
function sectionsFor(call: Call, named: readonly SectionName[] | undefined, isOfOne: boolean): SectionName[] {
  if (named === undefined)
    return (isOfOne ? namesOfApplications : sectionNames).filter((name) => lacks(call, name).length === 0);
  const foreign = named.filter((name) => isOfOne && !namesOfApplications.includes(name));
  if (foreign.length > 0)
    throw unfit(
      '/sections',
      `has ${foreign.join(', ')}, which is about the whole organisation`,
      `leave scope out, or name some of ${namesOfApplications.join(', ')}`,
    );
  for (const name of named) {
    const missing = lacks(call, name);
    if (missing.length > 0)
      throw new ApiError('role_denied', `The section ${name} needs the permission ${missing.join(', ')} as well.`);
  }
  return sectionNames.filter((name) => named.includes(name));
}

/** Throws 409 while another one is built: each reads the whole period. Others wait until `sql` has ended. */
async function refuseBeside(sql: Tx): Promise<void> {
  await sql`lock table vm_evidence_packs in share row exclusive mode`;
  const [busy] = await sql<{ id: number }[]>`
    select id from vm_runs where kind = ${runKind} and status = 'running' limit 1`;
  if (busy !== undefined)
    throw new ApiError('conflict', `A pack of evidence is being built (run ${busy.id}). Wait until it has ended.`);
  const [count] = await sql<{ n: number }[]>`select count(*)::integer as n from vm_evidence_packs`;
  if ((count?.n ?? 0) >= packsMax)
    throw new ApiError('conflict', `There are ${packsMax} packs already: remove some whose time is over.`);
}

export async function checkScope(call: Call, framework: string | null, application: string | null): Promise<void> {
  if (application !== null) await requireApplication(call.sql, call.reach, application);
  const known = await catalogueOf(call);
  if (framework !== null && !known.some(({ id }) => id === framework))
    throw unfit('/framework', 'is not known', `name one of ${known.map(({ id }) => id).join(', ')}`);
}

const create = endpoint({
  method: 'POST',
  path: '/evidence',
  ...build,
  kind: 'R',
  summary: 'Build a pack in the background: what was recorded in a period and how things stand now',
  body: Wanted,
  status: 202,
  answer: PackView,
  handle: async (call) => {
    const { body, now, caller, host } = call;
    const [from, to] = [toMoment(body.period.from, '/period/from'), toMoment(body.period.to, '/period/to')];
    if (from >= to) throw unfit('/period/to', 'is not after /period/from');
    if (from > now) throw unfit('/period/from', 'is in the future', 'a pack holds what was recorded');
    const application = body.scope?.application_id ?? null;
    const framework = body.framework ?? null;
    await checkScope(call, framework, application);
    const names = sectionsFor(call, body.sections, application !== null);
    const { actor } = caller;
    const brand = await brandNameOf(host);
    const title = body.title ?? `Evidence of ${from.toISOString().slice(0, 10)} to ${to.toISOString().slice(0, 10)}`;
    const input = { title, framework, sections: names };
    const { run, pack } = await call.audited(
      'vm.create',
      (made: { readonly pack: PackRow }) => `began to build the pack of evidence ${made.pack.id}`,
      async (tx) => {
        await refuseBeside(tx);
        const begun = await insertRun(
          tx,
          { kind: runKind, applicationId: null, input, createdBy: actor.name, status: 'running' },
          now,
        );
        const [made] = await tx<PackRow[]>`
          insert into vm_evidence_packs ${tx({
            ...{ title, framework, application_id: application, run_id: begun.id, created_by: actor.name },
            ...{ sections: json(tx, names), period_from: from, period_to: to },
            ...{ keep_until: keepUntil(now, body.keep_days), created_at: now, updated_at: now },
          } as never)} returning *`;
        if (made === undefined) throw new Error('the pack was not stored');
        return { run: begun, pack: made };
      },
      () => undefined,
    );
    inBackground(host, run, (signal) => buildEvidence({ host, pack, actor, brand, signal }));
    return viewPack({ ...pack, run_status: 'running', run_error: null });
  },
});

const patch = endpoint({
  method: 'PATCH',
  path: '/evidence/:id',
  ...build,
  kind: 'C',
  summary: 'Keep a pack longer, or hold it: what is held is not removed. No pack is kept shorter than was said',
  body: Type.Object(
    { keep_days: Type.Optional(KeepLonger), hold: Type.Optional(Type.Boolean()) },
    { ...closed, minProperties: 1, examples: [{ hold: true }] },
  ),
  answer: PackView,
  handle: async (call) => {
    const id = call.params['id'] ?? '';
    const before = await requirePack(call.sql, id);
    checkVersion(call.request.headers['if-match'], before.version);
    const until = laterEnd(before, call.body.keep_days);
    const { hold = before.hold } = call.body;
    await call.audited(
      'vm.update',
      `changed how long the pack of evidence ${id} is kept`,
      (tx) => tx`
        update vm_evidence_packs set keep_until = ${until}, hold = ${hold}, version = version + 1,
          updated_at = ${call.now} where id = ${before.id}`,
      () => ({ keep_until: until.toISOString(), hold }),
    );
    return viewPack(await requirePack(call.sql, id));
  },
});

/** Counted from when it was made. Throws 409 for an end that is sooner. */
export function laterEnd(
  { created_at: made, keep_until: before }: Pick<PackRow, 'created_at' | 'keep_until'>,
  days: number | undefined,
): Date {
  const until = days === undefined ? before : keepUntil(made, days);
  if (until < before)
    throw new ApiError('conflict', `It is kept until ${before.toISOString()}, and can only be kept longer.`);
  return until;
}

/** Throws 409 for what is held, or has to be kept. */
export function refuseKept(of: Pick<PackRow, 'keep_until' | 'hold'>, now: Date): void {
  if (of.hold) throw new ApiError('conflict', 'It is held: end the hold first.');
  if (of.keep_until > now)
    throw new ApiError('conflict', `It is kept until ${of.keep_until.toISOString()}, and is removed then by itself.`);
}

const remove = endpoint({
  method: 'DELETE',
  path: '/evidence/:id',
  ...build,
  kind: 'C',
  summary: 'Remove a pack whose time is over, or that could not be built',
  status: 204,
  handle: async (call) => {
    const row = await requirePack(call.sql, call.params['id'] ?? '');
    if (row.root !== null) refuseKept(row, call.now);
    else if (row.run_status === 'running') throw new ApiError('conflict', 'It is being built: cancel its run first.');
    await call.audited(
      'vm.delete',
      `removed the pack of evidence ${row.id}`,
      (tx) => tx`delete from vm_evidence_packs where id = ${row.id}`,
      () => ({ pack: String(row.id), root: row.root }),
    );
  },
});

/** Throws 409 for a pack that is not ready. */
export async function bytesOf(sql: Sql, row: PackRow): Promise<Buffer> {
  if (row.root === null) throw new ApiError('conflict', 'The pack is not ready.');
  const [found] = await sql<{ content: Buffer }[]>`
    select content from vm_evidence_contents where pack_id = ${row.id}`;
  return Buffer.from(found?.content ?? []);
}

const download = endpoint({
  method: 'GET',
  path: '/evidence/:id/download',
  ...view,
  kind: 'X',
  summary: 'A pack as a zip, with a manifest, sums, signatures and a script that verifies it without this program',
  mediaType: 'application/zip',
  handle: async ({ sql, params, reply }) => {
    const row = await requirePack(sql, params['id'] ?? '');
    const bytes = await bytesOf(sql, row);
    reply.header('content-disposition', `attachment; filename="evidence-${row.id}.zip"`);
    return bytes;
  },
});

export const packEndpoints: readonly Endpoint[] = [list, create, one, patch, remove, download];
