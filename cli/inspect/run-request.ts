// One request through an Inspector, phase by phase, the way the proxy does it.
import type { CollectionStore, Inspector, OpinionMode, RequestHead, ResponseHead, Transaction, Verdict } from '#engine';

export interface RunInput {
  readonly head: RequestHead;
  readonly body: Buffer | null;
  /** Null: there is no response to inspect, phases 3 and 4 do not run. */
  readonly response: { readonly head: ResponseHead; readonly body: Buffer } | null;
}
export interface RunOptions {
  readonly store: CollectionStore;
  readonly uniqueId: string;
  readonly nowMs: number;
  /** Last phase before logging to run, 1–5; 5 = all. Phase 5 itself runs only with 5. */
  readonly lastPhase: number;
  /** What the request's site wants of the second opinion; absent: nothing. */
  readonly secondOpinion?: OpinionMode | null;
}
export interface RunResult {
  readonly transaction: Transaction;
  /** Null when phase 5 was left out. */
  readonly verdict: Verdict | null;
}

export function runRequest(inspector: Inspector, input: RunInput, options: RunOptions): RunResult {
  const { store, uniqueId, nowMs, lastPhase, secondOpinion = null } = options;
  const transaction = inspector.begin(input.head, { uniqueId, nowMs, store, secondOpinion });
  inspector.requestHeaders(transaction);
  if (lastPhase >= 2) inspector.requestBody(transaction, input.body);
  if (input.response !== null) {
    if (lastPhase >= 3) inspector.responseHeaders(transaction, input.response.head);
    if (lastPhase >= 4)
      inspector.responseBody(
        transaction,
        inspector.wantsResponseBody(transaction) ? input.response.body : null,
        input.response.body.length,
      );
  }
  return { transaction, verdict: lastPhase >= 5 ? inspector.finish(transaction) : null };
}
