// A thread that reads what others have sent, as this process asks it: started by the first question, ended when nobody
// has asked for a while, and ended with whatever it does when an answer takes too long or too much memory. One question
// after the other, and those of each place in turn; so few wait that a crowd costs no more than one core.
import { Worker } from 'node:worker_threads';
import { ApiError } from '../../http-kit/index.js';

const heapMbMax = 768;
/** A document of four megabytes takes four seconds where nothing else runs. */
const answerMsMax = 30_000;
const waitingMax = 16;
/** Of one place: one application that sends large documents leaves room for the others. */
const waitingOfOneMax = 4;
const idleMs = 60_000;

interface Told {
  readonly kind: string;
}

export interface JobFailed {
  readonly kind: 'failed';
  readonly why: string;
}

/** Asks for one job; the kind of the answer is the one that the job has. Throws ApiError. */
export type AskOf<Job, Reply extends Told> = <K extends Reply['kind']>(
  job: Job,
  ...kinds: readonly K[]
) => Promise<Extract<Reply, { readonly kind: K }>>;

const busy = (): ApiError =>
  new ApiError('busy', 'Many specifications are being read. Try again in a few seconds.', {
    headers: { 'retry-after': '5' },
  });

const tooMuch = (what: string): ApiError =>
  new ApiError('unfit', `Reading the specification took ${what}: split the document, or say less twice.`);

export interface JobThreadOptions {
  readonly name: string;
  /** Of the worker, which answers every job with one message. */
  readonly worker: URL;
  /** What an answer may take, in milliseconds. */
  readonly msMax?: number;
}

export interface Asking {
  /** What it is about, such as a site: questions of one wait for each other, in turn with those of others. */
  readonly of?: string;
  /** Never refused, however many wait: for what this process asks itself, such as an apply. */
  readonly isOwn?: true;
}

export class JobThread<Job extends Told, Reply extends Told> {
  #worker: Worker | null = null;
  #hear: { resolve(reply: Reply | JobFailed): void; reject(error: Error): void } | null = null;
  /** Who waits, by place; the first place is next. */
  readonly #waiting = new Map<string, (() => void)[]>();
  /** Questions of others, with the one that is asked now. */
  #others = 0;
  readonly #othersOf = new Map<string, number>();
  #isAsking = false;
  #idle: NodeJS.Timeout | undefined;
  readonly #options: Required<JobThreadOptions>;

  constructor(options: JobThreadOptions) {
    this.#options = { msMax: answerMsMax, ...options };
  }

  /**
   * Runs one question, which is some jobs in their order; no other question's jobs come between. Throws ApiError `busy`
   * where too many wait already, of all or of its place.
   */
  async with<T>(question: (ask: AskOf<Job, Reply>) => Promise<T>, { of = '', isOwn }: Asking = {}): Promise<T> {
    const leave = isOwn === true ? (): void => undefined : this.#enter(of);
    try {
      if (this.#isAsking) await this.#turnOf(of);
      this.#isAsking = true;
      return await question(this.#ask);
    } finally {
      leave();
      this.#next();
    }
  }

  /** Counts a question of others; the answer takes it out again. */
  #enter(of: string): () => void {
    const same = this.#othersOf.get(of) ?? 0;
    if (this.#others >= waitingMax || (of !== '' && same >= waitingOfOneMax)) throw busy();
    this.#others++;
    this.#othersOf.set(of, same + 1);
    return () => {
      this.#others--;
      const left = (this.#othersOf.get(of) ?? 1) - 1;
      if (left === 0) this.#othersOf.delete(of);
      else this.#othersOf.set(of, left);
    };
  }

  async #turnOf(of: string): Promise<void> {
    await new Promise<void>((resolve) => {
      const same = this.#waiting.get(of);
      if (same === undefined) this.#waiting.set(of, [resolve]);
      else same.push(resolve);
    });
  }

  /** The next place begins its oldest question, and is behind the others then. */
  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#isAsking = false;
      return this.#rest();
    }
    const [of, [begin, ...left]] = first;
    this.#waiting.delete(of);
    if (left.length > 0) this.#waiting.set(of, left);
    begin?.();
  }

  readonly #ask: AskOf<Job, Reply> = async (job, ...kinds) => {
    clearTimeout(this.#idle);
    const worker = (this.#worker ??= this.#start());
    const { msMax } = this.#options;
    worker.ref();
    let timer: NodeJS.Timeout | undefined;
    try {
      const reply = await new Promise<Reply | JobFailed>((resolve, reject) => {
        this.#hear = { resolve, reject };
        timer = setTimeout(() => reject(tooMuch(`more than ${msMax / 1000} seconds`)), msMax);
        worker.postMessage(job);
      });
      if (reply.kind === 'failed')
        throw new ApiError('unfit', `The specification cannot be read: ${(reply as JobFailed).why}.`);
      const wanted = kinds.find((kind) => kind === reply.kind);
      if (wanted === undefined)
        throw new Error(`the thread ${this.#options.name} answered ${reply.kind} to ${job.kind}`);
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
    const worker = new Worker(this.#options.worker, {
      name: this.#options.name,
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
    worker.on('message', (reply: Reply | JobFailed) => {
      const hear = this.#hear;
      this.#hear = null;
      hear?.resolve(reply);
    });
    worker.on('error', failed);
    worker.on('exit', (code) => failed(new Error(`the thread ${this.#options.name} ended with ${code}`)));
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
