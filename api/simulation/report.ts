// What became of a simulation: the answers as the sender saw them, joined with what nodes recorded of the same clients.
// A record says which gate or which rules stopped a request; an answer of the data plane that no record tells of yet is
// counted as such, and not guessed.
import type { Sql } from '../db/client.js';
import type { Sent } from './send.js';

/** Of one attack, or of all requests of a behaviour. */
export interface SeenAttack {
  readonly attack: string;
  readonly sent: number;
  readonly stopped: number;
  /** Gates and `rules` that stopped it, the most frequent first. */
  readonly stages: readonly string[];
  /** Every rule that had something to say of it. */
  readonly rule_ids: readonly number[];
}

export interface Report {
  readonly sent: number;
  readonly stopped: number;
  readonly passed: number;
  /** No answer, or one of 5xx that is not a refusal. */
  readonly failed: number;
  /** Until the answer to the first request that was stopped; null: none was. */
  readonly first_stopped_ms: number | null;
  readonly by_stage: readonly { readonly stage: string; readonly rule_id: number | null; readonly count: number }[];
  readonly attacks: readonly SeenAttack[];
  /** Verdicts of the detection engine on these clients. */
  readonly verdicts: readonly unknown[];
  /** Clients that the engine could score; 0: it was off. Absent: of a release before. */
  readonly scored_clients?: number;
}

export interface Recorded {
  readonly client_ip: string;
  readonly request_id: string;
  readonly verdict: string;
  readonly status: number;
  readonly rule_id: number | null;
  readonly details: Readonly<Record<string, unknown>>;
}

/**
 * What nodes recorded of these clients since then: security events, and where there is none (a request that is none by
 * HTTP, say) the line of the request log.
 */
export async function readRecorded(sql: Sql, addresses: readonly string[], since: Date): Promise<Recorded[]> {
  if (addresses.length === 0) return [];
  const events = await sql<Recorded[]>`
    select client_ip, request_id, verdict, status, rule_id, details from security_events
    where at >= ${since} and client_ip in ${sql(addresses)} order by id`;
  const lines = await sql<Recorded[]>`
    select client_ip, request_id, verdict, status, null as rule_id, '{}'::jsonb as details from request_records
    where at >= ${since} and client_ip in ${sql(addresses)} order by id`;
  const told = new Set(events.map((one) => one.request_id));
  return [...events, ...lines.filter((one) => !told.has(one.request_id))];
}

const rows = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? (value as Readonly<Record<string, unknown>>[]) : [];

/** Of requests that neither rules nor gates had a say in. */
const stageOfVerdict: Readonly<Record<string, string>> = { refused: 'protocol', 'engine-error': 'inspection failed' };

/** The gate that ended it, else the rules. */
export function stageOf({ details, verdict, rule_id: ruleId }: Recorded): { stage: string; rule_id: number | null } {
  const gate = rows(details['gates']).find((one) => one['enforced'] === true && one['decision'] !== 'pass');
  if (gate === undefined) return { stage: stageOfVerdict[verdict] ?? 'rules', rule_id: ruleId };
  return { stage: String(gate['gate']), rule_id: typeof gate['rule_id'] === 'number' ? gate['rule_id'] : ruleId };
}

/** Rules that add up or decide by the scores of others say nothing of what was found: 949, 959 and 980. */
const isTelling = (id: number): boolean => id > 0 && ![949, 959, 980].includes(Math.floor(id / 1000));
const rulesOf = ({ details, rule_id: ruleId }: Recorded): number[] =>
  [...rows(details['messages']).map((one) => Number(one['rule_id'] ?? one['ruleId'])), ruleId ?? 0].filter(isTelling);

const stoppedStatuses = new Set([401, 403, 406, 413, 415, 421, 429]);
/** The data plane refused it: its own answers name the request, those of an application do not. */
const isStopped = ({ status, requestId }: Sent): boolean =>
  requestId !== null && status !== null && (stoppedStatuses.has(status) || status === 400 || status === 503);

export function makeReport(sent: readonly Sent[], recorded: readonly Recorded[], verdicts: readonly unknown[]): Report {
  const byId = new Map(recorded.map((one) => [one.request_id, one]));
  const byAddress = groupBy(recorded);
  const stages = new Map<string, { stage: string; rule_id: number | null; count: number }>();
  const attacks = new Map<string, { sent: number; stopped: number; stages: Map<string, number>; rules: Set<number> }>();
  for (const one of sent) {
    const known = attacks.get(one.attack) ?? { sent: 0, stopped: 0, stages: new Map(), rules: new Set() };
    attacks.set(one.attack, known);
    known.sent++;
    for (const record of byAddress.get(one.address) ?? []) for (const id of rulesOf(record)) known.rules.add(id);
    if (!isStopped(one)) continue;
    known.stopped++;
    const record = byId.get(one.requestId ?? '');
    const found = record === undefined ? { stage: 'not recorded', rule_id: null } : stageOf(record);
    known.stages.set(found.stage, (known.stages.get(found.stage) ?? 0) + 1);
    const key = `${found.stage} ${found.rule_id}`;
    stages.set(key, { ...found, count: (stages.get(key)?.count ?? 0) + 1 });
  }
  const stopped = sent.filter(isStopped);
  const failed = sent.filter((one) => !isStopped(one) && (one.status === null || one.status >= 500)).length;
  return {
    sent: sent.length,
    stopped: stopped.length,
    passed: sent.length - stopped.length - failed,
    failed,
    first_stopped_ms: stopped.length === 0 ? null : Math.round(Math.min(...stopped.map(({ atMs }) => atMs))),
    by_stage: [...stages.values()].sort((left, right) => right.count - left.count),
    attacks: [...attacks].map(([attack, known]) => ({
      attack,
      sent: known.sent,
      stopped: known.stopped,
      stages: [...known.stages].sort((left, right) => right[1] - left[1]).map(([stage]) => stage),
      rule_ids: [...known.rules].sort((left, right) => left - right),
    })),
    verdicts,
  };
}

function groupBy(recorded: readonly Recorded[]): Map<string, Recorded[]> {
  const found = new Map<string, Recorded[]>();
  for (const one of recorded) {
    const known = found.get(one.client_ip);
    if (known === undefined) found.set(one.client_ip, [one]);
    else known.push(one);
  }
  return found;
}

/** A protection that an earlier self-test saw and this one does not. */
export interface Lost {
  readonly attack: string;
  /** It was stopped then, and passes now. */
  readonly passes: boolean;
  /** Stages that stopped it then and do not now. */
  readonly stages: readonly string[];
  readonly rule_ids: readonly number[];
}

/** What was there and is gone, attack by attack; attacks that only one of them has are not compared. */
export function compareSeen(before: readonly SeenAttack[], after: readonly SeenAttack[]): Lost[] {
  const now = new Map(after.map((one) => [one.attack, one]));
  return before.flatMap((old) => {
    const fresh = now.get(old.attack);
    if (fresh === undefined) return [];
    const passes = old.stopped > 0 && fresh.stopped === 0;
    const stages = old.stages.filter((stage) => stage !== 'not recorded' && !fresh.stages.includes(stage));
    const ids = old.rule_ids.filter((id) => !fresh.rule_ids.includes(id));
    return passes || stages.length > 0 || ids.length > 0 ? [{ attack: old.attack, passes, stages, rule_ids: ids }] : [];
  });
}
