// A set takes the place of the one before: what it no longer has is no longer said. Findings get their new numbers in
// the same transaction, so that nobody reads half of it.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { ApiError } from '#http-kit';
import { json, type Tx } from '../database.js';
import { refreshFindings } from '../findings/refresh.js';
import type { ReportFile } from '../imports/reading/report-file.js';
import { storeOsv, type OsvReport } from '../osv/store-osv.js';
import {
  readEpss,
  readKev,
  type DroppedRow,
  type EpssRow,
  type KevRow,
  type SetHead,
  type SetName,
} from './read-set.js';

export interface SetReport {
  readonly set: 'epss' | 'kev';
  readonly version: string;
  readonly date: string | null;
  /** parsed = created + updated + unchanged + duplicates_in_file + dropped */
  readonly parsed: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly duplicates_in_file: number;
  readonly dropped: number;
  /** Said before, and no longer. */
  readonly removed: number;
  readonly findings_changed: number;
  /** Open findings with a higher risk than before, the gravest first. */
  readonly rose_total: number;
  readonly rose: readonly Risen[];
  readonly problems: readonly DroppedRow[];
}

export interface Risen {
  readonly id: string;
  readonly application_id: string;
  readonly title: string;
  readonly severity: number;
  readonly from: number;
  readonly to: number;
}

type CveSet = SetReport['set'];
const batch = 2000;
const problemsMax = 200;
const findingsPerBatch = 2000;
const risenShown = 20;

async function hashOf({ path }: ReportFile): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Writes rows; what stood there for the same CVE gives way. Returns how many were new, and how many changed. */
type Write<Row> = (tx: Tx, rows: readonly Row[]) => Promise<{ readonly created: number; readonly updated: number }>;

const counted = (rows: readonly { readonly is_new: boolean }[]) => ({
  created: rows.filter((one) => one.is_new).length,
  updated: rows.filter((one) => !one.is_new).length,
});

/** `xmax = 0`: the row was inserted, not updated (PostgreSQL keeps the updating transaction there). */
const writeEpss =
  ({ date, version }: SetHead): Write<EpssRow> =>
  async (tx, rows) =>
    counted(
      await tx<{ is_new: boolean }[]>`
        insert into vm_cves as c (cve, epss, epss_percentile, epss_date, epss_model)
        select n.cve, n.epss, n.percentile, ${date}::date, ${version}
        from jsonb_to_recordset(${json(tx, rows)}) as n(cve text, epss real, percentile real)
        on conflict (cve) do update set epss = excluded.epss, epss_percentile = excluded.epss_percentile,
          epss_date = excluded.epss_date, epss_model = excluded.epss_model
        where (c.epss, c.epss_percentile) is distinct from (excluded.epss, excluded.epss_percentile)
        returning (xmax = 0) as is_new`,
    );

const writeKev: Write<KevRow> = async (tx, rows) =>
  counted(
    await tx<{ is_new: boolean }[]>`
      insert into vm_cves as c (cve, kev, kev_added, kev_due, kev_ransomware)
      select n.cve, true, n.added, n.due, n.ransomware
      from jsonb_to_recordset(${json(tx, rows)}) as n(cve text, added date, due date, ransomware boolean)
      on conflict (cve) do update set kev = true, kev_added = excluded.kev_added, kev_due = excluded.kev_due,
        kev_ransomware = excluded.kev_ransomware
      where (c.kev, c.kev_added, c.kev_due, c.kev_ransomware)
        is distinct from (true, excluded.kev_added, excluded.kev_due, excluded.kev_ransomware)
      returning (xmax = 0) as is_new`,
  );

/** Rows of the set that the file no longer has. */
async function dropOthers(tx: Tx, set: CveSet): Promise<number> {
  const { count } =
    set === 'epss'
      ? await tx`
          update vm_cves set epss = null, epss_percentile = null, epss_date = null, epss_model = null
          where epss is not null and cve not in (select cve from vm_seen_cves)`
      : await tx`
          update vm_cves set kev = false, kev_added = null, kev_due = null, kev_ransomware = false
          where kev and cve not in (select cve from vm_seen_cves)`;
  return count;
}

/** Works the numbers of these findings out again; returns those open ones that rose. */
async function rankAgain(tx: Tx, ids: readonly number[], now: Date): Promise<Risen[]> {
  const read = () => tx<
    { id: number; application_id: number; title: string; severity: number; effective_risk: number }[]
  >`
    select id, application_id, title, severity, effective_risk from vm_findings where is_open and id in ${tx(ids)}`;
  const before = new Map((await read()).map((row) => [row.id, row.effective_risk]));
  await refreshFindings(tx, ids, now);
  return (await read()).flatMap(({ id, application_id, title, severity, effective_risk: to }) => {
    const from = before.get(id) ?? to;
    return to > from ? [{ id: String(id), application_id: String(application_id), title, severity, from, to }] : [];
  });
}

/** What the set now says of findings: how many it says something else of, and which rose by it. */
async function enrich(tx: Tx, set: CveSet, now: Date): Promise<{ changed: number; rose: Risen[] }> {
  const said = tx`
    select f.id, bool_or(c.kev) as kev, max(c.epss) as epss
    from vm_findings f cross join lateral jsonb_array_elements_text(f.vuln_ids) as v(id)
      join vm_cves c on c.cve = v.id
    group by f.id`;
  const rows =
    set === 'epss'
      ? await tx<{ id: number }[]>`
          update vm_findings f set epss = s.epss, updated_at = ${now}, version = f.version + 1
          from (${said}) s where f.id = s.id and f.epss is distinct from s.epss returning f.id`
      : await tx<{ id: number }[]>`
          update vm_findings f set kev = s.kev, updated_at = ${now}, version = f.version + 1
          from (${said}) s where f.id = s.id and f.kev is distinct from s.kev returning f.id`;
  const ids = rows.map(({ id }) => id);
  const rose: Risen[] = [];
  for (let from = 0; from < ids.length; from += findingsPerBatch)
    rose.push(...(await rankAgain(tx, ids.slice(from, from + findingsPerBatch), now)));
  rose.sort((one, other) => other.to - one.to || Number(one.id) - Number(other.id));
  return { changed: ids.length, rose };
}

async function refuseOlder(tx: Tx, set: CveSet, { date }: SetHead): Promise<void> {
  const [known] = await tx<{ set_date: string | null }[]>`
    select set_date::text as set_date from vm_feeds where name = ${set} for update`;
  const before = known?.set_date ?? null;
  if (date !== null && before !== null && date < before)
    throw new ApiError('conflict', `The file is of ${date}, and the set of ${before} is here already.`);
}

/** Takes the set whole or not at all; throws 409 for one that is older than what is here, 422 for one without a row. */
export async function storeSet(tx: Tx, set: SetName, file: ReportFile, now: Date): Promise<SetReport | OsvReport> {
  const sha256 = await hashOf(file);
  if (set === 'osv') return storeOsv(tx, file, sha256, now);
  if (set === 'epss') {
    const { head, rows } = await readEpss(file);
    return take(tx, set, head, rows, writeEpss(head), { sha256, now });
  }
  const { head, rows } = await readKev(file);
  return take(tx, set, head, rows, writeKev, { sha256, now });
}

async function take<Row extends { readonly cve: string }>(
  tx: Tx,
  set: CveSet,
  head: SetHead,
  rows: AsyncIterable<Row | DroppedRow>,
  write: Write<Row>,
  { sha256, now }: { readonly sha256: string; readonly now: Date },
): Promise<SetReport> {
  await tx`select pg_advisory_xact_lock(${0x67620002}, hashtext(${set}))`;
  await refuseOlder(tx, set, head);
  await tx`create temporary table vm_seen_cves (cve text primary key) on commit drop`;
  const problems: DroppedRow[] = [];
  let [parsed, created, updated, unchanged, duplicates, dropped] = [0, 0, 0, 0, 0, 0];
  let waiting: Row[] = [];
  const flush = async (): Promise<void> => {
    const fresh = await tx<{ cve: string }[]>`
      insert into vm_seen_cves select n.cve from jsonb_to_recordset(${json(tx, waiting)}) as n(cve text)
      on conflict do nothing returning cve`;
    const left = new Set(fresh.map(({ cve }) => cve));
    const first = waiting.filter(({ cve }) => left.delete(cve)); // the first of several counts
    const made = await write(tx, first);
    created += made.created;
    updated += made.updated;
    unchanged += first.length - made.created - made.updated;
    duplicates += waiting.length - first.length;
    waiting = [];
  };
  for await (const row of rows) {
    parsed++;
    if ('dropped' in row) {
      dropped++;
      if (problems.length < problemsMax) problems.push(row);
      continue;
    }
    waiting.push(row);
    if (waiting.length >= batch) await flush();
  }
  if (waiting.length > 0) await flush();
  if (parsed === dropped)
    throw new ApiError('unfit', `The file has no row that can be read${parsed === 0 ? '' : ` among ${parsed}`}.`);
  const removed = await dropOthers(tx, set);
  const { changed, rose } = await enrich(tx, set, now);
  await tx`
    insert into vm_feeds (name, sha256, rows, model, set_date, fetched_at)
    values (${set}, ${sha256}, ${parsed - dropped - duplicates}, ${head.version}, ${head.date}, ${now})
    on conflict (name) do update set sha256 = excluded.sha256, rows = excluded.rows, model = excluded.model,
      set_date = excluded.set_date, fetched_at = excluded.fetched_at`;
  return {
    set,
    version: head.version,
    date: head.date,
    parsed,
    created,
    updated,
    unchanged,
    duplicates_in_file: duplicates,
    dropped,
    removed,
    findings_changed: changed,
    rose_total: rose.length,
    rose: rose.slice(0, risenShown),
    problems,
  };
}
