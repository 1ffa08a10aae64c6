// Proof by time: the answer takes as long as the value says, for two different times, twice, and no time for none.
import type { Proof } from '../model.js';
import type { Probe } from './check.js';

/** Long enough to stand out from the target's own answers. */
const shortest = 1;
const slowMs = 300;

export async function byTime(
  probe: Probe,
  makers: readonly ((value: string, seconds: number) => string)[],
): Promise<Proof | null> {
  const base = await probe.baseline();
  if (base === null) return null;
  const unit = base.ms > slowMs ? 3 : shortest;
  const took = async (text: string) => probe.with(text, { timeoutMs: 15_000 });
  for (const make of makers) {
    const times: number[] = [];
    let proof: Proof | null = null;
    for (const [seconds, isSlow] of [
      [unit, true],
      [0, false],
      [unit * 2, true],
      [0, false],
    ] as const) {
      const attack = make(probe.param.value, seconds);
      const exchange = await took(attack);
      if (exchange === null) break;
      const ms = Math.round(exchange.ms);
      const fits = isSlow ? ms >= seconds * 950 && ms < seconds * 1000 + base.ms + 1500 : ms < unit * 700;
      if (!fits) break;
      times.push(ms);
      if (isSlow) proof = { attack, exchange, neutral: base, why: '' };
    }
    if (times.length < 4 || proof === null) continue;
    const [first, none, second, noneAgain] = times;
    const why = `${unit} s asked: ${first} ms; ${2 * unit} s: ${second} ms; none: ${none} and ${noneAgain} ms.`;
    return { ...proof, why: `The answer takes as long as the value says. ${why}` };
  }
  return null;
}
