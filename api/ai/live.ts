// What the leader saw in its last round, for every server of the installation: one row.
import type { Queryable } from '../db/client.js';
import type { EvaluatorReport } from './engine/evaluators.js';
import type { Rung } from './engine/fusion.js';
import type { DetectionEngine, Judged, Round, SiteMeter } from './engine/round.js';
import type { Layer } from './engine/vector.js';
import { enforcementOf, reasonOf } from './enforce.js';
import { reachOf, subjectOf } from './views.js';
import type { Enforced, HeldBack, Measure } from './store.js';

const shownMax = 100;
const signalsMax = 6;

export interface LiveClient {
  readonly subject: ReturnType<typeof subjectOf>;
  readonly address: string;
  readonly verdict: Rung;
  readonly risk: number;
  readonly confidence: number;
  readonly layers: Readonly<Record<Layer, number>>;
  readonly signals: readonly { readonly code: string; readonly name: string; readonly points: number }[];
  readonly reason: string;
  readonly requests: number;
  readonly sites: readonly string[];
  /** Whom a decision over this address would reach besides. */
  readonly collateral: ReturnType<typeof reachOf>;
  /** What the verdict comes to with `ai_action` block; null: nothing. */
  readonly would: Enforced | null;
  readonly held_back: HeldBack | null;
}

export interface Live {
  readonly clients: number;
  readonly rungs: Readonly<Record<Rung, number>>;
  readonly evicted: number;
  readonly principals: number;
  readonly principal_rungs: Readonly<Record<Rung, number>>;
  /** True: nothing is learned at the moment, because a node is in attack mode. */
  readonly frozen: boolean;
  readonly top: readonly LiveClient[];
  readonly learning: readonly SiteMeter[];
  readonly evaluators: readonly EvaluatorReport[];
}

function show(one: Judged, measure: Measure | undefined): LiveClient {
  const { vector, scored } = one;
  return {
    subject: subjectOf(vector),
    address: vector.address,
    verdict: scored.verdict,
    risk: scored.risk,
    confidence: scored.confidence,
    layers: scored.layers,
    signals: scored.signals.slice(0, signalsMax).map(({ code, name, points }) => ({ code, name, points })),
    reason: reasonOf(one),
    requests: vector.requests,
    sites: vector.sites,
    collateral: reachOf(vector),
    would: enforcementOf(scored.verdict),
    held_back: measure?.heldBack ?? null,
  };
}

export function toLive(
  engine: DetectionEngine,
  round: Round,
  measures: ReadonlyMap<string, Measure>,
  frozen: boolean,
): Live {
  return {
    clients: round.clients,
    rungs: round.rungs,
    principals: round.principals,
    principal_rungs: round.principalRungs,
    evicted: engine.size.evicted,
    frozen,
    top: round.judged.slice(0, shownMax).map((one) => show(one, measures.get(one.vector.address))),
    learning: engine.meter(),
    evaluators: engine.evaluators.list(),
  };
}

export async function saveLive(sql: Queryable, live: Live, now: Date): Promise<void> {
  await sql`
    insert into ai_live (at, body) values (${now}, ${JSON.stringify(live)})
    on conflict (one) do update set at = excluded.at, body = excluded.body`;
}

/** When the last round began, whichever server made it; null: there was none. */
export async function lookedAt(sql: Queryable): Promise<Date | null> {
  const [row] = await sql<{ at: Date }[]>`select at from ai_live`;
  return row?.at ?? null;
}

export async function readLive(sql: Queryable): Promise<{ readonly at: Date; readonly live: Live } | null> {
  const [row] = await sql<{ at: Date; body: string }[]>`select at, body from ai_live`;
  return row === undefined ? null : { at: row.at, live: withPrincipals(JSON.parse(row.body) as Live) };
}

/** What a leader of a release before verdicts on principals wrote down says nothing of them. */
function withPrincipals(live: Live): Live {
  if ((live.principals as number | undefined) !== undefined) return live;
  const top = live.top.map((one): LiveClient => {
    const { address, collateral } = one;
    const subject = { kind: 'client', address, credential: null, id: null, addresses: 1, networks: [address] } as const;
    return { ...one, subject: { ...subject, networks: [address] }, collateral: { ...collateral, note: '', apart: [] } };
  });
  return { ...live, top, principals: 0, principal_rungs: { ALLOW: 0, RATE_LIMIT: 0, CHALLENGE: 0, BLOCK: 0 } };
}
