// Replay impact: recorded requests through the rules that serve and the rules that would. Pure: two inspectors in,
// differences out. What it answers is what would change for people, so a site's mode counts as it does in the proxy.
import type { CollectionStore, Inspector, OpinionMode } from '#engine';
import {
  graphqlView,
  schemaRuleIdOf,
  siteSchemasOf,
  type GraphqlConfig,
  type GraphqlView,
  type ProxyConfig,
  type SiteSchemas,
} from '#proxy/contract';
import { violationOf } from '../spec/preview/check.js';
import type { ReplayImpact } from './contract.js';

/** A recorded request, sensitive values masked. */
export interface ReplaySample {
  readonly requestId: string;
  readonly atMs: number;
  readonly site: string;
  readonly method: string;
  readonly uri: string;
  readonly protocol: string;
  /** Flat, latin1. */
  readonly headers: readonly string[];
  /** latin1, or null when there was none or it was not recorded. */
  readonly body: string | null;
  readonly clientIp: string;
}

export interface ReplaySide {
  readonly inspector: Inspector;
  readonly store: CollectionStore;
  readonly config: ReplayConfig;
}

/** What of a node's configuration bears on what rules see, and on what becomes of it. */
export type ReplayConfig = Pick<ProxyConfig, 'sites' | 'apiSchemas'> & GraphqlConfig;

export const replayConfigOf = (config: ProxyConfig): ReplayConfig => ({
  sites: config.sites,
  graphqlProtect: config.graphqlProtect,
  graphqlLimits: config.graphqlLimits,
  graphqlPaths: config.graphqlPaths,
  ...(config.apiSchemas === undefined ? {} : { apiSchemas: config.apiSchemas }),
  ...(config.graphqlDeclared === undefined ? {} : { graphqlDeclared: config.graphqlDeclared }),
});

export interface ReplayLimits {
  readonly examplesMax: number;
  /** Milliseconds from any origin. */
  readonly clock: () => number;
  readonly budgetMs: number;
}

export interface Outcome {
  readonly isBlocked: boolean;
  /** Of the refusal; null where there is none. */
  readonly status: number | null;
  /** The rule that refused it, or would where a site only detects. */
  readonly stoppedBy: number | null;
  readonly score: number;
  readonly ruleIds: readonly number[];
}

const ruleIdsMax = 20;
/** 30 ms of them. */
const samplesMin = 32;

const opinionModeOf = (setting: ProxyConfig['sites'][number]['secondOpinion'] | undefined): OpinionMode | null =>
  setting === 'monitor' || setting === 'enforce' ? setting : null;

const passed: Outcome = { isBlocked: false, status: null, stoppedBy: null, score: 0, ruleIds: [] };

/** What one side makes of a request. */
export function runOne(side: ReplaySide, sample: ReplaySample): Outcome {
  const { inspector, config } = side;
  const site = config.sites.find(({ name }) => name === sample.site);
  if (site?.protected === false) return passed;
  const sent = {
    method: sample.method,
    uri: sample.uri,
    protocol: sample.protocol,
    headers: sample.headers,
    clientIp: sample.clientIp,
    clientPort: 0,
    serverIp: '127.0.0.1',
    serverPort: 80,
  };
  const place = site === undefined ? null : { name: site.name, prefix: site.prefix.replace(/\/+$/, '') };
  const given = sample.body === null ? null : Buffer.from(sample.body, 'latin1');
  const { head, body, decision } = graphqlView(config, place, sent, given);
  const transaction = inspector.begin(head, {
    uniqueId: sample.requestId,
    nowMs: sample.atMs,
    store: side.store,
    policy: site?.policy ?? null,
    secondOpinion: opinionModeOf(site?.secondOpinion),
  });
  if (site?.mode === 'DetectionOnly' && transaction.engineMode === 'On') transaction.engineMode = 'DetectionOnly';
  if (inspector.requestHeaders(transaction) === null) inspector.requestBody(transaction, body);
  const verdict = inspector.finish(transaction);
  const ids = verdict.matched.map(({ rule }) => rule.id);
  if (verdict.interruption !== null) ids.push(verdict.interruption.ruleId);
  const isBlocked = verdict.kind === 'block';
  const outcome = {
    isBlocked,
    status: isBlocked ? (verdict.interruption?.status ?? null) : null,
    stoppedBy: verdict.interruption?.ruleId ?? null,
    score: verdict.inboundScore,
    ruleIds: [...new Set(ids)],
  };
  if (isBlocked) return outcome;
  const refuses = transaction.engineMode === 'On';
  const asked = withGraphql(outcome, decision, refuses);
  return asked.isBlocked ? asked : withSchemas(asked, sample, schemasOf(config), refuses);
}

/** Closures of the plans of one configuration, made once for all samples that are replayed with it. */
const schemasOfPlans = new WeakMap<object, ReadonlyMap<string, SiteSchemas>>();
const noSchemas: ReadonlyMap<string, SiteSchemas> = new Map();

function schemasOf({ apiSchemas: plans }: ReplayConfig): ReadonlyMap<string, SiteSchemas> {
  if (plans === undefined || plans.length === 0) return noSchemas;
  const known = schemasOfPlans.get(plans) ?? siteSchemasOf(plans);
  schemasOfPlans.set(plans, known);
  return known;
}

/** Behind the rules and GraphQL, as on the road: what the specifications of the site refuse of what was kept. */
function withSchemas(
  outcome: Outcome,
  sample: ReplaySample,
  schemas: ReadonlyMap<string, SiteSchemas>,
  refuses: boolean,
): Outcome {
  const ofSite = schemas.get(sample.site);
  const violation = ofSite === undefined ? null : violationOf(ofSite, sample);
  if (violation === null) return outcome;
  const id = schemaRuleIdOf(violation);
  const isBlocked = refuses && violation.action === 'block';
  return {
    ...outcome,
    isBlocked,
    status: isBlocked ? 403 : outcome.status,
    stoppedBy: violation.action === 'block' ? (outcome.stoppedBy ?? id) : outcome.stoppedBy,
    ruleIds: [...new Set([...outcome.ruleIds, id])],
  };
}

/** Behind the rules, as on the road: what `graphql_protect` refuses. */
function withGraphql(outcome: Outcome, decision: GraphqlView['decision'], refuses: boolean): Outcome {
  if (decision?.kind !== 'deny' || decision.rule === null) return outcome;
  const { status, rule } = decision;
  return {
    ...outcome,
    isBlocked: refuses,
    status: refuses ? status : outcome.status,
    stoppedBy: outcome.stoppedBy ?? rule.id,
    ruleIds: [...new Set([...outcome.ruleIds, rule.id])],
  };
}

const onlyIn = (these: readonly number[], those: readonly number[]): number[] =>
  these.filter((id) => !those.includes(id));

/**
 * Stops when the budget is used up, but not before the first few: on a machine that is busy with an attack they are
 * what there is to go by; `replayed` of `samples` says how far it came. Rule ids are those that only the deciding side
 * matched.
 */
export function replayImpact(
  samples: readonly ReplaySample[],
  before: ReplaySide,
  after: ReplaySide,
  limits: ReplayLimits,
): ReplayImpact {
  const impact: ReplayImpact = {
    samples: samples.length,
    replayed: 0,
    newly_blocked: 0,
    newly_allowed: 0,
    newly_blocked_examples: [],
    newly_allowed_examples: [],
  };
  const startedMs = limits.clock();
  for (const sample of samples) {
    if (impact.replayed >= samplesMin && limits.clock() - startedMs > limits.budgetMs) break;
    const [was, is] = [runOne(before, sample), runOne(after, sample)];
    impact.replayed++;
    if (was.isBlocked === is.isBlocked) continue;
    const [winner, loser] = is.isBlocked ? [is, was] : [was, is];
    const telling = onlyIn(winner.ruleIds, loser.ruleIds);
    const row = {
      request_id: sample.requestId,
      method: sample.method,
      uri: sample.uri,
      rule_ids: (telling.length > 0 ? telling : [...winner.ruleIds]).slice(0, ruleIdsMax),
      score_before: was.score,
      score_after: is.score,
    };
    const examples = is.isBlocked ? impact.newly_blocked_examples : impact.newly_allowed_examples;
    if (is.isBlocked) impact.newly_blocked++;
    else impact.newly_allowed++;
    if (examples.length < limits.examplesMax) examples.push(row);
  }
  return impact;
}
