// Large request bodies are inspected on threads of their own, so that one upload does not hold up everybody else's
// request on the I/O thread. The pool thread loads the same artifact and runs phases 1 and 2 from the start; the I/O
// thread keeps its own transaction for phases 3 to 5.
import type { RequestHead } from '#engine';
import type { EventMessage } from './contract.js';
import type { Generation } from './generation.js';

export interface ForeignVerdict {
  readonly interruption: { readonly ruleId: number; readonly action: 'deny' | 'drop' | 'redirect'; readonly status: number; readonly phase: number; readonly data: string } | null;
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
  inspect(generation: Generation, request: ForeignRequest): Promise<ForeignVerdict>;
}

