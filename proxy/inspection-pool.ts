// Large request bodies are inspected on threads of their own, so that one upload does not hold up everybody else's
// request on the I/O thread. The pool thread loads the same artifact and runs phases 1 and 2 from the start; the I/O
// thread keeps its own transaction for phases 3 to 5.
import { Piscina } from 'piscina';
import type { RequestHead } from '#engine';
import type { EventMessage } from './contract.js';
import type { Generation } from './generation.js';
import type { InspectionTask } from './inspection-thread.js';

export interface ForeignVerdict {
  readonly interruption: { readonly ruleId: number; readonly action: 'deny' | 'drop' | 'redirect'; readonly status: number; readonly phase: number; readonly data: string } | null;
  /** DetectionOnly withheld an interruption. */
  readonly isFlagged: boolean;
  readonly messages: readonly EventMessage[];
  readonly inboundScore: number;
  readonly truncated: boolean;
  readonly tookMs: number;
}

export interface ForeignRequest {
  readonly head: RequestHead;
  readonly uniqueId: string;
  readonly nowMs: number;
  readonly body: Buffer;
  readonly wireBytes: number;
  readonly isDetectionOnly: boolean;
}

export interface ForeignInspector {
  /** Rejects when the thread dies, the queue is full, or the inspection takes longer than `inspectionMsMax`. */
  inspect(generation: Generation, request: ForeignRequest): Promise<ForeignVerdict>;
  close(): Promise<void>;
}

const queueMax = 256; // bodies waiting; beyond → the failure decision
const inspectionMsMax = 30_000; // a thread that takes longer is ended
const idleThreadMs = 60_000; // then its memory is given back

/** Threads are started when the first large body comes. */
export function createInspectionPool(threads: number, inspectionModule: string): ForeignInspector {
  const pool = new Piscina({
    filename: new URL('./inspection-thread.js', import.meta.url).href,
    name: 'inspectTask',
    minThreads: 0,
    maxThreads: threads,
    maxQueue: queueMax,
    idleTimeout: idleThreadMs,
    workerData: { inspectionModule },
    concurrentTasksPerWorker: 1,
  });
  return {
    inspect(generation, request) {
      if (generation.artifact === null) return Promise.reject(new Error('no ruleset to inspect with'));
      const task: InspectionTask = { ...request, sha256: generation.sha256, artifact: generation.artifact };
      return pool.run(task, { signal: AbortSignal.timeout(inspectionMsMax) }) as Promise<ForeignVerdict>;
    },
    close: () => pool.destroy(),
  };
}

