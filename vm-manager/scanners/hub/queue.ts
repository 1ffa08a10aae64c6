// Scans of this process, one at a time: each has a process of its own, and what it finds goes through the database that
// everybody uses. Others wait in their order.
import { ApiError } from '#http-kit';

const waitingMax = 50;
let waiting = 0;
let last: Promise<void> = Promise.resolve();

/** Throws ApiError 503 where so many wait that another one would wait for hours. */
export function requirePlace(): void {
  if (waiting >= waitingMax)
    throw new ApiError('busy', `${waitingMax} scans are waiting; try again when some of them are done.`);
}

/** Begins `work` when those before it have ended; what it throws is its own business. */
export function inTurn(work: () => Promise<void>): void {
  waiting++;
  last = last
    .then(work)
    .catch(() => undefined)
    .finally(() => waiting--);
}

/** For tests: when all that were begun have ended. */
export const whenIdle = async (): Promise<void> => last;
