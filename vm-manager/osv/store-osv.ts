// Advisories become what the installation knows. They come by ecosystem and in pieces, so that a file adds and changes,
// and removes nothing: what is no longer true is published as withdrawn. Only applications that have a package of an
// advisory that changed are matched again.
import { ApiError } from '#http-kit';
import { json, type Tx } from '../database.js';
import type { ReportFile } from '../imports/reading/report-file.js';
import type { Advisory } from './advisory.js';
import { readAdvisories, type DroppedAdvisory } from './read-osv.js';

export interface OsvReport {
  readonly set: 'osv';
  readonly version: string;
  readonly date: string | null;
  /** parsed = created + updated + unchanged + duplicates_in_file + dropped */
  readonly parsed: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly duplicates_in_file: number;
  readonly dropped: number;
  /** Of those that were created or updated: they are withdrawn. */
  readonly withdrawn: number;
  /** Applications that are matched next. */
  readonly applications_pending: number;
  readonly problems: readonly DroppedAdvisory[];
}

const batch = 500;
const problemsMax = 200;

/** Notes applications with a live component of the packages that these advisories name now. */
async function noteApplications(tx: Tx, ids: readonly string[], now: Date): Promise<void> {
  await tx`
    insert into vm_osv_pending (application_id, noted_at)
    select distinct c.application_id, ${now}::timestamptz from vm_components c
    where c.gone_at is null
      and c.package in (select package from vm_osv_affected where osv_id in ${tx(ids)})
    on conflict (application_id) do update set mark = null`;
}

async function write(tx: Tx, all: readonly Advisory[], now: Date) {
  const rows = all.map(({ id, modified, withdrawn, aliases, facts }) => ({ id, modified, withdrawn, aliases, facts }));
  const made = await tx<{ id: string; is_new: boolean }[]>`
    insert into vm_osv as o (id, modified, withdrawn_at, aliases, facts)
    select n.id, n.modified, n.withdrawn, n.aliases, n.facts from jsonb_to_recordset(${json(tx, rows)})
      as n(id text, modified timestamptz, withdrawn timestamptz, aliases jsonb, facts jsonb)
    on conflict (id) do update set modified = excluded.modified, withdrawn_at = excluded.withdrawn_at,
      aliases = excluded.aliases, facts = excluded.facts
    where o.modified < excluded.modified
    returning id, (xmax = 0) as is_new`;
  const ids = made.map(({ id }) => id);
  if (ids.length > 0) {
    await noteApplications(tx, ids, now); // of what they named before
    await tx`delete from vm_osv_affected where osv_id in ${tx(ids)}`;
    const changed = new Set(ids);
    const affected = all.flatMap((one) =>
      changed.has(one.id) ? one.affected.map((entry) => ({ osv_id: one.id, ...entry })) : [],
    );
    await tx`
      insert into vm_osv_affected (osv_id, ecosystem, release, package, ranges, versions)
      select * from jsonb_to_recordset(${json(tx, affected)})
        as n(osv_id text, ecosystem text, release text, package text, ranges jsonb, versions jsonb)`;
    await noteApplications(tx, ids, now);
  }
  const created = made.filter(({ is_new }) => is_new).length;
  const isMade = new Set(ids);
  return {
    created,
    updated: made.length - created,
    withdrawn: all.filter(({ id, withdrawn }) => withdrawn !== null && isMade.has(id)).length,
  };
}

async function finish(tx: Tx, sha256: string, now: Date): Promise<number> {
  const [known] = await tx<{ n: number }[]>`select count(*)::int as n from vm_osv where withdrawn_at is null`;
  await tx`
    insert into vm_feeds (name, sha256, rows, model, set_date, fetched_at)
    values ('osv', ${sha256}, ${known?.n ?? 0}, '', null, ${now})
    on conflict (name) do update set sha256 = excluded.sha256, rows = excluded.rows, fetched_at = excluded.fetched_at`;
  const [pending] = await tx<{ n: number }[]>`select count(*)::int as n from vm_osv_pending`;
  return pending?.n ?? 0;
}

/** Takes the file whole or not at all; throws 422 for one without an advisory. */
export async function storeOsv(tx: Tx, file: ReportFile, sha256: string, now: Date): Promise<OsvReport> {
  await tx`select pg_advisory_xact_lock(${0x67620002}, hashtext('osv'))`;
  const problems: DroppedAdvisory[] = [];
  const seen = new Set<string>();
  let waiting: Advisory[] = [];
  const counts = { parsed: 0, created: 0, updated: 0, unchanged: 0, duplicates_in_file: 0, dropped: 0, withdrawn: 0 };
  const flush = async (): Promise<void> => {
    if (waiting.length === 0) return;
    const made = await write(tx, waiting, now);
    counts.created += made.created;
    counts.updated += made.updated;
    counts.withdrawn += made.withdrawn;
    counts.unchanged += waiting.length - made.created - made.updated;
    waiting = [];
  };
  for await (const item of readAdvisories(file)) {
    counts.parsed++;
    if ('dropped' in item) {
      counts.dropped++;
      if (problems.length < problemsMax) problems.push(item);
    } else if (seen.has(item.id)) counts.duplicates_in_file++;
    else {
      seen.add(item.id);
      if (waiting.push(item) >= batch) await flush();
    }
  }
  await flush();
  if (counts.parsed === counts.dropped)
    throw new ApiError(
      'unfit',
      `The file has no advisory that can be read${counts.parsed === 0 ? '' : ` among ${counts.parsed}`}` +
        `${problems[0] === undefined ? '' : ` (${problems[0].at} ${problems[0].dropped})`}.`,
    );
  const applications_pending = await finish(tx, sha256, now);
  return { set: 'osv', version: '', date: null, ...counts, applications_pending, problems };
}
