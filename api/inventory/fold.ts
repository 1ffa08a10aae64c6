// Cells into the inventory: templates are learned from the paths of a site, and sums of one template are added up. Of
// each template some paths are told apart still, so that a merge can be taken back; further ones keep their kinds.
import { segmentsOf } from '#proxy/contract';
import type { Database, Tx } from '../db/client.js';
import { lockUntilCommit } from '../db/lock-keys.js';
import { addCells, cellsOf, rankOf, saveCells, type Cell } from './cells.js';
import { readDeclarations } from './declared.js';
import { judge } from './judge.js';
import { answeredWell } from './stats.js';
import { learnTemplates, type LearnedPath, type MergeEvidence, type TemplateNode } from './templates/learn.js';
import { foldedPath, matchTemplate, type TemplateMatch } from './templates/match.js';

/** What a specification declares, of a site; `segments` as in its path templates, parameters as `{name}`. */
export interface DeclaredOperation {
  readonly method: string;
  readonly template: string;
  readonly segments: readonly string[];
}

export const endpointsPerSiteMax = 5000;
/** Paths of one method and template that are told apart. */
const pathsKept = 64;

export interface SegmentView {
  /** Of the template; a parameter as `{name}`. */
  readonly text: string;
  /** Of a parameter: why there is one, and where it can be taken back. */
  readonly evidence: (MergeEvidence & { readonly place: string }) | null;
}

export interface FoldedEndpoint extends Cell {
  readonly template: string;
  readonly segments: readonly SegmentView[];
}

export interface Fold {
  readonly tree: TemplateNode;
  readonly endpoints: readonly FoldedEndpoint[];
  /** Cells that are one from now on. */
  readonly gone: readonly Cell[];
  readonly changed: readonly Cell[];
}

export interface FoldOptions {
  readonly declared: readonly DeclaredOperation[];
  readonly apart: ReadonlySet<string>;
}

/** Pure. */
export function foldCells(cells: readonly Cell[], { declared, apart }: FoldOptions): Fold {
  const hits = new Map<string, LearnedPath>();
  for (const { path, stats } of cells)
    hits.set(path, { segments: segmentsOf(path), hits: (hits.get(path)?.hits ?? 0) + stats.count });
  const tree = learnTemplates([...hits.values()], { declared: declared.map(({ segments }) => segments), apart });
  const groups = new Map<string, { match: TemplateMatch; cells: Cell[] }>();
  for (const cell of cells) {
    const match = matchTemplate(tree, segmentsOf(cell.path));
    if (match === null) continue;
    const key = `${cell.method} ${match.template}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { match, cells: [cell] });
    else group.cells.push(cell);
  }
  const endpoints = [...groups.values()].map(({ match, cells: own }) => ({
    ...own.reduce(addCells),
    template: match.template,
    segments: viewSegments(match),
  }));
  const folded = [...groups.values()].map(({ cells: own }) => thinOut(own, tree));
  return {
    tree,
    endpoints: endpoints.filter(({ stats }) => answeredWell(stats) > 0),
    gone: folded.flatMap(({ gone }) => gone),
    changed: folded.flatMap(({ changed }) => changed),
  };
}

/** The segments of its template, with the evidence of parameters. */
function viewSegments({ template, parameters }: TemplateMatch): SegmentView[] {
  const evidence = new Map(parameters.map(({ parameter }) => [`{${parameter.name}}`, parameter]));
  return segmentsOf(template).map((text) => {
    const parameter = evidence.get(text);
    return {
      text,
      evidence: parameter === undefined ? null : { ...parameter.evidence, place: parameter.place },
    };
  });
}

function thinOut(cells: readonly Cell[], tree: TemplateNode): { gone: Cell[]; changed: Cell[] } {
  const concrete = cells.filter(({ path }) => !path.includes('/{'));
  if (concrete.length <= pathsKept) return { gone: [], changed: [] };
  const ranked = concrete.map((cell) => ({ cell, rank: rankOf(cell.path) }));
  ranked.sort((one, other) => (one.rank < other.rank ? -1 : 1));
  const gone = ranked.slice(pathsKept).map(({ cell }) => cell);
  const changed = new Map(cells.filter(({ path }) => path.includes('/{')).map((cell) => [cell.path, cell]));
  const touched = new Set<string>();
  for (const cell of gone) {
    const path = foldedPath(tree, segmentsOf(cell.path)) ?? cell.path;
    const before = changed.get(path);
    touched.add(path);
    changed.set(path, before === undefined ? { ...cell, path } : addCells(before, { ...cell, path }));
  }
  return { gone, changed: [...touched].map((path) => changed.get(path) as Cell) };
}

export interface Folder {
  /** Makes the inventory of each site anew whose cells have changed; returns how many. */
  refresh(): Promise<number>;
  treeOf(site: string): TemplateNode | null;
}

export function createFolder(database: Database): Folder {
  const trees = new Map<string, TemplateNode>();
  /** By which declarations each tree was made. */
  const keys = new Map<string, string>();
  const state: { running: Promise<number> | null } = { running: null };
  const refreshAll = async (): Promise<number> => {
    const { sql } = database;
    const sites = await sql<{ site: string; is_changed: boolean }[]>`
      select site, observed > folded as is_changed from api_sites order by site`;
    const declarations = await readDeclarations(sql);
    const due = sites.filter(
      ({ site, is_changed }) => is_changed || !trees.has(site) || keys.get(site) !== declarations.keyOf(site),
    );
    for (const { site } of due) {
      const declared = await declarations.operationsOf(site);
      trees.set(site, await sql.begin((tx) => refreshSite(tx, site, declared)));
      keys.set(site, declarations.keyOf(site));
    }
    return due.length;
  };
  return {
    refresh: () =>
      (state.running ??= refreshAll().finally(() => {
        state.running = null;
      })),
    treeOf: (site) => trees.get(site) ?? null,
  };
}

async function refreshSite(tx: Tx, site: string, declared: readonly DeclaredOperation[]): Promise<TemplateNode> {
  await lockUntilCommit(tx, 'inventory');
  const splits = await tx<{ place: string }[]>`select place from api_splits where site = ${site}`;
  const cells = await cellsOf(tx, site);
  const fold = foldCells(cells, { declared, apart: new Set(splits.map(({ place }) => place)) });
  await saveEndpoints(tx, site, fold.endpoints, declared);
  await saveCells(tx, fold.changed);
  const gone = fold.gone.map(({ method, path }) => ({ method, path }));
  if (gone.length > 0)
    await tx`
      delete from api_cells c using json_to_recordset(${JSON.stringify(gone)}::text::json) as g (method text, path text)
      where c.site = ${site} and c.method = g.method and c.path = g.path`;
  await tx`update api_sites set folded = observed where site = ${site}`;
  return fold.tree;
}

async function saveEndpoints(
  tx: Tx,
  site: string,
  endpoints: readonly FoldedEndpoint[],
  declared: readonly DeclaredOperation[],
): Promise<void> {
  const known = new Set(declared.map(({ method, segments }) => operationKey(method, segments)));
  const first = [...endpoints].sort((one, other) => one.firstMs - other.firstMs).slice(0, endpointsPerSiteMax);
  const rows = first.map(({ method, template, segments, stats, firstMs, lastMs }) => {
    const { access, auth, classification, risk, band } = judge({
      ...{ method, template, stats },
      firstSeenMs: firstMs,
      lastSeenMs: lastMs,
    });
    return {
      ...{ site, method, template, hits: stats.count, access, auth, classification, risk, band },
      segments: JSON.stringify(segments),
      stats: JSON.stringify(stats),
      first_seen: new Date(firstMs).toISOString(),
      last_seen: new Date(lastMs).toISOString(),
      shadow: declared.length === 0 ? null : !isDeclared(known, method, segmentsOf(template)),
    };
  });
  await tx`delete from api_endpoints where site = ${site}`;
  await tx`
    insert into api_endpoints (site, method, template, segments, stats, hits, first_seen, last_seen, access, auth,
      classification, risk, band, shadow)
    select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (site text, method text, template text,
      segments text, stats text, hits bigint, first_seen timestamptz, last_seen timestamptz, access text, auth text,
      classification text, risk double precision, band text, shadow boolean)`;
}

/** HEAD is what GET is (RFC 9110 section 9.3.2). */
const isDeclared = (known: ReadonlySet<string>, method: string, segments: readonly string[]): boolean =>
  known.has(operationKey(method, segments)) || (method === 'HEAD' && known.has(operationKey('GET', segments)));

/** Names of parameters are no difference: `/users/{id}` is `/users/{userId}`. */
export function operationKey(method: string, segments: readonly string[]): string {
  const own = isGraphqlOperation(segments.at(-1)) ? segments.slice(0, -1) : segments;
  return `${method.toUpperCase()} ${own.map((text) => (text.startsWith('{') ? '{}' : text)).join('/')}`;
}

/** Operations of GraphQL stand below the one path that a specification declares: `/graphql/query:GetUser`. */
const isGraphqlOperation = (segment = ''): boolean => /^(query|mutation|subscription):/.test(segment);
