// /schedules: what runs by the clock. Whoever makes or changes one is its owner: it runs with their rights.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { Name, visibleByApplication } from '../assets/resources.js';
import type { Tx } from '../database.js';
import { endpoint, type Call, type Endpoint } from '../kit/endpoint.js';
import { requireRow, resourceEndpoints, toView, viewSchema, type Resource, type Row } from '../kit/resource.js';
import { RunView, viewRun } from '../kit/runs.js';
import { textOf } from '../kit/values/text.js';
import { checkPayload, kinds, scheduleKinds, type ScheduleKind } from './kinds.js';
import { note, runningOf, start, type ScheduleRow } from './run.js';
import { checkTiming, nextTime, type Planned } from './times.js';

const schedulesMax = 500;
const outcomes = ['started', 'refused', 'overlapped', 'missed'] as const;

/** Throws ApiError where the one who asks may not start it themselves. */
async function checkKind(tx: Tx, call: Call, values: Record<string, unknown>, before: Row | null): Promise<void> {
  const kind = (values['kind'] ?? before?.['kind']) as ScheduleKind;
  const payload = checkPayload(kind, values['payload'] ?? before?.['payload'] ?? {});
  const { permission, ownerOf } = kinds[kind];
  const reach = call.caller.reach(permission, true);
  if (reach === null) throw new ApiError('role_denied', `A schedule of the kind ${kind} needs ${permission}.`);
  values['application_id'] = await ownerOf(tx, reach, payload);
  values['payload'] = payload;
}

export const schedules: Resource = {
  path: '/schedules',
  noun: 'schedule',
  table: 'vm_schedules',
  view: 'view_scans',
  edit: 'manage_schedules',
  defaultSort: 'name',
  visible: visibleByApplication('vm_schedules'),
  columns: {
    name: { schema: Name, as: 'plain', write: 'always', required: true, searched: true, sort: 'text' },
    kind: { schema: OneOf(scheduleKinds), as: 'plain', write: 'create', required: true, filter: 'equal' },
    application_id: { schema: Nullable(Type.String()), as: 'id', write: 'never', filter: 'equal' },
    cron: {
      schema: Type.String({
        maxLength: 200,
        pattern: '^(?:\\S+ ){4}\\S+$',
        description: 'minute, hour, day of the month, month, weekday',
      }),
      as: 'plain',
      write: 'always',
      required: true,
    },
    timezone: {
      schema: Type.String({
        maxLength: 60,
        pattern: '^[A-Za-z]+[A-Za-z0-9/_+-]*$',
        description: 'of the IANA’s database, such as Europe/Vienna; UTC by default',
      }),
      as: 'plain',
      write: 'always',
    },
    jitter_seconds: {
      schema: Type.Integer({
        minimum: 0,
        maximum: 3600,
        description: 'later by up to so many seconds, by the same each time',
      }),
      as: 'plain',
      write: 'always',
    },
    missed: {
      schema: OneOf(['run_once', 'skip'], 'what becomes of times at which nothing worked'),
      as: 'plain',
      write: 'always',
    },
    payload: {
      schema: Type.Record(Type.String({ maxLength: 40 }), Type.String({ maxLength: 2000 }), {
        maxProperties: 10,
        description:
          'scan: target_id and profile; exploit: replay_of; feed: set; report: format and, where wanted, title, ' +
          'application_id, sections and recipients (with commas between), days, template_id, channel_id',
      }),
      as: 'json',
      write: 'always',
      required: true,
    },
    enabled: { schema: Type.Boolean(), as: 'plain', write: 'never', filter: 'equal' },
    owner: { schema: Type.String(), as: 'plain', write: 'never' },
    next_run_at: { schema: Nullable(Time), as: 'time', write: 'never' },
    last_due_at: { schema: Nullable(Time), as: 'time', write: 'never' },
    last_outcome: { schema: Nullable(OneOf(outcomes)), as: 'plain', write: 'never' },
    last_reason: { schema: Type.String(), as: 'plain', write: 'never' },
    last_run_id: { schema: Nullable(Type.String()), as: 'id', write: 'never' },
  },
  check: async (tx, call, values, before) => {
    if (before === null) {
      values['timezone'] ??= 'UTC';
      const [count] = await tx<{ n: number }[]>`select count(*)::int as n from vm_schedules`;
      if ((count?.n ?? 0) >= schedulesMax)
        throw new ApiError('conflict', `There are ${schedulesMax} schedules already: delete one first.`);
    }
    const given = (name: string): string => textOf(values[name] ?? before?.[name]);
    checkTiming({ cron: given('cron'), timezone: given('timezone') }, call.now);
    await checkKind(tx, call, values, before);
    Object.assign(values, { owner_id: call.caller.person.userId, owner: call.caller.actor.name });
  },
  after: async (tx, call, row) => {
    const next = row['enabled'] === true ? nextTime(row as unknown as Planned, call.now) : null;
    await tx`update vm_schedules set next_run_at = ${next} where id = ${row.id}`;
    Object.assign(row, { next_run_at: next });
  },
};

/** Locks it, and changes whether it runs. Times that passed meanwhile are not made up for. */
async function switchTo(call: Call, enabled: boolean): Promise<object> {
  const id = call.params['id'] ?? '';
  const made = await call.audited(
    'vm.transition',
    `${enabled ? 'resumed' : 'paused'} the schedule ${id}`,
    async (tx: Tx) => {
      const row = await requireRow(tx, schedules, call.reach, id, true);
      if (row['enabled'] === enabled)
        throw new ApiError('conflict', `The schedule ${enabled ? 'runs' : 'is paused'} already.`);
      if (enabled) await checkKind(tx, call, {}, row);
      const next = enabled ? nextTime(row as unknown as Planned, call.now) : null;
      const [after] = await tx<Row[]>`
        update vm_schedules set enabled = ${enabled}, next_run_at = ${next}, version = version + 1,
          updated_at = ${call.now}
        where id = ${row.id} returning *`;
      return after ?? row;
    },
  );
  return toView(schedules, made);
}

export const scheduleEndpoints: readonly Endpoint[] = [
  ...resourceEndpoints(schedules),
  endpoint({
    method: 'POST',
    path: '/schedules/:id/pause',
    permission: 'manage_schedules',
    kind: 'S',
    summary: 'Let a schedule start nothing; what runs goes on',
    answer: viewSchema(schedules),
    handle: async (call) => switchTo(call, false),
  }),
  endpoint({
    method: 'POST',
    path: '/schedules/:id/resume',
    permission: 'manage_schedules',
    kind: 'S',
    summary: 'Let a schedule run again, from its next time on',
    answer: viewSchema(schedules),
    handle: async (call) => switchTo(call, true),
  }),
  endpoint({
    method: 'POST',
    path: '/schedules/:id/run-now',
    permission: 'manage_schedules',
    kind: 'R',
    summary: 'Start now what a schedule starts, as the one who asks; 409 while its run goes on',
    status: 202,
    answer: RunView,
    handle: async (call) => {
      const found = await requireRow(call.sql, schedules, call.reach, call.params['id'] ?? '');
      const row = found as unknown as ScheduleRow;
      const open = await runningOf(call.host, row);
      if (open !== null) throw new ApiError('conflict', `Its run ${open} still goes on.`);
      const run = await start({ ...call, caller: call.caller }, row);
      await note(call.host, row, call.now, { outcome: 'started', reason: 'by hand', run });
      return viewRun(run);
    },
  }),
];
