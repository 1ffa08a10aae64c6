// Work that an endpoint begins and does not wait for, under the lease of its run. What became of it stands in the run.
import type { Host } from '../../host.js';
import { finishRun, renewRun, type Run } from '../runs.js';

/** Also how late it is heard of that a run was canceled. */
const renewMs = 5000;
const wordsMax = 2000;

/** For tests, and for a server that closes: what is at work now. */
const working = new Set<Promise<void>>();
export const whenQuiet = async (): Promise<void> => void (await Promise.allSettled(working));

/** Runs `work` under the lease of `run`, and writes down what came of it. */
export function inBackground(host: Host, run: Run, work: (signal: AbortSignal) => Promise<unknown>): void {
  const { sql } = host;
  const now = (): Date => new Date(host.now());
  const canceling = new AbortController();
  const renew = setInterval(() => {
    void renewRun(sql, run.id, 50, now()).then(
      (isWanted) => isWanted || canceling.abort(new Error('It was canceled.')),
      () => undefined,
    );
  }, renewMs);
  const end = async (): Promise<void> => {
    try {
      const result = await work(canceling.signal);
      await finishRun(sql, run.id, { status: 'succeeded', result: { ...run.input, ...(result as object) } }, now());
    } catch (error) {
      const words = (error instanceof Error ? error.message : String(error)).slice(0, wordsMax);
      const status = canceling.signal.aborted ? 'canceled' : 'failed';
      await finishRun(sql, run.id, { status, result: run.input, error: words }, now());
    } finally {
      clearInterval(renew);
    }
  };
  const done = end()
    .catch(() => undefined) // the database is away: the lease ends by itself
    .finally(() => working.delete(done));
  working.add(done);
}
