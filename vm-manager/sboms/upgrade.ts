// Which packages to move to which version: for each the smallest one that no advisory is true of, and those that close
// most risk first. Packages are independent of each other, so that the first n steps are the best n.
import type { Sql } from '../database.js';
import { severityWeights } from './weights.js';
import { keysOf } from '../containers/vulnerabilities.js';
import { groupBy } from '../kit/values/group-by.js';
import { adviseOn, advisoriesOf, findingsOf, type KnownFinding } from '../osv/compare.js';
import { groupAliases, judge, type ComponentRow, type Hit, type KnownAdvisory, type Pair } from '../osv/match.js';
import { comparatorOf } from '../osv/versions/index.js';
import { pathsTo } from './graph.js';
import { listing, nodesOf } from './store.js';

const componentsMax = 100_000;
const candidatesMax = 200;
const throughMax = 10;

interface Component extends ComponentRow {
  readonly relation: string;
}

/** Fixed versions that the advisories name, from the smallest on. */
function candidatesOf(pairs: readonly Pair[], version: string): string[] {
  const [first] = pairs;
  if (first === undefined) return [];
  const type = first.ranges.find((range) => range.type !== 'GIT')?.type ?? 'ECOSYSTEM';
  const compare = comparatorOf(first.ecosystem, type);
  if (compare === null) return [];
  const fixed = pairs.flatMap(({ ranges }) =>
    ranges.flatMap((range) =>
      range.type === 'GIT' ? [] : range.events.flatMap(([kind, at]) => (kind === 'fixed' ? [at] : [])),
    ),
  );
  return [...new Set(fixed)]
    .filter((one) => (compare(one, version) ?? -1) > 0)
    .sort((left, right) => compare(left, right) ?? 0)
    .slice(0, candidatesMax);
}

/** The package as it would be with another version. */
const moved = (component: ComponentRow, version: string): ComponentRow => ({
  ...component,
  version,
  purl: component.purl.replace(/@[^@/?#]*(?=$|[?#])/, '').replace(/(upstream=[^@&]*)@[^&]*/, '$1'),
});

export interface Step {
  readonly to: string | null;
  /** Advisories that are true of the new version, too. */
  readonly leaves: readonly string[];
}

/** The smallest version that nothing is true of; else the one that least is true of. Pure. */
export function stepOf(component: ComponentRow, pairs: readonly Pair[], hits: readonly Hit[]): Step {
  const now = new Set(hits.map(({ osvId }) => osvId));
  let best: Step = { to: null, leaves: [...now].sort() };
  for (const to of candidatesOf(pairs, component.version)) {
    const [left, open]: [Hit[], never[]] = [[], []];
    judge(moved(component, to), pairs, left, open);
    const leaves = [...new Set(left.map(({ osvId }) => osvId))].sort();
    if (leaves.length < best.leaves.length) best = { to, leaves };
    if (leaves.length === 0) break;
  }
  return best;
}

const major = (version: string): string => /\d+/.exec(version)?.[0] ?? '';

interface Weighed {
  readonly id: string;
  readonly risk: number;
  readonly finding: KnownFinding | undefined;
}

/** Of each weakness once, whatever ids it has; what was decided about counts no more. */
function weigh(
  hits: readonly Hit[],
  advisories: ReadonlyMap<string, KnownAdvisory>,
  roots: ReadonlyMap<string, string>,
  findings: ReadonlyMap<string, KnownFinding>,
): Weighed[] {
  const once = new Map(hits.map((hit) => [roots.get(hit.osvId) ?? hit.osvId, hit]));
  return [...once.values()].flatMap((hit) => {
    const advisory = advisories.get(hit.osvId);
    if (advisory === undefined) return [];
    const finding = keysOf(hit, advisory)
      .map((key) => findings.get(key))
      .find((one) => one !== undefined);
    if (finding !== undefined && !finding.is_open) return [];
    return [{ id: hit.osvId, finding, risk: finding?.effective_risk ?? severityWeights[advisory.facts.severity] }];
  });
}

/** Direct dependencies that bring it along, as the newest bills say. */
async function broughtBy(sql: Sql, application: number, component: Component): Promise<string[]> {
  if (component.relation === 'direct') return [];
  const names = new Set<string>();
  for (const bill of await listing(sql, application, component)) {
    const nodes = await nodesOf(sql, bill.id);
    for (const way of pathsTo(nodes, bill.root, bill.n).paths) {
      const direct = nodes[way[bill.root === null ? 0 : 1] ?? -1];
      if (direct !== undefined && way.length > 2) names.add(`${direct.name}@${direct.version}`);
    }
  }
  return [...names].sort().slice(0, throughMax);
}

export async function upgradePlan(sql: Sql, application: number, stepsMax: number) {
  const components = await sql<Component[]>`
    select distinct on (package, name, version) id, name, version, coalesce(purl, '') as purl, package, relation
    from vm_components where application_id = ${application} and gone_at is null and package is not null
    order by package, name, version, relation, id limit ${componentsMax}`;
  const { hits, unknown, byPackage } = await adviseOn(sql, components);
  const advisories = await advisoriesOf(sql, [...new Set(hits.map(({ osvId }) => osvId))]);
  const roots = new Map(
    [...groupAliases([...advisories.values()])].flatMap(([root, own]) => own.map(({ id }) => [id, root] as const)),
  );
  const keys = hits.flatMap((hit) => {
    const advisory = advisories.get(hit.osvId);
    return advisory === undefined ? [] : keysOf(hit, advisory);
  });
  const findings = await findingsOf(sql, application, [...new Set(keys)]);
  const byComponent = groupBy(hits, ({ component }) => component.id);
  const steps = components.flatMap((component) => {
    const own = byComponent.get(component.id) ?? [];
    const weighed = weigh(own, advisories, roots, findings);
    if (weighed.length === 0) return [];
    const step = stepOf(component, byPackage.get(component.package) ?? [], own);
    const closes = weighed.filter(({ id }) => !step.leaves.includes(id));
    return [{ component, step, weighed, closes, risk: closes.reduce((sum, one) => sum + one.risk, 0) }];
  });
  const total = steps.reduce((sum, { weighed }) => sum + weighed.reduce((risk, one) => risk + one.risk, 0), 0);
  const order = (left: (typeof steps)[number], right: (typeof steps)[number]): number =>
    right.risk - left.risk || (left.component.name < right.component.name ? -1 : 1);
  const useful = steps.filter(({ step, closes }) => step.to !== null && closes.length > 0).sort(order);
  let closed = 0;
  const items = [];
  for (const { component, step, closes, risk } of useful.slice(0, stepsMax)) {
    closed += risk;
    const { id, name, version, purl, relation } = component;
    const to = step.to ?? '';
    items.push({
      ...{ component_id: String(id), name, purl, from: version, to, relation },
      is_major: major(version) !== major(to),
      through: await broughtBy(sql, application, component),
      closes: closes.map((one) => ({ id: one.id, vuln_id: one.finding === undefined ? null : String(one.finding.id) })),
      leaves: step.leaves,
      risk: Math.round(risk),
      share: total === 0 ? 0 : Math.round((closed / total) * 1000) / 1000,
    });
  }
  const stuck = steps.filter(({ step, closes }) => step.to === null || closes.length === 0).sort(order);
  return {
    application_id: String(application),
    steps: items,
    steps_total: useful.length,
    risk_total: Math.round(total),
    without_fix: stuck.slice(0, stepsMax).map(({ component: { id, name, version, purl }, step }) => ({
      ...{ component_id: String(id), name, version, purl, advisories: step.leaves },
    })),
    not_comparable: unknown.length,
  };
}
