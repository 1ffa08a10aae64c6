// The catalogue of virtual patches: ours, for published vulnerabilities. Sorted by id; ids are never reused.
import { apachePatches } from './apache.js';
import { appliancePatches } from './appliances.js';
import { atlassianPatches } from './atlassian.js';
import { enterprisePatches } from './enterprise.js';
import type { CatalogPatch } from './entry.js';
import { javaPatches } from './java.js';
import { phpPatches } from './php.js';
import { wordpressPatches } from './wordpress.js';

export type { CatalogPatch, CatalogTest, PatchSeverity } from './entry.js';

export const patchCatalog: readonly CatalogPatch[] = [
  ...javaPatches,
  ...atlassianPatches,
  ...apachePatches,
  ...phpPatches,
  ...wordpressPatches,
  ...appliancePatches,
  ...enterprisePatches,
].sort((left, right) => left.id - right.id);

const byId = new Map(patchCatalog.map((patch) => [patch.id, patch]));

/**
 * The rule of an entry of the settings, which carries both id and CVE, under the patch's id; null when there is no such
 * pair.
 */
export type FindVirtualPatch = (cve: string, id: number) => { readonly name: string; readonly text: string } | null;

/** Looks in the catalogue, and in `delivered`: patches of the managed feed, under ids of their own. */
export function findPatchIn(delivered: readonly CatalogPatch[]): FindVirtualPatch {
  return (cve, id) => {
    const patch = byId.get(id) ?? delivered.find((one) => one.id === id);
    return patch === undefined || patch.cve !== cve
      ? null
      : { name: `${patch.cve} ${patch.title}`, text: patch.seclang };
  };
}
