// Proof by time: the answer takes as long as the value says, for two different times, and no time for none. An answer
// that is slow at random can fit one such row, so that several rows in random order have to fit.
import { randomInt } from 'node:crypto';
import type { Proof } from '../model.js';
import { everyTurn, type Probe } from './check.js';

/** Long enough to stand out from the target's own answers. */
const shortest = 1;
const slowMs = 300;
/** Of four answers each. By chance a row fits one time in 64 at most, as the two times do not overlap. */
const rowsOfTimes = 3;

export async function byTime(
  probe: Pick<Probe, 'baseline' | 'param' | 'with'>,
  makers: readonly ((value: string, seconds: number) => string)[],
): Promise<Proof | null> {
  const base = await probe.baseline();
  if (base === null) return null;
  const unit = base.ms > slowMs ? 3 : shortest;
  for (const make of makers) {
    const proof = await everyTurn(rowsOfTimes, async () => {
      let slow: Proof | null = null;
      const measured: string[] = [];
      for (const seconds of rowOf(unit)) {
        const attack = make(probe.param.value, seconds);
        const exchange = await probe.with(attack, { timeoutMs: 15_000 });
        if (exchange === null || !fits(exchange.ms, seconds, unit, base.ms)) return null;
        measured.push(`${seconds} s asked: ${Math.round(exchange.ms)} ms`);
        if (seconds > 0) slow = { attack, exchange, neutral: base, why: '' };
      }
      const why = `In ${rowsOfTimes} rows the answer took as long as the value says; the last: ${measured.join(', ')}.`;
      return slow === null ? null : { ...slow, why };
    });
    if (proof !== null) return proof;
  }
  return null;
}

/** Slow first, so that a value without effect costs one request. */
const rowOf = (unit: number): readonly number[] =>
  randomInt(2) === 0 ? [unit, 0, unit * 2, 0] : [unit * 2, 0, 0, unit];

function fits(ms: number, seconds: number, unit: number, baseMs: number): boolean {
  if (seconds === 0) return ms < unit * 700;
  const late = seconds * 1000 + baseMs + 1500;
  return ms >= seconds * 950 && ms < (seconds === unit ? Math.min(late, unit * 1900) : late);
}
