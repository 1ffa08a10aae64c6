// Rows of snapshots: how they are shown, and what is kept of them.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import type { Queryable, Sql, Tx } from '../database.js';

/** Of one archive; of all that are kept together; how many a repository keeps; how long Git may take. */
export const limits = {
  archiveBytesMax: 256 * 1024 ** 2,
  allBytesMax: 4 * 1024 ** 3,
  kept: 5,
  listed: 100,
  fetchMsMax: 120_000,
} as const;
/** An upload that has not ended by then was lost with its server. */
const incomingMsMax = 3_600_000;

export interface Snapshot {
  readonly id: number;
  readonly repository_id: number;
  readonly state: 'incoming' | 'ready' | 'dropped';
  readonly sha256: string;
  readonly bytes: number;
  readonly form: string;
  readonly root: string;
  readonly files: number;
  readonly unpacked_bytes: number;
  readonly branch: string;
  readonly commit: string;
  readonly created_by: string;
  readonly created_at: Date;
}

export const SnapshotView = Type.Object({
  id: Type.String(),
  repository_id: Type.String(),
  state: OneOf(['ready', 'dropped'], 'dropped: its bytes made room for newer ones; what was found in it stays'),
  sha256: Type.String({ description: 'of the archive as it came' }),
  bytes: Type.Integer(),
  form: Type.String({ description: 'tar, tar.gz, tar.zst, zip' }),
  root: Type.String({ description: 'directory around everything that is no part of the paths; empty: none' }),
  files: Type.Integer(),
  unpacked_bytes: Type.Integer(),
  branch: Type.String(),
  commit: Type.String(),
  created_by: Type.String(),
  created_at: Time,
  scans: Type.Array(
    Type.Object({
      id: Type.String(),
      kind: Type.String(),
      status: Type.String(),
      progress: Type.Integer(),
      complete: Nullable(Type.Boolean()),
      findings: Nullable(Type.Integer()),
    }),
    { description: 'the newest of each scanner' },
  ),
});

interface ScanOf {
  readonly id: number;
  readonly kind: string;
  readonly status: string;
  readonly progress: number;
  readonly snapshot_id: string;
  readonly complete: boolean | null;
  readonly findings: number | null;
}

/** The newest scan of each scanner over each of these snapshots. */
export async function scansOf(sql: Queryable, snapshots: readonly Snapshot[]): Promise<ReadonlyMap<number, ScanOf[]>> {
  const found = new Map<number, ScanOf[]>(snapshots.map(({ id }) => [id, []]));
  if (snapshots.length === 0) return found;
  const rows = await sql<ScanOf[]>`
    select distinct on (input ->> 'snapshot_id', kind) id, kind, status, progress,
      input ->> 'snapshot_id' as snapshot_id, (result ->> 'complete')::boolean as complete,
      coalesce((result #>> '{matched,matches}')::integer, (result ->> 'findings')::integer) as findings
    from vm_runs where input ->> 'snapshot_id' in ${sql(snapshots.map(({ id }) => String(id)))}
    order by input ->> 'snapshot_id', kind, id desc`;
  for (const row of rows) found.get(Number(row.snapshot_id))?.push(row);
  return found;
}

export const viewSnapshot = (row: Snapshot, scans: readonly ScanOf[] = []) => ({
  id: String(row.id),
  repository_id: String(row.repository_id),
  state: row.state,
  sha256: row.sha256,
  bytes: row.bytes,
  form: row.form,
  root: row.root,
  files: row.files,
  unpacked_bytes: row.unpacked_bytes,
  branch: row.branch,
  commit: row.commit,
  created_by: row.created_by,
  created_at: row.created_at.toISOString(),
  scans: scans.map(({ id, kind, status, progress, complete, findings }) => ({
    ...{ id: String(id), kind, status, progress, complete, findings },
  })),
});

/** Throws `conflict` where all archives together would be too large. What was lost on its way goes first. */
export async function requireRoom(sql: Sql, bytes: number, now: Date): Promise<void> {
  const lost = new Date(now.getTime() - incomingMsMax);
  await sql`delete from vm_snapshots where state = 'incoming' and created_at < ${lost}`;
  const [all] = await sql<{ bytes: number }[]>`
    select coalesce(sum(bytes), 0)::bigint as bytes from vm_snapshots where state <> 'dropped'`;
  if ((all?.bytes ?? 0) + bytes > limits.allBytesMax)
    throw new ApiError(
      'conflict',
      `All snapshots together have room for ${limits.allBytesMax} bytes: delete repositories that are not needed.`,
    );
}

/** The newest stay to be scanned again, older ones as rows, the oldest not at all. */
export async function dropOlder(tx: Tx, repository: number): Promise<void> {
  const older = await tx<{ id: number }[]>`
    update vm_snapshots set state = 'dropped' where state = 'ready' and repository_id = ${repository} and id not in
      (select id from vm_snapshots where repository_id = ${repository} and state = 'ready'
        order by id desc limit ${limits.kept})
    returning id`;
  if (older.length > 0) await tx`delete from vm_snapshot_parts where snapshot_id in ${tx(older.map(({ id }) => id))}`;
  await tx`
    delete from vm_snapshots where state = 'dropped' and repository_id = ${repository} and id not in
      (select id from vm_snapshots where repository_id = ${repository} order by id desc limit ${limits.listed})`;
}
