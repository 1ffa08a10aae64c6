// What is known of a wave after its end: nodes tell of it within seconds, and the detection engine looks every fifteen.
import type { Recorded } from './report.js';

/** How long records of what was sent may be under way. */
const recordsMsMax = 15_000;
/** Two rounds of the detection engine, and what nodes gather before. */
const verdictMsMax = 40_000;
/** Nodes gather what clients do for five seconds, and tell it then. */
const gatheredMs = 7000;
const everyMs = 500;

export interface Gathering {
  /** Requests that were answered: each has a record, or at least a line of the request log. */
  readonly answered: ReadonlySet<string>;
  recorded(): Promise<readonly Recorded[]>;
  /** Null: it is off. */
  readonly engine: {
    verdicts(): Promise<readonly unknown[]>;
    /** When its last round began. */
    lookedAt(): Promise<Date | null>;
  } | null;
  /** Milliseconds since the epoch. */
  now(): number;
  pause(ms: number): Promise<void>;
  /** This server stops: what is there has to do. */
  readonly signal: AbortSignal;
}

/**
 * With the records of all that was answered, and with the verdicts of a round that saw the whole wave: one in its
 * midst knows some of its clients, and little of each. What has not come in time (15 seconds, 40 with the engine) is
 * missing.
 */
export async function gather(
  of: Gathering,
): Promise<{ readonly recorded: readonly Recorded[]; readonly verdicts: readonly unknown[] }> {
  const { answered, engine, signal } = of;
  const beganMs = of.now();
  const endMs = beganMs + (engine === null ? recordsMsMax : verdictMsMax);
  for (;;) {
    const lookedMs = (await engine?.lookedAt())?.getTime() ?? 0;
    const [recorded, verdicts] = await Promise.all([of.recorded(), engine?.verdicts() ?? []]);
    const have = new Set(recorded.map((one) => one.request_id));
    const isWhole = [...answered].every((id) => have.has(id)) && (engine === null || lookedMs >= beganMs + gatheredMs);
    const nowMs = of.now();
    // a clock that was set back ends it too
    if (isWhole || signal.aborted || nowMs >= endMs || nowMs < beganMs) return { recorded, verdicts };
    await of.pause(everyMs);
  }
}
