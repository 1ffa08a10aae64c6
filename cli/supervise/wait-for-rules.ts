// What a start announces has to be in force: until the rules of the active settings serve, it waits for them.
import type { Values } from '#settings/environment';
import { Refusal } from '../refusal.js';
import { readServed, type Served } from './admin-interface.js';

/** A full compile of the core rule set takes twenty seconds on a slow machine, and may wait for a database. */
const rulesMsMax = 180_000;
const lookEveryMs = 250;

/** null also when the data plane does not answer: the announcement says so. */
export async function servedNow(values: Values): Promise<Served | null> {
  return readServed(values).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    return null;
  });
}

/** What a wait goes by; tests give their own. */
export interface Wait {
  readonly look: () => Promise<Served | null>;
  readonly say: (text: string) => void;
  /** Ends the wait. */
  readonly signal: AbortSignal;
  readonly mostMs?: number;
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((settle) => {
    const timer = setTimeout(settle, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      settle();
    });
  });

/** Tells at once what a data plane that is ready does not serve: the announcement may be minutes away. */
export async function sayWhatIsClosed({ look, say }: Pick<Wait, 'look' | 'say'>): Promise<void> {
  const served = await look();
  if (typeof served?.closed === 'string')
    say(
      `gatehouse: ${served.closed};\n` +
        '  requests to protected sites are answered 503 until the control plane has sent the active settings',
    );
}

/**
 * Resolves with what serves, at once where nothing is closed, else as soon as the control plane has sent the rules.
 * After `mostMs` milliseconds it resolves with what is still closed: the data plane answers 503 for as long as it
 * takes, and the announcement tells it.
 */
export async function waitForRules({ look, say, signal, mostMs = rulesMsMax }: Wait): Promise<Served | null> {
  const sinceMs = performance.now();
  let served = await look();
  if (typeof served?.closed !== 'string') return served;
  say(`waiting up to ${Math.round(mostMs / 1000)} s until the control plane has compiled the active settings`);
  // A data plane that does not answer for a moment is no reason to believe that it serves.
  while (served === null || typeof served.closed === 'string') {
    if (signal.aborted || performance.now() - sinceMs > mostMs) return served;
    await pause(lookEveryMs, signal);
    served = await look();
  }
  say(`the active settings are in force after ${((performance.now() - sinceMs) / 1000).toFixed(1)} s`);
  return served;
}

/** After an announcement of what is closed: tells when it is not any more. Never rejects. */
export async function tellWhenInForce({ look, say, signal }: Omit<Wait, 'mostMs'>): Promise<void> {
  for (;;) {
    await pause(4 * lookEveryMs, signal);
    if (signal.aborted) return;
    const served = await look().catch(() => null); // a data plane that does not answer now is asked again
    if (served !== null && served.closed === null)
      return say('the active settings are in force now: protected sites are served');
  }
}
