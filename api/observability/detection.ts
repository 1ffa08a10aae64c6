// The figures of the detection engine: its last round as the leader wrote it down, and what is stored.
import { readLive } from '../ai/live.js';
import { rungs } from '../ai/engine/fusion.js';
import { enforcements, marks } from '../ai/store.js';
import type { Queryable } from '../db/client.js';
import type { Sample, Samples } from './render.js';

type Detection = Pick<
  Samples,
  | 'aiClients'
  | 'aiPrincipals'
  | 'aiVerdicts'
  | 'aiMarked'
  | 'aiEnforced'
  | 'aiRoundAge'
  | 'aiEvaluatorTime'
  | 'aiEvaluatorFailures'
  | 'aiLag'
>;

const ageOf = (at: Date | null | undefined, nowMs: number): Sample[] =>
  at == null ? [] : [{ labels: [], value: Math.max(0, nowMs - at.getTime()) / 1000 }];

export async function detectionSamples(sql: Queryable, nowMs: number): Promise<Detection> {
  const row = await readLive(sql);
  const live = row?.live ?? null;
  // A principal is stored under its key, kind and hash; no network is written like that.
  const stored = await sql<{ verdict: string; marked: string | null; isPrincipal: boolean; n: number }[]>`
    select verdict, marked, address ~ '^[a-z_]+:[0-9a-f]{16}$' as "isPrincipal", count(*) as n
    from ai_verdicts group by 1, 2, 3`;
  const inForce = await sql<{ enforced: string; n: number }[]>`
    select enforced, count(distinct address) as n from ai_verdicts
    where enforced is not null and enforced_until > ${new Date(nowMs)} group by 1`;
  const [newest] = await sql<{ at: Date | null }[]>`select max(at) as at from ai_batches`;
  const sum = (rows: readonly { n: number }[]): number => rows.reduce((total, { n }) => total + n, 0);
  const ofRung = (rung: string, principal: boolean) =>
    stored.filter(({ verdict, isPrincipal }) => verdict === rung && isPrincipal === principal);
  const evaluators = live?.evaluators ?? [];
  return {
    aiClients: rungs.map((rung) => ({ labels: [rung], value: live?.rungs[rung] ?? 0 })),
    aiPrincipals: rungs.map((rung) => ({ labels: [rung], value: live?.principal_rungs[rung] ?? 0 })),
    aiVerdicts: rungs.flatMap((rung) => [
      { labels: [rung, 'client'], value: sum(ofRung(rung, false)) },
      { labels: [rung, 'principal'], value: sum(ofRung(rung, true)) },
    ]),
    aiMarked: marks.map((mark) => ({ labels: [mark], value: sum(stored.filter(({ marked }) => marked === mark)) })),
    aiEnforced: enforcements.map((one) => ({
      labels: [one],
      value: sum(inForce.filter(({ enforced }) => enforced === one)),
    })),
    aiRoundAge: ageOf(row?.at, nowMs),
    aiEvaluatorTime: evaluators.map((one) => ({ labels: [one.name], value: one.took_ms / 1000 })),
    aiEvaluatorFailures: evaluators.map((one) => ({ labels: [one.name], value: one.failures })),
    aiLag: ageOf(newest?.at, nowMs),
  };
}
