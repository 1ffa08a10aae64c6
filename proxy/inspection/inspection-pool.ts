// Large request bodies are inspected on threads of their own, so that one upload does not hold up everybody else's
// request on the I/O thread. The pool thread loads the same artifact and runs phases 1 and 2 from the start; the I/O
// thread keeps its own transaction for phases 3 to 5.
import type { Piscina } from 'piscina';
import type { GivenValues, OpinionMode, RequestHead, SecondOpinion } from '#engine';
import type { EventMessage, Mode } from '../contract/index.js';
import type { Generation } from '../worker/generation.js';
import { expireAfter } from '../time/late-timers.js';
import type { InspectionTask } from './inspection-thread.js';

export interface ForeignVerdict {
  readonly interruption: {
    readonly ruleId: number;
    readonly action: 'deny' | 'drop' | 'redirect';
    readonly status: number;
    readonly phase: number;
    readonly data: string;
  } | null;
  /** DetectionOnly withheld an interruption. */
  readonly isFlagged: boolean;
  readonly messages: readonly EventMessage[];
  readonly inboundScore: number;
  readonly truncated: boolean;
  /** Of phases 1 and 2. */
  readonly opinion: SecondOpinion | null;
  readonly tookMs: number;
}

export interface ForeignRequest {
  readonly head: RequestHead;
  readonly uniqueId: string;
  readonly nowMs: number;
  readonly body: Buffer;
  readonly wireBytes: number;
  /** Of the site; see Site.engineMode. */
  readonly engineMode: Mode | null;
  /** TX variables that rules are to see. */
  readonly given: GivenValues;
  /** Of the site; see Site.policy. */
  readonly policy: string | null;
  /** Of the site; see Site.secondOpinion. */
  readonly secondOpinion: OpinionMode | null;
}

export interface ForeignInspector {
  /**
   * Rejects when the thread dies, the queue is full, or waiting and inspection together take longer than
   * `inspectionMsMax`.
   */
  inspect(generation: Generation, request: ForeignRequest): Promise<ForeignVerdict>;
  close(): Promise<void>;
}

const queueMax = 256; // bodies waiting; beyond → the failure decision
const heldBytesMax = 128 * 1024 * 1024; // of bodies waiting and under inspection, each held twice; beyond → the same
const inspectionMsMax = 30_000; // from the call on; a thread that is at it then is ended
const idleThreadMs = 20_000; // then its memory (a ruleset of its own, about 60 MB) is given back
const youngGenerationMb = 16;

async function openPool(threads: number, inspectionModule: string): Promise<Piscina> {
  const { Piscina: Pool } = await import('piscina');
  return new Pool({
    filename: new URL('./inspection-thread.js', import.meta.url).href,
    name: 'inspectTask',
    minThreads: 0,
    maxThreads: threads,
    maxQueue: queueMax,
    idleTimeout: idleThreadMs,
    workerData: { inspectionModule },
    concurrentTasksPerWorker: 1,
    resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMb },
  });
}

/** Threads are started, and what starts them is loaded, when the first large body comes: many workers never see one. */
export function createInspectionPool(threads: number, inspectionModule: string): ForeignInspector {
  let pool: Promise<Piscina> | null = null;
  let heldBytes = 0;
  return {
    inspect(generation, request) {
      if (generation.artifact === null) return Promise.reject(new Error('no ruleset to inspect with'));
      if (heldBytes > 0 && heldBytes + request.body.length > heldBytesMax)
        return Promise.reject(
          new Error(`bodies of ${heldBytes} bytes wait for inspection already (at most ${heldBytesMax})`),
        );
      const task: InspectionTask = { ...request, sha256: generation.sha256, artifact: generation.artifact };
      heldBytes += request.body.length;
      const over = new AbortController();
      const limit = expireAfter(inspectionMsMax, () =>
        over.abort(new Error(`no verdict within ${inspectionMsMax} ms`)),
      );
      pool ??= openPool(threads, inspectionModule).catch((error: unknown) => {
        pool = null; // no descriptor was left, say: the next body tries again
        throw error;
      });
      const verdict = pool.then((open) => open.run(task, { signal: over.signal }) as Promise<ForeignVerdict>);
      return verdict.finally(() => {
        limit.stop();
        heldBytes -= request.body.length;
      });
    },
    close: async () => (await pool?.catch(() => null))?.destroy(),
  };
}
