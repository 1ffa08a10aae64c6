// Rules of the managed feed, as a step of the road of a change: they join the virtual patches of the settings as if
// somebody had put them in force. An entry of the settings for the same patch has the last word: disabling one there
// (POST /api/vpatch) takes that one out of the feed's rules, and nothing else.
//
// An apply takes the feed's rules of that moment and keeps them with the version, by the hash of their content.
// Whatever brings that version back later takes the kept ones: the feed may have gone on, but rules change only with an
// apply.
import type { Queryable, Tx } from '../../db/client.js';
import type { Settings } from '#settings';
import { baselineFeed } from '../../managed-feed/baseline.js';
import { feedPatchIds } from '../../managed-feed/document.js';
import { findManagedRow, rulesDigest } from '../../managed-feed/store.js';
import { patchCatalog, type CatalogPatch } from '../../vpatch/catalog/index.js';

export interface ManagedRules {
  /** In force with the apply that takes them, unless the settings say otherwise. */
  readonly patches: readonly CatalogPatch[];
  /** Of the catalogue's patches, those that the feed names. */
  readonly catalogIds: readonly number[];
  /** Patches that the catalogue does not have. */
  readonly delivered: readonly CatalogPatch[];
  /** Of `catalogIds` and `delivered`; '' = no rules, the feed is off. */
  readonly sha256: string;
}

export const noManagedRules: ManagedRules = { patches: [], catalogIds: [], delivered: [], sha256: '' };

const isOfFeed = (id: number): boolean => id >= feedPatchIds[0] && id <= feedPatchIds[1];

function managedRules(catalogIds: readonly number[], delivered: readonly CatalogPatch[], sha256: string): ManagedRules {
  // a copy may be older than the program; ids are never reused, so what is unknown was only withdrawn
  return {
    patches: [...patchCatalog.filter(({ id }) => catalogIds.includes(id)), ...delivered],
    catalogIds,
    delivered,
    sha256,
  };
}

/** Of the last good copy; the baseline needs none, so it counts from the moment it is switched on. */
export async function readManagedRules(
  sql: Queryable,
  settings: Pick<Settings, 'mrf_enabled' | 'mrf_url'>,
): Promise<ManagedRules> {
  if (!settings.mrf_enabled) return noManagedRules;
  const row = await findManagedRow(sql);
  if (settings.mrf_url !== '' && (row === null || row.copy_url === null)) return noManagedRules;
  const { ids, delivered } =
    settings.mrf_url === '' || row === null
      ? { ids: baselineFeed.catalogIds, delivered: baselineFeed.patches }
      : { ids: row.catalog_ids, delivered: row.patches };
  return managedRules(ids, delivered, rulesDigest(ids, delivered));
}

/** Those that a version was applied with; null when it never was, or before they were kept. */
export async function findAppliedRules(sql: Queryable, managedSha256: string | null): Promise<ManagedRules | null> {
  if (managedSha256 === null) return null;
  if (managedSha256 === '') return noManagedRules;
  const [row] = await sql<
    { catalog_ids: number[]; patches: CatalogPatch[] }[]
  >`select catalog_ids, patches from managed_rule_sets where sha256 = ${managedSha256}`;
  return row === undefined ? null : managedRules(row.catalog_ids, row.patches, managedSha256);
}

/** Before a version is marked with their hash. */
export async function keepManagedRules(sql: Queryable, { sha256, catalogIds, delivered }: ManagedRules): Promise<void> {
  if (sha256 === '') return;
  await sql`
    insert into managed_rule_sets (sha256, catalog_ids, patches)
    values (${sha256}, ${sql.json([...catalogIds])}, ${sql.json(delivered as never)})
    on conflict (sha256) do nothing`;
}

/** Forgets those that no version, no activation on its way and no rollout names. */
export async function pruneManagedRules(tx: Tx): Promise<void> {
  await tx`
    delete from managed_rule_sets where sha256 not in (
      select managed_sha256 from settings_versions where managed_sha256 is not null
      union select managed_sha256 from rollouts where status = 'running'
      union select pending_managed_sha256 from settings_state where pending_managed_sha256 is not null)`;
}

/**
 * The settings with the feed's rules in them, behind their own, so that the compiler's pointers go on fitting. An entry
 * for a patch that the feed brought once and no longer has is off: nobody else has that rule.
 */
export function withManagedRules(settings: Settings, { patches, delivered }: ManagedRules): Settings {
  const isWithdrawn = (id: number): boolean => isOfFeed(id) && !delivered.some((patch) => patch.id === id);
  const own = settings.virtual_patches.map((entry) => (isWithdrawn(entry.id) ? { ...entry, enabled: false } : entry));
  const added = patches
    .filter(({ id }) => !own.some((entry) => entry.id === id))
    .map(({ id, cve }) => ({ id, cve, name: '', enabled: true, seclang: '', sites: [] }));
  return { ...settings, virtual_patches: [...own, ...added] };
}
