// Threads of the sandbox. One takes most of a second to load the compiler and the engine, a job a few milliseconds:
// who tries a rule tries it again, and who saves settings has tried them, so that a thread waits some seconds for the
// next job. One that was too slow or failed is ended, whatever state it is in.
import { Worker } from 'node:worker_threads';
import type { SandboxJob, SandboxReply } from './sandbox.js';

/** How long one without a job is kept; it holds some 60 MB. */
const keptMs = 10_000;
/** Then it is replaced: patterns that people try stay in native memory for as long as it lives. */
const jobsMax = 100;
const heapMbMax = 1024;

/** Starts a clock that calls `ring` when the job is to end; returns what stops the clock. */
export type StartWatch = (ring: (error: Error) => void) => () => void;

interface Spare {
  readonly worker: Worker;
  jobs: number;
  end: NodeJS.Timeout | null;
  /** Who waits for its answer. */
  hear: { resolve(reply: SandboxReply): void; reject(error: Error): void } | null;
}

export class SpareThreads {
  private readonly waiting: Spare[] = [];

  /** Rejects with what rang, or with the failure of the job. */
  async run(job: SandboxJob, startWatch: StartWatch): Promise<SandboxReply> {
    const spare = this.take();
    let endWatch: (() => void) | undefined;
    try {
      const reply = await new Promise<SandboxReply>((resolve, reject) => {
        endWatch = startWatch(reject);
        spare.hear = { resolve, reject };
        spare.worker.postMessage(job);
      });
      this.keep(spare);
      return reply;
    } catch (error) {
      spare.hear = null;
      await spare.worker.terminate();
      throw error;
    } finally {
      endWatch?.();
    }
  }

  private take(): Spare {
    const spare = this.waiting.pop();
    if (spare === undefined) return this.start();
    if (spare.end !== null) clearTimeout(spare.end);
    spare.worker.ref();
    return spare;
  }

  private keep(spare: Spare): void {
    const { worker } = spare;
    spare.hear = null;
    spare.jobs += 1;
    if (spare.jobs >= jobsMax) {
      void worker.terminate();
      return;
    }
    worker.unref(); // nobody stays for a thread that does nothing
    spare.end = setTimeout(() => {
      this.forget(spare);
      void worker.terminate();
    }, keptMs).unref();
    this.waiting.push(spare);
  }

  private forget(spare: Spare): void {
    const at = this.waiting.indexOf(spare);
    if (at !== -1) this.waiting.splice(at, 1);
  }

  private start(): Spare {
    const worker = new Worker(new URL('./sandbox-worker.js', import.meta.url), {
      name: 'gatehouse-sandbox',
      resourceLimits: { maxOldGenerationSizeMb: heapMbMax },
    });
    const spare: Spare = { worker, jobs: 0, end: null, hear: null };
    const failed = (error: Error): void => {
      this.forget(spare);
      spare.hear?.reject(error);
    };
    worker.on('message', (reply: SandboxReply) => spare.hear?.resolve(reply));
    worker.on('error', failed);
    worker.on('exit', (code) => failed(new Error(`the sandbox's thread ended with ${code} before it answered`)));
    return spare;
  }
}
