// GET /api/fp-suggestions: the rules that trip most, where, how likely that is false, and for the likeliest an
// exclusion that was tried out.
import type { TrialRequest } from '#compiler';
import { type RuleSettings } from '#settings';
import { groupHits, rateLikelihood, type HitEvidence, type HitGroup, type Likelihood } from './likelihood.js';
import type { HitSource, RuleHit } from './hits.js';
import type { RuleSandbox } from '../rules/sandbox/sandbox.js';
import type { ExclusionSuggestion } from './suggest-exclusion.js';

export interface RuleSummary {
  readonly ruleId: number;
  readonly message: string;
  readonly tags: readonly string[];
  readonly hits: readonly RuleHit[];
  /** The same hits, weighed. */
  readonly groups: readonly HitGroup[];
  readonly paths: readonly { readonly path: string; readonly methods: readonly string[]; readonly hits: number }[];
  readonly variables: readonly { readonly variable: string; readonly hits: number }[];
  readonly likelihood: Likelihood;
}

function counted(values: readonly string[]): { readonly value: string; readonly hits: number }[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .map(([value, hits]) => ({ value, hits }))
    .sort((left, right) => right.hits - left.hits || (left.value < right.value ? -1 : 1));
}

const listMax = 10;

/** In requests that were refused: there a false positive hurts somebody. */
const blockedOf = (hits: readonly RuleHit[]): number => hits.filter(({ verdict }) => verdict === 'block').length;

/** Rules with the most hits in refused requests first, then those with the most hits. */
export function summarizeHits(hits: readonly RuleHit[], evidence: HitEvidence, rulesMax: number): RuleSummary[] {
  const byRule = new Map<number, RuleHit[]>();
  for (const hit of hits) byRule.set(hit.ruleId, [...(byRule.get(hit.ruleId) ?? []), hit]);
  return [...byRule]
    .sort(
      ([leftId, left], [rightId, right]) =>
        blockedOf(right) - blockedOf(left) || right.length - left.length || leftId - rightId,
    )
    .slice(0, rulesMax)
    .map(([ruleId, mine]) => [ruleId, mine, groupHits(mine, evidence)] as const)
    .map(([ruleId, mine, groups]) => ({
      ruleId,
      message: mine[0]?.message ?? '',
      tags: mine[0]?.tags ?? [],
      hits: mine,
      groups,
      paths: counted(mine.map(({ path }) => path))
        .slice(0, listMax)
        .map(({ value, hits: count }) => ({
          path: value,
          hits: count,
          methods: [...new Set(mine.filter(({ path }) => path === value).map(({ method }) => method))].sort(),
        })),
      variables: counted(mine.map(({ variable }) => variable))
        .slice(0, listMax)
        .map(({ value, hits: count }) => ({ variable: value, hits: count })),
      likelihood: rateLikelihood(groups, evidence),
    }));
}

export interface SuggestOptions {
  readonly source: HitSource;
  readonly sandbox: RuleSandbox;
  readonly crsDirectory: string;
  readonly rules: RuleSettings;
  readonly expiresAt: string;
  readonly nowMs: number;
}

/** The category's own tag: `OWASP_CRS/ATTACK-SQLI`, never the rule set's or a capec number. */
function categoryTag(tags: readonly string[]): string | null {
  return tags.find((tag) => /^OWASP_CRS\/[A-Z-]+$/.test(tag)) ?? null;
}

/**
 * A request to try: the recorded one, else what the event says of a request without a body; null when neither will do.
 */
async function findRequest(source: HitSource, hits: readonly RuleHit[]): Promise<TrialRequest | null> {
  const recorded = await source.request(hits.slice(0, 1000).map(({ requestId }) => requestId));
  if (recorded !== null) return recorded;
  const bodiless = hits.find(
    (hit) => (hit.method === 'GET' || hit.method === 'HEAD') && isKnown(hit.variable, hit.headers),
  );
  if (bodiless === undefined) return null;
  const { method, uri, headers } = bodiless;
  const known = new Set(headers.map(([name]) => name.toLowerCase()));
  return { method, uri, headers: [...headers, ...usual.filter(([name]) => !known.has(name.toLowerCase()))], body: '' };
}

const usual: readonly (readonly [string, string])[] = [
  ['User-Agent', 'Mozilla/5.0'],
  ['Accept', '*/*'],
];

/** Whether an event without the request says what the rule looked at: the query, or a field that it shows. */
function isKnown(variable: string, headers: RuleHit['headers']): boolean {
  if (/^(?:ARGS_POST|REQUEST_BODY|REQUEST_COOKIES|FILES|XML)/.test(variable)) return false;
  const name = /^REQUEST_HEADERS:(.+)$/.exec(variable)?.[1]?.toLowerCase();
  return name === undefined
    ? !variable.startsWith('REQUEST_HEADERS')
    : headers.some(([shown]) => shown.toLowerCase() === name);
}

/**
 * Where an exclusion would help most: the hits of one path and variable that may be false; null where all look like
 * attacks.
 */
export function placeOf({ groups }: RuleSummary): HitGroup | null {
  const byUse = groups
    .filter(({ verdict }) => verdict !== 'likely_attack')
    .toSorted(
      (left, right) =>
        Number(right.verdict === 'likely_false') - Number(left.verdict === 'likely_false') ||
        right.hits.length - left.hits.length,
    );
  return byUse[0] ?? null;
}

export const nothingToExclude: ExclusionSuggestion = {
  kind: 'none',
  reason: 'Its hits look like attacks: an exclusion would let them through.',
  rejected: [],
};

/** For the path and variable with the most hits of the rule that may be false. */
export async function suggestFor(summary: RuleSummary, options: SuggestOptions): Promise<ExclusionSuggestion> {
  const place = placeOf(summary);
  const first = place?.hits[0];
  if (place === null || first === undefined) return nothingToExclude;
  const { path, variable } = first;
  const sample = await findRequest(options.source, place.hits);
  if (sample === null)
    return { kind: 'not_reproduced', reason: 'no request of these hits was recorded, and a body cannot be guessed' };
  const { sandbox, crsDirectory, rules, expiresAt, nowMs } = options;
  return sandbox.suggest({
    crsDirectory,
    rules,
    ruleId: summary.ruleId,
    variable,
    tag: categoryTag(summary.tags),
    path,
    methods: [...new Set(place.hits.map(({ method }) => method))].sort(),
    sample,
    expiresAt,
    nowMs,
  });
}
