// Suggestions in answers.
import { Type } from '@sinclair/typebox';
import { Nullable } from '../http-kit/index.js';
import type { HitVerdict } from './likelihood.js';
import type { ExclusionSuggestion } from './suggest-exclusion.js';

const Exclusion = Type.Object({
  id: Type.Integer(),
  rule_id: Nullable(Type.Integer()),
  tag: Nullable(Type.String()),
  target: Nullable(Type.String()),
  path: Nullable(Type.String()),
  method: Nullable(Type.String()),
  reason: Type.String(),
  owner: Type.String(),
  expires_at: Nullable(Type.String()),
  enabled: Type.Boolean(),
});
const Rejected = Type.Array(Type.Object({ scope: Type.String(), reason: Type.String() }));
const SuggestionView = Type.Object({
  state: Type.Unsafe<'verified' | 'not_reproduced' | 'none' | 'not_tried' | 'trying'>({
    type: 'string',
    enum: ['verified', 'not_reproduced', 'none', 'not_tried', 'trying'],
  }),
  reason: Type.String({ description: 'why there is none (yet), or what is lost' }),
  scope: Nullable(Type.String()),
  rule_exclusions: Type.Array(Exclusion, { description: 'to be added to the settings as they are' }),
  seclang: Type.String(),
  verification: Nullable(
    Type.Object({
      other_parameters: Type.Array(Type.String()),
      attacks_still_blocked: Type.Integer(),
      lost_in_excluded: Type.Array(Type.Object({ family: Type.String(), tried: Type.Integer(), lost: Type.Integer() })),
    }),
  ),
  rejected: Rejected,
});
const Features = Type.Object({
  distinct_clients: Type.Integer(),
  variable_concentration: Type.Number(),
  path_concentration: Type.Number(),
  distinct_hours: Type.Integer(),
  multi_attack_share: Type.Number({ description: 'clients that attack elsewhere, too; 0 to 1' }),
  journey_share: Type.Number({ description: 'clients with requests that went well; 0 to 1' }),
  known_share: Type.Number({ description: 'clients that were there a day before; 0 to 1' }),
  session_share: Type.Number({ description: 'hits with a cookie or an Authorization field; 0 to 1' }),
  attack_value_share: Nullable(Type.Number({ description: 'hits whose value has the signs of an attack; 0 to 1' })),
});
const Verdict = Type.Unsafe<HitVerdict>({
  type: 'string',
  enum: ['likely_false', 'unclear', 'likely_attack'],
  description: 'of the hits that are called likely false at least 95 % are, counted over labelled traffic',
});
const Likelihood = Type.Object({
  score: Type.Integer({ minimum: 0, maximum: 100 }),
  verdict: Verdict,
  hits: Type.Object({ likely_false: Type.Integer(), unclear: Type.Integer(), likely_attack: Type.Integer() }),
  features: Features,
});
export const ItemView = Type.Object({
  rule_id: Type.Integer(),
  message: Type.String(),
  tags: Type.Array(Type.String()),
  hits: Type.Integer(),
  paths: Type.Array(Type.Object({ path: Type.String(), methods: Type.Array(Type.String()), hits: Type.Integer() })),
  variables: Type.Array(Type.Object({ variable: Type.String(), hits: Type.Integer() })),
  likelihood: Likelihood,
  suggestion: SuggestionView,
});

const notThere = {
  trying: 'it is being tried, and the time of this question was over; ask again',
  waits: 'the time of this question was over before its turn came; ask again',
};

/** `null`: nobody asked for it to be tried. */
export function describeSuggestion(suggestion: ExclusionSuggestion | keyof typeof notThere | null, ruleId: number) {
  const nothing = { scope: null, rule_exclusions: [], seclang: '', verification: null, rejected: [] };
  if (suggestion === null) return { state: 'not_tried' as const, reason: 'ask for more with ?verify=', ...nothing };
  if (typeof suggestion === 'string')
    return {
      state: suggestion === 'trying' ? ('trying' as const) : ('not_tried' as const),
      reason: notThere[suggestion],
      ...nothing,
    };
  if (suggestion.kind === 'not_reproduced') return { state: suggestion.kind, reason: suggestion.reason, ...nothing };
  if (suggestion.kind === 'none')
    return { state: suggestion.kind, reason: suggestion.reason, ...nothing, rejected: [...suggestion.rejected] };
  const { scope, exclusions, seclang, othersTried, otherParameters, lost } = suggestion.exclusion;
  const open = lost
    .filter((family) => family.lost > 0)
    .map((family) => `${family.lost} of ${family.tried} ${family.family}`);
  return {
    state: 'verified' as const,
    reason:
      open.length === 0
        ? 'every attack tried in the excluded parameter is still stopped by other rules'
        : `in the excluded parameter ${open.join(', ')} attacks would pass`,
    scope,
    rule_exclusions: exclusions.map((one) => ({ ...one, reason: `false positives of rule ${ruleId}`, owner: '' })),
    seclang,
    verification: {
      other_parameters: [...otherParameters],
      attacks_still_blocked: othersTried,
      lost_in_excluded: lost.map((family) => ({ ...family })),
    },
    rejected: [...suggestion.rejected],
  };
}
