// A false positive → the narrowest exclusion that lets it pass and that leaves every other parameter protected. Nothing
// is believed: each candidate is compiled with the whole rule set and tried. Runs in the sandbox's thread.
import {
  renderRuleExclusions,
  type ScopedExclusion,
  type Trial,
  type TrialOutcome,
  type TrialRequest,
} from '#compiler';
import { exclusionTargetPattern, ruleIdRanges } from '#settings';
import { attackFamilies, attackShapes, type AttackFamily } from './attack-shapes.js';
import { isDetection } from './likelihood.js';
import { namesOf, withParameter } from './request-parameters.js';
import { Workbench, type RulesInForce } from './workbench.js';

export interface ExclusionRequest extends RulesInForce {
  readonly ruleId: number;
  /** As the event names it: `ARGS:comment`. */
  readonly variable: string;
  readonly tag: string | null;
  /** Templated: `/orders/*`. */
  readonly path: string;
  /** One method narrows the exclusion to it; several do not. */
  readonly methods: readonly string[];
  readonly sample: TrialRequest;
  readonly expiresAt: string;
}

export type ExclusionScope = 'rule, variable, method, path' | 'rule, variable, path' | 'rule, path' | 'tag, path';

export interface FamilyLoss {
  readonly family: AttackFamily;
  readonly tried: number;
  /** Blocked without the exclusion and not blocked with it. */
  readonly lost: number;
}

export interface VerifiedExclusion {
  readonly scope: ExclusionScope;
  readonly exclusions: readonly ScopedExclusion[];
  readonly seclang: string;
  /** Attacks in every other parameter of the path: all that were blocked before are blocked now. */
  readonly othersTried: number;
  readonly otherParameters: readonly string[];
  /** Honest: what passes in the excluded parameter from now on. */
  readonly lost: readonly FamilyLoss[];
}

export type ExclusionSuggestion =
  | {
      readonly kind: 'verified';
      readonly exclusion: VerifiedExclusion;
      readonly rejected: readonly RejectedExclusion[];
    }
  /** The request does not trip the rule now: it was masked when it was stored, or the rules changed. */
  | { readonly kind: 'not_reproduced'; readonly reason: string }
  | { readonly kind: 'none'; readonly reason: string; readonly rejected: readonly RejectedExclusion[] };

export interface RejectedExclusion {
  readonly scope: ExclusionScope;
  readonly reason: string;
}

const rulesMax = 8; // rules one suggestion may exclude; more is no false positive but another application

interface Pair {
  readonly ruleId: number;
  readonly variable: string;
}

function toExclusions(request: ExclusionRequest, scope: ExclusionScope, pairs: readonly Pair[]): ScopedExclusion[] {
  const used = new Set(request.rules.rule_exclusions.map(({ id }) => id));
  const free: number[] = [];
  const [first, last] = ruleIdRanges.ruleExclusions;
  for (let id = first; id <= last && free.length < pairs.length; id += 1) if (!used.has(id)) free.push(id);
  if (free.length < pairs.length) throw new Error('every id for exclusions is in use');
  const method = scope === 'rule, variable, method, path' ? (request.methods[0] ?? null) : null;
  const make = (index: number, rule_id: number | null, tag: string | null, target: string | null): ScopedExclusion => ({
    id: free[index] as number,
    rule_id,
    tag,
    target,
    path: request.path,
    method,
    reason: '',
    owner: '',
    sites: [],
    expires_at: request.expiresAt,
    enabled: true,
  });
  if (scope === 'tag, path') return [make(0, null, request.tag, null)];
  if (scope === 'rule, path')
    return [...new Set(pairs.map(({ ruleId }) => ruleId))].map((id, index) => make(index, id, null, null));
  return pairs.map(({ ruleId, variable }, index) => make(index, ruleId, null, variable));
}

/** Adds what still trips to the pairs until the request passes; null when it does not within `rulesMax`. */
function growUntilItPasses(
  bench: Workbench,
  request: ExclusionRequest,
  scope: ExclusionScope,
): { trial: Trial; exclusions: ScopedExclusion[] } | null {
  let pairs: Pair[] = [{ ruleId: request.ruleId, variable: request.variable }];
  while (pairs.length <= rulesMax) {
    const exclusions = toExclusions(request, scope, pairs);
    const trial = bench.compile(exclusions);
    const outcome = trial.run(request.sample);
    if (outcome.kind !== 'block' && !outcome.matched.some(({ id }) => id === request.ruleId))
      return { trial, exclusions };
    const rest = scoring(outcome).filter(
      ({ ruleId, variable }) =>
        !pairs.some((pair) => pair.ruleId === ruleId && pair.variable === variable) &&
        (scope === 'rule, path' || exclusionTargetPattern.test(variable)),
    );
    const nearer = rest.filter(({ variable }) => variable === request.variable);
    if (rest.length === 0 || scope === 'tag, path') return null;
    pairs = [...pairs, ...(nearer.length > 0 ? nearer : rest)];
  }
  return null;
}

function scoring(outcome: TrialOutcome): Pair[] {
  return outcome.matched.filter(({ id }) => isDetection(id)).map(({ id, variable }) => ({ ruleId: id, variable }));
}

const isBlocked = (trial: Trial, request: TrialRequest): boolean => trial.run(request).kind === 'block';

interface Attack {
  readonly family: AttackFamily;
  readonly parameter: string;
  readonly request: TrialRequest;
}

/**
 * Attacks that the rules stop without any exclusion, one in each parameter; the excluded one holds something harmless.
 */
function attacksOn(
  bench: Workbench,
  request: ExclusionRequest,
  parameters: readonly string[],
  excluded: string,
): Attack[] {
  const quiet = withParameter(request.sample, excluded, 'x');
  return parameters.flatMap((parameter) =>
    attackShapes
      .map(({ family, value }): Attack => ({ family, parameter, request: withParameter(quiet, parameter, value) }))
      .filter((attack) => isBlocked(bench.base, attack.request)),
  );
}

const parametersMax = 6;

/** From the narrowest to the widest. */
function scopesFor({ variable, methods, tag }: ExclusionRequest): ExclusionScope[] {
  const byVariable: ExclusionScope[] = exclusionTargetPattern.test(variable)
    ? [...(methods.length === 1 ? (['rule, variable, method, path'] as const) : []), 'rule, variable, path']
    : [];
  return [...byVariable, 'rule, path', ...(tag === null ? [] : (['tag, path'] as const))];
}

export function suggestExclusion(request: ExclusionRequest): ExclusionSuggestion {
  const bench = new Workbench(request);
  const first = bench.base.run(request.sample);
  if (!first.matched.some(({ id }) => id === request.ruleId))
    return {
      kind: 'not_reproduced',
      reason:
        `the stored request does not trip rule ${request.ruleId}: ` +
        'values are masked before they are stored, or the rules have changed since',
    };
  const excluded = /^ARGS(?:_GET|_POST)?:(.+)$/.exec(request.variable)?.[1] ?? '';
  const sent = namesOf(request.sample).filter((name) => name !== excluded);
  // a parameter that nobody has sent yet has to be protected as well
  const others = [...sent.slice(0, parametersMax), 'another'];
  const attacks = attacksOn(bench, request, others, excluded);
  const own = excluded === '' ? [] : attacksOn(bench, request, [excluded], excluded);
  const rejected: RejectedExclusion[] = [];
  for (const scope of scopesFor(request)) {
    const found = growUntilItPasses(bench, request, scope);
    const reason = found === null ? 'the request would still be blocked' : whyTooWide(found.trial, attacks);
    if (found === null || reason !== null) {
      rejected.push({ scope, reason: reason ?? '' });
      continue;
    }
    const { trial, exclusions } = found;
    const seclang = renderRuleExclusions(exclusions);
    const lost = lossesOf(trial, own);
    return {
      kind: 'verified',
      rejected,
      exclusion: { scope, exclusions, seclang, othersTried: attacks.length, otherParameters: others, lost },
    };
  }
  return {
    kind: 'none',
    reason: 'no exclusion both lets the request pass and leaves the other parameters protected',
    rejected,
  };
}

/** Attacks in other parameters that would pass; null when there are none. */
function whyTooWide(trial: Trial, attacks: readonly Attack[]): string | null {
  const open = attacks.filter((attack) => !isBlocked(trial, attack.request));
  if (open.length === 0) return null;
  const count = `${open.length} of ${attacks.length} attacks in other parameters would pass`;
  return `${count}, such as one in "${open[0]?.parameter}"`;
}

/** What passes in the excluded parameter from now on, by family. */
function lossesOf(trial: Trial, own: readonly Attack[]): FamilyLoss[] {
  return attackFamilies.map((family) => {
    const mine = own.filter((attack) => attack.family === family);
    return { family, tried: mine.length, lost: mine.filter(({ request }) => !isBlocked(trial, request)).length };
  });
}
