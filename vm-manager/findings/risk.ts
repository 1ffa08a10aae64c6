// Risk and priority of a finding, from what is known of it. Every factor has a floor and a ceiling and is monotone:
// more severity, proof, exposure or criticality never lowers the score. The factors are kept and shown (score-explain).
import type { Severity } from './words.js';

export interface RiskInput {
  readonly severity: Severity;
  /** 0.0 to 10.0; null without a CVSS vector or score. */
  readonly cvss: number | null;
  /** Probability of exploitation in 30 days, 0 to 1; null: not known. */
  readonly epss: number | null;
  /** Listed among the known exploited vulnerabilities. */
  readonly kev: boolean;
  /** By runtime or exploit. */
  readonly confirmed: boolean;
  readonly reachable: boolean | null;
  readonly internetFacing: boolean;
  readonly criticality: string;
  /** How sure the detection is, 0.6 (heuristic) to 1.0 (exploited). */
  readonly quality: number;
}

export interface RiskFactors {
  readonly base: number;
  readonly threat: number;
  readonly reachability: number;
  readonly exposure: number;
  readonly criticality: number;
  readonly quality: number;
}

const bases: Readonly<Record<Severity, number>> = { critical: 9.5, high: 8, medium: 5.5, low: 2.5, info: 0.5 };
const criticalityFactors: Readonly<Record<string, number>> = { critical: 1.1, high: 1, medium: 0.9, low: 0.8 };
/** Of a vulnerability that no model has looked at. */
const epssUnknown = 0.02;

export const isInternetFacing = (environment: string | null): boolean =>
  ['prod', 'production'].includes((environment ?? '').trim().toLowerCase());

const clamp = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value));

export function factorsOf(input: RiskInput): RiskFactors {
  const epss = input.epss ?? epssUnknown;
  const calm = (1 - 0.9 * epss) * (1 - (input.kev ? 0.6 : 0)) * (1 - (input.confirmed ? 0.85 : 0));
  return {
    base: input.cvss ?? bases[input.severity],
    threat: 1 - calm,
    reachability: input.confirmed ? 1.1 : input.reachable === null ? 0.85 : input.reachable ? 1 : 0.4,
    exposure: input.internetFacing ? 1 : 0.8,
    criticality: criticalityFactors[input.criticality] ?? 0.9,
    quality: clamp(input.quality, 0.6, 1),
  };
}

/** 0 to 100. */
export function riskOf(factors: RiskFactors): number {
  const { base, threat, reachability, exposure, criticality, quality } = factors;
  return clamp(Math.round(10 * base * (0.5 + 0.5 * threat) * reachability * exposure * criticality * quality), 0, 100);
}

/**
 * What the candidates of chains and the worklist are ordered by. Time does not enter: an import of the same report
 * would change rows that nothing has happened to; whoever wants the next deadline sorts by due_at.
 */
export function priorityOf(effectiveRisk: number, kev: boolean, confirmed: boolean, reachable: boolean | null): number {
  return 1000 * effectiveRisk + (kev ? 300 : 0) + (confirmed ? 200 : 0) + (reachable === true ? 100 : 0);
}

/** What is left of a risk behind a virtual patch: the application is as it was, and the way to it is barred. */
const patchedFactor = 0.35;
export const residualRisk = (effectiveRisk: number, isPatched: boolean): number =>
  isPatched ? Math.round(effectiveRisk * patchedFactor) : effectiveRisk;
