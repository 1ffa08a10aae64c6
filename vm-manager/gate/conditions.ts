// What a gate asks: conditions over numbers of a commit, as data. The judgement is a pure function of the facts, so
// that the same commit over the same findings always gets the same verdict.
import { OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import type { FindingRow } from '../findings/fields.js';
import { findingFields } from '../findings/fields.js';
import { severityNumbers } from '../findings/words.js';
import { unfit } from '../kit/endpoint.js';
import { checkPredicate, holds, PredicateSchema, type Fields, type Predicate } from '../kit/predicate.js';

/** Finding as the gate sees it. */
export interface GateFinding extends FindingRow {
  /** The commit has it and its baseline has not. */
  readonly isNew: boolean;
}

export interface GateChain {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly score: number;
  readonly danger: boolean;
  readonly hop_vuln_ids: readonly string[];
  readonly application_ids: readonly string[];
  /** One of its hops is a new finding. */
  readonly isNew: boolean;
}

/** A commit's findings and the chains that run through its application. */
export interface Facts {
  readonly findings: readonly GateFinding[];
  readonly chains: readonly GateChain[];
  readonly now: Date;
}

interface Measured {
  readonly actual: number;
  readonly findings: readonly string[];
  readonly chains: readonly string[];
}

const count = (facts: Facts, fits: (row: GateFinding) => boolean): Measured => {
  const findings = facts.findings.filter(fits).map(({ id }) => String(id));
  return { actual: findings.length, findings, chains: [] };
};
const ofSeverity = (name: string) => (row: GateFinding) => row.severity === severityNumbers[name];
const isNew = ({ isNew: held }: GateFinding): boolean => held;
const countChains = (facts: Facts, fits: (chain: GateChain) => boolean): Measured => {
  const chains = facts.chains.filter(fits);
  const findings = [...new Set(chains.flatMap(({ hop_vuln_ids }) => hop_vuln_ids))];
  return { actual: chains.length, findings, chains: chains.map(({ id }) => id) };
};

/** Metric → how it is measured. Findings that people accepted, muted or called wrong are not among the facts. */
export const metrics = {
  new_critical: (facts) => count(facts, (row) => isNew(row) && ofSeverity('critical')(row)),
  new_high: (facts) => count(facts, (row) => isNew(row) && ofSeverity('high')(row)),
  new_medium: (facts) => count(facts, (row) => isNew(row) && ofSeverity('medium')(row)),
  new_low: (facts) => count(facts, (row) => isNew(row) && ofSeverity('low')(row)),
  new_findings: (facts) => count(facts, isNew),
  open_critical: (facts) => count(facts, ofSeverity('critical')),
  open_high: (facts) => count(facts, ofSeverity('high')),
  open_medium: (facts) => count(facts, ofSeverity('medium')),
  open_findings: (facts) => count(facts, () => true),
  kev_open: (facts) => count(facts, ({ kev }) => kev),
  secrets_new: (facts) => count(facts, (row) => isNew(row) && row.source === 'secret'),
  sla_breached: (facts) => count(facts, ({ due_at }) => due_at !== null && due_at < facts.now),
  unpatched_fix_available_high: (facts) =>
    count(facts, (row) => row.severity >= (severityNumbers['high'] ?? 3) && row.fix_state === 'fixed_available'),
  danger_chains: (facts) => countChains(facts, ({ danger }) => danger),
  new_danger_chains: (facts) => countChains(facts, (chain) => chain.danger && chain.isNew),
  new_chains: (facts) => countChains(facts, (chain) => chain.isNew),
  max_chain_score: ({ chains }) => {
    const most = chains.reduce((score, chain) => Math.max(score, chain.score), 0);
    const worst = chains.filter(({ score }) => score === most);
    return { actual: most, findings: worst.flatMap((c) => c.hop_vuln_ids), chains: worst.map(({ id }) => id) };
  },
} as const satisfies Readonly<Record<string, (facts: Facts) => Measured>>;
export type Metric = keyof typeof metrics;
export const metricNames = Object.keys(metrics) as Metric[];

const compare = {
  lte: (actual: number, threshold: number) => actual <= threshold,
  lt: (actual: number, threshold: number) => actual < threshold,
  eq: (actual: number, threshold: number) => actual === threshold,
  gte: (actual: number, threshold: number) => actual >= threshold,
  gt: (actual: number, threshold: number) => actual > threshold,
} as const;
type Comparison = keyof typeof compare;
export const comparisons = Object.keys(compare) as Comparison[];

/** Either a metric, or how many findings a predicate holds for. */
export interface Condition {
  readonly name?: string;
  readonly metric?: Metric;
  readonly predicate?: Predicate;
  /** Of a predicate: findings that are new, or all that are open. */
  readonly of?: 'new' | 'open';
  readonly op?: Comparison;
  readonly threshold?: number;
}

export const ConditionSchema = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    metric: Type.Optional(OneOf(metricNames)),
    predicate: Type.Optional(PredicateSchema),
    of: Type.Optional(OneOf(['new', 'open'])),
    op: Type.Optional(OneOf(comparisons)),
    threshold: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
  },
  { additionalProperties: false, description: 'holds when actual op threshold; op is lte and threshold 0 by default' },
);

/** Throws 422 with the place for what no schema refuses. */
export function checkConditions(conditions: readonly Condition[]): void {
  conditions.forEach((condition, index) => {
    const at = `/conditions/${index}`;
    if ((condition.metric === undefined) === (condition.predicate === undefined))
      throw unfit(at, 'has to have either metric or predicate');
    if (condition.predicate !== undefined) checkPredicate(condition.predicate, findingFields, `${at}/predicate`);
    else if (condition.of !== undefined) throw unfit(`${at}/of`, 'belongs to a predicate', 'a metric says it itself');
  });
}

export interface Gate {
  readonly id: string | null;
  readonly name: string;
  readonly mode: 'enforce' | 'warn';
  readonly conditions: readonly Condition[];
  readonly baselineBranch: string;
  /** What it does with reports that were not understood as a whole. */
  readonly incompleteReports: 'fail' | 'allow';
}

const none = (metric: Metric): Condition => ({ metric, op: 'lte', threshold: 0 });

/** Holds where no gate was written. */
export const builtInGate: Gate = {
  id: null,
  name: 'built-in',
  mode: 'enforce',
  conditions: (['new_critical', 'new_high', 'secrets_new', 'kev_open', 'new_danger_chains'] as const).map(none),
  baselineBranch: 'main',
  incompleteReports: 'fail',
};

/** Of applications, for selectors. */
export const applicationFields: Fields = {
  id: { type: 'id', column: 'id' },
  project_id: { type: 'id', column: 'project_id' },
  name: { type: 'text', column: 'name' },
  owner: { type: 'text', column: 'owner' },
  environment: { type: 'text', column: 'environment' },
  business_criticality: { type: 'text', column: 'business_criticality' },
  exposure: { type: 'text', column: 'exposure' },
  tag: { type: 'list', column: 'tags' },
};

export interface Judged {
  readonly name: string;
  readonly metric: Metric | null;
  readonly op: Comparison;
  readonly threshold: number;
  readonly actual: number;
  readonly ok: boolean;
  /** What it counted; empty where the condition holds. */
  readonly vuln_ids: readonly string[];
  readonly chain_ids: readonly string[];
}

/** Every condition with its number. */
export function judge(conditions: readonly Condition[], facts: Facts): Judged[] {
  return conditions.map(({ name, metric, predicate, of = 'open', op = 'lte', threshold = 0 }) => {
    const fits = (row: GateFinding): boolean =>
      (of === 'open' || row.isNew) && predicate !== undefined && holds(predicate, { ...row }, findingFields, facts.now);
    const measured = metric === undefined ? count(facts, fits) : metrics[metric](facts);
    const ok = compare[op](measured.actual, threshold);
    return {
      name: name ?? metric ?? 'a predicate',
      metric: metric ?? null,
      op,
      threshold,
      actual: measured.actual,
      ok,
      vuln_ids: ok ? [] : measured.findings,
      chain_ids: ok ? [] : measured.chains,
    };
  });
}
