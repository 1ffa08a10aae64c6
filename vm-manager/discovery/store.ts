// Assets as rows: seen again they keep their state, and gain a source. Rows are bounded, and so is what one row keeps.
import { json, type Queryable, type Tx } from '../database.js';
import { hostOf, keyOf, type assetKinds, type assetStates, type Sighting } from './asset.js';

export const assetsMax = 50_000;
const provenanceMax = 30;
const [targetsMax, targetsAtOnce] = [50_000, 1000];

export interface Provenance {
  readonly source: string;
  readonly detail: string;
  readonly run_id: string;
  readonly at: string;
}

export interface AssetRow {
  readonly id: number;
  readonly key: string;
  readonly kind: (typeof assetKinds)[number];
  readonly host: string;
  readonly port: number | null;
  readonly url: string | null;
  readonly state: (typeof assetStates)[number];
  readonly reason: string;
  readonly provenance: readonly Provenance[];
  readonly sources: readonly string[];
  readonly site: string | null;
  readonly is_exposed: boolean | null;
  readonly application_id: number | null;
  readonly target_id: number | null;
  readonly first_seen: Date;
  readonly last_seen: Date;
  readonly decided_by: string | null;
  readonly decided_at: Date | null;
  readonly version: number;
}

/** What is an application or a target already, by host. */
export interface Known {
  readonly targets: ReadonlyMap<string, { readonly targetId: number; readonly applicationId: number }>;
  readonly sites: ReadonlyMap<string, number>;
}

/**
 * Anybody may write any address into a target of theirs. It makes the host theirs once it was proved, or where somebody
 * of the whole organisation has made it of an asset.
 */
export async function readKnown(sql: Queryable): Promise<Known> {
  const targets = new Map<string, { targetId: number; applicationId: number }>();
  for (let after = 0; targets.size < targetsMax; ) {
    const rows = await sql<{ id: number; application_id: number; url: string }[]>`
      select id, application_id, url from vm_targets t
      where id > ${after} and (verified_at is not null
        or exists (select 1 from vm_discovery_assets a where a.target_id = t.id))
      order by id limit ${targetsAtOnce}`;
    for (const { id, application_id: applicationId, url } of rows) {
      const host = URL.canParse(url) ? hostOf(new URL(url).hostname) : null;
      if (host !== null && !targets.has(host)) targets.set(host, { targetId: id, applicationId });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < targetsAtOnce) break;
    after = last.id;
  }
  const sites = await sql<{ site: string; id: number }[]>`
    select site, min(id) as id from vm_applications
    where coalesce(site, '') <> '' and site_confirmed and status = 'active'
    group by site limit 10000`;
  return { targets, sites: new Map(sites.map(({ site, id }) => [site, Number(id)])) };
}

export type Outcome = 'new' | 'known' | 'seen_again' | 'no_room';

/** Adds a sighting to what is there. The caller holds the lock of discovery. */
export async function storeSighting(
  tx: Tx,
  given: Sighting,
  known: Known,
  runId: number,
  room: { left: number },
  now: Date,
): Promise<Outcome> {
  const key = keyOf(given).slice(0, 1000);
  const entry: Provenance = {
    ...{ source: given.source, detail: given.detail.slice(0, 300), run_id: String(runId), at: now.toISOString() },
  };
  const [before] = await tx<AssetRow[]>`select * from vm_discovery_assets where key = ${key}`;
  const target = known.targets.get(given.host) ?? null;
  const application = target?.applicationId ?? (given.site === null ? null : (known.sites.get(given.site) ?? null));
  if (before !== undefined) {
    const others = before.provenance.filter(({ source, detail }) => source !== entry.source || detail !== entry.detail);
    const isFound = before.state === 'new' && application !== null;
    await tx`
      update vm_discovery_assets set last_seen = ${now}, version = version + 1,
        provenance = ${json(tx, [entry, ...others].slice(0, provenanceMax))},
        sources = ${json(tx, [...new Set([...before.sources, given.source])].sort())},
        url = coalesce(url, ${given.url}), site = coalesce(${given.site}, site),
        is_exposed = ${strongest(before.is_exposed, given.isExposed)},
        state = ${isFound ? 'known' : before.state},
        application_id = coalesce(application_id, ${application}::bigint),
        target_id = coalesce(target_id, ${target?.targetId ?? null}::bigint)
      where id = ${before.id}`;
    return 'seen_again';
  }
  if (room.left <= 0) return 'no_room';
  room.left--;
  await tx`
    insert into vm_discovery_assets (key, kind, host, port, url, state, provenance, sources, site, is_exposed,
      application_id, target_id, first_seen, last_seen)
    values (${key}, ${given.kind}, ${given.host}, ${given.port}, ${given.url?.slice(0, 2000) ?? null},
      ${application === null ? 'new' : 'known'}, ${json(tx, [entry])}, ${json(tx, [given.source])}, ${given.site},
      ${given.isExposed}, ${application}, ${target?.targetId ?? null}, ${now}, ${now})`;
  return application === null ? 'new' : 'known';
}

/** One source that saw it from outside outweighs those that did not. */
const strongest = (one: boolean | null, other: boolean | null): boolean | null =>
  one === true || other === true ? true : (other ?? one);
