import { Type } from '@sinclair/typebox';
import type { App, House } from '../parts.js';
import { ApiError } from '../http-kit/problem.js';
import { closed, Nullable, refusals, Time } from '../http-kit/schema.js';
import { readManagedRules } from '../change/steps/managed-rules.js';
import { toPolicy } from '../change/steps/policy.js';
import { readHead } from '../settings/store.js';
import { createHitSource, type HitSource } from './hits.js';
import type { RuleLab } from '../rules/sandbox.js';
import type { ExclusionSuggestion } from './suggest-exclusion.js';
import { suggestFor, summarizeHits, type RuleSummary } from './summaries.js';

const dayMs = 86_400_000;
const eventsMax = 20_000;
const keptMax = 200;

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
  state: Type.Unsafe<'verified' | 'not_reproduced' | 'none' | 'not_tried'>({
    type: 'string',
    enum: ['verified', 'not_reproduced', 'none', 'not_tried'],
  }),
  reason: Type.String({ description: 'why there is none, or what is lost' }),
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
  multi_attack_share: Type.Number(),
  journey_share: Type.Number(),
});
const ItemView = Type.Object({
  rule_id: Type.Integer(),
  message: Type.String(),
  tags: Type.Array(Type.String()),
  hits: Type.Integer(),
  paths: Type.Array(Type.Object({ path: Type.String(), methods: Type.Array(Type.String()), hits: Type.Integer() })),
  variables: Type.Array(Type.Object({ variable: Type.String(), hits: Type.Integer() })),
  likelihood: Type.Object({ score: Type.Integer({ minimum: 0, maximum: 100 }), features: Features }),
  suggestion: SuggestionView,
});

function describe(suggestion: ExclusionSuggestion | null, ruleId: number) {
  const nothing = { scope: null, rule_exclusions: [], seclang: '', verification: null, rejected: [] };
  if (suggestion === null) return { state: 'not_tried' as const, reason: 'ask for more with ?verify=', ...nothing };
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

/** `source`: tests give their own. */
export function registerSuggestionRoutes(
  app: App,
  house: House,
  lab: RuleLab,
  crsDirectory: string | null,
  source: HitSource = createHitSource(house.database.sql),
): void {
  /** Trying costs seconds; the outcome holds until the settings or what is asked for change. */
  const tried = new Map<string, Promise<ExclusionSuggestion>>();
  app.get(
    '/api/fp-suggestions',
    {
      schema: {
        tags: ['rules'],
        summary: 'Rules that trip most, how likely falsely, and exclusions that were tried out',
        querystring: Type.Object(
          {
            days: Type.Optional(Type.Integer({ minimum: 1, maximum: 90, default: 7 })),
            limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
            verify: Type.Optional(
              Type.Integer({
                minimum: 0,
                maximum: 20,
                default: 3,
                description: 'so many exclusions are tried out; each takes seconds',
              }),
            ),
            expires_in_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, default: 90 })),
          },
          closed,
        ),
        response: {
          200: Type.Object({ from: Time, events_read: Type.Integer(), items: Type.Array(ItemView) }),
          ...refusals,
        },
      },
    },
    async (request) => {
      const { days = 7, limit = 20, verify = 3, expires_in_days = 90 } = request.query;
      const nowMs = house.now();
      const from = new Date(nowMs - days * dayMs);
      const hits = await source.hits(from, eventsMax);
      const good = await source.goodClients([...new Set(hits.map(({ clientIp }) => clientIp))], from);
      const summaries = summarizeHits(hits, good, limit);
      if (verify > 0 && summaries.length > 0 && crsDirectory === null)
        throw new ApiError(
          'not_ready',
          'There is no rule set on this server to try exclusions with; ask with verify=0.',
        );
      const head = await readHead(house.database.sql);
      const managed = await readManagedRules(house.database.sql, head.settings);
      const { waf, exclusions } = toPolicy(head.settings, managed);
      // whole days: the same question tomorrow is another one, a minute later it is not
      const expiresAt = new Date(Math.ceil(nowMs / dayMs) * dayMs + expires_in_days * dayMs).toISOString();
      const attempt = (summary: RuleSummary): Promise<ExclusionSuggestion> => {
        const key = `${head.etag} ${managed.sha256} ${summary.ruleId} ${summary.paths[0]?.path} ${summary.paths[0]?.methods.join()} ${expiresAt}`;
        const known = tried.get(key);
        if (known !== undefined) return known;
        if (tried.size >= keptMax) tried.clear();
        const made = suggestFor(summary, {
          source,
          lab,
          crsDirectory: crsDirectory ?? '',
          waf,
          exclusions,
          expiresAt,
          nowMs,
        });
        tried.set(key, made);
        made.catch(() => tried.delete(key));
        return made;
      };
      const likeliest = new Set(
        [...summaries].sort((left, right) => right.likelihood.score - left.likelihood.score).slice(0, verify),
      );
      const items = [];
      for (const summary of summaries) {
        const { ruleId, message, tags, paths, variables, likelihood } = summary;
        const suggestion = likeliest.has(summary) ? await attempt(summary) : null;
        items.push({
          rule_id: ruleId,
          message,
          tags: [...tags],
          hits: summary.hits.length,
          paths: paths.map((path) => ({ ...path, methods: [...path.methods] })),
          variables: [...variables],
          likelihood,
          suggestion: describe(suggestion, ruleId),
        });
      }
      return { from: from.toISOString(), events_read: hits.length, items };
    },
  );
}
