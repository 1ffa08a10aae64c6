// Runs on a thread of the inspection pool: one large body at a time, phases 1 and 2 from the start, the verdict as
// data.
import { performance } from 'node:perf_hooks';
import { workerData } from 'node:worker_threads';
import { yieldToOthers, type GivenValues, type OpinionMode, type RequestHead } from '#engine';
import type { Mode } from '../contract/index.js';
import type { ForeignVerdict } from './inspection-pool.js';
import { DocumentSecrets } from '../records/made-of-secrets.js';
import { toEventMessage } from '../records/security-event.js';
import type { InspectionModule, LoadedInspection } from './inspection.js';

export interface InspectionTask {
  readonly sha256: string;
  readonly artifact: SharedArrayBuffer;
  readonly head: RequestHead;
  readonly uniqueId: string;
  readonly nowMs: number;
  readonly body: Uint8Array;
  readonly wireBytes: number;
  readonly engineMode: Mode | null;
  readonly given: GivenValues;
  readonly policy: string | null;
  readonly secondOpinion: OpinionMode | null;
}

// A body made to be expensive must not take the processor from the threads that answer everybody else.
yieldToOthers(10);

const loadedMax = 2; // the generation that serves and the one that drains
const { inspectionModule } = workerData as { readonly inspectionModule: string };
const module = (await import(inspectionModule)) as InspectionModule;
const loaded = new Map<string, LoadedInspection>();
const store = module.createStore();

function requireInspection(sha256: string, artifact: SharedArrayBuffer): LoadedInspection {
  const found = loaded.get(sha256);
  if (found !== undefined) return found;
  if (loaded.size >= loadedMax) {
    const [oldest] = loaded.keys();
    loaded.get(oldest as string)?.release();
    loaded.delete(oldest as string);
  }
  const inspection = module.loadInspection(new Uint8Array(artifact));
  loaded.set(sha256, inspection);
  return inspection;
}

export function inspectTask(task: InspectionTask): ForeignVerdict {
  const { inspector, files } = requireInspection(task.sha256, task.artifact);
  const startedMs = performance.now();
  const { uniqueId, nowMs, policy, secondOpinion } = task;
  const transaction = inspector.begin(task.head, { uniqueId, nowMs, store, policy, secondOpinion });
  if (task.engineMode !== null && transaction.engineMode !== 'Off') transaction.engineMode = task.engineMode;
  for (const [name, value] of task.given) transaction.tx.set(name, value);
  const body = Buffer.from(task.body.buffer, task.body.byteOffset, task.body.byteLength);
  const interruption =
    inspector.requestHeaders(transaction) ?? inspector.requestBody(transaction, body, task.wireBytes);
  const verdict = inspector.finish(transaction);
  const document = new DocumentSecrets(body);
  return {
    interruption:
      interruption === null
        ? null
        : {
            ruleId: interruption.ruleId,
            action: interruption.action,
            status: interruption.status,
            phase: interruption.phase,
            data: interruption.data,
          },
    isFlagged: verdict.kind === 'flag',
    messages: verdict.matched
      .filter(({ phase }) => phase <= 2)
      .map((matched) => toEventMessage(matched, files, document)),
    inboundScore: verdict.inboundScore,
    truncated: verdict.truncated,
    opinion: verdict.opinion ?? null,
    tookMs: performance.now() - startedMs,
  };
}
