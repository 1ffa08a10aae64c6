// What the thread that reads sent and stored specifications is asked, and what it answers.
import type { SpecChange } from '../compare/compare.js';
import type { SpecProblem } from '../document/problem.js';
import type { Specification } from '../document/read.js';
import type { SpecificationHead } from '../store.js';

/** An operation as GET /api/spec/:id shows it. */
export interface DescribedOperation {
  readonly method: string;
  readonly path: string;
  readonly base_paths: string[];
  readonly operation_id: string | null;
  readonly summary: string;
  readonly deprecated: boolean;
  readonly security: string[][] | null;
}

export type SpecJob =
  /** Only what is stored beside the text: the document itself stays in the thread. */
  | { readonly kind: 'head'; readonly text: string }
  | { readonly kind: 'whole'; readonly text: string }
  | { readonly kind: 'describe'; readonly text: string }
  | { readonly kind: 'compare'; readonly from: string; readonly to: string };

export type SpecReply =
  | { readonly kind: 'head'; readonly head: SpecificationHead; readonly problems: readonly SpecProblem[] }
  | { readonly kind: 'whole'; readonly specification: Specification }
  | { readonly kind: 'described'; readonly operations: readonly DescribedOperation[] }
  | { readonly kind: 'compared'; readonly changes: readonly SpecChange[] }
  | { readonly kind: 'refused'; readonly problems: readonly SpecProblem[] };
