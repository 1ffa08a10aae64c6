// Where the statements of an import, or of what writes findings as an import does, run: all in one transaction, or in
// short ones, between which others have their turn.
import { ApiError } from '#http-kit';
import { setTimeout as pause } from 'node:timers/promises';
import type { Tx } from '../../database.js';
import type { Host } from '../../host.js';
import { renewRun, type Run } from '../../kit/runs.js';
import type { Within } from './scope.js';

export const atOnce = (tx: Tx): Within => ({ batchSize: 500, run: async (work) => work(tx) });

/** Renews the lease. Throws ApiError 409 where the run was canceled, or was taken for lost. */
export async function requireRunning(tx: Tx, { id, kind }: Pick<Run, 'id' | 'kind'>, now: Date): Promise<void> {
  if (await renewRun(tx, id, 0, now)) return;
  const what = kind === 'import' ? 'what it had written is taken back' : 'what it had written is right, and not all';
  throw new ApiError('conflict', `The run ${id} (${kind}) was stopped: ${what}.`);
}

/** How long a step should keep the connection. */
const stepMs = 80;
/** Between two steps: a request of others has several statements, and should not wait for a step with each. */
const pauseMs = 25;
const [sizeMin, sizeMax] = [20, 500];

/** The size of a step follows from how long the last one took. The lease of the run is renewed with each. */
export function inSteps({ sql, now }: Pick<Host, 'sql' | 'now'>, run: Pick<Run, 'id' | 'kind'>): Within {
  let size = 100;
  return {
    get batchSize() {
      return size;
    },
    run: async (work) => {
      await pause(pauseMs);
      return sql.begin(async (tx) => {
        const began = performance.now();
        await requireRunning(tx, run, new Date(now()));
        const made = await work(tx);
        const ratio = stepMs / (performance.now() - began);
        size = Math.round(Math.min(Math.max(size * Math.min(Math.max(ratio, 0.5), 1.5), sizeMin), sizeMax));
        return made;
      }) as never;
    },
  };
}
