// Questions that wait too long for an answer: the page says so, and a question that only reads is asked again on wish.
// Its caller sees nothing of that but a later answer.
import { createSignal } from 'solid-js';

/** From when on the page says that it waits. */
const lateMs = 5000;

interface Late {
  /** null: it may have changed something, and is not sent twice. */
  readonly again: (() => void) | null;
}

const [late, setLate] = createSignal<readonly Late[]>([]);

/** Whether an answer is late, and whether what waits for one can be asked again. */
export const waiting = (): 'no' | 'reads' | 'writes' => {
  if (late().length === 0) return 'no';
  return late().some(({ again }) => again !== null) ? 'reads' : 'writes';
};

/** Asks again whatever only reads and is late. */
export const askLateAgain = (): void => late().forEach(({ again }) => again?.());

/**
 * The outcome of `attempt`, which ends with its signal; a new attempt for each wish to ask again. `mayRepeat`: it only
 * reads. `given` ends all of it. Rejects as `attempt` does.
 */
export async function patiently<T>(
  attempt: (signal: AbortSignal) => Promise<T>,
  mayRepeat: boolean,
  given: AbortSignal | undefined,
): Promise<T> {
  for (;;) {
    const own = new AbortController();
    let isRepeated = false;
    const again = (): void => {
      isRepeated = true;
      own.abort();
    };
    const mine: Late = { again: mayRepeat ? again : null };
    const timer = setTimeout(() => setLate((all) => [...all, mine]), lateMs);
    // AbortSignal.any is younger than browsers that are still in use
    const end = (): void => own.abort();
    if (given?.aborted === true) end();
    given?.addEventListener('abort', end);
    try {
      return await attempt(own.signal);
    } catch (error) {
      if (!isRepeated || given?.aborted === true) throw error;
    } finally {
      clearTimeout(timer);
      given?.removeEventListener('abort', end);
      setLate((all) => all.filter((one) => one !== mine));
    }
  }
}
