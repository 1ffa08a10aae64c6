// Something that a person starts: whether it is under way, and what was refused. What is no refusal of the control
// plane is a fault of the console, and goes on to where faults are shown.
import { createSignal, type Accessor } from 'solid-js';
import { Refused } from './http.js';

export interface Action {
  readonly isBusy: Accessor<boolean>;
  /** Of the last run; null while the next one is under way. */
  readonly problem: Accessor<string | null>;
  /** True when it was done. A second start while one is under way does nothing. */
  run(work: () => Promise<unknown>): Promise<boolean>;
}

export function createAction(): Action {
  const [isBusy, setBusy] = createSignal(false);
  const [problem, setProblem] = createSignal<string | null>(null);
  const run = async (work: () => Promise<unknown>): Promise<boolean> => {
    if (isBusy()) return false;
    setBusy(true);
    setProblem(null);
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setProblem(error.message);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, problem, run };
}
