// Weights that never saw what they are judged by: half A is divided into five parts by the hash of each group;
// for each part the weights of all signs are chosen anew on the other four, from "every sign is enough", and the part
// is judged with them. Signs and lists of weak rules stay as they are, so that this says how much is owed to the
// choice of weights, and not how much to the choice of signs.
import { allSigns, type SecondOpinion, type Verdict } from '#engine';
import { foldsMax } from '../../fixtures/traffic/groups.js';

const enough = 5;
/** Ids of rules whose decision the second opinion may change, and its own. */
const scored = new Set([949_110, 949_111, 1_006_610]);

/** One request: what the rules said, and what its values were found to have. */
export interface Judged {
  readonly isAttack: boolean;
  readonly fold: number;
  readonly isBlocked: boolean;
  /** null: weights change nothing about it. */
  readonly opinion: SecondOpinion | null;
}

export type Weights = ReadonlyMap<string, number>;

export const weightsOfTables: Weights = new Map(allSigns.map(({ name, weight }) => [name, weight]));

export function judgedOf(verdict: Verdict, isAttack: boolean, fold: number): Judged {
  const { kind, interruption, opinion = null } = verdict;
  const isOurs = interruption === null || scored.has(interruption.ruleId);
  return { isAttack, fold, isBlocked: kind === 'block', opinion: isOurs ? opinion : null };
}

/** Whether `enforce` blocks it with these weights. A value that the tables do not support is not raised here. */
export function isBlockedWith({ isBlocked, opinion }: Judged, weights: Weights): boolean {
  if (opinion === null) return isBlocked;
  let score = opinion.rules_score;
  const raised = new Set<number>();
  for (const { rule_id, points, support, signs } of opinion.features) {
    if (signs[0] === 'too-long') {
      if (points === 0) raised.add(rule_id);
      continue;
    }
    let prior = support;
    let sum = 0;
    for (const name of signs) {
      prior -= weightsOfTables.get(name) ?? 0;
      sum += weights.get(name) ?? 0;
    }
    const isSupported = prior + sum >= enough;
    if (points > 0) score -= isSupported ? 0 : points;
    else if (isSupported) raised.add(rule_id);
  }
  return score + 5 * raised.size >= opinion.threshold;
}

interface Shares {
  readonly found: number;
  readonly passed: number;
}

/** Percent of attacks blocked and of honest requests let through. */
export function sharesOf(samples: readonly Judged[], weights: Weights): Shares {
  const [attacks, honest] = [true, false].map((label) => samples.filter(({ isAttack }) => isAttack === label));
  const blocked = (some: readonly Judged[] = []): number => some.filter((one) => isBlockedWith(one, weights)).length;
  const percent = (part: number, all: number): number => (100 * part) / Math.max(1, all);
  return {
    found: percent(blocked(attacks), attacks?.length ?? 0),
    passed: 100 - percent(blocked(honest), honest?.length ?? 0),
  };
}

/** Chosen one sign after the other, twice, by what is right about `samples`; equal ones stay as high as they were. */
export function chooseWeights(samples: readonly Judged[]): Weights {
  const weights = new Map(allSigns.map(({ name }) => [name, enough]));
  const all = { attack: 0, honest: 0 };
  for (const { isAttack } of samples) all[isAttack ? 'attack' : 'honest'] += 1;
  for (let turn = 0; turn < 2; turn += 1)
    for (const { name } of allSigns) {
      const touched = samples.filter(({ opinion }) => opinion?.features.some(({ signs }) => signs.includes(name)));
      let best = { weight: enough, right: Number.NEGATIVE_INFINITY };
      for (let weight = enough; weight >= 0; weight -= 1) {
        weights.set(name, weight);
        let right = 0;
        for (const one of touched)
          if (isBlockedWith(one, weights) === one.isAttack) right += 1 / (one.isAttack ? all.attack : all.honest);
        if (right > best.right + 1e-12) best = { weight, right };
      }
      weights.set(name, best.weight);
    }
  return weights;
}

/** One line a part, and all parts together. */
export function reportFolds(samples: readonly Judged[]): void {
  console.log(`weights chosen on four fifths, judged by the fifth (${samples.length} requests):`);
  const sums = { found: 0, passed: 0 };
  for (let fold = 0; fold < foldsMax; fold += 1) {
    const weights = chooseWeights(samples.filter((one) => one.fold !== fold));
    const held = samples.filter((one) => one.fold === fold);
    const [chosen, tables] = [sharesOf(held, weights), sharesOf(held, weightsOfTables)];
    sums.found += chosen.found / foldsMax;
    sums.passed += chosen.passed / foldsMax;
    console.log(`  part ${fold + 1}: ${shown(chosen)}; with the tables' weights ${shown(tables)}`);
  }
  console.log(`  mean: ${shown(sums)}`);
}

function shown({ found, passed }: Shares): string {
  const balanced = ((found + passed) / 2).toFixed(2);
  return `found ${found.toFixed(2)} %, let through ${passed.toFixed(2)} %, balanced ${balanced} %`;
}
