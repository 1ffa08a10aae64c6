// Operations of the sites that somebody reaches: what was seen of them and what is declared, as one list. They are read
// anew for each question, because the inventory is the data plane's.
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { operationKey, type ApiPort, type DeclaredOperation, type ListedOperation } from '../apis/port.js';
import { placeOf, readableSite } from '../assets/site.js';
import { allOf, type Queryable } from '../database.js';
import { isUnconfined, reachable, type Reach } from '../kit/caller.js';

export const sitesMax = 200;
export const operationsMax = 20_000;
const perSiteMax = 5000;

export interface ApplicationOfSite {
  readonly id: number;
  readonly name: string;
  readonly project_id: number | null;
}

/** The site of one application that the caller reaches, or the place of what is known of one without a site. */
export async function siteOfApplication(sql: Queryable, reach: Reach, id: number): Promise<string> {
  const [row] = await sql<{ site: string | null }[]>`
    select ${readableSite(sql, reach, 'a')} as site from vm_applications a where a.id = ${id}`;
  return row?.site ?? placeOf(id);
}

/** Sites of applications that somebody reaches, by name; who reaches everything has those of no application, too. */
export async function sitesWithin(sql: Queryable, reach: Reach, apis: ApiPort, application?: string) {
  const rows = await sql<(ApplicationOfSite & { site: string | null })[]>`
    select id, name, project_id, ${readableSite(sql, reach, 'a')} as site from vm_applications a
    where ${allOf(sql, [
      reachable(sql, reach, sql`a.id`, sql`a.project_id`),
      application === undefined ? sql`true` : sql`a.id = ${application}`,
    ])} and status = 'active' order by coalesce(a.site, '') = '', id limit 2000`;
  const sites = new Map<string, ApplicationOfSite[]>();
  for (const { site, ...one } of rows) {
    const name = site ?? placeOf(one.id);
    sites.set(name, [...(sites.get(name) ?? []), one]);
  }
  if (application === undefined && isUnconfined(reach))
    for (const { name } of await apis.sites()) if (!sites.has(name)) sites.set(name, []);
  return sites;
}

/** Where specifications of these applications are: of one that has a site by now also what came before. */
export function placesOf(sites: Awaited<ReturnType<typeof sitesWithin>>) {
  const places = new Map<string, readonly ApplicationOfSite[]>(sites);
  for (const applications of sites.values()) for (const one of applications) places.set(placeOf(one.id), [one]);
  return places;
}

export const operationStates = ['declared', 'shadow', 'zombie', 'undocumented'] as const;

export interface Operation extends Omit<ListedOperation, 'firstSeen' | 'lastSeen' | 'auth' | 'classification'> {
  readonly id: string;
  readonly state: (typeof operationStates)[number];
  readonly auth: ListedOperation['auth'];
  /** null: never seen. */
  readonly classification: ListedOperation['classification'] | null;
  readonly firstSeen: Date | null;
  readonly lastSeen: Date | null;
  readonly specification: string | null;
  readonly isDeprecated: boolean;
  readonly needsCredentials: boolean | null;
}

/** Names an operation in addresses; made of its place, so that it is the same each time. */
export const idOf = ({ site, method, template }: Pick<Operation, 'site' | 'method' | 'template'>): string =>
  createHash('sha256').update(`${site}\n${method}\n${template}`).digest('hex').slice(0, 32);

const declarationOf = (one: DeclaredOperation | undefined) => ({
  specification: one?.specification ?? null,
  isDeprecated: one?.isDeprecated ?? false,
  needsCredentials: one?.needsCredentials ?? null,
});

const atOnce = 500;

/** Called with each of many: lets others have their turn now and then. */
export function turns(): () => Promise<void> | undefined {
  let count = 0;
  return () => (++count % atOnce === 0 ? setImmediate() : undefined);
}

async function operationsOfSite(apis: ApiPort, site: string): Promise<Operation[]> {
  const listed = await apis.listed(site, perSiteMax);
  const declared = await apis.declared(site);
  const turn = turns();
  const byKey = new Map<string, DeclaredOperation>();
  for (const one of declared) {
    await turn();
    byKey.set(operationKey(one.method, one.template), one);
  }
  const seen = new Set<string>();
  const all: Operation[] = [];
  for (const one of listed) {
    await turn();
    const key = operationKey(one.method, one.template);
    seen.add(key);
    const own = byKey.get(key);
    const state = declared.length === 0 ? 'undocumented' : own === undefined ? 'shadow' : 'declared';
    all.push({ ...one, id: idOf(one), state, ...declarationOf(own) });
  }
  let zombies = 0;
  for (const [key, one] of byKey) {
    if (seen.has(key) || zombies++ >= perSiteMax) continue;
    await turn();
    const at = { site, method: one.method, template: one.template };
    all.push({
      ...{ ...at, id: idOf(at), state: 'zombie', ...declarationOf(one) },
      ...{ access: 'unknown', auth: 'unknown', classification: null, risk: 0, band: 'low', hits: 0 },
      ...{ firstSeen: null, lastSeen: null },
    });
  }
  return all;
}

/** Of these sites; `isAll`: none was left out. */
export async function operationsOf(apis: ApiPort, sites: readonly string[]) {
  const all: Operation[] = [];
  let isAll = sites.length <= sitesMax;
  for (const site of sites.slice(0, sitesMax)) {
    if (all.length >= operationsMax) {
      isAll = false;
      break;
    }
    for (const one of await operationsOfSite(apis, site)) all.push(one);
    await setImmediate();
  }
  if (all.length > operationsMax) isAll = false;
  return { all: all.slice(0, operationsMax), isAll };
}

interface Node {
  readonly children: Map<string, Node>;
  readonly ids: Map<string, string>;
}

/** Finds operations of one site by the path of an address, or by a template; the exact segment before a parameter. */
export class OperationIndex {
  readonly #root: Node = { children: new Map(), ids: new Map() };

  constructor(operations: readonly Pick<Operation, 'method' | 'template' | 'id'>[]) {
    for (const { method, template, id } of operations) {
      let at = this.#root;
      for (const segment of template.split('/').slice(1)) {
        const name = segment.startsWith('{') ? '{}' : segment;
        let next = at.children.get(name);
        if (next === undefined) {
          next = { children: new Map(), ids: new Map() };
          at.children.set(name, next);
        }
        at = next;
      }
      at.ids.set(method, id);
    }
  }

  /** Without a method: each operation at the path. */
  find(method: string | null, path: string): readonly string[] {
    const segments = path.split('/').slice(1);
    if (segments.length > 100) return [];
    // a segment may be read in two ways; both are followed, and as few as there are templates
    let ways: Node[] = [this.#root];
    for (const segment of segments) {
      const name = segment.startsWith('{') ? '{}' : segment;
      ways = ways
        .flatMap(({ children }) => [children.get(name), name === '{}' ? undefined : children.get('{}')])
        .filter((one) => one !== undefined)
        .slice(0, 32);
    }
    for (const { ids } of ways) {
      if (method === null && ids.size > 0) return [...ids.values()];
      const id = ids.get(method ?? '');
      if (id !== undefined) return [id];
    }
    return [];
  }
}

/** The path of an address with its templates left as they are; null: it is no address. */
export function pathOf(url: string): string | null {
  if (!URL.canParse(url)) return url.startsWith('/') ? (url.split(/[?#]/, 1)[0] ?? null) : null;
  try {
    return decodeURI(new URL(url).pathname).replaceAll('%7B', '{').replaceAll('%7D', '}');
  } catch {
    return new URL(url).pathname;
  }
}
