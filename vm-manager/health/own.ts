// Components that this room answers for: what is known of vulnerabilities, scanners, and ways out to trackers and
// receivers of notices.
import type { Sql } from '../database.js';
import type { Host } from '../host.js';
import { offeredKinds } from '../scanners/catalogue.js';
import {
  secondsSince,
  spanText,
  worstOf,
  type HealthComponent,
  type HealthPart,
  type HealthState,
} from './component.js';

const hourMs = 3_600_000;
const dayS = 86_400;
/** Sets are published daily; so old they mislead. */
const setWarnS = 3 * dayS;
const setFailS = 14 * dayS;

interface SetRow {
  readonly name: string;
  readonly known_at: Date | null;
  readonly error: string | null;
}

function judgeSet({ name, known_at: at, error }: SetRow, isFetched: boolean, now: Date): HealthPart {
  if (at === null) {
    const text = error ?? (isFetched ? 'not fetched yet' : 'none was imported, and no address is set');
    return { name, state: error === null ? (isFetched ? 'unknown' : 'off') : 'failing', text };
  }
  const age = secondsSince(at, now);
  const state: HealthState = age > setFailS ? 'failing' : age > setWarnS || error !== null ? 'warning' : 'ok';
  return { name, state, text: `${spanText(age)} old${error === null ? '' : `; the last fetch failed: ${error}`}` };
}

/** EPSS, KEV and OSV: how old what is known is, and whether it is renewed. */
export async function judgeIntel(host: Host, now: Date): Promise<HealthComponent> {
  const urls = (await host.intelSources?.())?.urls;
  const rows = await host.sql<SetRow[]>`
    select s.name, greatest(f.fetched_at, t.fetched_at) as known_at, t.error
    from (values ('epss'), ('kev'), ('osv')) as s (name)
    left join vm_feeds f on f.name = s.name left join vm_intel_fetches t on t.name = s.name order by s.name`;
  const parts = rows.map((row) => judgeSet(row, (urls?.[row.name as 'epss'] ?? '') !== '', now));
  const state = worstOf(parts.map((part) => part.state));
  const ages = rows.flatMap(({ known_at: at }) => (at === null ? [] : [secondsSince(at, now)]));
  return {
    id: 'intelligence',
    state,
    summary:
      ages.length === 0
        ? 'No set of exploits and advisories is known'
        : `${ages.length} of 3 sets, the oldest ${spanText(Math.max(...ages))} old`,
    measure: ages.length === 0 ? null : { name: 'oldest set', value: Math.round(Math.max(...ages)), unit: 'seconds' },
    action:
      state === 'ok'
        ? null
        : 'Set vm_epss_url, vm_kev_url and vm_osv_url, or import the files (POST /api/v1/threat-intel/bundles).',
    parts,
  };
}

const runsLookedAt = 20;

/** The last runs of each scanner: one that only fails cannot be relied on. */
export async function judgeScanners(sql: Sql, now: Date): Promise<HealthComponent> {
  const parts: HealthPart[] = [];
  for (const kind of [...offeredKinds, 'dast']) {
    const rows = await sql<{ status: string; finished_at: Date; error: string | null }[]>`
      select status, finished_at, error from vm_runs
      where kind = ${kind} and finished_at is not null order by id desc limit ${runsLookedAt}`;
    const judged = rows.filter(({ status }) => status !== 'canceled');
    const [last] = judged;
    const failed = judged.findIndex(({ status }) => status === 'succeeded');
    const inRow = failed < 0 ? judged.length : failed;
    if (last === undefined) parts.push({ name: kind, state: 'off', text: 'has not run' });
    else
      parts.push({
        name: kind,
        state: inRow === 0 ? 'ok' : inRow >= 3 ? 'failing' : 'warning',
        text:
          inRow === 0
            ? `ended well ${spanText(secondsSince(last.finished_at, now))} ago`
            : `the last ${inRow === 1 ? 'scan' : `${inRow} scans`} failed: ${last.error ?? last.status}`,
      });
  }
  const [halted] = await sql<{ reason: string }[]>`select reason from vm_scan_switch where halted`;
  if (halted !== undefined)
    parts.push({ name: 'switch', state: 'warning', text: `active scans are stopped: ${halted.reason}` });
  const state = worstOf(parts.map((part) => part.state));
  const bad = parts.filter((part) => part.state === 'failing' || part.state === 'warning').length;
  const used = parts.filter((part) => part.state !== 'off').length;
  return {
    id: 'scanners',
    state,
    summary: used === 0 ? 'No scanner has run' : bad === 0 ? `${used} in use` : `${bad} of ${used} need a look`,
    measure: { name: 'scanners that fail', value: bad, unit: 'count' },
    action: bad === 0 ? null : 'Read the runs of the scanner (Scans), and start one again once its cause is gone.',
    parts,
  };
}

interface WayRow {
  readonly name: string;
  readonly state: string;
  readonly reason: string | null;
  readonly failures: number;
  readonly retry_at: Date | null;
}
const waysMax = 50;

/** Trackers and receivers of notices that are switched on. */
export async function judgeWaysOut(sql: Sql, now: Date): Promise<HealthComponent> {
  const rows = await sql<WayRow[]>`
    select 'integration ' || name as name, state, reason, failures, retry_at from vm_integrations where enabled
    union all select 'channel ' || name, state, reason, failures, retry_at from vm_channels where enabled
    order by failures desc, name limit ${waysMax}`;
  const parts = rows.map(({ name, state, reason, failures, retry_at: retry }): HealthPart => {
    if (state === 'failed') return { name, state: 'failing', text: reason ?? 'it was refused' };
    const isAway = failures > 0 && retry !== null && retry.getTime() > now.getTime() - hourMs;
    if (isAway) return { name, state: 'warning', text: reason ?? `${failures} attempts failed` };
    return { name, state: state === 'ok' ? 'ok' : 'unknown', text: state === 'ok' ? 'works' : 'was not tested yet' };
  });
  const state = worstOf(parts.map((part) => part.state));
  const bad = parts.filter((part) => part.state === 'failing' || part.state === 'warning').length;
  return {
    id: 'outgoing',
    state,
    summary:
      rows.length === 0
        ? 'No tracker and no channel is in use'
        : bad === 0
          ? `${rows.length} in use`
          : `${bad} of ${rows.length} do not work`,
    measure: rows.length === 0 ? null : { name: 'that do not work', value: bad, unit: 'count' },
    action:
      state === 'failing' || state === 'warning'
        ? 'Test it: POST /api/v1/notifications/channels/{id}/test or /api/v1/integrations/{id}/test says what is wrong.'
        : state === 'unknown'
          ? 'Test what was never tested.'
          : null,
    parts,
  };
}
