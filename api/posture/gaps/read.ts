// What the report of a site is made of, out of the database: the specifications that the saved settings name, the
// endpoints of the inventory, and paths that were asked and never answered.
import { segmentsOf } from '#proxy/contract';
import type { Settings } from '#settings';
import type { Queryable } from '../../db/client.js';
import { sitePrefixOf } from '../../change/steps/specifications.js';
import { listEndpoints, type Inventory } from '../../inventory/index.js';
import { matchTemplate } from '../../inventory/templates/match.js';
import { templatesOf } from '../../spec/plan.js';
import { readableSpecification } from '../../spec/reading/read-there.js';
import { findVersion } from '../../spec/store.js';
import type { DeclaredSpecification, RefusedPath, SiteTraffic } from './report.js';

/** One that is not stored any more declares nothing. */
export async function specificationsOf(
  sql: Queryable,
  settings: Settings,
  site: string,
): Promise<DeclaredSpecification[]> {
  const prefix = sitePrefixOf(settings, site);
  const found: DeclaredSpecification[] = [];
  for (const entry of settings.api_specs.filter((one) => one.site === site)) {
    const row = await findVersion(sql, entry);
    const read = row === null ? null : await readableSpecification(row);
    if (read === null) continue;
    found.push({
      name: entry.name,
      version: entry.version,
      model: read.model,
      templatesOf: (operation) => templatesOf(operation, entry.base_path, prefix),
    });
  }
  return found;
}

/** Sites with a specification, and those of which something was seen, by name. */
export async function sitesOf(sql: Queryable, { api_specs: entries }: Settings): Promise<string[]> {
  const rows = await sql<{ site: string }[]>`select site from api_sites order by site`;
  return [...new Set([...entries.map(({ site }) => site), ...rows.map(({ site }) => site)])].sort();
}

export async function trafficOf(sql: Queryable, inventory: Inventory, site: string): Promise<SiteTraffic> {
  return { site, endpoints: await listEndpoints(sql, site), refused: await refusedOf(sql, inventory, site) };
}

async function refusedOf(sql: Queryable, inventory: Inventory, site: string): Promise<RefusedPath[]> {
  const tree = inventory.treeOf(site);
  if (tree === null) return [];
  const rows = await sql<{ method: string; path: string; hits: number }[]>`
    select method, path, hits from api_cells where site = ${site} and hits > 0`;
  return rows.flatMap(({ method, path, hits }) => {
    const match = matchTemplate(tree, segmentsOf(path));
    return match === null ? [] : [{ method, template: match.template, hits: Number(hits) }];
  });
}
