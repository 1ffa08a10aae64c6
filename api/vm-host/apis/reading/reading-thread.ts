// The thread that reads specifications, as this process asks it: started by the first question, ended when nobody has
// asked for a while, and ended with whatever it does when an answer takes too long or too much memory. One question
// after the other; so few wait that a crowd costs no more than one core.
import { Worker } from 'node:worker_threads';
import { ApiError } from '../../../http-kit/index.js';
import type { ReadingJob, ReadingReply } from './jobs.js';

const heapMbMax = 768;
/** A document of four megabytes takes four seconds where nothing else runs. */
const answerMsMax = 30_000;
const waitingMax = 16;
const idleMs = 60_000;

/** Asks for one job; the kind of the answer is the one that the job has. Throws ApiError. */
export type Ask = <K extends ReadingReply['kind']>(
  job: ReadingJob,
  ...kinds: readonly K[]
) => Promise<Extract<ReadingReply, { readonly kind: K }>>;

const busy = (): ApiError =>
  new ApiError('busy', 'Many specifications are being read. Try again in a few seconds.', {
    headers: { 'retry-after': '5' },
  });

const tooMuch = (what: string): ApiError =>
  new ApiError('unfit', `Reading the specification took ${what}: split the document, or say less twice.`);

export class ReadingThread {
  #worker: Worker | null = null;
  #hear: { resolve(reply: ReadingReply): void; reject(error: Error): void } | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #idle: NodeJS.Timeout | undefined;
  readonly #answerMsMax: number;

  /** For tests the time that an answer may take. */
  constructor(msMax = answerMsMax) {
    this.#answerMsMax = msMax;
  }

  /** Runs one question, which is some jobs in their order; no other question's jobs come between. */
  async with<T>(question: (ask: Ask) => Promise<T>): Promise<T> {
    if (this.#waiting >= waitingMax) throw busy();
    this.#waiting++;
    const turn = this.#last.then(async () => question(this.#ask));
    this.#last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      this.#waiting--;
      if (this.#waiting === 0) this.#rest();
    }
  }

  readonly #ask: Ask = async (job, ...kinds) => {
    clearTimeout(this.#idle);
    const worker = (this.#worker ??= this.#start());
    worker.ref();
    let timer: NodeJS.Timeout | undefined;
    try {
      const reply = await new Promise<ReadingReply>((resolve, reject) => {
        this.#hear = { resolve, reject };
        timer = setTimeout(() => reject(tooMuch(`more than ${this.#answerMsMax / 1000} seconds`)), this.#answerMsMax);
        worker.postMessage(job);
      });
      if (reply.kind === 'failed') throw new ApiError('unfit', `The specification cannot be read: ${reply.why}.`);
      const wanted = kinds.find((kind) => kind === reply.kind);
      if (wanted === undefined) throw new Error(`the reading thread answered ${reply.kind} to ${job.kind}`);
      return reply as never;
    } catch (error) {
      // whatever state it is in, the next question gets another one
      if (!(error instanceof ApiError) || this.#hear !== null) await this.close();
      throw error;
    } finally {
      clearTimeout(timer);
      this.#hear = null;
    }
  };

  /** Nobody stays for a thread that does nothing, and after a while it is not kept. */
  #rest(): void {
    this.#worker?.unref();
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.close(), idleMs).unref();
  }

  #start(): Worker {
    const worker = new Worker(new URL('./reading-worker.js', import.meta.url), {
      name: 'gatehouse-specifications',
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: heapMbMax },
    });
    const failed = (error: Error): void => {
      if (this.#worker !== worker) return;
      this.#worker = null;
      const isFull = (error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY';
      this.#hear?.reject(isFull ? tooMuch(`more than ${heapMbMax} MB of memory`) : error);
      this.#hear = null;
    };
    worker.on('message', (reply: ReadingReply) => {
      const hear = this.#hear;
      this.#hear = null;
      hear?.resolve(reply);
    });
    worker.on('error', failed);
    worker.on('exit', (code) => failed(new Error(`the thread that reads specifications ended with ${code}`)));
    return worker;
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = null;
    this.#hear = null;
    await worker?.terminate();
  }
}

/** The one of this process. */
export const reading = new ReadingThread();
