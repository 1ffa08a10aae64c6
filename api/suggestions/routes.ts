import { Type } from '@sinclair/typebox';
import { readManagedRules } from '../change/steps/managed-rules.js';
import { toPolicy } from '../change/steps/policy.js';
import { ApiError, closed, refusals, Time, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { readHead } from '../settings/store.js';
import { createHitSource, type HitSource } from './hits.js';
import type { ExclusionSuggestion } from './suggest-exclusion.js';
import { suggestFor, summarizeHits, type RuleSummary, type SuggestOptions } from './summaries.js';
import { describeSuggestion, ItemView } from './views.js';

export type SuggestionParts = Pick<Parts, 'database' | 'now' | 'sandbox' | 'ruleSets'>;

const dayMs = 86_400_000;
const eventsMax = 20_000;
const keptMax = 200;

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
    const { days = 7, limit = 20, verify = 3, expires_in_days = 90 } = request.query;
    const nowMs = now();
    const crsDirectory = ruleSets.directory();
    const from = new Date(nowMs - days * dayMs);
    const hits = await source.hits(from, eventsMax);
    const good = await source.goodClients([...new Set(hits.map(({ clientIp }) => clientIp))], from);
    const summaries = summarizeHits(hits, good, limit);
    if (verify > 0 && summaries.length > 0 && crsDirectory === null)
      throw new ApiError('not_ready', 'There is no rule set on this server to try exclusions with; ask with verify=0.');
    // whole days: the same question tomorrow is another one, a minute later it is not
    const expiresAt = new Date(Math.ceil(nowMs / dayMs) * dayMs + expires_in_days * dayMs).toISOString();
    const { state, rules } = await readPolicy(parts);
    const options = { source, sandbox: parts.sandbox, crsDirectory: crsDirectory ?? '', rules, expiresAt, nowMs };
    const likeliest = new Set(
      [...summaries].sort((left, right) => right.likelihood.score - left.likelihood.score).slice(0, verify),
    );
    const items = [];
    for (const summary of summaries) {
      const suggestion = likeliest.has(summary) ? await trials.attempt(state, summary, options) : null;
      items.push(viewItem(summary, suggestion));
    }
    // what can be acted on comes first; the sort is stable, so the order of hits stays otherwise
    const isVerified = ({ suggestion }: { readonly suggestion: { readonly state: string } }): number =>
      suggestion.state === 'verified' ? 0 : 1;
    items.sort((left, right) => isVerified(left) - isVerified(right));
    return { from: from.toISOString(), events_read: hits.length, items };
  });
}

/** The rules to try with, and what tells them from those of another moment. */
async function readPolicy({ database: { sql } }: SuggestionParts) {
  const head = await readHead(sql);
  const managed = await readManagedRules(sql, head.settings);
  return { state: `${head.etag} ${managed.sha256}`, rules: toPolicy(head.settings, managed).rules };
}

/** Trying costs seconds; the outcome holds until the settings or what is asked for change. */
class Trials {
  private readonly tried = new Map<string, Promise<ExclusionSuggestion>>();

  /** `state`: of the rules to try with. */
  attempt(state: string, summary: RuleSummary, options: SuggestOptions): Promise<ExclusionSuggestion> {
    const [busiest] = summary.paths;
    const key = [state, summary.ruleId, busiest?.path, busiest?.methods.join(), options.expiresAt].join(' ');
    const known = this.tried.get(key);
    if (known !== undefined) return known;
    if (this.tried.size >= keptMax) this.tried.clear();
    const made = suggestFor(summary, options);
    this.tried.set(key, made);
    made.catch(() => this.tried.delete(key));
    return made;
  }
}

function viewItem(summary: RuleSummary, suggestion: ExclusionSuggestion | null) {
  const { ruleId, message, tags, paths, variables, likelihood } = summary;
  return {
    rule_id: ruleId,
    message,
    tags: [...tags],
    hits: summary.hits.length,
    paths: paths.map((path) => ({ ...path, methods: [...path.methods] })),
    variables: [...variables],
    likelihood,
    suggestion: describeSuggestion(suggestion, ruleId),
  };
}
