// The arithmetic of the anomaly score: what each rule added. The rows always add up to the score of the event: what the
// record does not explain is a row of its own.
import { isSummary, pointsOf, type RuleMessage } from '../event-text.js';

export interface ScoreRow {
  /** null: not a rule; `why` says what. */
  readonly ruleId: number | null;
  readonly message: string;
  readonly severity: string;
  /** Values that matched. */
  readonly matches: number;
  readonly points: number;
  readonly why?: 'unlisted' | 'not-counted';
}

/** Rules that look at answers have a score of their own. */
const isOutbound = (id: number): boolean => id >= 950_000 && id < 960_000;
const isOfGate = ({ file }: RuleMessage): boolean => file === '';

export function scoreRows(messages: readonly RuleMessage[], inboundScore: number): ScoreRow[] {
  const rows = new Map<number, ScoreRow>();
  for (const one of messages) {
    const points = pointsOf(one.severity);
    if (points === 0 || isOfGate(one) || isSummary(one) || isOutbound(one.rule_id)) continue;
    const before = rows.get(one.rule_id);
    rows.set(one.rule_id, {
      ruleId: one.rule_id,
      message: before?.message || one.message,
      severity: one.severity,
      matches: (before?.matches ?? 0) + 1,
      points: (before?.points ?? 0) + points,
    });
  }
  const listed = [...rows.values()].sort((a, b) => b.points - a.points);
  const rest = inboundScore - listed.reduce((sum, { points }) => sum + points, 0);
  if (rest === 0) return listed;
  const why = rest > 0 ? 'unlisted' : 'not-counted';
  return [...listed, { ruleId: null, message: '', severity: '', matches: 0, points: rest, why }];
}
