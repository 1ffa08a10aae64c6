// Versions of the settings. Every saved change is a version; the newest one (head) is what people edit, the active one
// is what serves traffic, a pending one was on its way when a process died (state.ts). Bodies are canonical JSON text
// with sealed secrets: a rollback restores the very bytes.
import { createHash } from 'node:crypto';
import { toCanonicalJson } from '../audit/canonical-json.js';
import type { Database, Queryable, Tx } from '../db/client.js';
import { lockUntilCommit } from '../db/lock-keys.js';
import { ApiError } from '../http-kit/index.js';
import { diffSettings, summarizeChanges, type Change } from './diff.js';
import { completeSettings, initialSettings, type Settings } from '#settings';
import { hideSecrets, isHiddenPlace } from './secrets.js';

export const versionsKept = 50;

export interface SettingsVersion {
  readonly id: number;
  readonly at: Date;
  readonly author: string;
  readonly summary: string;
  readonly changes: readonly Change[];
  readonly sha256: string;
  readonly artifactSha256: string | null;
  readonly generation: number | null;
}

/** Settings as stored: complete, secrets sealed. */
export interface StoredSettings {
  readonly id: number;
  readonly body: string;
  readonly settings: Settings;
  readonly etag: string;
  /** Of the artifact that it was applied with last; null: never. */
  readonly artifactSha256: string | null;
  /**
   * Of the managed feed's rules that it was applied with; '' = none, null = never applied, or before they were kept.
   */
  readonly managedSha256: string | null;
}

const etagOf = (id: number, sha256: string): string => `"${id}-${sha256.slice(0, 16)}"`;

interface StoredRow {
  id: number;
  body: string;
  sha256: string;
  artifact_sha256: string | null;
  managed_sha256: string | null;
}
interface VersionRow extends StoredRow {
  at: Date;
  author: string;
  summary: string;
  changes: string;
  generation: number | null;
}

/**
 * Creates version 1 when there is none: the defaults, or what `first` returns (asked only then). Safe when several
 * servers do it at once.
 */
export async function seedSettings(
  database: Database,
  now: Date,
  first: (() => Promise<{ readonly settings: Settings; readonly summary: string } | null>) | null = null,
): Promise<void> {
  await database.sql.begin(async (tx) => {
    await lockSettings(tx);
    const [row] = await tx`select head_id from settings_state`;
    if (row !== undefined) return;
    const { settings, summary } = (await first?.()) ?? {
      settings: initialSettings(),
      summary: 'defaults of a new installation',
    };
    const body = toCanonicalJson(settings);
    await tx`
      insert into settings_versions (id, at, author, summary, changes, body, sha256)
      values (1, ${now}, 'system', ${summary}, '[]', ${body}, ${digest(body)})`;
    await tx`insert into settings_state (head_id) values (1)`;
  });
}

/** The settings people edit. Fields that came with a newer program have their defaults. */
export async function readHead(sql: Queryable): Promise<StoredSettings> {
  const [row] = await sql<StoredRow[]>`
    select v.id, v.body, v.sha256, v.artifact_sha256, v.managed_sha256
    from settings_state s join settings_versions v on v.id = s.head_id`;
  if (row === undefined) throw new Error('the settings were never seeded');
  return toStored(row);
}

export async function findVersion(sql: Queryable, id: number): Promise<(SettingsVersion & StoredSettings) | null> {
  const [row] = await sql<VersionRow[]>`select * from settings_versions where id = ${id}`;
  return row === undefined ? null : { ...toVersion(row), ...toStored(row) };
}

/** Throws `not_found` for a version that never was or is no longer kept. */
export async function requireVersion(sql: Queryable, id: number): Promise<SettingsVersion & StoredSettings> {
  const version = await findVersion(sql, id);
  if (version === null)
    throw new ApiError('not_found', `There is no version ${id}; the newest ${versionsKept} are kept.`);
  return version;
}

/** Newest first, at most `limit`, older than `beforeId` when given. */
export async function listVersions(sql: Queryable, limit: number, beforeId: number | null): Promise<SettingsVersion[]> {
  const rows = await sql<VersionRow[]>`
    select id, at, author, summary, changes, sha256, artifact_sha256, generation from settings_versions
    where id < ${beforeId ?? Number.MAX_SAFE_INTEGER} order by id desc limit ${limit}`;
  return rows.map(toVersion);
}

/** Serialises writers: the caller reads the head after this and stores inside the same transaction. */
export const lockSettings = (tx: Tx): Promise<void> => lockUntilCommit(tx, 'settings');

export interface NewVersion {
  /** Complete, secrets sealed. */
  readonly settings: Settings;
  readonly author: string;
  readonly at: Date;
  /** Given for a rollback; else made from the changes. */
  readonly summary?: string;
}

/** Stores a version and makes it the head; null when it equals the head. Call under `lockSettings`. */
export async function insertVersion(
  tx: Tx,
  head: StoredSettings,
  input: NewVersion,
): Promise<(SettingsVersion & StoredSettings) | null> {
  const body = toCanonicalJson(input.settings);
  if (body === head.body) return null;
  const changes = diffForReaders(head.settings, input.settings);
  const summary = input.summary ?? summarizeChanges(changes);
  const [row] = await tx<VersionRow[]>`
    insert into settings_versions (id, at, author, summary, changes, body, sha256)
    values (${head.id + 1}, ${input.at}, ${input.author}, ${summary}, ${JSON.stringify(changes)}, ${body},
      ${digest(body)})
    returning *`;
  if (row === undefined) throw new Error('the version was not stored');
  await tx`update settings_state set head_id = ${row.id}`;
  // never the head, the active or the pending one, however old they are
  await tx`
    delete from settings_versions where id <= ${row.id - versionsKept} and id not in (
      select active_id from settings_state where active_id is not null
      union select pending_id from settings_state where pending_id is not null)`;
  return { ...toVersion(row), ...toStored(row) };
}

/** The difference with secrets hidden; a changed secret shows as such, without its value. */
export function diffForReaders(from: Settings, to: Settings): Change[] {
  const changes = diffSettings(hideSecrets(from), hideSecrets(to));
  const hidden = new Set(changes.map((change) => change.path));
  const secret = diffSettings(from, to).filter(
    (change) => change.kind === 'changed' && !hidden.has(change.path) && isHiddenPlace(change.path),
  );
  return [
    ...changes,
    ...secret.map((change): Change => ({ path: change.path, kind: 'changed', from: 'a secret', to: 'another secret' })),
  ];
}

/**
 * Parsing and checking cost more than the query; the same few bodies are read over and over. Frozen, so sharing is
 * safe.
 */
const parsedBodies = new Map<string, Settings>();
const parsedBodiesMax = 8;

function parseBody(id: number, body: string): Settings {
  const known = parsedBodies.get(body);
  if (known !== undefined) return known;
  // rules between fields are not asked: what an older program let through can be read, and is refused when it is
  // applied
  const settings = freezeDeep(completeSettings(JSON.parse(body), `version ${id} of the settings`));
  parsedBodies.set(body, settings);
  for (const oldest of parsedBodies.keys()) if (parsedBodies.size > parsedBodiesMax) parsedBodies.delete(oldest);
  return settings;
}

function freezeDeep<T>(value: T): T {
  if (value !== null && typeof value === 'object') for (const member of Object.values(value)) freezeDeep(member);
  return Object.freeze(value);
}

function toStored(row: StoredRow): StoredSettings {
  return {
    id: row.id,
    body: row.body,
    settings: parseBody(row.id, row.body),
    etag: etagOf(row.id, row.sha256),
    artifactSha256: row.artifact_sha256,
    managedSha256: row.managed_sha256,
  };
}

function toVersion(row: VersionRow): SettingsVersion {
  return {
    id: row.id,
    at: row.at,
    author: row.author,
    summary: row.summary,
    changes: JSON.parse(row.changes) as Change[],
    sha256: row.sha256,
    artifactSha256: row.artifact_sha256,
    generation: row.generation,
  };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
