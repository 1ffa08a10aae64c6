// How far verdicts can be trusted: precision and recall of each rung of the ladder, and what share of each band of risk
// was an attack. Known are clients of simulations (attackers, all of them) and clients that people judged. Pure.
//
// Recall counts simulated clients alone: what people judged was found by the engine, and would make it look better than
// it is. Whoever counts few says so: below `evidenceMin` there is an interval, and no figure.
import { rank, rungs, type Rung } from '../engine/fusion.js';

/** Fewer cases prove nothing: the interval of 20 of 20 still begins at 84 percent. */
export const evidenceMin = 20;
/** Of the normal distribution, for 95 percent. */
const z = 1.959963984540054;

export interface Case {
  readonly verdict: Rung;
  readonly risk: number;
  readonly isAttack: boolean;
  /** Type of the wave; null: a client that somebody judged. */
  readonly wave: string | null;
}

export interface Share {
  readonly hits: number;
  readonly of: number;
  /** `hits / of`, 0 to 1; null: not enough evidence. */
  readonly value: number | null;
  /** Score interval of Wilson (1927) at 95 percent; nulls: there is no case at all. */
  readonly low: number | null;
  readonly high: number | null;
  readonly enough: boolean;
  /** A sentence where there is not enough; else ''. */
  readonly note: string;
}

const rounded = (value: number): number => Math.round(value * 10_000) / 10_000;

/** The interval within which the true share lies with 95 percent. */
export function wilson(hits: number, of: number): { readonly low: number; readonly high: number } | null {
  if (of === 0) return null;
  const share = hits / of;
  const scale = 1 + (z * z) / of;
  const middle = (share + (z * z) / (2 * of)) / scale;
  const half = (z * Math.sqrt((share * (1 - share)) / of + (z * z) / (4 * of * of))) / scale;
  return { low: rounded(Math.max(0, middle - half)), high: rounded(Math.min(1, middle + half)) };
}

export function shareOf(hits: number, of: number, what: string): Share {
  const interval = wilson(hits, of);
  const enough = of >= evidenceMin;
  return {
    hits,
    of,
    value: enough ? rounded(hits / of) : null,
    low: interval?.low ?? null,
    high: interval?.high ?? null,
    enough,
    note: enough ? '' : `Not enough evidence: ${of} of the ${evidenceMin} ${what} that are needed.`,
  };
}

export interface RungCalibration {
  readonly rung: Rung;
  /** Of known clients with this verdict or a stronger one, those that were attackers. */
  readonly precision: Share;
  /** Of simulated attackers, those that got this verdict or a stronger one. */
  readonly recall: Share;
}

export interface Calibration {
  readonly rungs: readonly RungCalibration[];
  readonly waves: readonly {
    readonly wave: string;
    readonly clients: number;
    readonly reached: Record<string, number>;
  }[];
  readonly reliability: readonly { readonly from: number; readonly to: number; readonly attacks: Share }[];
}

const steps = rungs.filter((rung) => rung !== 'ALLOW');
const bandWidth = 10;

export function calibrate(cases: readonly Case[]): Calibration {
  const simulated = cases.filter(({ wave }) => wave !== null);
  const reaching = (list: readonly Case[], rung: Rung): Case[] =>
    list.filter(({ verdict }) => rank(verdict) >= rank(rung));
  const attacksOf = (list: readonly Case[]): number => list.filter(({ isAttack }) => isAttack).length;
  const waves = [...new Set(simulated.map(({ wave }) => wave as string))].sort();
  return {
    rungs: steps.map((rung) => {
      const reached = reaching(cases, rung);
      return {
        rung,
        precision: shareOf(attacksOf(reached), reached.length, 'known clients with this verdict'),
        recall: shareOf(reaching(simulated, rung).length, simulated.length, 'simulated clients'),
      };
    }),
    waves: waves.map((wave) => {
      const own = simulated.filter((one) => one.wave === wave);
      const reached = Object.fromEntries(steps.map((rung) => [rung, reaching(own, rung).length]));
      return { wave, clients: own.length, reached };
    }),
    reliability: Array.from({ length: 100 / bandWidth }, (_, index) => {
      const from = index * bandWidth;
      const to = index === 100 / bandWidth - 1 ? 100 : from + bandWidth - 1;
      const within = cases.filter(({ risk }) => risk >= from && risk <= to);
      return { from, to, attacks: shareOf(attacksOf(within), within.length, 'known clients of this risk') };
    }),
  };
}
