// Rules of the managed feed on the road of a change: at each apply they join the virtual patches of the settings, as if
// somebody had put them in force. An entry of the settings for the same patch has the last word: disabling one there
// (POST /api/vpatch) takes that one out of the feed's rules, and nothing else.
import type { Queryable } from '../db/client.js';
import type { ApplySettings } from '../settings/contract.js';
import type { Settings } from '../settings/schema.js';
import { baselineFeed } from '../threat-intel/baseline-feed.js';
import { feedPatchIds } from '../threat-intel/managed-document.js';
import { findManagedRow, neverAttempted, rulesDigest } from '../threat-intel/managed-feed.js';
import type { CatalogPatch } from './catalog/entry.js';
import { deliverPatches, patchCatalog } from './catalog/index.js';

export interface ManagedRules {
  /** In force with the next apply, unless the settings say otherwise. */
  readonly patches: readonly CatalogPatch[];
  /** Those that the catalogue does not have. */
  readonly delivered: readonly CatalogPatch[];
  /** As in managed_feed. */
  readonly sha256: string;
}

const none: ManagedRules = { patches: [], delivered: [], sha256: '' };
const isOfFeed = (id: number): boolean => id >= feedPatchIds[0] && id <= feedPatchIds[1];

/** Of the last good copy; the baseline needs none, so it counts from the moment it is switched on. */
export async function readManagedRules(sql: Queryable, settings: Pick<Settings, 'mrf_enabled' | 'mrf_url'>): Promise<ManagedRules> {
  if (!settings.mrf_enabled) return none;
  const row = await findManagedRow(sql);
  if (settings.mrf_url !== '' && (row === null || row.copy_url === null)) return none;
  const { ids, delivered } = settings.mrf_url === '' || row === null ? { ids: baselineFeed.catalogIds, delivered: baselineFeed.patches } : { ids: row.catalog_ids, delivered: row.patches };
  // a copy may be older than the program; ids are never reused, so what is unknown was only withdrawn
  return { patches: [...patchCatalog.filter(({ id }) => ids.includes(id)), ...delivered], delivered, sha256: rulesDigest(ids, delivered) };
}

/**
 * The settings with the feed's rules in them, behind their own: the compiler's pointers into the settings go on fitting.
 * An entry for a patch that the feed brought once and no longer has is off: nobody else has that rule.
 */
export function withManagedRules(settings: Settings, { patches, delivered }: ManagedRules): Settings {
  const isWithdrawn = (id: number): boolean => isOfFeed(id) && !delivered.some((patch) => patch.id === id);
  const own = settings.virtual_patches.map((entry) => (isWithdrawn(entry.id) ? { ...entry, enabled: false } : entry));
  const added = patches.filter(({ id }) => !own.some((entry) => entry.id === id)).map(({ id, cve }) => ({ id, cve, enabled: true }));
  return { ...settings, virtual_patches: [...own, ...added] };
}

export function applyManagedRules(apply: ApplySettings, sql: Queryable): ApplySettings {
  return async (request) => {
    const rules = await readManagedRules(sql, request.settings);
    deliverPatches(rules.delivered);
    const outcome = await apply({ ...request, settings: withManagedRules(request.settings, rules) });
    const isInForce = outcome.kind === 'active' || outcome.kind === 'unchanged';
    // the job may not have seen yet that the feed is on; it fills in the rest
    if (isInForce && request.settings.mrf_enabled) await sql`insert into managed_feed (url, attempted_at, applied_rules_sha256) values (${request.settings.mrf_url}, ${neverAttempted}, ${rules.sha256}) on conflict (only_row) do update set applied_rules_sha256 = excluded.applied_rules_sha256`;
    return outcome;
  };
}
