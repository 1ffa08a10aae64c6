// /api-security/tests: begun, watched, stopped, and read as a matrix of operations and identities.
import { ApiError, Nullable, OneOf } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import { allOf } from '../../database.js';
import { requireTarget } from '../../dast/targets/endpoints.js';
import { stopHere } from '../../dast/run/run-scan.js';
import { apiTestKind, visibleRuns as visible } from '../../dast/run/store.js';
import { endpoint, notFound, toId, type Call, type Endpoint } from '../../kit/endpoint.js';
import { List, ListQuery, readPage } from '../../kit/list.js';
import { RunView, viewRun, type Run } from '../../kit/runs.js';
import { ConfirmClose } from '../keep.js';
import { checkNames, outcomes } from './judge.js';
import { beginTest } from './run.js';

const closed = { additionalProperties: false } as const;
const Id = Type.String({ maxLength: 20 });

const RowView = Type.Object({
  method: Type.String(),
  template: Type.String(),
  url: Type.String(),
  check: OneOf(checkNames),
  verdict: OneOf(['holds', 'broken', 'unknown', 'not_tried']),
  why: Type.String(),
  cells: Type.Array(
    Type.Object({
      who: OneOf(['first', 'second', 'anonymous']),
      status: Nullable(Type.Integer()),
      outcome: OneOf(outcomes),
      same: Nullable(Type.Boolean({ description: 'as the first identity got it' })),
    }),
  ),
  steps: Type.Array(
    Type.Object({
      ...{ who: Type.String(), purpose: Type.String(), request: Type.String() },
      ...{ status: Nullable(Type.Integer()), response: Type.String(), ms: Type.Integer() },
    }),
    { description: 'what was sent and answered; credentials are masked' },
  ),
});

async function requireTest({ sql, reach, params }: Call): Promise<Run> {
  const id = toId(params['id'] ?? '', 'test');
  const [row] = await sql<Run[]>`
    select * from vm_runs where id = ${id} and kind = ${apiTestKind} and ${visible(sql, reach)}`;
  if (row === undefined) throw notFound('test', id);
  return row;
}

const begin = endpoint({
  method: 'POST',
  path: '/api-security/tests',
  permission: 'run_scans',
  kind: 'R',
  summary:
    'Ask each operation of a verified target as two users and without credentials; 409 where it may not be asked now',
  body: Type.Object(
    {
      target_id: Id,
      checks: Type.Optional(
        Type.Array(OneOf(checkNames), {
          ...{ minItems: 1, maxItems: checkNames.length, uniqueItems: true },
          description: 'authentication, object and function by default; members writes, and sets back what it wrote',
        }),
      ),
      confirm_close: ConfirmClose,
      first_is_privileged: Type.Optional(
        Type.Boolean({ description: 'the first identity is an administrator, the second is not: needed for function' }),
      ),
    },
    { ...closed, examples: [{ target_id: '1' }] },
  ),
  status: 202,
  answer: RunView,
  handle: async (call) => {
    const { target_id: id, checks = ['authentication', 'object', 'function'], ...given } = call.body;
    const target = await requireTarget(call.sql, call.reach, id);
    const terms = {
      isFirstPrivileged: given.first_is_privileged === true,
      isCloseConfirmed: given.confirm_close === true,
    };
    return viewRun(await beginTest(call, { target, checks, ...terms }));
  },
});

const list = endpoint({
  method: 'GET',
  path: '/api-security/tests',
  permission: 'view_api_security',
  kind: 'R',
  summary: 'Tests of the access to APIs, newest first',
  query: Type.Object({ ...ListQuery, application_id: Type.Optional(Id), target_id: Type.Optional(Id) }, closed),
  answer: List(RunView),
  handle: async ({ sql, reach, query }) => {
    const { application_id: id, target_id: target } = query;
    const where = allOf(sql, [
      sql`kind = ${apiTestKind}`,
      visible(sql, reach),
      id === undefined ? sql`true` : /^\d{1,18}$/.test(id) ? sql`application_id = ${id}` : sql`false`,
      target === undefined ? sql`true` : sql`input ->> 'target_id' = ${target}`,
    ]);
    const sorts = { id: { column: 'id', type: 'number' } } as const;
    const page = await readPage<Run>(sql, { table: 'vm_runs', where, sorts, sort: '-id' }, query);
    return { ...page, items: page.items.map(viewRun) };
  },
});

const get = endpoint({
  method: 'GET',
  path: '/api-security/tests/:id',
  permission: 'view_api_security',
  kind: 'R',
  summary: 'One test with its matrix: who got what at each operation, and what that shows',
  answer: Type.Intersect([RunView, Type.Object({ rows: Type.Array(RowView) })]),
  handle: async (call) => {
    const run = await requireTest(call);
    const rows = await call.sql<Static<typeof RowView>[]>`
      select method, template, url, check_id as check, verdict, why, cells, steps from vm_api_test_rows
      where run_id = ${run.id}
      order by array_position(array['broken', 'unknown', 'holds', 'not_tried'], verdict), template, method limit 400`;
    return { ...viewRun(run), rows: [...rows] };
  },
});

const cancel = endpoint({
  method: 'POST',
  path: '/api-security/tests/:id/cancel',
  permission: 'run_scans',
  kind: 'S',
  summary: 'Stop a test: no request leaves after a second; what it has shown is kept, nothing is closed by it',
  answer: RunView,
  handle: async (call) => {
    const { id } = await requireTest(call);
    const run = await call.audited('vm.transition', `stopped the test ${id}`, async (tx) => {
      const [row] = await tx<Run[]>`
        update vm_runs set cancel_asked = true where id = ${id} and status in ('queued', 'running') returning *`;
      if (row === undefined) throw new ApiError('conflict', 'The test is over.');
      return row;
    });
    stopHere(run.id);
    return viewRun(run);
  },
});

export const matrixEndpoints: readonly Endpoint[] = [begin, list, get, cancel];
