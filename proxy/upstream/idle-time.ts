// How long an idle connection to one upstream may be used again. A request that leaves while the upstream closes it is
// lost. One that may be repeated is sent again (attempt.ts); a POST must not be (RFC 9110 section 9.2.2). So for these
// the moment is avoided: idle connections are used for them only well within the time after which the upstream
// was seen to close them, and not at all for a while after one was lost all the same.

/** An observed close counts for so long: the upstream may have been restarted, or set up anew. */
const observationMs = 600_000;
const raceAvoidanceMs = { first: 60_000, most: 3_600_000 } as const;

export class IdleTime {
  private announcedMs = Number.POSITIVE_INFINITY;
  private observedMs = Number.POSITIVE_INFINITY;
  private observedAtMs = 0;
  private freshUntilMs = Number.NEGATIVE_INFINITY;
  private avoidanceMs: number = raceAvoidanceMs.first;

  /** `keepAliveMs`: what the settings allow at most. */
  constructor(private readonly keepAliveMs: number) {}

  /** `Keep-Alive: timeout=` of a response, in seconds; a second, at most half of it, is left for the way. */
  announced(seconds: number): void {
    const ms = seconds * 1000;
    this.announcedMs = ms - Math.min(1000, ms / 2);
  }

  /** The upstream closed a connection that had been idle for so long. */
  closedAfter(idleMs: number, nowMs: number): void {
    if (idleMs >= this.keepAliveMs) return;
    const isForgotten = nowMs - this.observedAtMs > observationMs;
    if (!isForgotten && idleMs > this.observedMs) return;
    this.observedMs = idleMs;
    this.observedAtMs = nowMs;
  }

  /** It closed one while a request was on its way. */
  raced(idleMs: number, nowMs: number): void {
    this.closedAfter(idleMs, nowMs);
    const isLongAgo = nowMs - this.freshUntilMs > raceAvoidanceMs.most;
    this.avoidanceMs = isLongAgo ? raceAvoidanceMs.first : Math.min(this.avoidanceMs * 2, raceAvoidanceMs.most);
    this.freshUntilMs = nowMs + this.avoidanceMs;
  }

  /** Milliseconds that a connection may have been idle for a request; below zero: it gets a fresh one. */
  limitMs(isRepeatable: boolean, nowMs: number): number {
    const limitMs = Math.min(this.keepAliveMs, this.announcedMs);
    if (isRepeatable) return limitMs;
    if (nowMs < this.freshUntilMs) return -1;
    return nowMs - this.observedAtMs > observationMs ? limitMs : Math.min(limitMs, this.observedMs / 2);
  }
}
