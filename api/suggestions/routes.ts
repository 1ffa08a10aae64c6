import { setTimeout as pause } from 'node:timers/promises';
import { Type } from '@sinclair/typebox';
import { readManagedRules } from '../change/steps/managed-rules.js';
import { toPolicy } from '../change/steps/policy.js';
import { ApiError, closed, refusals, Time, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { readHead } from '../settings/store.js';
import type { RuleSandbox } from '../rules/sandbox/sandbox.js';
import { createHitSource, type HitSource, type RuleHit } from './hits.js';
import { HitEvidence, type Judged } from './likelihood.js';
import type { ExclusionSuggestion } from './suggest-exclusion.js';
import {
  nothingToExclude,
  placeOf,
  suggestFor,
  summarizeHits,
  type RuleSummary,
  type SuggestOptions,
} from './summaries.js';
import { describeSuggestion, ItemView } from './views.js';

export type SuggestionParts = Pick<Parts, 'database' | 'now' | 'sandbox' | 'ruleSets'>;

const dayMs = 86_400_000;
const eventsMax = 20_000;
const keptMax = 200;
const unjudged: Judged = { looks: 'unknown', isWeak: false };
const [budgetMs, budgetMsMax] = [10_000, 120_000];

const schema = {
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
          description: 'so many exclusions are tried out, the likeliest first; each takes seconds',
        }),
      ),
      budget_ms: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: budgetMsMax,
          default: budgetMs,
          description:
            'the answer waits so long for trials. What is tried then goes on and is `trying`, what waits for its turn' +
            ' is `not_tried`: ask again for both',
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
};

/** `source`: tests give their own. */
export function registerSuggestionRoutes(
  app: App,
  parts: SuggestionParts,
  source: HitSource = createHitSource(parts.database.sql),
): void {
  const { now, ruleSets } = parts;
  const trials = new Trials();
  app.get('/api/fp-suggestions', { schema }, async (request) => {
    const { days = 7, limit = 20, verify = 3, expires_in_days = 90, budget_ms = budgetMs } = request.query;
    const nowMs = now();
    const crsDirectory = ruleSets.directory();
    const from = new Date(nowMs - days * dayMs);
    const hits = await source.hits(from, eventsMax);
    const evidence = await weigh(hits, source, parts.sandbox, from);
    const summaries = summarizeHits(hits, evidence, limit);
    if (verify > 0 && summaries.length > 0 && crsDirectory === null)
      throw new ApiError('not_ready', 'There is no rule set on this server to try exclusions with; ask with verify=0.');
    // whole days: the same question tomorrow is another one, a minute later it is not
    const expiresAt = new Date(Math.ceil(nowMs / dayMs) * dayMs + expires_in_days * dayMs).toISOString();
    const { state, rules } = await readPolicy(parts);
    const options = { source, sandbox: parts.sandbox, crsDirectory: crsDirectory ?? '', rules, expiresAt, nowMs };
    const likeliest = summaries
      .filter((summary) => placeOf(summary) !== null)
      .sort((left, right) => right.likelihood.score - left.likelihood.score)
      .slice(0, verify);
    const found = await trials.within(budget_ms, state, likeliest, options);
    const items = summaries.map((summary) =>
      viewItem(summary, found.get(summary) ?? trials.known(state, summary, options)),
    );
    // what can be acted on comes first; the sort is stable, so the order of hits stays otherwise
    const isVerified = ({ suggestion }: { readonly suggestion: { readonly state: string } }): number =>
      suggestion.state === 'verified' ? 0 : 1;
    items.sort((left, right) => isVerified(left) - isVerified(right));
    return { from: from.toISOString(), events_read: hits.length, items };
  });
}

async function weigh(hits: readonly RuleHit[], source: HitSource, sandbox: RuleSandbox, from: Date) {
  const past = await source.clients([...new Set(hits.map(({ clientIp }) => clientIp))], from);
  const keyOfHit = ({ ruleId, value }: RuleHit): string => `${ruleId} ${value}`;
  const different = [...new Map(hits.map((hit) => [keyOfHit(hit), hit])).entries()];
  const judged = await sandbox.judge(different.map(([, { ruleId, value }]) => ({ ruleId, value })));
  const known = new Map(different.map(([key], index) => [key, judged[index] ?? unjudged]));
  return new HitEvidence(hits, (hit) => known.get(keyOfHit(hit)) ?? unjudged, past);
}

/** The rules to try with, and what tells them from those of another moment. */
async function readPolicy({ database: { sql } }: SuggestionParts) {
  const head = await readHead(sql);
  const managed = await readManagedRules(sql, head.settings);
  return { state: `${head.etag} ${managed.sha256}`, rules: toPolicy(head.settings, managed).rules };
}

/** What is known of an exclusion now; `trying`: its trial goes on. */
type Outcome = ExclusionSuggestion | 'trying' | 'waits';

/** Trying costs seconds; the outcome holds until the settings or what is asked for change. */
class Trials {
  private readonly tried = new Map<string, { readonly made: Promise<ExclusionSuggestion>; is: Outcome }>();

  /**
   * Tries one after the other, until `budget_ms` are over: the answer comes then, whatever the machine does beside it.
   * The trial that is under way goes on and is kept; those behind it are not begun, so that nobody's question leaves
   * work behind that nobody waits for.
   */
  async within(
    budget_ms: number,
    state: string,
    summaries: readonly RuleSummary[],
    options: SuggestOptions,
  ): Promise<ReadonlyMap<RuleSummary, Outcome>> {
    const found = new Map<RuleSummary, Outcome>(
      summaries.map((summary) => [summary, this.known(state, summary, options) ?? 'waits']),
    );
    const budget = new AbortController();
    const over = pause(budget_ms, 'trying' as const, { signal: budget.signal, ref: false }).catch(
      () => 'trying' as const,
    );
    for (const summary of summaries) {
      const outcome = await Promise.race([this.attempt(state, summary, options), over]);
      found.set(summary, outcome);
      if (outcome === 'trying') break;
    }
    budget.abort();
    return found;
  }

  /** Without trying anything; null: nobody has asked for it yet. */
  known(state: string, summary: RuleSummary, options: SuggestOptions): Outcome | null {
    if (placeOf(summary) === null) return nothingToExclude;
    return this.tried.get(keyOf(state, summary, options))?.is ?? null;
  }

  /** `state`: of the rules to try with. */
  private attempt(state: string, summary: RuleSummary, options: SuggestOptions): Promise<ExclusionSuggestion> {
    const key = keyOf(state, summary, options);
    const known = this.tried.get(key);
    if (known !== undefined) return known.made;
    if (this.tried.size >= keptMax) this.tried.clear();
    const made = suggestFor(summary, options);
    const kept: { readonly made: typeof made; is: Outcome } = { made, is: 'trying' };
    this.tried.set(key, kept);
    made.then(
      (outcome) => void (kept.is = outcome),
      () => this.tried.delete(key),
    );
    return made;
  }
}

function keyOf(state: string, summary: RuleSummary, { expiresAt }: SuggestOptions): string {
  const hits = placeOf(summary)?.hits ?? [];
  const methods = [...new Set(hits.map(({ method }) => method))].sort();
  return JSON.stringify([state, summary.ruleId, hits[0]?.path, hits[0]?.variable, methods, expiresAt]);
}

function viewItem(summary: RuleSummary, outcome: Outcome | null) {
  const { ruleId, message, tags, paths, variables, likelihood } = summary;
  return {
    rule_id: ruleId,
    message,
    tags: [...tags],
    hits: summary.hits.length,
    paths: paths.map((path) => ({ ...path, methods: [...path.methods] })),
    variables: [...variables],
    likelihood,
    suggestion: describeSuggestion(outcome, ruleId),
  };
}
