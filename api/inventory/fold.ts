// Cells into the inventory: templates are learned from the paths of a site, and sums of one template are added up. Of
// each template some paths are told apart still, so that a merge can be taken back; further ones keep their kinds.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { segmentsOf, type MaskLevel } from '#proxy/contract';
import type { Database, Tx } from '../db/client.js';
import { lockUntilCommit } from '../db/lock-keys.js';
import { addCells, cellsOf, isPending, saveCells, type Cell } from './cells.js';
import { readDeclarations } from './declared.js';
import { judge } from './judge.js';
import { keptNames, keptPath } from './kept.js';
import { answeredWell } from './stats.js';
import { learnTemplates, type LearnedPath, type MergeEvidence, type TemplateNode } from './templates/learn.js';
import { rankOf, type SiteForm } from './templates/form.js';
import { foldedPath, matchTemplate, type TemplateMatch } from './templates/match.js';

/** What a specification declares, of a site; `segments` as in its path templates, parameters as `{name}`. */
export interface DeclaredOperation {
  readonly method: string;
  readonly template: string;
  readonly segments: readonly string[];
}

export const endpointsPerSiteMax = 5000;
const pathsKeptDefault = 64;

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

export interface Fold extends SiteForm {
  readonly endpoints: readonly FoldedEndpoint[];
  /** Cells that are one from now on. */
  readonly gone: readonly Cell[];
  readonly changed: readonly Cell[];
}

export interface FoldOptions {
  readonly declared: readonly DeclaredOperation[];
  readonly apart: ReadonlySet<string>;
  /** Paths of one method and template that are told apart; absent: enough to take a merge back. */
  readonly pathsKept?: number;
}

/** Pure. */
export function foldCells(cells: readonly Cell[], options: FoldOptions): Fold {
  const steps = foldInSteps(cells, options);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same with pauses whenever it took some milliseconds, in which others use the thread. */
async function foldSlowly(cells: readonly Cell[], options: FoldOptions): Promise<Fold> {
  const steps = foldInSteps(cells, options);
  for (let sinceMs = performance.now(); ; ) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() - sinceMs < turnMs) continue;
    await nextTurn();
    sinceMs = performance.now();
  }
}

const turnMs = 10;
/** Cells that are added up or matched between two looks at the clock. */
const cellsAtOnce = 128;

function* foldInSteps(
  cells: readonly Cell[],
  { declared, apart, pathsKept = pathsKeptDefault }: FoldOptions,
): Generator<void, Fold> {
  const hits = new Map<string, LearnedPath>();
  for (const cell of cells) {
    const { path, stats } = cell;
    if (isPending(cell)) continue;
    hits.set(path, { segments: segmentsOf(path), hits: (hits.get(path)?.hits ?? 0) + stats.count });
  }
  const tree = learnTemplates([...hits.values()], { declared: declared.map(({ segments }) => segments), apart });
  const groups = new Map<string, { match: TemplateMatch; cells: Cell[] }>();
  for (const [index, cell] of cells.entries()) {
    if (index % cellsAtOnce === 0) yield;
    const match = matchTemplate(tree, segmentsOf(cell.path));
    if (match === null) continue;
    const key = `${cell.method} ${match.template}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { match, cells: [cell] });
    else group.cells.push(cell);
  }
  const endpoints: FoldedEndpoint[] = [];
  const limits = new Map<TemplateNode, Map<string, number>>();
  const folded: Thinned[] = [];
  for (const { match, cells: own } of groups.values()) {
    const sum = yield* addUp(own);
    endpoints.push({ ...sum, template: match.template, segments: viewSegments(match) });
    if (match.parameters.length === 0) continue;
    const thinned = yield* thinOut(own, tree, pathsKept);
    const methods = limits.get(match.end) ?? new Map<string, number>();
    if (thinned.limit !== null) limits.set(match.end, methods.set(sum.method, thinned.limit));
    folded.push(thinned);
  }
  return {
    tree,
    limits,
    endpoints: endpoints.filter(({ stats }) => answeredWell(stats) > 0),
    gone: folded.flatMap(({ gone }) => gone),
    changed: folded.flatMap(({ changed }) => changed),
  };
}

function* addUp(cells: readonly Cell[]): Generator<void, Cell> {
  let sum = cells[0] as Cell;
  for (let index = 1; index < cells.length; index += 1) {
    if (index % cellsAtOnce === 0) yield;
    sum = addCells(sum, cells[index] as Cell);
  }
  return sum;
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

interface Thinned {
  readonly gone: readonly Cell[];
  readonly changed: readonly Cell[];
  /** The highest rank that is told apart; null: there is room. */
  readonly limit: number | null;
}

function* thinOut(cells: readonly Cell[], tree: TemplateNode, pathsKept: number): Generator<void, Thinned> {
  const placeOf = ({ path }: Cell): string => foldedPath(tree, segmentsOf(path)) ?? path;
  const isConcrete = (cell: Cell): boolean =>
    pathsKept === 0 ? placeOf(cell) !== cell.path : !cell.path.includes('/{');
  const ranked = cells
    .filter((cell) => isConcrete(cell) && !isPending(cell))
    .map((cell) => ({ cell, rank: rankOf(cell.path) }));
  ranked.sort((one, other) => one.rank - other.rank || (one.cell.path < other.cell.path ? -1 : 1));
  // What nobody got is part of its template, and no value that is told apart.
  const pending = cells.filter((cell) => isConcrete(cell) && isPending(cell));
  const gone = [...ranked.slice(pathsKept).map(({ cell }) => cell), ...pending];
  const limit = pathsKept === 0 ? -1 : (ranked[pathsKept - 1]?.rank ?? null);
  const changed = new Map(cells.filter((cell) => !isConcrete(cell)).map((cell) => [cell.path, cell]));
  const touched = new Set<string>();
  for (const [index, cell] of gone.entries()) {
    if (index % cellsAtOnce === 0) yield;
    const path = placeOf(cell);
    const before = changed.get(path);
    touched.add(path);
    changed.set(path, before === undefined ? { ...cell, path } : addCells(before, cell));
  }
  return { gone, changed: [...touched].map((path) => changed.get(path) as Cell), limit };
}

export interface Folder {
  /** Makes the inventory of each site anew whose cells have changed; returns how many. */
  refresh(): Promise<number>;
  /** As it was learned last; null: not yet. */
  formOf(site: string): SiteForm | null;
  treeOf(site: string): TemplateNode | null;
  /** The same for one site within a transaction that holds the lock `inventory`. */
  refreshIn(tx: Tx, site: string, level: MaskLevel): Promise<SiteForm>;
}

export function createFolder(database: Database, levelNow: () => Promise<MaskLevel>): Folder {
  const forms = new Map<string, SiteForm>();
  /** By which declarations each tree was made. */
  const keys = new Map<string, string>();
  /** How much of the cells of each site was masked when it was read last. */
  const levels = new Map<string, MaskLevel>();
  const state: { running: Promise<number> | null } = { running: null };
  const refreshAll = async (): Promise<number> => {
    const { sql } = database;
    const sites = await sql<{ site: string; is_changed: boolean }[]>`
      select site, observed > folded as is_changed from api_sites order by site`;
    const declarations = await readDeclarations(sql);
    const level = await levelNow();
    const due = sites.filter(
      ({ site, is_changed }) =>
        is_changed || !forms.has(site) || keys.get(site) !== declarations.keyOf(site) || levels.get(site) !== level,
    );
    for (const { site } of due) {
      const declared = await declarations.operationsOf(site);
      const remasks = levels.get(site) !== level;
      forms.set(site, await sql.begin((tx) => refreshSite(tx, { site, declared, level, remasks })));
      levels.set(site, level);
      keys.set(site, declarations.keyOf(site));
    }
    return due.length;
  };
  return {
    refresh: () =>
      (state.running ??= refreshAll().finally(() => {
        state.running = null;
      })),
    formOf: (site) => forms.get(site) ?? null,
    treeOf: (site) => forms.get(site)?.tree ?? null,
    async refreshIn(tx, site, level) {
      const declarations = await readDeclarations(tx);
      const declared = await declarations.operationsOf(site);
      const form = await refreshSite(tx, { site, declared, level, remasks: levels.get(site) !== level });
      forms.set(site, form);
      levels.set(site, level);
      keys.set(site, declarations.keyOf(site));
      return form;
    },
  };
}

interface Refresh {
  readonly site: string;
  readonly declared: readonly DeclaredOperation[];
  readonly level: MaskLevel;
  /** What was stored before is masked as well: under another level, or by a release that kept paths as they came. */
  readonly remasks: boolean;
}

async function refreshSite(tx: Tx, { site, declared, level, remasks }: Refresh): Promise<SiteForm> {
  await lockUntilCommit(tx, 'inventory');
  if (remasks) await maskCells(tx, site, level);
  const splits = await tx<{ place: string }[]>`select place from api_splits where site = ${site}`;
  const cells = await cellsOf(tx, site);
  const apart = new Set(splits.map(({ place }) => place));
  const fold = await foldSlowly(cells, { declared, apart, ...(level === 'personal' ? { pathsKept: 0 } : {}) });
  await saveEndpoints(tx, site, fold.endpoints, declared);
  await saveCells(tx, fold.changed);
  await removeCells(tx, site, fold.gone);
  await tx`update api_sites set folded = observed where site = ${site}`;
  return { tree: fold.tree, limits: fold.limits };
}

async function removeCells(tx: Tx, site: string, cells: readonly Cell[]): Promise<void> {
  if (cells.length === 0) return;
  const gone = cells.map(({ method, path }) => ({ method, path }));
  await tx`
    delete from api_cells c using json_to_recordset(${JSON.stringify(gone)}::text::json) as g (method text, path text)
    where c.site = ${site} and c.method = g.method and c.path = g.path`;
}

/** Cells with values in their paths or names become what would be stored of them now. */
async function maskCells(tx: Tx, site: string, level: MaskLevel): Promise<void> {
  const gone: Cell[] = [];
  const kept = new Map<string, Cell>();
  const touched = new Set<string>();
  for (const [index, cell] of (await cellsOf(tx, site)).entries()) {
    if (index % cellsAtOnce === 0) await nextTurn();
    const path = keptPath(cell.path, level);
    const stats = keptNames(cell.stats, level);
    const key = `${cell.method} ${path}`;
    const before = kept.get(key);
    const masked = { ...cell, path, stats };
    kept.set(key, before === undefined ? masked : addCells(before, masked));
    if (path !== cell.path) gone.push(cell);
    if (path !== cell.path || JSON.stringify(stats) !== JSON.stringify(cell.stats)) touched.add(key);
  }
  await removeCells(tx, site, gone);
  await saveCells(
    tx,
    [...touched].map((key) => kept.get(key) as Cell),
  );
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
