// EPSS and KEV, fetched where the operator named an address: by the guarded client of the server, at the pace of the
// settings. A fetch that fails changes nothing of what is known, is told, and is tried again within the hour.
import { ApiError, systemActor, type Actor } from '#http-kit';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host, IntelSources } from '../host.js';
import { importSet } from './import-set.js';
import type { Run } from '../kit/runs.js';
import { setNames, unpack, type SetName } from './read-set.js';

/** As they are published, packed or not. */
export const fetchBytesMax = 64 * 1024 * 1024;
const retryMs = 3_600_000;
const errorLengthMax = 500;

export interface FetchRow {
  readonly name: SetName;
  readonly url: string;
  readonly tried_at: Date;
  readonly fetched_at: Date | null;
  readonly error: string | null;
}

/** A new address is asked at once; one that failed after an hour, or sooner where the pace is faster. */
function isDue(row: FetchRow | undefined, url: string, everyMs: number, now: Date): boolean {
  if (row === undefined || row.url !== url) return true;
  const pauseMs = row.error === null ? everyMs : Math.min(everyMs, retryMs);
  return now.getTime() - row.tried_at.getTime() >= pauseMs;
}

/** Stores what was fetched, and says who asked for it. */
export async function storeFetched(
  host: Host,
  set: SetName,
  body: Buffer,
  now: Date,
  actor: Actor = systemActor,
): Promise<Run> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-intel-'));
  try {
    const path = join(directory, 'set');
    await writeFile(path, body, { mode: 0o600, flag: 'wx' });
    const bytes = (await stat(path)).size;
    const file = await unpack({ path, bytes });
    return await host.sql.begin(async (tx) => {
      const run = await importSet(tx, set, { file, bytes, by: actor.name }, now);
      await host.audit.record(tx, {
        actor,
        action: 'vm.import',
        summary: `fetched the set ${set} (run ${run.id})`,
        details: run.result,
      });
      return run;
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** What is not for people's eyes is the log's: the message of a refusal was written for them. */
export const reasonOf = (error: unknown): string =>
  (error instanceof ApiError ? error.message : 'The set could not be stored; the log of the server says why.').slice(
    0,
    errorLengthMax,
  );

export interface OwnFeed {
  readonly id: number;
  readonly set_name: SetName;
  readonly name: string;
  readonly url: string;
  readonly every_hours: number;
  readonly enabled: boolean;
  readonly tried_at: Date | null;
  readonly fetched_at: Date | null;
  readonly error: string | null;
  readonly created_by: string;
  readonly created_at: Date;
}

export const noteTry = async (host: Host, id: number, now: Date, error: string | null): Promise<void> =>
  void (await host.sql`
    update vm_intel_feeds set tried_at = ${now}, error = ${error},
      fetched_at = ${error === null ? now : host.sql`fetched_at`} where id = ${id}`);

/** What operators named themselves; where a setting names an address for the same set, that one is asked. */
async function fetchOwn(host: Host, sources: IntelSources, now: Date): Promise<string[]> {
  const told: string[] = [];
  for (const feed of await host.sql<OwnFeed[]>`select * from vm_intel_feeds where enabled order by id`) {
    const { set_name: set, url, tried_at: tried } = feed;
    const everyMs = feed.every_hours * retryMs;
    const row = tried === null ? undefined : { ...feed, name: set, tried_at: tried };
    if (sources.urls[set] !== '' || !isDue(row, url, everyMs, now)) continue;
    const error = await sources
      .download(url, fetchBytesMax)
      .then((body) => storeFetched(host, set, body, now))
      .then(() => null, reasonOf);
    await noteTry(host, feed.id, now, error);
    told.push(error === null ? `${set} was fetched` : `${set} was not: ${error}`);
  }
  return told;
}

/** Fetches what is due; one line about it. */
export async function fetchDue(host: Host, now: Date): Promise<string> {
  const sources = await host.intelSources?.();
  if (sources === undefined) return 'nothing is fetched here';
  const rows = await host.sql<FetchRow[]>`select * from vm_intel_fetches`;
  const told: string[] = await fetchOwn(host, sources, now);
  for (const set of setNames) {
    const url = sources.urls[set];
    if (
      url === '' ||
      !isDue(
        rows.find(({ name }) => name === set),
        url,
        sources.everyMs,
        now,
      )
    )
      continue;
    const error = await sources
      .download(url, fetchBytesMax)
      .then((body) => storeFetched(host, set, body, now))
      .then(() => null, reasonOf);
    await note(host, { set, url, error }, now);
    told.push(error === null ? `${set} was fetched` : `${set} was not: ${error}`);
  }
  return told.length === 0 ? 'nothing is due' : told.join('; ');
}

async function note(
  { sql }: Host,
  { set, url, error }: { readonly set: SetName; readonly url: string; readonly error: string | null },
  now: Date,
): Promise<void> {
  await sql`
    insert into vm_intel_fetches (name, url, tried_at, fetched_at, error)
    values (${set}, ${url}, ${now}, ${error === null ? now : null}, ${error})
    on conflict (name) do update set url = excluded.url, tried_at = excluded.tried_at, error = excluded.error,
      fetched_at = coalesce(excluded.fetched_at, vm_intel_fetches.fetched_at)`;
}

/** Fetches a set now, whatever the pace is. Throws ApiError where it cannot be; that is noted as well. */
export async function fetchNow(host: Host, set: SetName, actor: Actor, now: Date): Promise<Run> {
  const sources = await host.intelSources?.();
  const url = sources?.urls[set] ?? '';
  if (sources === undefined || url === '')
    throw new ApiError('conflict', `No address is set from which ${set} is fetched: see the settings.`);
  try {
    const run = await storeFetched(host, set, await sources.download(url, fetchBytesMax), now, actor);
    await note(host, { set, url, error: null }, now);
    return run;
  } catch (error) {
    await note(host, { set, url, error: reasonOf(error) }, now);
    throw error;
  }
}
