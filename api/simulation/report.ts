// What became of a simulation: what was sent, and what nodes recorded of the same requests. Only a node's record
// says whether a request was stopped, and by what. The status and fields of an answer never do: applications answer 401
// or 503 as well, and every answer names its request. A request without a record is counted as such, and not guessed.
import { isSimulatedAddress } from '#proxy/contract';
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
  /** No answer, or an error of the application or of the way to it. */
  readonly failed: number;
  /** Answered, and no node had a record of it in time: nobody knows. Absent: none (releases before). */
  readonly unrecorded?: number;
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
 * What nodes recorded of these clients and requests since then: security events, and where there is none, the line of
 * the request log. What was refused before it was known to be simulated is found by its id alone.
 */
export async function readRecorded(
  sql: Sql,
  addresses: readonly string[],
  ids: readonly string[],
  since: Date,
): Promise<Recorded[]> {
  if (addresses.length === 0) return [];
  const those =
    ids.length === 0
      ? sql`client_ip in ${sql(addresses)}`
      : sql`(client_ip in ${sql(addresses)} or request_id in ${sql(ids)})`;
  const events = await sql<Recorded[]>`
    select client_ip, request_id, verdict, status, rule_id, details from security_events
    where at >= ${since} and ${those} order by id`;
  const lines = await sql<Recorded[]>`
    select client_ip, request_id, verdict, status, null as rule_id, '{}'::jsonb as details from request_records
    where at >= ${since} and ${those} order by id`;
  const told = new Set(events.map((one) => one.request_id));
  return [...events, ...lines.filter((one) => !told.has(one.request_id))];
}

const rows = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? (value as Readonly<Record<string, unknown>>[]) : [];

/** What the node did with a request, by its record. */
export type Outcome = 'stopped' | 'passed' | 'failed';

/** Words of the request log (`LineVerdict`) and of nodes that do not yet record the outcome. */
const outcomeOfVerdict: Readonly<Record<string, Outcome>> = {
  block: 'stopped',
  blocked: 'stopped',
  refused: 'stopped',
  failed: 'failed',
  aborted: 'failed',
};

const enforcedGate = ({ details }: Recorded) =>
  rows(details['gates']).find((one) => one['enforced'] === true && one['decision'] !== 'pass');

export function outcomeOf(record: Recorded): Outcome {
  const { details, verdict } = record;
  switch (details['outcome']) {
    case 'blocked':
    case 'refused':
      return 'stopped';
    case 'served':
    case 'flagged':
      return 'passed';
    case 'failed':
      return details['ended_by'] === 'inspection failed' ? 'stopped' : 'failed';
    case 'aborted':
      return 'failed';
  }
  return enforcedGate(record) === undefined ? (outcomeOfVerdict[verdict] ?? 'passed') : 'stopped';
}

/**
 * What stopped it: a gate, `rules`, `inspection failed`, or `protocol`. `not recorded`: the node kept the line of the
 * request alone, which does not say (its buffer for events was full).
 */
export function stageOf(record: Recorded): { stage: string; rule_id: number | null } {
  const { details, verdict, rule_id: ruleId, client_ip: address } = record;
  const gate = enforcedGate(record);
  if (gate !== undefined)
    return { stage: String(gate['gate']), rule_id: typeof gate['rule_id'] === 'number' ? gate['rule_id'] : ruleId };
  const by = details['ended_by'];
  if (typeof by === 'string') return { stage: by, rule_id: ruleId };
  if (details['outcome'] === 'refused' || (verdict === 'refused' && !isSimulatedAddress(address)))
    return { stage: 'protocol', rule_id: ruleId };
  return { stage: verdict === 'block' ? 'rules' : 'not recorded', rule_id: ruleId };
}

/** Rules that add up or decide by the scores of others say nothing of what was found: 949, 959 and 980. */
const isTelling = (id: number): boolean => id > 0 && ![949, 959, 980].includes(Math.floor(id / 1000));
const rulesOf = ({ details, rule_id: ruleId }: Recorded): number[] =>
  [...rows(details['messages']).map((one) => Number(one['rule_id'] ?? one['ruleId'])), ruleId ?? 0].filter(isTelling);

/**
 * The record of each request that was sent; null: there is none. A connection that was closed without an answer tells
 * no id, so such a request takes the next record of its client that nothing else claims.
 */
function recordsOf(sent: readonly Sent[], recorded: readonly Recorded[]): (Recorded | null)[] {
  const byId = new Map(recorded.map((one) => [one.request_id, one]));
  const claimed = new Set(sent.map(({ requestId }) => requestId));
  const left = groupBy(recorded.filter((one) => !claimed.has(one.request_id)));
  return sent.map(({ requestId, address }) =>
    requestId === null ? (left.get(address)?.shift() ?? null) : (byId.get(requestId) ?? null),
  );
}

type Fate = Outcome | 'unrecorded';

/** Without an answer and without a record nothing reached a node, or nothing came back. */
function fateOf({ status }: Sent, record: Recorded | null): Fate {
  if (record === null) return status === null ? 'failed' : 'unrecorded';
  const outcome = outcomeOf(record);
  if (outcome !== 'passed') return outcome;
  return status === null || record.status >= 500 ? 'failed' : 'passed';
}

export function makeReport(sent: readonly Sent[], recorded: readonly Recorded[], verdicts: readonly unknown[]): Report {
  const records = recordsOf(sent, recorded);
  const byAddress = groupBy(recorded);
  const stages = new Map<string, { stage: string; rule_id: number | null; count: number }>();
  const attacks = new Map<string, { sent: number; stopped: number; stages: Map<string, number>; rules: Set<number> }>();
  const counts: Record<Fate, number> = { stopped: 0, passed: 0, failed: 0, unrecorded: 0 };
  let firstMs = Number.POSITIVE_INFINITY;
  for (const [index, one] of sent.entries()) {
    const known = attacks.get(one.attack) ?? { sent: 0, stopped: 0, stages: new Map(), rules: new Set() };
    attacks.set(one.attack, known);
    known.sent++;
    for (const record of byAddress.get(one.address) ?? []) for (const id of rulesOf(record)) known.rules.add(id);
    const record = records[index] ?? null;
    const fate = fateOf(one, record);
    counts[fate]++;
    if (fate !== 'stopped' || record === null) continue;
    known.stopped++;
    firstMs = Math.min(firstMs, one.atMs);
    const found = stageOf(record);
    known.stages.set(found.stage, (known.stages.get(found.stage) ?? 0) + 1);
    const key = `${found.stage} ${found.rule_id}`;
    stages.set(key, { ...found, count: (stages.get(key)?.count ?? 0) + 1 });
  }
  return {
    sent: sent.length,
    ...counts,
    first_stopped_ms: counts.stopped === 0 ? null : Math.round(firstMs),
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
