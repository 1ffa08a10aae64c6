// /backups: what lies at the place of backups, made, verified, restored and removed. The work is the commands'; see
// docs/backup.md.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import type { Sql } from '../database.js';
import { endpoint, notFound, unfit, type Endpoint } from '../kit/endpoint.js';
import { RunView, viewRun, type Run } from '../kit/runs.js';
import type { BackupPort, MadeBackup, StoredBackup } from './port.js';
import { download } from './download.js';
import { portOf, requireStored, told } from './stored.js';
import { beginRestore, beginVerify, restoreKind, verifyKind } from './work.js';

const closed = { additionalProperties: false } as const;
const base = { permission: 'manage_backups', ofOrganisation: 'Backups' } as const;

const Key = Type.Optional(
  Type.String({
    minLength: 12,
    maxLength: 1000,
    description: 'the age secret key (AGE-SECRET-KEY-1…) or the passphrase that it was sealed for; it is not stored',
  }),
);

const Verified = Type.Object({
  at: Time,
  ok: Type.Boolean(),
  restored: Type.Boolean({ description: 'loaded into a scratch database, every table compared there' }),
  secrets: Nullable(OneOf(['absent', 'sealed', 'opened'])),
  tables: Nullable(Type.Integer()),
  rows: Nullable(Type.Integer()),
  error: Nullable(Type.String()),
});
const BackupView = Type.Object({
  id: Type.String({ description: 'the name of the file' }),
  bytes: Type.Integer(),
  made_at: Time,
  sealed: Type.Boolean({ description: 'the whole file is sealed, not only the secrets in it' }),
  by: Nullable(Type.String({ description: 'who asked for it; null: the schedule, or a command' })),
  rows: Nullable(Type.Integer()),
  sha256: Nullable(Type.String()),
  checked: Nullable(OneOf(['complete', 'bytes'], 'read back when it was made')),
  verified: Nullable(Verified),
});

/** `gatehouse-20260301T120000Z.tar` says when it was made. */
function madeAt(name: string): string {
  const [, y, mo, d, h, mi, s] = /-(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z/.exec(name) ?? [];
  return new Date(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`).toISOString();
}

const runsLookedAt = 500;

/** The last verification that ended, by name. */
async function verifications(sql: Sql): Promise<Map<string, Run>> {
  const rows = await sql<Run[]>`
    select * from vm_runs where kind = ${verifyKind} and finished_at is not null
    order by id desc limit ${runsLookedAt}`;
  return new Map(rows.reverse().map((run) => [String(run.input['name']), run]));
}

const numberIn = (value: unknown): number | null => (typeof value === 'number' ? value : null);

function viewVerified(run: Run | undefined) {
  if (run === undefined || run.finished_at === null) return null;
  const { restored, secrets, tables, rows } = run.result;
  return {
    at: run.finished_at.toISOString(),
    ok: run.status === 'succeeded',
    restored: restored === true,
    secrets: secrets === 'absent' || secrets === 'sealed' || secrets === 'opened' ? secrets : null,
    tables: numberIn(tables),
    rows: numberIn(rows),
    error: run.error,
  };
}

const viewBackup = ({ name, bytes }: StoredBackup, made: readonly MadeBackup[], runs: ReadonlyMap<string, Run>) => {
  const run = made.find((one) => one.name === name);
  return {
    ...{ id: name, bytes, made_at: madeAt(name), sealed: name.endsWith('.age') },
    ...{ by: run?.actor ?? null, rows: run?.rows ?? null, sha256: run?.sha256 ?? null, checked: run?.checked ?? null },
    verified: viewVerified(runs.get(name)),
  };
};

const list = endpoint({
  method: 'GET',
  path: '/backups',
  ...base,
  kind: 'C',
  summary: 'Backups at the place that BACKUP_TO names, the newest first, and the last restore over HTTP',
  answer: Type.Object({
    place: Type.String(),
    hindrance: Nullable(Type.String({ description: 'why none can be made, and so none restored; null: nothing' })),
    total: Type.Integer(),
    last_restore: Nullable(
      Type.Object({ at: Time, id: Type.String(), by: Type.String(), ok: Type.Boolean(), said: Type.String() }),
    ),
    items: Type.Array(BackupView),
  }),
  handle: async ({ host, sql }) => {
    const port = portOf(host);
    const stored = await told(port.list());
    const [made, runs, last] = [await port.made(), await verifications(sql), await port.lastRestore()];
    const items = stored.map((one) => viewBackup(one, made, runs)).reverse();
    return {
      place: port.place,
      hindrance: port.hindrance(),
      total: items.length,
      last_restore:
        last === null ? null : { at: last.at.toISOString(), id: last.name, by: last.by, ok: last.ok, said: last.said },
      items,
    };
  },
});

const one = endpoint({
  method: 'GET',
  path: '/backups/:id',
  ...base,
  kind: 'C',
  summary: 'One backup',
  answer: BackupView,
  handle: async ({ host, sql, params }) => {
    const port = portOf(host);
    const stored = await requireStored(port, params['id'] ?? '');
    return viewBackup(stored, await port.made(), await verifications(sql));
  },
});

const MadeView = Type.Object({
  id: Type.String(),
  state: OneOf(['running', 'made', 'failed']),
  started_at: Time,
  ended_at: Nullable(Time),
  by: Nullable(Type.String({ description: 'null: the schedule' })),
  backup: Nullable(Type.String({ description: 'its name, once it is made' })),
  error: Nullable(Type.String()),
});
const viewMade = ({ id, started_at, ended_at, actor, name, error, isRunning }: MadeBackup) => ({
  id,
  state: name !== null ? ('made' as const) : isRunning ? ('running' as const) : ('failed' as const),
  started_at: started_at.toISOString(),
  ended_at: ended_at?.toISOString() ?? null,
  ...{ by: actor, backup: name, error },
});

const made = endpoint({
  method: 'GET',
  path: '/backups/made',
  ...base,
  kind: 'R',
  summary: 'The newest hundred that were made, or tried',
  answer: Type.Object({ items: Type.Array(MadeView) }),
  handle: async ({ host }) => ({ items: (await portOf(host).made()).map(viewMade) }),
});

const make = endpoint({
  method: 'POST',
  path: '/backups',
  ...base,
  kind: 'R',
  summary: 'Make a backup in the background, as the schedule makes them: read back, and older ones removed (keep)',
  status: 202,
  answer: MadeView,
  handle: async ({ host, caller }) => {
    const port = portOf(host);
    refuseUnlessMakeable(port);
    const { id, done } = await port.make(caller.actor);
    done.catch(() => undefined); // what became of it stands in its row
    const found = (await port.made()).find((run) => run.id === id);
    if (found === undefined) throw notFound('backup', id);
    return viewMade(found);
  },
});

const verify = endpoint({
  method: 'POST',
  path: '/backups/:id/verify',
  ...base,
  kind: 'R',
  summary: 'Read all of a backup and restore it into a scratch database; the run says what became of it',
  body: Type.Object({ key: Key }, closed),
  status: 202,
  answer: RunView,
  handle: async (call) => {
    const { host, caller, params } = call;
    const port = portOf(host);
    const { name } = await requireStored(port, params['id'] ?? '');
    const { key } = call.body;
    refuseWithoutKey(name, key);
    await refuseBeside(call.sql);
    await call.audited('vm.update', `asked for the backup ${name} to be verified`, async () => undefined);
    return viewRun(await beginVerify(host, port, name, key ?? null, caller.actor.name));
  },
});

function refuseWithoutKey(name: string, key: string | undefined): void {
  if (name.endsWith('.age') && key === undefined)
    throw unfit('/key', 'is missing', 'the whole backup is sealed; give the secret key or the passphrase');
}

/** Before anything is begun: a restore backs the present state up first, minutes after it was asked for. */
function refuseUnlessMakeable(port: BackupPort): void {
  const hindrance = port.hindrance();
  if (hindrance !== null) throw new ApiError('conflict', hindrance);
}

/** Each loads a whole database: one at a time. */
async function refuseBeside(sql: Sql): Promise<void> {
  const [busy] = await sql<{ id: number }[]>`
    select id from vm_runs where kind in (${verifyKind}, ${restoreKind}) and status = 'running' limit 1`;
  if (busy !== undefined)
    throw new ApiError('conflict', `A backup is being verified or restored (run ${busy.id}). Wait until it has ended.`);
}

const restore = endpoint({
  method: 'POST',
  path: '/backups/:id/restore',
  permission: 'restore_backups',
  ofOrganisation: 'Backups',
  inPerson: true,
  kind: 'R',
  summary:
    'Restore a backup: it is verified, the present state is backed up, and the control plane restarts and restores. ' +
    'Everything since then is lost, and all sessions end',
  body: Type.Object(
    { confirm: Type.String({ maxLength: 200, description: 'the id of the backup once more' }), key: Key },
    closed,
  ),
  status: 202,
  answer: RunView,
  handle: async (call) => {
    const { host, caller, params } = call;
    const port = portOf(host);
    const { name } = await requireStored(port, params['id'] ?? '');
    const { confirm, key } = call.body;
    if (confirm !== name) throw unfit('/confirm', 'is not the id of the backup', `write ${name} to restore it`);
    refuseWithoutKey(name, key);
    refuseUnlessMakeable(port);
    await refuseBeside(call.sql);
    if (await port.othersAtWork())
      throw new ApiError('conflict', 'Another control plane works on this database. Stop all but this one first.');
    await call.audited('vm.update', `asked for the backup ${name} to be restored`, async () => undefined);
    return viewRun(await beginRestore(host, port, { name, key: key ?? null, actor: caller.actor }));
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/backups/:id',
  ...base,
  kind: 'C',
  summary: 'Remove a backup from its place; the newest one stays',
  status: 204,
  handle: async (call) => {
    const port = portOf(call.host);
    const { name } = await requireStored(port, call.params['id'] ?? '');
    const newest = (await told(port.list())).at(-1);
    if (newest?.name === name)
      throw new ApiError('conflict', `${name} is the newest backup. Make another one first, then remove this.`);
    await told(port.remove(name));
    await call.audited('vm.delete', `removed the backup ${name}`, async () => undefined);
  },
});

const prune = endpoint({
  method: 'POST',
  path: '/backups/prune',
  ...base,
  kind: 'B',
  summary: 'Remove the oldest backups beyond the newest `keep`',
  body: Type.Object({ keep: Type.Integer({ minimum: 1, maximum: 1000 }) }, { ...closed, examples: [{ keep: 14 }] }),
  answer: Type.Object({ removed: Type.Array(Type.String()), left: Type.Integer() }),
  handle: async (call) => {
    const port = portOf(call.host);
    const removed = await told(port.prune(call.body.keep));
    const left = (await told(port.list())).length;
    await call.audited(
      'vm.delete',
      `removed ${removed.length} backups, kept ${left}`,
      async () => undefined,
      () => ({ removed }),
    );
    return { removed: [...removed], left };
  },
});

const ScheduleView = Type.Object({
  every_hours: Type.Integer({ description: '0: no schedule' }),
  keep: Type.Integer(),
  encrypt: Type.Boolean(),
  next_at: Nullable(Time),
});
const viewSchedule = async (port: BackupPort) => {
  const { next_at: next, ...schedule } = await port.schedule();
  return { ...schedule, next_at: next?.toISOString() ?? null };
};

const schedule = endpoint({
  method: 'GET',
  path: '/backups/schedule',
  ...base,
  kind: 'C',
  summary:
    'How often backups are made, and how many are kept (settings backup_every_hours, backup_keep, backup_encrypt)',
  answer: ScheduleView,
  handle: async ({ host }) => viewSchedule(portOf(host)),
});

const setSchedule = endpoint({
  method: 'PATCH',
  path: '/backups/schedule',
  ...base,
  inPerson: true,
  kind: 'C',
  summary: 'Change the schedule; it is a version of the settings, in force at once',
  body: Type.Object(
    {
      every_hours: Type.Optional(Type.Integer({ minimum: 0, maximum: 744 })),
      keep: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
      encrypt: Type.Optional(Type.Boolean()),
    },
    { ...closed, minProperties: 1, examples: [{ every_hours: 24, keep: 14, encrypt: true }] },
  ),
  answer: ScheduleView,
  handle: async (call) => {
    const port = portOf(call.host);
    const { every_hours, keep, encrypt } = call.body;
    await port.setSchedule(call.caller.person, call.caller.actor, {
      ...(every_hours === undefined ? {} : { every_hours }),
      ...(keep === undefined ? {} : { keep }),
      ...(encrypt === undefined ? {} : { encrypt }),
    });
    return viewSchedule(port);
  },
});

export const backupEndpoints: readonly Endpoint[] = [
  list,
  make,
  made,
  schedule,
  setSchedule,
  prune,
  one,
  download,
  verify,
  restore,
  remove,
];
