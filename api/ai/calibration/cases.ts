// What is known of clients that were scored: simulations since a time, and what people said of verdicts.
import type { Queryable } from '../../db/client.js';
import { rank, rungs, type Rung } from '../engine/fusion.js';
import type { Mark } from '../store.js';
import type { Case } from './calibration.js';

/** A simulation that ended while the engine scored, as calibration needs it. */
export interface Simulated {
  readonly type: string;
  /** Clients that sent something. */
  readonly clients: number;
  /** Verdicts on them, of whatever form: a report of another release may have another. */
  readonly verdicts: readonly unknown[];
}

export type SimulatedOf = (sql: Queryable, since: Date) => Promise<readonly Simulated[]>;

/** Addresses of simulated clients; no client of the internet has one (RFC 2544). */
const isSimulated = (address: string): boolean => /^198\.(?:18|19)\./.test(address);

const isRung = (value: unknown): value is Rung => (rungs as readonly unknown[]).includes(value);

/** One for each client of a simulation: its strongest verdict, or none. */
export function casesOf({ type, clients, verdicts }: Simulated): Case[] {
  const best = new Map<string, Case>();
  for (const one of verdicts as readonly Readonly<Record<string, unknown>>[]) {
    const { address, verdict, risk } = one ?? {};
    if (typeof address !== 'string' || typeof risk !== 'number' || !isRung(verdict)) continue;
    const known = best.get(address);
    if (known !== undefined && rank(known.verdict) >= rank(verdict)) continue;
    best.set(address, { verdict, risk, isAttack: true, wave: type });
  }
  const unseen = Math.max(0, clients - best.size);
  const missed: Case = { verdict: 'ALLOW', risk: 0, isAttack: true, wave: type };
  return [...best.values(), ...Array.from({ length: unseen }, () => missed)];
}

export interface Known {
  readonly cases: readonly Case[];
  readonly simulations: number;
  readonly marked: Readonly<Record<Mark, number>>;
}

export async function readKnown(sql: Queryable, simulatedOf: SimulatedOf, since: Date): Promise<Known> {
  const simulated = await simulatedOf(sql, since);
  const rows = await sql<{ address: string; verdict: Rung; risk: number; marked: Mark }[]>`
    select address, verdict, risk, marked from ai_verdicts where marked is not null and at >= ${since}`;
  const judged = rows.filter(({ address }) => !isSimulated(address));
  const countOf = (mark: Mark): number => judged.filter(({ marked }) => marked === mark).length;
  return {
    cases: [
      ...simulated.flatMap(casesOf),
      ...judged.map(({ verdict, risk, marked }) => ({ verdict, risk, isAttack: marked === 'attack', wave: null })),
    ],
    simulations: simulated.length,
    marked: { attack: countOf('attack'), false_positive: countOf('false_positive') },
  };
}
