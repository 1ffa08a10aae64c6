// The chains of an organisation, written once more: slowly, plainly, straight from the rules, all chains made, all
// sorted, nothing kept. What the engine answers must equal it. Of the engine's own code it takes the classification
// only, which has tests of its own.
import { createHash } from 'node:crypto';
import { classify, type Classification } from '../classification/classify.js';
import { stageLabels, stages } from '../classification/stages.js';
import { techniqueNames } from '../classification/techniques.js';
import type { ChainApplication, ChainFinding } from '../finding.js';
import { toxicRules } from '../kinds/toxic-rules.js';
import type { Candidate } from '../candidate.js';
import type { ChainAnswer, ChainsAnswer, HopAnswer } from '../present.js';

export interface Organisation {
  readonly applications: readonly ChainApplication[];
  readonly findings: readonly ChainFinding[];
}
export interface SlowScope {
  readonly applicationId?: string;
  readonly internetOnly?: boolean;
  readonly withPack?: boolean;
}

interface Hop extends Classification {
  readonly finding: ChainFinding;
  readonly app: ChainApplication;
  readonly risk: number;
  readonly confirmed: boolean;
}
interface Draft {
  readonly answer: ChainAnswer;
  readonly hops: readonly Hop[];
}

const open = ['new', 'triaged', 'confirmed', 'in_progress', 'fix_pending', 'reopened'];
const rankOf = (hop: Hop): number => stages.indexOf(hop.capability.stage);
const isProd = (app: ChainApplication): boolean =>
  ['prod', 'production'].includes((app.environment ?? '').trim().toLowerCase());
const perMille = (app: ChainApplication): number =>
  ({ critical: 1000, high: 700, medium: 350, low: 100 })[(app.criticality ?? '').trim().toLowerCase()] ?? 0;
const isJewel = (app: ChainApplication): boolean => perMille(app) >= 700;
const riskOf = (finding: ChainFinding): number => {
  const floor = { critical: 90, high: 70, medium: 45, low: 20, info: 5 }[finding.severity] ?? 0;
  return Math.max(0, Math.min(100, Math.round(finding.riskOverride ?? finding.riskScore ?? floor)));
};

/** Numerals by value first, then texts by code units. */
function ids(a: string, b: string): number {
  const [x, y] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (x && y && BigInt(a) !== BigInt(b)) return BigInt(a) < BigInt(b) ? -1 : 1;
  if (x !== y) return x ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
const byPriority = (a: ChainFinding, b: ChainFinding): number => {
  if (a.priorityScore === null || b.priorityScore === null)
    return Number(a.priorityScore === null) - Number(b.priorityScore === null);
  return b.priorityScore - a.priorityScore;
};
const flags = (a: Hop, b: Hop): number =>
  Number(b.confirmed) - Number(a.confirmed) || Number(b.finding.reachable) - Number(a.finding.reachable);
const better = (a: Hop, b: Hop): number =>
  b.risk - a.risk ||
  flags(a, b) ||
  byPriority(a.finding, b.finding) ||
  rankOf(a) - rankOf(b) ||
  ids(a.finding.id, b.finding.id);
const escalation = (a: Hop, b: Hop): number =>
  rankOf(a) - rankOf(b) || flags(a, b) || byPriority(a.finding, b.finding) || ids(a.finding.id, b.finding.id);

function hopsOf(app: ChainApplication, findings: readonly ChainFinding[]): Hop[] {
  const first = findings
    .filter(({ applicationId, status }) => applicationId === app.id && open.includes(status))
    .sort((a, b) => byPriority(a, b) || riskOf(b) - riskOf(a) || ids(a.id, b.id))
    .slice(0, 40);
  const hops: Hop[] = [];
  for (const finding of first) {
    const confirmed = finding.exploitConfirmed || finding.runtimeConfirmed === true;
    const classified = classify({ ...finding, confirmed });
    if (classified !== null) hops.push({ ...classified, finding, app, risk: riskOf(finding), confirmed });
  }
  return hops.sort(better);
}

function score(hops: readonly Hop[]): number {
  const [entry] = hops as [Hop];
  const risk = BigInt(Math.max(...hops.map((hop) => hop.risk)));
  const depth = BigInt(Math.min(hops.length - 1, 5) * 200);
  const exposure = isProd(entry.app) ? 1000n : 0n;
  const quality = entry.confirmed ? 2 : entry.finding.reachable ? 1 : 0;
  const proven = hops.filter(({ confirmed }) => confirmed).length;
  const reach = BigInt(Math.min(1000, quality * 300 + Math.min(proven, 4) * 100));
  const worth = BigInt(Math.max(...hops.map(({ app }) => perMille(app))));
  const million = 10n ** 6n;
  const keep =
    ((million - 300n * depth) * (million - 200n * exposure) * (million - 250n * reach) * (million - 250n * worth)) /
    10n ** 21n;
  return Number((100000n * risk + (1000n - keep) * risk * (100n - risk) + 50000n) / 100000n);
}

function draft(kind: ChainAnswer['kind'], suffix: string, hops: readonly Hop[], ruleName = ''): Draft {
  const [{ app }] = hops as [Hop];
  const last = (hops.at(-1) as Hop).app;
  const proven = hops.filter(({ confirmed }) => confirmed).length;
  const labels = hops.map(({ capability }) => stageLabels[capability.stage]);
  const path = labels.filter((label, index) => index === 0 || labels[index - 1] !== label).join(' → ');
  const across = hops.map((hop, index) => `${labels[index]} on ${hop.app.name}`).join(' → ');
  const within = `${ruleName === '' ? '' : `${ruleName}: `}${path} on ${app.name}`;
  const answer: ChainAnswer = {
    id: `chain:${app.id}:${suffix}`,
    name: kind === 'cross-service' || kind === 'lateral-movement' ? across : within,
    kind,
    app: {
      id: app.id,
      name: app.name,
      environment: app.environment,
      criticality: app.criticality,
      internet_facing: isProd(app),
    },
    ...(kind === 'cross-service' ? { pivot_to: { id: last.id, name: last.name, criticality: last.criticality } } : {}),
    score: score(hops),
    danger: isProd(app) && ((hops[0] as Hop).confirmed || (hops[0] as Hop).finding.reachable),
    proven_hops: proven,
    runtime_proven: proven > 0,
    hops: hops.map(
      (hop): HopAnswer => ({
        vuln_id: hop.finding.id,
        title: hop.finding.title,
        severity: hop.finding.severity,
        stage: hop.capability.stage,
        stage_label: stageLabels[hop.capability.stage],
        technique: techniqueNames[hop.capability.mitre],
        mitre: hop.capability.mitre,
        reachable: hop.finding.reachable,
        confirmed: hop.confirmed,
        score: hop.risk,
        location: hop.finding.location ?? null,
      }),
    ),
    mitre: [...new Set(hops.map(({ capability }) => capability.mitre))],
  };
  return { answer, hops };
}

/** Every choice of one element from each list. */
function choices<Item>(lists: readonly (readonly Item[])[]): Item[][] {
  return lists.reduce<Item[][]>((all, list) => all.flatMap((some) => list.map((item) => [...some, item])), [[]]);
}

function toxic(app: ChainApplication, hops: readonly Hop[], withPack: boolean): Draft[] {
  const fits = (holds: (candidate: Candidate) => boolean): Hop[] =>
    hops.filter((hop) => holds(hop as unknown as Candidate));
  const drafts: Draft[] = [];
  for (const { slug, name, pack, ways, when } of toxicRules) {
    if (pack === 'further' && !withPack) continue;
    if (when !== undefined && !when({ isInternetFacing: isProd(app) } as never)) continue;
    for (const slots of ways) {
      const required = slots.filter(({ isOptional }) => !isOptional).map(({ holds }) => fits(holds));
      const fit = choices(required).find((chosen) => new Set(chosen).size === chosen.length);
      if (fit === undefined) continue;
      for (const { holds } of slots.filter(({ isOptional }) => isOptional)) {
        const more = fits(holds).find((hop) => !fit.includes(hop));
        if (more !== undefined) fit.push(more);
      }
      drafts.push(draft('toxic-combination', `toxic-${slug}`, fit.sort(escalation), name));
      break;
    }
  }
  return drafts;
}

/** Every order of two to four of the applications. */
function paths<Item>(items: readonly Item[], length: number): Item[][] {
  if (length === 0) return [[]];
  return items.flatMap((item) =>
    paths(
      items.filter((other) => other !== item),
      length - 1,
    ).map((rest) => [item, ...rest]),
  );
}

function lateral(apps: readonly ChainApplication[], hopsBy: ReadonlyMap<string, readonly Hop[]>): Draft[] {
  const drafts: Draft[] = [];
  for (const path of [2, 3, 4].flatMap((length) => paths(apps, length))) {
    const hops = path.map((app, index) => {
      const own = hopsBy.get(app.id) as readonly Hop[];
      const pivots = own.filter(({ capability }) => capability.pivot !== null);
      if (index === 0) return pivots.find((hop) => rankOf(hop) <= 2);
      if (index < path.length - 1) return pivots[0];
      return isJewel(app) ? (own.find(({ capability }) => capability.stage === 'impact') ?? own[0]) : undefined;
    });
    if (hops.includes(undefined)) continue;
    const before = hops.slice(0, -1) as Hop[];
    if (before.some((hop, index) => index > 0 && escalation(before[index - 1] as Hop, hop) > 0)) continue;
    const joined = hops.map((hop) => hop?.finding.id).join('>');
    const digits = createHash('sha256').update(joined).digest('hex').slice(0, 10);
    drafts.push(draft('lateral-movement', `lateral-${digits}`, hops as Hop[]));
  }
  return drafts;
}

const preference = ['toxic-combination', 'kill-chain', 'cross-service', 'lateral-movement'];
const names = (a: Draft, b: Draft): number => {
  const start = ids(a.answer.app.id, b.answer.app.id);
  if (start !== 0) return start;
  if (a.answer.kind === 'toxic-combination') return a.answer.id < b.answer.id ? -1 : a.answer.id > b.answer.id ? 1 : 0;
  for (const [index, hop] of a.hops.entries()) {
    const other = b.hops[index];
    if (other === undefined) break;
    const found = ids(hop.app.id, other.app.id) || ids(hop.finding.id, other.finding.id);
    if (found !== 0) return found;
  }
  return a.hops.length - b.hops.length;
};
const kinds = (a: Draft, b: Draft): number => preference.indexOf(a.answer.kind) - preference.indexOf(b.answer.kind);
const danger = (a: Draft, b: Draft): number => Number(b.answer.danger) - Number(a.answer.danger);
const ties = (a: Draft, b: Draft): number =>
  danger(a, b) || b.hops.length - a.hops.length || kinds(a, b) || names(a, b);
const proofFirst = (a: Draft, b: Draft): number =>
  b.answer.proven_hops - a.answer.proven_hops || b.answer.score - a.answer.score || ties(a, b);
const scoreFirst = (a: Draft, b: Draft): number =>
  b.answer.score - a.answer.score || b.answer.proven_hops - a.answer.proven_hops || ties(a, b);

function collapsed(drafts: readonly Draft[]): Draft[] {
  const order = [...drafts].sort(
    (a, b) => kinds(a, b) || b.answer.score - a.answer.score || danger(a, b) || names(a, b),
  );
  const seen = new Set<string>();
  return order.filter(({ hops }) => {
    const key = JSON.stringify(hops.map(({ finding }) => finding.id).sort());
    return !seen.has(key) && seen.add(key);
  });
}

/** All chains of all kinds, before anything is collapsed or cut. */
function everything(apps: readonly ChainApplication[], hopsBy: ReadonlyMap<string, Hop[]>, withPack: boolean): Draft[] {
  const drafts: Draft[] = [];
  for (const app of apps) {
    const hops = hopsBy.get(app.id) as Hop[];
    const best = stages.map((stage) => hops.find(({ capability }) => capability.stage === stage));
    const populated = best.filter((hop) => hop !== undefined);
    if (populated.length >= 2) drafts.push(draft('kill-chain', 'kill-chain', populated));
    drafts.push(...toxic(app, hops, withPack));
    const source = hops.find((hop) => rankOf(hop) <= 2);
    if (source === undefined || !isProd(app)) continue;
    for (const other of apps) {
      const sink = (hopsBy.get(other.id) as Hop[]).find(({ capability }) => capability.stage === 'impact');
      const isLinked = other.id !== app.id && app.projectId !== null && other.projectId === app.projectId;
      if (isLinked && sink !== undefined) drafts.push(draft('cross-service', `cross-${other.id}`, [source, sink]));
    }
  }
  for (const project of new Set(apps.map(({ projectId }) => projectId)))
    if (project !== null)
      drafts.push(
        ...lateral(
          apps.filter(({ projectId }) => projectId === project),
          hopsBy,
        ),
      );
  return drafts;
}

/** The answer of the API, and the report's fifty. */
export function slowChains(
  { applications, findings }: Organisation,
  { applicationId, internetOnly = false, withPack = false }: SlowScope = {},
): ChainsAnswer & { readonly byScore: readonly ChainAnswer[] } {
  const apps = applications.filter((app) => !internetOnly || isProd(app));
  const hopsBy = new Map(apps.map((app) => [app.id, hopsOf(app, findings)]));
  const drafts = everything(apps, hopsBy, withPack).filter(
    ({ answer }) => applicationId === undefined || answer.app.id === applicationId,
  );
  const all = collapsed(drafts).sort(proofFirst);
  const paths12 = all.filter(({ answer }) => answer.kind === 'lateral-movement').slice(0, 12);
  const kept = all.filter((chain) => chain.answer.kind !== 'lateral-movement' || paths12.includes(chain));
  const counted = apps.filter(({ id }) => applicationId === undefined || id === applicationId);
  const count = (test: (answer: ChainAnswer) => boolean): number => kept.filter(({ answer }) => test(answer)).length;
  return {
    chains: kept.slice(0, 40).map(({ answer }) => answer),
    byScore: [...kept]
      .sort(scoreFirst)
      .slice(0, 50)
      .map(({ answer }) => answer),
    stats: {
      chains: kept.length,
      danger_chains: count((answer) => answer.danger),
      toxic_combinations: count(({ kind }) => kind === 'toxic-combination'),
      cross_service: count(({ kind }) => kind === 'cross-service'),
      lateral_movement: count(({ kind }) => kind === 'lateral-movement'),
      runtime_proven_chains: count((answer) => answer.runtime_proven),
      capabilities_classified: counted.reduce((sum, { id }) => sum + (hopsBy.get(id)?.length ?? 0), 0),
      max_chain_risk: Math.max(0, ...kept.map(({ answer }) => answer.score)),
    },
  };
}
