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

export const patchCatalog: readonly CatalogPatch[] = [...javaPatches, ...atlassianPatches, ...apachePatches, ...phpPatches, ...wordpressPatches, ...appliancePatches, ...enterprisePatches].sort((left, right) => left.id - right.id);

const byId = new Map(patchCatalog.map((patch) => [patch.id, patch]));

/** Patches of the managed feed, under ids of their own. One process serves one database, so it has one feed; every apply says anew which these are. */
let delivered: ReadonlyMap<number, CatalogPatch> = new Map();

export function deliverPatches(patches: readonly CatalogPatch[]): void {
  delivered = new Map(patches.map((patch) => [patch.id, patch]));
}

/** What apply asks for: the rule of an entry of the settings, which carries both id and CVE; null when neither the catalogue nor the managed feed has such a pair. */
export function findVirtualPatch(cve: string, id: number): { readonly name: string; readonly text: string } | null {
  const patch = byId.get(id) ?? delivered.get(id);
  return patch === undefined || patch.cve !== cve ? null : { name: `${patch.cve} ${patch.title}`, text: patch.seclang };
}
