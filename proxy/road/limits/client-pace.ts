// How fast a client takes its response or sends its body, for the two questions that are asked of it: whether it is
// slower than any client needs to be (over the time of `timeouts.client_progress_ms`), and, where connections or memory
// have run out, whether it is the slowest of those who hold them (over the last second or so). Made for clients that
// are slow already: who is fast is never measured.

/** The answer to the second question is of at least so long ago. */
const lookMsMin = 1000;

export class ClientPace {
  private progressAtMs: number;
  private progressBytes: number;
  private lookAtMs: number;
  private lookBytes: number;
  /** Bytes per second over the last look; null before there was one. */
  current: number | null = null;

  /** `bytes`: moved so far, as with every later call. `nowMs`: of the monotonic clock. */
  constructor(nowMs: number, bytes: number) {
    this.progressAtMs = nowMs;
    this.progressBytes = bytes;
    this.lookAtMs = nowMs;
    this.lookBytes = bytes;
  }

  /** This thread took nothing for so long, whatever the client did. */
  standStill(ms: number): void {
    this.progressAtMs += ms;
    this.lookAtMs += ms;
  }

  /** Asked again and again; bytes per second each time that `progressMs` are over, else null. */
  look(nowMs: number, bytes: number, progressMs: number): number | null {
    const lookedMs = nowMs - this.lookAtMs;
    if (lookedMs >= lookMsMin) {
      this.current = ((bytes - this.lookBytes) / lookedMs) * 1000;
      this.lookAtMs = nowMs;
      this.lookBytes = bytes;
    }
    const elapsedMs = nowMs - this.progressAtMs;
    if (elapsedMs < progressMs) return null;
    const perSecond = ((bytes - this.progressBytes) / elapsedMs) * 1000;
    this.progressAtMs = nowMs;
    this.progressBytes = bytes;
    return perSecond;
  }
}
