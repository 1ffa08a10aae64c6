// Timers of a thread that may stand still: a collection of garbage, a compile on the same core, a stopped machine. Node
// runs the timers of a turn before it reads the sockets. A limit that is judged in a timer would therefore be over for
// everybody as soon as the thread goes on, although the connection was made and the answer is there. Whoever judges
// others by time uses what is here: it judges behind the sockets' events, and leaves out the time in which the thread
// itself could not have noticed anything.

/** A timer that comes later than this is taken for a thread that stood still. */
const lateMsMin = 50;

/** Called again and again. `nowMs`: of the monotonic clock; `stoodStillMs`: for how long the thread noticed nothing. */
export type Look = (nowMs: number, stoodStillMs: number) => void;

export interface Watch {
  stop(): void;
}

/**
 * Calls `look` every `everyMs`, behind what the sockets have. Limits that were set before are to be moved by
 * `stoodStillMs` (0 as a rule). Keeps no process alive.
 */
export function watchEvery(everyMs: number, look: Look): Watch {
  let lookedMs = performance.now();
  let isStopped = false;
  const judge = (): void => {
    if (isStopped) return;
    const nowMs = performance.now();
    const lateMs = nowMs - lookedMs - everyMs;
    lookedMs = nowMs;
    look(nowMs, lateMs > lateMsMin ? lateMs : 0);
  };
  const timer = setInterval(() => setImmediate(judge), everyMs);
  timer.unref();
  return {
    stop() {
      isStopped = true;
      clearInterval(timer);
    },
  };
}

/**
 * Calls `expired` once `ms` are over, unless it is stopped before. A timer that comes late waits once more for as long
 * as it was late, at most `ms`: what came meanwhile is heard first.
 */
export function expireAfter(ms: number, expired: () => void): Watch {
  let isStopped = false;
  const judge = (): void => {
    if (!isStopped) expired();
  };
  const startedMs = performance.now();
  let timer = setTimeout(() => {
    const lateMs = performance.now() - startedMs - ms;
    if (lateMs <= lateMsMin) setImmediate(judge);
    else timer = setTimeout(() => setImmediate(judge), Math.min(lateMs, ms));
  }, ms);
  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
