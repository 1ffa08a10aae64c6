// What each gate made of a request, for records and for `gatehouse explain`.
import type { EventGate, Mode } from '../contract/index.js';
import { decideOnGate } from '../road/decide.js';
import type { Decided, Decision } from './decision.js';

/**
 * One entry a gate that was asked, in their order: those behind the one that ended the request were not. `asked`: names
 * of the gates of the request's site; a gate that failed is not among the decisions, and `pass` here.
 */
export function gateNotes(asked: readonly string[], decisions: readonly Decided[], mode: Mode): EventGate[] {
  const notes: EventGate[] = [];
  for (const gate of asked) {
    const decided = decisions.find((one) => one.gate === gate);
    if (decided === undefined) {
      notes.push({ gate, decision: 'pass', enforced: false });
      continue;
    }
    const enforced = decideOnGate(decided.decision, mode) !== null;
    notes.push({ gate, ...noteOf(decided.decision), enforced });
    if (enforced) break;
  }
  return notes;
}

function noteOf(decision: Decision): Omit<EventGate, 'gate' | 'enforced'> {
  const rule = decision.rule === null ? {} : { rule_id: decision.rule.id };
  switch (decision.kind) {
    case 'flag':
      return { decision: 'flag', ...rule };
    case 'deny':
    case 'challenge':
      return { decision: decision.kind, status: decision.status, ...rule };
    case 'throttle':
      return {
        decision: 'throttle',
        status: 429,
        ...rule,
        zone: decision.zone,
        limit: decision.limit,
        window_seconds: decision.windowSeconds,
        remaining: decision.remaining,
        retry_after_seconds: decision.retryAfterSeconds,
        ...(decision.isDryRun === true ? { dry_run: true } : {}),
      };
  }
}
