// One request through the default rules, taken apart for people: each rule that saw something, what it looked at, and
// the points that it added. Pure; runs in the demo's thread.
import { scoreCountedBy, type Trial, type TrialRequest } from '#compiler';
import type { Program, RuleIR } from '#engine';

export interface DemoMatch {
  readonly rule_id: number;
  readonly message: string;
  readonly phase: number;
  /** `ARGS:q`; of the last value that matched. */
  readonly variable: string;
  /** After the transformations, one code unit per byte. */
  readonly value: string;
  readonly operator: string;
  readonly transformations: readonly string[];
  readonly severity: string;
  readonly paranoia_level: number;
  /** Added to the inbound anomaly score for each value that matches. */
  readonly points: number;
}

export interface DemoExplanation {
  readonly verdict: 'pass' | 'flag' | 'block';
  readonly status: number | null;
  /** The rule that stopped the request; null: none did. */
  readonly blocked_by: number | null;
  readonly inbound_score: number;
  readonly inbound_threshold: number;
  readonly matches: readonly DemoMatch[];
}

const valueMax = 2000;
const severities = ['emergency', 'alert', 'critical', 'error', 'warning', 'notice', 'info', 'debug'];
/** Points of crs-setup's defaults, by the variable that a rule adds. */
const pointsBy: Readonly<Record<string, number>> = {
  critical_anomaly_score: 5,
  error_anomaly_score: 4,
  warning_anomaly_score: 3,
  notice_anomaly_score: 2,
};

/** What a match adds to the score that requests are blocked by; 0 for rules that only steer others. */
export function pointsOf(rule: RuleIR): number {
  for (const action of rule.links.flatMap(({ actions }) => actions)) {
    if (action.kind !== 'setvar' || action.operation !== 'add') continue;
    const [key] = action.key;
    const [value] = action.value;
    if (typeof key !== 'string' || scoreCountedBy(key) !== 'inbound') continue;
    if (typeof value === 'string') return Number(value) || 0;
    return pointsBy[value?.key ?? ''] ?? 0;
  }
  return 0;
}

/** Rules that only sum up what others found. */
const isSummary = (id: number): boolean => [949, 959, 980].includes(Math.floor(id / 1000));

/** A rule that adds points, or that stops a request by itself. */
const isFinding = (rule: RuleIR): boolean =>
  pointsOf(rule) > 0 || (!isSummary(rule.id) && !['pass', 'allow'].includes(rule.disruptive.kind));

function paranoiaOf({ tags }: RuleIR): number {
  const found = tags.map((tag) => /^paranoia-level\/(\d)$/.exec(tag)?.[1]).find((level) => level !== undefined);
  return Number(found ?? 1);
}

function operatorOf(rule: RuleIR): string {
  const { operator } = rule.links.at(-1) ?? {};
  return operator == null ? '' : `${operator.negated ? '!' : ''}@${operator.name}`;
}

/** `threshold` is that of the rules that `trial` runs. */
export function createExplainer(program: Program, trial: Trial, threshold: number) {
  const byId = new Map(program.items.flatMap((item) => (item.kind === 'rule' ? [[item.id, item] as const] : [])));
  return (request: TrialRequest): DemoExplanation => {
    const outcome = trial.run(request);
    const matches = outcome.matched.flatMap((match): DemoMatch[] => {
      const rule = byId.get(match.id);
      if (rule === undefined || !isFinding(rule)) return [];
      return [
        {
          rule_id: match.id,
          message: match.message,
          phase: match.phase,
          variable: match.variable,
          value: match.value.slice(0, valueMax),
          operator: operatorOf(rule),
          transformations: rule.links.at(-1)?.transformations ?? [],
          severity: severities[rule.severity ?? 7] ?? '',
          paranoia_level: paranoiaOf(rule),
          points: pointsOf(rule),
        },
      ];
    });
    return {
      verdict: outcome.kind,
      status: outcome.status,
      blocked_by: outcome.interruptedBy,
      inbound_score: outcome.inboundScore,
      inbound_threshold: threshold,
      matches,
    };
  };
}
