// /ci: a pipeline's run: it is opened, takes the reports of its tools, and ends with the verdict of the gate. And the
// badge, which is seen by whoever has its address.
import { ApiError, Nullable } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { requireApplication, visibleByApplication } from '../assets/resources.js';
import { allOf, type Queryable, type Tx } from '../database.js';
import { bytesMax, PlaceFields, type Fields } from '../imports/run/fields.js';
import { formatOf, runImport, termsFor, type Given, type Occasion } from '../imports/run/run-import.js';
import { checkFields } from '../kit/upload/receive.js';
import { endpoint, notFound, toId, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage } from '../kit/list.js';
import { finishRun, insertRun, RunView, viewRun, type Run } from '../kit/runs.js';
import { receiveReport } from '../imports/receive-report.js';
import { Commit } from './endpoints.js';
import { exitCodeOf, keep, look, verdictOf, type EvaluationRow } from './evaluate.js';
import { EvaluationView, toBadge, viewEvaluation } from './view.js';

const closed = { additionalProperties: false } as const;
const Short = Type.String({ maxLength: 200 });
/** A pipeline that has not ended after a day does not end any more. */
const openMs = 86_400_000;

interface CiInput {
  readonly commit: string;
  readonly branch: string;
  readonly provider: string;
}

const CiView = Type.Intersect([RunView, Type.Object({ imports: Type.Array(RunView), gate: Nullable(EvaluationView) })]);
const visible = visibleByApplication('vm_runs');

async function requireRun(sql: Queryable, call: Call): Promise<Run> {
  const id = call.params['id'] ?? '';
  const [row] = await sql<Run[]>`
    select * from vm_runs where id = ${toId(id, 'CI run')} and kind = 'ci' and ${visible(sql, call.reach)}`;
  if (row === undefined) throw notFound('CI run', id);
  return row;
}

/** The run for a step of its pipeline; throws 409 once it is over. */
async function requireOpen(tx: Tx, id: number): Promise<Run> {
  const [row] = await tx<Run[]>`select * from vm_runs where id = ${id} for update`;
  if (row?.status !== 'running' || row.cancel_asked)
    throw new ApiError(
      'conflict',
      `The CI run ${id} is over: it ${row?.cancel_asked === true ? 'canceled' : row?.status}.`,
    );
  return row;
}

async function viewCi(call: Call, run: Run) {
  const { sql, reach, now } = call;
  const imports = await sql<Run[]>`
    select * from vm_runs where kind = 'import' and application_id = ${run.application_id}
      and input ->> 'ci_run' = ${String(run.id)} order by id`;
  const id = (run.result as { evaluation_id?: string }).evaluation_id;
  const [row] = id === undefined ? [] : await sql<EvaluationRow[]>`select * from vm_gate_evaluations where id = ${id}`;
  return {
    ...viewRun(run),
    imports: imports.map(viewRun),
    gate: row === undefined ? null : await viewEvaluation(sql, reach, row, now),
  };
}

const upload = {
  bytesMax,
  fields: Type.Object(
    {
      format: Type.Optional(Type.String({ maxLength: 120 })),
      mode: Type.Optional(Type.Union([Type.Literal('add'), Type.Literal('sync')])),
      scope_key: Type.Optional(Short),
      entry: Type.Optional(Type.String({ maxLength: 255, description: 'which file of an archive is the report' })),
      ...PlaceFields,
    },
    closed,
  ),
};

const NewRun = Type.Object(
  {
    application_id: Type.String({ maxLength: 20 }),
    commit: Commit,
    branch: Type.Optional(Short),
    provider: Type.Optional(Short),
  },
  closed,
);
type NewRunFields = typeof NewRun.static;
const openingUpload = {
  bytesMax,
  fields: Type.Object({ ...NewRun.properties, ...upload.fields.properties }, closed),
};

async function openRun(tx: Tx, call: Call, fields: NewRunFields): Promise<Run> {
  const { application_id: given, commit, branch = '', provider = '' } = fields;
  const { id } = await requireApplication(tx, call.reach, given);
  const input = { commit, branch, provider } satisfies CiInput;
  const by = { createdBy: call.caller.actor.name, status: 'running' } as const;
  const made = await insertRun(tx, { kind: 'ci', applicationId: id, input, ...by }, call.now);
  await tx`update vm_runs set lease_until = ${new Date(call.now.getTime() + openMs)} where id = ${made.id}`;
  return made;
}

/** Imports the report into the run that `before` gives: it is open when the import begins, and when it ends. */
async function importArtifact(
  call: Call,
  { commit, branch }: Pick<CiInput, 'commit' | 'branch'>,
  given: Omit<Given, 'fields'> & { readonly fields: Omit<Fields, 'application_id'>; readonly applicationId: string },
  occasion: Omit<Occasion, 'before' | 'after'> & { readonly before: (tx: Tx) => Promise<Run> },
) {
  const { root, strip_prefix, confirm_close, format, mode = 'sync', scope_key, entry } = given.fields;
  // a pipeline scans all of its commit: what it no longer reports is gone on this branch
  const named = { root, strip_prefix, confirm_close, format, mode, scope_key, entry, commit, branch };
  const known = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
  let ofPipeline = 0;
  return runImport(
    call,
    { ...given, fields: { ...known, application_id: given.applicationId } },
    {
      ...occasion,
      before: async (tx) => {
        ofPipeline = (await occasion.before(tx)).id;
      },
      after: async (tx, { run }) => {
        await requireOpen(tx, ofPipeline);
        await tx`
          update vm_runs set input = input || jsonb_build_object('ci_run', ${String(ofPipeline)}::text)
          where id = ${run.id}`;
      },
    },
  );
}

/** The run and its first report in one step: a report that is refused leaves no run. */
async function openWithReport(call: Call) {
  const sent = await receiveReport<NewRunFields & Fields>(call.request, openingUpload);
  try {
    const format = await formatOf(call, sent.fields.format ?? 'auto', sent.file);
    const { fields, file } = sent;
    const terms = await termsFor(call, fields);
    let opened: Run | null = null;
    const { commit, branch = '', application_id: applicationId } = fields;
    await importArtifact(
      call,
      { commit, branch },
      { file, format, terms, fields, applicationId },
      {
        action: 'vm.gate',
        summary: () => `opened the CI run ${opened?.id} for ${commit} with a report`,
        before: async (tx) => (opened = await openRun(tx, call, fields)),
      },
    );
    if (opened === null) throw new Error('the run was not opened');
    return await viewCi(call, opened);
  } finally {
    await sent.discard();
  }
}

/** A refusal is a gap for the gate: a pipeline that ignores the answer would pass without the report. */
async function takeArtifact(call: Call, known: Run) {
  const sent = await receiveReport<Fields>(call.request, upload).catch(async (error: unknown) => {
    await noteRefused(call.sql, known.id, error, '');
    throw error;
  });
  const digest = await digestOf(sent.file.path);
  try {
    const { file } = sent;
    const format = await formatOf(call, sent.fields.format ?? 'auto', file);
    const terms = await termsFor(call, { ...sent.fields, application_id: String(known.application_id) });
    const input = known.input as unknown as CiInput;
    const applicationId = String(known.application_id);
    const given = { fields: sent.fields, file, format, terms, applicationId };
    const { run } = await importArtifact(call, input, given, {
      action: 'vm.import',
      summary: ({ run: made, facts }) => `imported a report of ${facts.tool} (run ${made.id})`,
      before: async (tx) => requireOpen(tx, known.id),
      details: ({ report }) => ({ ...report, problems: report.problems.length }),
    });
    await forgetRefused(call.sql, known.id, digest);
    return viewRun(run);
  } catch (error) {
    await noteRefused(call.sql, known.id, error, digest);
    throw error;
  } finally {
    await sent.discard();
  }
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** Reports that are kept by their reason; that there is one is enough for a gap. */
const refusedMax = 20;

/** A report of a run that is under way was refused: the gate counts it as a gap of the run. */
async function noteRefused(sql: Queryable, id: number, error: unknown, digest: string): Promise<void> {
  const why = (error instanceof Error ? error.message : 'it could not be read').slice(0, 200);
  await sql`
    update vm_runs set input = input || jsonb_build_object('refused',
      coalesce(input -> 'refused', '[]'::jsonb) ||
        jsonb_build_array(jsonb_build_object('why', ${why}::text, 'sha256', ${digest}::text)))
    where id = ${id} and status = 'running'
      and jsonb_array_length(coalesce(input -> 'refused', '[]'::jsonb)) < ${refusedMax}`;
}

/** The same report again, with the answer to a question (`confirm_close`) or when the server was there, is no gap. */
async function forgetRefused(sql: Queryable, id: number, digest: string): Promise<void> {
  await sql`
    update vm_runs set input = jsonb_set(input, '{refused}', (
      select coalesce(jsonb_agg(one), '[]'::jsonb) from jsonb_array_elements(input -> 'refused') one
      where one ->> 'sha256' <> ${digest}))
    where id = ${id} and status = 'running' and input -> 'refused' is not null`;
}

const runs: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/ci/runs',
    permission: 'run_ci',
    kind: 'I',
    summary: 'Open the run of a pipeline for a commit, as JSON; or with its first report, as multipart; others follow',
    body: NewRun,
    upload: openingUpload,
    status: 202,
    answer: CiView,
    handle: async (call) => {
      if (!/^application\/json\b/i.test(call.request.headers['content-type'] ?? '')) return openWithReport(call);
      const fields = checkFields<NewRunFields>(call.body ?? {}, NewRun);
      const run = await call.audited(
        'vm.gate',
        (made: Run) => `opened the CI run ${made.id} for ${fields.commit}`,
        async (tx) => openRun(tx, call as Call, fields),
      );
      return viewCi(call, run);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/ci/runs',
    permission: 'view_gates',
    kind: 'R',
    summary: 'Runs of pipelines, newest first',
    query: Type.Object({ ...ListQuery, application_id: Type.Optional(Type.String({ maxLength: 20 })) }, closed),
    answer: List(RunView),
    handle: async ({ sql, reach, query }) => {
      const id = query.application_id;
      const one = id === undefined ? sql`true` : /^\d{1,18}$/.test(id) ? sql`application_id = ${id}` : sql`false`;
      const where = allOf(sql, [sql`kind = 'ci'`, visible(sql, reach), one]);
      const sorts = { id: { column: 'id', type: 'number' } } as const;
      const page = await readPage<Run>(sql, { table: 'vm_runs', where, sorts, sort: '-id' }, query);
      return { ...page, items: page.items.map(viewRun) };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/ci/runs/:id',
    permission: 'view_gates',
    kind: 'R',
    summary: 'One run of a pipeline with its imports and the verdict',
    answer: CiView,
    handle: async (call) => viewCi(call, await requireRun(call.sql, call)),
  }),
  endpoint({
    method: 'POST',
    path: '/ci/runs/:id/artifacts',
    permission: 'run_ci',
    kind: 'I',
    summary: 'Import the report of a tool into the run, for its commit and branch',
    upload,
    status: 202,
    answer: RunView,
    handle: async (call) => {
      const known = await requireRun(call.sql, call);
      return takeArtifact(call, known);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/ci/runs/:id/complete',
    permission: 'run_ci',
    kind: 'B',
    summary: 'End the run with the verdict of the gate',
    answer: Type.Intersect([EvaluationView, Type.Object({ run_id: Type.String() })]),
    handle: async (call) => {
      const before = await requireRun(call.sql, call);
      const { commit } = before.input as unknown as CiInput;
      const looked = await look(call.host, { id: before.application_id ?? 0 }, commit, null, call.now);
      const row = await call.audited(
        'vm.gate',
        (made: EvaluationRow) => `ended the CI run ${before.id} for ${commit}: ${made.verdict}`,
        async (tx) => {
          const { id } = await requireOpen(tx, before.id);
          const made = await keep(tx, looked, call.caller.actor.name, call.now);
          const verdict = verdictOf(made, call.now);
          const result = { evaluation_id: String(made.id), verdict, exit_code: exitCodeOf(made, call.now) };
          await finishRun(tx, id, { status: 'succeeded', result }, call.now);
          return made;
        },
      );
      return { ...(await viewEvaluation(call.sql, call.reach, row, call.now)), run_id: String(before.id) };
    },
  }),
];

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');

const badges: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/ci/badge/:application_id',
    permission: 'run_ci',
    kind: 'B',
    summary: 'An address under which everybody sees the last verdict as a picture; the one before ends',
    status: 201,
    answer: Type.Object({ path: Type.String() }),
    handle: async (call) => {
      const { id } = await requireApplication(call.sql, call.reach, call.params['application_id'] ?? '');
      const key = randomBytes(18).toString('base64url');
      await call.audited('vm.gate', `made a badge for the application ${id}`, async (tx) => {
        await tx`
          insert into vm_badges (application_id, key_hash, created_at) values (${id}, ${hashOf(key)}, ${call.now})
          on conflict (application_id) do update set key_hash = excluded.key_hash, created_at = excluded.created_at`;
      });
      return { path: `/api/v1/ci/badge/${id}?key=${key}` };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/ci/badge/:application_id',
    permission: 'public',
    kind: 'X',
    summary: 'The last verdict as a picture, for everyone who has the key',
    query: Type.Object({ key: Type.Optional(Type.String({ maxLength: 100 })) }, closed),
    mediaType: 'image/svg+xml',
    handle: async ({ sql, params, query, now, reply }) => {
      const id = toId(params['application_id'] ?? '', 'badge');
      const [badge] = await sql`
        select 1 from vm_badges where application_id = ${id} and key_hash = ${hashOf(query.key ?? '')}`;
      if (badge === undefined) throw notFound('badge', id);
      const [row] = await sql<EvaluationRow[]>`
        select * from vm_gate_evaluations where application_id = ${id} order by id desc limit 1`;
      reply.header('content-security-policy', "default-src 'none'");
      return toBadge(row === undefined ? 'unknown' : verdictOf(row, now));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/ci/badge/:application_id',
    permission: 'run_ci',
    kind: 'S',
    summary: 'End the address of the badge',
    status: 204,
    handle: async (call) => {
      const { id } = await requireApplication(call.sql, call.reach, call.params['application_id'] ?? '');
      await call.audited('vm.gate', `ended the badge of the application ${id}`, async (tx) => {
        await tx`delete from vm_badges where application_id = ${id}`;
      });
    },
  }),
];

export const ciEndpoints: readonly Endpoint[] = [...runs, ...badges];
