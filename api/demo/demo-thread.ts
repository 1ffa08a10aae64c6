// The demo runs in a thread of its own that is started by the first visitor and ended when nobody comes any more. One
// request at a time; so few wait that a crowd costs no more than one core and a bounded memory.
import { Worker } from 'node:worker_threads';
import type { TrialRequest } from '#compiler';
import { ApiError } from '../http-kit/index.js';
import type { DemoExplanation } from './explain.js';

export interface DemoWorkerData {
  readonly crsDirectory: string;
}
export interface DemoQuestion {
  readonly request: TrialRequest;
}
export type DemoReply = DemoExplanation;

export interface DemoThread {
  /** Throws `busy` when too many wait, or when the answer takes too long. */
  ask(crsDirectory: string, request: TrialRequest): Promise<DemoExplanation>;
  close(): Promise<void>;
}

const waitingMax = 8;
const answerMsMax = 5000;
/** Compiling the rules on a busy machine. */
const startMsMax = 60_000;
const idleMs = 10 * 60_000;
const memoryMbMax = 384;

const busy = (): ApiError =>
  new ApiError('busy', 'Many people are trying the demo. Try again in a few seconds.', {
    headers: { 'retry-after': '5' },
  });

interface Running {
  readonly worker: Worker;
  readonly crsDirectory: string;
  hasAnswered: boolean;
}

/** The next message of the thread; rejects when it fails, ends or is too slow. */
async function answerOf({ worker, hasAnswered }: Running): Promise<DemoExplanation> {
  let timer: NodeJS.Timeout | undefined;
  const listeners: [string, (value: never) => void][] = [];
  const on = (name: string, listener: (value: never) => void): void => {
    listeners.push([name, listener]);
    worker.on(name, listener as (value: unknown) => void);
  };
  try {
    return await new Promise<DemoExplanation>((resolve, reject) => {
      timer = setTimeout(() => reject(busy()), hasAnswered ? answerMsMax : startMsMax);
      on('message', (reply: DemoExplanation) => resolve(reply));
      on('error', (error: Error) => reject(error));
      on('exit', (code: number) => reject(new Error(`the demo's thread ended with ${code} before it answered`)));
    });
  } finally {
    clearTimeout(timer);
    for (const [name, listener] of listeners) worker.off(name, listener as (value: unknown) => void);
  }
}

export function createDemoThread(): DemoThread {
  let running: Running | null = null;
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  let idle: NodeJS.Timeout | undefined;
  const end = async (): Promise<void> => {
    clearTimeout(idle);
    const ended = running;
    running = null;
    await ended?.worker.terminate();
  };
  const start = (crsDirectory: string): Running => {
    const worker = new Worker(new URL('./demo-worker.js', import.meta.url), {
      workerData: { crsDirectory } satisfies DemoWorkerData,
      name: 'gatehouse-demo',
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: memoryMbMax },
    });
    worker.unref();
    worker.on('error', () => undefined); // told to whoever waits for an answer; without one it is started anew
    return { worker, crsDirectory, hasAnswered: false };
  };
  const answer = async (crsDirectory: string, request: TrialRequest): Promise<DemoExplanation> => {
    clearTimeout(idle);
    if (running !== null && running.crsDirectory !== crsDirectory) await end();
    running ??= start(crsDirectory);
    const mine = running;
    try {
      mine.worker.postMessage({ request } satisfies DemoQuestion);
      const reply = await answerOf(mine);
      mine.hasAnswered = true;
      idle = setTimeout(() => void end(), idleMs);
      idle.unref();
      return reply;
    } catch (error) {
      await end();
      throw error;
    }
  };
  return {
    async ask(crsDirectory, request) {
      if (waiting >= waitingMax) throw busy();
      waiting += 1;
      const turn = last.then(() => answer(crsDirectory, request));
      last = turn.catch(() => undefined);
      try {
        return await turn;
      } finally {
        waiting -= 1;
      }
    },
    close: end,
  };
}
