// Every fifteen seconds, on the leader: what nodes told of clients is added up, clients are scored, verdicts are stored
// and put in force. The engine's memory is made again from the database by whoever leads next.
import type { Database, Queryable } from '../db/client.js';
import type { Job } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { pruneBatches, readBatches } from './clients/batches.js';
import { networkOf } from './clients/client-table.js';
import { enforce, type EnforceParts, type Enforcement } from './enforce.js';
import { policyOf, type Policy } from './engine/policy.js';
import { DetectionEngine, type PlacedThreat, type Round, type Threat } from './engine/round.js';
import { scorerVersion } from './engine/score.js';
import { saveLive, toLive } from './live.js';
import { pruneVerdicts, saveVerdicts, type Measure } from './store.js';

/** Findings of API abuse over addresses since a time. */
export type ThreatsOf = (database: Database, since: Date, signal: AbortSignal) => Promise<readonly Threat[]>;

export type AiParts = Pick<Parts, 'database' | 'now' | 'audit' | 'currentSettings' | 'measuresChanged' | 'nodeGates'>;

/** Risks below are no news. */
const storedRiskMin = 10;
const storedMax = 2000;
const evaluatorMsDefault = 5000;
const dayMs = 86_400_000;
/** Batches of nodes that were away for a while come late. */
const lateMs = 60_000;

interface AskThreats {
  readonly threatsOf: ThreatsOf;
  readonly evaluatorMs: number;
}

type RoundParts = AiParts & Pick<EnforceParts, 'proxies'>;

interface State {
  readonly engine: DetectionEngine;
  /** Of the batches that were read. */
  cursor: number;
  windowMs: number;
  /** Of what is learned, by site: when it was stored that is in memory. */
  readonly saved: Map<string, number>;
}

/** `evaluatorMs`: how long findings of API abuse are waited for. */
export function createAiJob(parts: AiParts, threatsOf: ThreatsOf, evaluatorMs = evaluatorMsDefault): Job {
  const state: State = { engine: new DetectionEngine(), cursor: 0, windowMs: 0, saved: new Map() };
  const ask: AskThreats = { threatsOf, evaluatorMs };
  return {
    name: 'ai-engine',
    everyMs: 15_000,
    timeoutMs: 60_000,
    async run({ nowMs, signal }) {
      const settings = await parts.currentSettings();
      const { sql } = parts.database;
      await pruneVerdicts(sql, new Date(nowMs - settings.retention_requests_days * dayMs));
      const policy = policyOf(settings);
      if (policy === null) {
        state.engine.forgetClients();
        return 'switched off';
      }
      const proxies = settings.rl_trust_proxy ? settings.rl_trusted_proxies : [];
      return runRound({ ...parts, proxies }, state, policy, ask, new Date(nowMs), signal);
    },
  };
}

async function runRound(
  parts: RoundParts,
  state: State,
  policy: Policy,
  ask: AskThreats,
  now: Date,
  signal: AbortSignal,
): Promise<string> {
  const { sql } = parts.database;
  const { engine } = state;
  engine.evaluators.begin();
  await readWindows(sql, state, policy, now, signal);
  await readLearned(sql, state);
  const isFrozen = await isAttacked(sql);
  const threats = await askThreats(parts, state, policy, ask, now);
  const round = await engine.run({ nowMs: now.getTime(), policy, threats, isFrozen, signal });
  const enforcement = await store(parts, policy, round, now);
  // a node that does not answer gets them by the reconciler
  if (enforcement.denied + enforcement.others > 0) await parts.measuresChanged();
  for (const site of round.learned) {
    state.saved.set(site.site, now.getTime());
    await sql`
      insert into ai_baselines (site, saved_at, body) values (${site.site}, ${now}, ${JSON.stringify(site)})
      on conflict (site) do update set saved_at = excluded.saved_at, body = excluded.body`;
  }
  await saveLive(sql, toLive(engine, round, enforcement.measures, isFrozen), now);
  await pruneBatches(sql, new Date(now.getTime() - policy.windowMs - lateMs));
  const failed = engine.evaluators.list().filter(({ error }) => error !== null);
  const ofPrincipals =
    round.principals === 0 ? '' : `; ${round.principals} principals: ${inWords(round.principalRungs)}`;
  const line = `${round.clients} clients: ${inWords(round.rungs)}${ofPrincipals}`;
  return failed.length === 0
    ? line
    : `${line}; failed: ${failed.map(({ name, error }) => `${name} (${error})`).join()}`;
}

const inWords = ({ BLOCK, CHALLENGE, RATE_LIMIT }: Round['rungs']): string =>
  `${BLOCK} to block, ${CHALLENGE} to challenge, ${RATE_LIMIT} to slow down`;

/** A window that was changed is read anew. */
async function readWindows(
  sql: Queryable,
  state: State,
  { windowMs }: Policy,
  now: Date,
  signal: AbortSignal,
): Promise<void> {
  if (state.windowMs !== windowMs) {
    state.engine.forgetClients();
    state.cursor = 0;
    state.windowMs = windowMs;
  }
  const since = new Date(now.getTime() - windowMs - lateMs);
  const take = (windows: Parameters<DetectionEngine['take']>[0]): void =>
    state.engine.take(windows, windowMs, now.getTime());
  state.cursor = await readBatches(sql, state.cursor, since, take, signal);
}

/** What another leader has learned meanwhile. */
async function readLearned(sql: Queryable, { engine, saved }: State): Promise<void> {
  const rows = await sql<{ site: string; saved_at: Date }[]>`select site, saved_at from ai_baselines`;
  for (const { site, saved_at: at } of rows) {
    if ((saved.get(site) ?? 0) >= at.getTime()) continue;
    const [row] = await sql<{ body: string }[]>`select body from ai_baselines where site = ${site}`;
    if (row === undefined) continue;
    engine.restore(site, JSON.parse(row.body));
    saved.set(site, at.getTime());
  }
}

/** Whether some node is in attack mode: what is seen then is not usual. */
async function isAttacked(sql: Queryable): Promise<boolean> {
  const rows = await sql<{ change: string }[]>`
    select distinct on (node) change from attack_changes order by node, at desc, id desc`;
  return rows.some(({ change }) => change === 'enter');
}

async function askThreats(
  { database }: AiParts,
  { engine }: State,
  { windowMs }: Policy,
  { threatsOf, evaluatorMs }: AskThreats,
  now: Date,
): Promise<Map<string, PlacedThreat[]> | null> {
  const since = new Date(now.getTime() - windowMs);
  const found = await engine.evaluators.ask('api_abuse', evaluatorMs, (signal) => threatsOf(database, since, signal));
  if (found === null) return null;
  const threats = new Map<string, PlacedThreat[]>();
  const place = (key: string, threat: PlacedThreat): void => {
    const known = threats.get(key);
    if (known === undefined) threats.set(key, [threat]);
    else if (!known.some(({ id }) => id === threat.id)) known.push(threat);
  };
  for (const { address, ...threat } of found) {
    const network = networkOf(address);
    if (network !== null) place(network, threat);
    if (threat.principal !== undefined) place(threat.principal, threat);
  }
  return threats;
}

const nothing: Measure = { enforced: null, until: null, heldBack: null };

async function store(parts: RoundParts, policy: Policy, { judged }: Round, now: Date): Promise<Enforcement> {
  return parts.database.sql.begin(async (tx) => {
    const enforcement = await enforce(tx, parts, policy, judged, now);
    const { action, threshold, weights } = policy;
    const kept = judged.filter(({ scored }) => scored.verdict !== 'ALLOW' || scored.risk >= storedRiskMin);
    await saveVerdicts(
      tx,
      kept.slice(0, storedMax).map(({ vector, scored }) => ({
        ...{ vector, scored, weights, threshold, action },
        version: scorerVersion,
        measure: enforcement.measures.get(vector.address) ?? nothing,
      })),
      now,
    );
    return enforcement;
  });
}
