import { Type } from '@sinclair/typebox';
import { closed, Nullable, refusals, Time, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import type { Settings } from '#settings';
import { readHead } from '../settings/store.js';
import { idleDays, proposeFor } from './proposal.js';
import { createRuleNames } from './rule-names.js';
import type { Exclusion } from './scope.js';
import {
  findEvidenceState,
  findExclusionUses,
  findRuleHits,
  type EvidenceState,
  type ExclusionUse,
  type RuleHits,
} from './store.js';

const dayMs = 86_400_000;
const everyRule = [1, 99_999_999] as const;

type Kind = 'custom rule' | 'deny list' | 'virtual patch' | 'core rule set' | 'other';
const kinds: readonly Kind[] = ['custom rule', 'deny list', 'virtual patch', 'core rule set', 'other'];

function kindOf(id: number): Kind {
  if (id >= 1_000_000 && id < 1_006_000) return 'custom rule';
  if (id >= 1_006_000 && id < 1_007_000) return 'deny list';
  if (id >= 1_007_000 && id < 1_008_000) return 'virtual patch';
  return id >= 900_000 && id < 1_000_000 ? 'core rule set' : 'other';
}

const SiteHits = Type.Array(Type.Object({ site: Type.String(), hits: Type.Integer() }));
const RuleView = Type.Object({
  rule_id: Type.Integer(),
  kind: Type.Unsafe<Kind>({ type: 'string', enum: [...kinds] }),
  name: Type.String({
    description: 'of the rule, or what a rule of the rule set says of itself; empty: not known here',
  }),
  hits: Type.Integer(),
  last_at: Nullable(Time),
  sites: SiteHits,
});
const ExclusionView = Type.Object({
  id: Type.Integer(),
  rule_id: Nullable(Type.Integer()),
  tag: Nullable(Type.String()),
  target: Nullable(Type.String()),
  path: Nullable(Type.String()),
  method: Nullable(Type.String()),
  reason: Type.String(),
  owner: Type.String(),
  enabled: Type.Boolean(),
  expires_at: Nullable(Type.String()),
  watched_since: Nullable(Time),
  requests: Type.Integer({ description: 'stored requests it applied to (method and path)' }),
  last_request_at: Nullable(Time),
  proposal: Type.Object({
    action: Type.Unsafe<'keep' | 'remove' | 'renew' | 'limit'>({
      type: 'string',
      enum: ['keep', 'remove', 'renew', 'limit'],
    }),
    reason: Type.String(),
    expires_at: Nullable(Type.String({ description: 'a moment to write into the exclusion' })),
  }),
});

const schema = {
  tags: ['rules'],
  summary: 'How often rules trip and exclusions apply, and what could be done about exclusions',
  querystring: Type.Object(
    {
      days: Type.Optional(Type.Integer({ minimum: 1, maximum: 90, default: 30 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 200 })),
    },
    closed,
  ),
  response: {
    200: Type.Object({
      since: Nullable(Time),
      counted_at: Nullable(Time),
      records_left_out: Type.Integer({ description: 'more came than could be counted' }),
      rules: Type.Array(RuleView),
      exclusions: Type.Array(ExclusionView),
    }),
    ...refusals,
  },
};

const idsMax = 200;
const namesSchema = {
  tags: ['rules'],
  summary: 'What rules are called, by their numbers: of the rule set, of your own, of patches and of gates',
  querystring: Type.Object(
    {
      ids: Type.String({
        pattern: `^\\d{1,9}(,\\d{1,9}){0,${idsMax - 1}}$`,
        maxLength: 10 * idsMax,
        description: `up to ${idsMax} numbers with commas between them, such as 942100,949110`,
      }),
    },
    closed,
  ),
  response: {
    200: Type.Object({
      items: Type.Array(Type.Object({ rule_id: Type.Integer(), name: Type.String() }), {
        description: 'those that have a name here; the others are left out',
      }),
    }),
    ...refusals,
  },
};

/**
 * GET /api/rules/evidence: hits of rules, uses of exclusions, and which exclusions could go, need an end, or end soon.
 * GET /api/rules/names: names by number.
 */
export function registerEvidenceRoutes(
  app: App,
  { database: { sql }, now, ruleSets }: Pick<Parts, 'database' | 'now' | 'ruleSets'>,
): void {
  const namesOf = createRuleNames(ruleSets);
  app.get('/api/rules/names', { schema: namesSchema }, async ({ query }) => {
    const { settings } = await readHead(sql);
    const names = await namesOf(sql, settings);
    const ids = [...new Set(query.ids.split(',').map(Number))];
    const named = ids.map((rule_id) => ({ rule_id, name: names.get(rule_id) ?? '' }));
    return { items: named.filter(({ name }) => name !== '') };
  });
  app.get('/api/rules/evidence', { schema }, async (request) => {
    const { days = 30, limit = 200 } = request.query;
    const nowMs = now();
    const { settings } = await readHead(sql);
    const state = await findEvidenceState(sql);
    const found = await findRuleHits(sql, new Date(nowMs - days * dayMs), everyRule, limit);
    const uses = await findExclusionUses(sql, new Date(nowMs - idleDays * dayMs));
    return {
      since: state?.since.toISOString() ?? null,
      counted_at: state?.counted_at.toISOString() ?? null,
      records_left_out: state?.skipped ?? 0,
      rules: viewRules(settings, found, await namesOf(sql, settings)),
      exclusions: settings.rule_exclusions.map((exclusion) => viewExclusion(exclusion, uses(exclusion), state, nowMs)),
    };
  });
}

type RuleRow = Omit<RuleHits, 'last_at'> & { readonly last_at: Date | null };

/** Those that tripped, and behind them one's own that never did: they are what one wants to know of. */
function viewRules(
  { custom_rules, virtual_patches }: Settings,
  found: readonly RuleHits[],
  names: ReadonlyMap<number, string>,
) {
  const seen = new Set(found.map(({ rule_id }) => rule_id));
  const silent = [...custom_rules, ...virtual_patches]
    .filter(({ id, enabled }) => enabled && !seen.has(id))
    .map(({ id }): RuleRow => ({ rule_id: id, hits: 0, last_at: null, sites: [] }));
  return [...found, ...silent].map((rule) => ({
    rule_id: rule.rule_id,
    kind: kindOf(rule.rule_id),
    name: names.get(rule.rule_id) ?? '',
    hits: rule.hits,
    last_at: rule.last_at?.toISOString() ?? null,
    sites: [...rule.sites],
  }));
}

function viewExclusion(exclusion: Exclusion, use: ExclusionUse, state: EvidenceState | undefined, nowMs: number) {
  return {
    ...exclusion,
    watched_since: use.watchedSince?.toISOString() ?? null,
    requests: use.requests,
    last_request_at: use.lastAt?.toISOString() ?? null,
    proposal: proposeFor(exclusion, use, nowMs, (state?.skipped ?? 0) > 0),
  };
}
