// Until when a finding is to be fixed. With a CVE: by the table of CISA's directive BOD 26-04 (known exploited, asset
// exposed, automatable, technical impact); else by severity. Policies of the operator come before both. Pure.
import type { Severity } from './words.js';

export interface SlaInput {
  readonly severity: Severity;
  readonly hasCve: boolean;
  readonly kev: boolean;
  readonly confirmed: boolean;
  readonly reachable: boolean | null;
  readonly exposed: boolean;
  /** A CVSS vector; null: neither automatable nor total. */
  readonly vector: string | null;
}

export interface SlaTerm {
  /** null: no clock. */
  readonly days: number | null;
  /** Which rule said so. */
  readonly rule: string;
}

const bySeverity: Readonly<Record<Severity, number | null>> = {
  critical: 7,
  high: 30,
  medium: 90,
  low: 120,
  info: null,
};
const dayMs = 86_400_000;

/** From a CVSS 3 or 4 vector: no privileges, no interaction, over the network, easy. */
export function isAutomatable(vector: string | null): boolean {
  const has = (metric: string): boolean => (vector ?? '').split('/').includes(metric);
  return has('AV:N') && has('AC:L') && has('PR:N') && has('UI:N');
}

/** Control over the component or all that it knows. */
export function isTotalImpact(vector: string | null): boolean {
  const metrics = (vector ?? '').split('/');
  const isHigh = (name: string): boolean => metrics.includes(`${name}:H`) || metrics.includes(`V${name}:H`);
  const high = ['C', 'I', 'A'].filter(isHigh).length;
  return (isHigh('C') && isHigh('I')) || (metrics.includes('S:C') && high >= 2);
}

/** The directive's table; 180 days stand for "with the next upgrade". */
export function daysOfDirective(kev: boolean, exposed: boolean, automatable: boolean, total: boolean): number {
  if (!kev && !exposed) return automatable ? 60 : 180;
  if (!kev) return automatable ? (total ? 3 : 14) : total ? 14 : 60;
  if (!exposed && !automatable) return 14;
  if (exposed && automatable) return 3;
  return total ? 3 : 14;
}

export function termOf(input: SlaInput): SlaTerm {
  if (input.severity === 'info' && !input.kev) return { days: null, rule: 'none' };
  if (input.hasCve) {
    const days = daysOfDirective(
      input.kev || input.confirmed,
      input.exposed,
      isAutomatable(input.vector),
      isTotalImpact(input.vector),
    );
    return { days, rule: 'bod-26-04' };
  }
  const days = bySeverity[input.severity];
  if (days === null) return { days: null, rule: 'none' };
  const isUrgent = input.exposed && (input.reachable === true || input.confirmed);
  return { days: isUrgent ? Math.max(1, Math.ceil(days / 2)) : days, rule: isUrgent ? 'severity-urgent' : 'severity' };
}

/** Days that a proven virtual patch adds where no policy says otherwise. */
export const patchedDaysDefault = 14;
/** Who has three days or less has them because somebody attacks: nothing makes them more. */
const urgentDaysMax = 3;

/** Days that are added to a term while a virtual patch with a proof that holds stands before the finding. */
export function extensionOf(days: number | null, isPatched: boolean, patchedDays: number): number {
  return days === null || days <= urgentDaysMax || !isPatched ? 0 : patchedDays;
}

/** `start` and so many days later; Saturdays and Sundays (UTC) do not count as business days. */
export function dueAt(start: Date, days: number, pausedMs: number, businessDays: boolean): Date {
  if (!businessDays) return new Date(start.getTime() + days * dayMs + pausedMs);
  let at = start.getTime();
  for (let left = days; left > 0; ) {
    at += dayMs;
    const weekday = new Date(at).getUTCDay();
    if (weekday !== 0 && weekday !== 6) left--;
  }
  return new Date(at + pausedMs);
}

export type SlaState = 'ok' | 'at_risk' | 'breached' | 'paused' | 'met' | 'none';

export interface Clock {
  readonly is_open: boolean;
  readonly sla_start: Date;
  readonly sla_days: number | null;
  readonly sla_paused_at: Date | null;
  readonly due_at: Date | null;
  readonly closed_at: Date | null;
}

/** At risk: a fifth of the time or less is left. */
export function stateOf(clock: Clock, now: Date): SlaState {
  if (clock.due_at === null || clock.sla_days === null) return 'none';
  if (clock.sla_paused_at !== null) return 'paused';
  if (!clock.is_open)
    return clock.closed_at !== null && clock.closed_at.getTime() > clock.due_at.getTime() ? 'breached' : 'met';
  const left = clock.due_at.getTime() - now.getTime();
  if (left <= 0) return 'breached';
  return left <= (clock.due_at.getTime() - clock.sla_start.getTime()) / 5 ? 'at_risk' : 'ok';
}
