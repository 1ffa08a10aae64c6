// What each stage of the pipeline did with the request of an event, as far as the event says it.
import type { EventDetails, RuleMessage } from './event-text.js';

/** Said by a gate: it stands in no rule file. */
const isOfGate = ({ file }: RuleMessage): boolean => file === '';

export type StageState = 'passed' | 'decided' | 'noticed' | 'unreached' | 'unknown';

/** A stage of the pipeline, as the control plane lists it, with what became of the request there. */
export interface StageOutcome {
  readonly name: string;
  readonly state: StageState;
  /** Rules that stand for what it found. */
  readonly rules: readonly number[];
}

interface Stage {
  readonly name: string;
  readonly kind: string;
}

/** Phases of the rules that a stage runs. */
const phasesOf: Readonly<Record<string, readonly number[]>> = {
  'request head': [1],
  'request body': [2],
  response: [3, 4],
};
/** The rules that stand for what a gate says; no rule set has them. Both flood gates have one. */
const rulesOfGate: Readonly<Record<string, readonly number[]>> = {
  'crash-requests': [1_006_210],
  'deny-list': [1_006_000],
  bans: [1_006_200, 1_006_201],
  'tls-fingerprints': [1_006_402],
  verdicts: [1_006_104],
  'flood-global': [1_006_100],
  'flood-burst': [1_006_100],
  'attack-mode': [1_006_103],
  'rate-zones': [1_006_101],
  'endpoint-limits': [1_006_102],
  challenge: [1_006_300],
  'principal-verdicts': [1_006_001],
  bots: [1_006_400, 1_006_401],
};

function isSaidBy(stage: string, { rule_id: id, tags, match }: RuleMessage): boolean {
  if (stage === 'site-auth') return tags.includes('gatehouse/site-auth');
  if (rulesOfGate[stage]?.includes(id) !== true) return false;
  return id !== 1_006_100 || /global/.test(match) === (stage === 'flood-global');
}

/**
 * What each stage did with the request of an event: the stage that stopped it, those before it, which let it pass, and
 * those behind it, which it never came to. An event does not say what it does not hold: without a stop nothing is said
 * to have stopped it.
 */
export function outcomesOf(stages: readonly Stage[], details: EventDetails): StageOutcome[] {
  const { messages = [], interruption = null, phases = [] } = details;
  const ofGates = messages.filter(isOfGate);
  const stopper = (stage: Stage): boolean => {
    if (interruption === null) return false;
    const own = phasesOf[stage.name];
    if (stage.kind === 'rules') return (own ?? []).includes(interruption.phase ?? 0) && phases.length > 0;
    if (stage.kind !== 'gate' || phases.length > 0) return false;
    return ofGates.some((one) => one.rule_id === interruption.ruleId && isSaidBy(stage.name, one));
  };
  const stoppedAt = stages.findIndex(stopper);
  return stages.map((stage, at) => {
    const own = phasesOf[stage.name];
    const found = stage.kind === 'gate' ? ofGates.filter((one) => isSaidBy(stage.name, one)) : [];
    const rules = found.map(({ rule_id }) => rule_id);
    const isRun = own === undefined || own.some((phase) => phases.includes(phase));
    if (at === stoppedAt)
      return { name: stage.name, state: 'decided', rules: [...new Set([...rules, ...stopperRule(details)])] };
    if (stoppedAt >= 0 && at > stoppedAt) return { name: stage.name, state: 'unreached', rules: [] };
    if (stoppedAt < 0 && interruption !== null) return { name: stage.name, state: 'unknown', rules };
    if (!isRun) return { name: stage.name, state: 'unreached', rules };
    return { name: stage.name, state: rules.length > 0 ? 'noticed' : 'passed', rules };
  });
}

const stopperRule = ({ interruption }: EventDetails): number[] =>
  interruption?.ruleId === undefined ? [] : [interruption.ruleId];

const weights: Readonly<Record<StageState, number>> = { decided: 4, noticed: 3, passed: 2, unknown: 1, unreached: 0 };

/** Each stage once: a lifecycle stage and its rules may share a name; the outcome that says most is kept. */
export function onceEach(all: readonly StageOutcome[]): StageOutcome[] {
  const best = new Map<string, StageOutcome>();
  for (const one of all) {
    const before = best.get(one.name);
    if (before === undefined || weights[one.state] > weights[before.state]) {
      best.delete(one.name); // it stands where it says most
      best.set(one.name, one);
    }
  }
  return [...best.values()];
}
