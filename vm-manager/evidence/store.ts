// Rows of packs and files, as the database gives them, and how they are shown.
import { Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import type { Queryable } from '../database.js';
import { notFound, toId } from '../kit/endpoint.js';
import type { ManifestItem } from './pack/pack.js';

export interface PackRow {
  readonly id: number;
  readonly title: string;
  readonly framework: string | null;
  readonly application_id: number | null;
  readonly sections: readonly string[];
  readonly period_from: Date;
  readonly period_to: Date;
  readonly run_id: number | null;
  readonly items: readonly ManifestItem[];
  readonly root: string | null;
  readonly sha256: string | null;
  readonly bytes: number | null;
  readonly key_id: string | null;
  readonly previous: string | null;
  readonly keep_until: Date;
  readonly hold: boolean;
  readonly created_by: string;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
  /** Of its run. */
  readonly run_status: string | null;
  readonly run_error: string | null;
}

export interface FileRow {
  readonly id: number;
  readonly name: string;
  readonly media_type: string;
  readonly description: string;
  readonly controls: readonly string[];
  readonly bytes: number;
  readonly sha256: string;
  readonly keep_until: Date;
  readonly hold: boolean;
  readonly created_by: string;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export const packStates = ['building', 'ready', 'failed'] as const;
export const stateOf = ({ root, run_status }: PackRow): (typeof packStates)[number] =>
  root !== null ? 'ready' : run_status === 'running' || run_status === 'queued' ? 'building' : 'failed';

export const ItemView = Type.Object({
  path: Type.String(),
  source: Type.String(),
  about: Type.String(),
  collected_at: Time,
  rows: Nullable(Type.Integer()),
  cut: Type.Boolean({ description: 'there was more than a pack holds: take a shorter period' }),
  controls: Type.Array(Type.String()),
  bytes: Type.Integer(),
  sha256: Type.String(),
});

export const PackView = Type.Object({
  id: Type.String(),
  title: Type.String(),
  framework: Nullable(Type.String()),
  application_id: Nullable(Type.String()),
  sections: Type.Array(Type.String()),
  period: Type.Object({ from: Time, to: Time }),
  state: OneOf(packStates),
  error: Nullable(Type.String()),
  run_id: Nullable(Type.String()),
  items: Type.Array(ItemView),
  root: Nullable(Type.String({ description: 'SHA-256 of the list of sums that is signed' })),
  sha256: Nullable(Type.String({ description: 'of the file' })),
  bytes: Nullable(Type.Integer()),
  key_id: Nullable(Type.String()),
  keep_until: Time,
  hold: Type.Boolean(),
  created_by: Type.String(),
  created_at: Time,
  version: Type.Integer(),
});

export const viewPack = (row: PackRow) => ({
  id: String(row.id),
  title: row.title,
  framework: row.framework,
  application_id: row.application_id === null ? null : String(row.application_id),
  sections: row.sections,
  period: { from: row.period_from.toISOString(), to: row.period_to.toISOString() },
  state: stateOf(row),
  error: stateOf(row) === 'failed' ? (row.run_error ?? 'It was ended with its process.') : null,
  run_id: row.run_id === null ? null : String(row.run_id),
  items: row.items,
  root: row.root,
  sha256: row.sha256,
  bytes: row.bytes,
  key_id: row.key_id,
  keep_until: row.keep_until.toISOString(),
  hold: row.hold,
  created_by: row.created_by,
  created_at: row.created_at.toISOString(),
  version: row.version,
});

export async function requirePack(sql: Queryable, id: string): Promise<PackRow> {
  const [row] = await sql<PackRow[]>`
    select p.*, r.status as run_status, r.error as run_error
    from vm_evidence_packs p left join vm_runs r on r.id = p.run_id where p.id = ${toId(id, 'pack of evidence')}`;
  if (row === undefined) throw notFound('pack of evidence', id);
  return row;
}

export const FileView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  media_type: Type.String(),
  description: Type.String(),
  controls: Type.Array(Type.String({ description: 'framework:number' })),
  bytes: Type.Integer(),
  sha256: Type.String(),
  keep_until: Time,
  hold: Type.Boolean(),
  created_by: Type.String(),
  created_at: Time,
  version: Type.Integer(),
});

export const viewFile = (row: FileRow) => ({
  id: String(row.id),
  name: row.name,
  media_type: row.media_type,
  description: row.description,
  controls: row.controls,
  bytes: row.bytes,
  sha256: row.sha256,
  keep_until: row.keep_until.toISOString(),
  hold: row.hold,
  created_by: row.created_by,
  created_at: row.created_at.toISOString(),
  version: row.version,
});

/** Where a file that people added lies in a pack. */
export const pathInPack = ({ id, name }: Pick<FileRow, 'id' | 'name'>): string =>
  `files/${id}-${name.replaceAll(/[^A-Za-z0-9._-]+/g, '_')}`;

export async function requireFile(sql: Queryable, id: string): Promise<FileRow> {
  const [row] = await sql<FileRow[]>`
    select * from vm_evidence_files where id = ${toId(id, 'file of evidence')}`;
  if (row === undefined) throw notFound('file of evidence', id);
  return row;
}

const dayMs = 86_400_000;
export const keepDays = { least: 1, usual: 365, most: 3650 } as const;
export const keepUntil = (now: Date, days: number = keepDays.usual): Date => new Date(now.getTime() + days * dayMs);
