// What the thread that scans documents of pipelines is asked, and what it answers.
import type { SpecProblem } from '../../spec/document/problem.js';

export const fileCharsMax = 300;
export const formats = ['json', 'sarif', 'junit', 'text'] as const;
export type Format = (typeof formats)[number];

/** Of the query; what is undefined may stand in an envelope around the document. */
export interface Said {
  readonly maxHigh?: number | undefined;
  readonly maxMedium?: number | undefined;
  readonly format?: Format | undefined;
  readonly file?: string | undefined;
}

export interface ScanJob {
  readonly kind: 'scan';
  readonly body: string;
  readonly said: Said;
}

export type ScanReply =
  | { readonly kind: 'scanned'; readonly format: Format; readonly text: string }
  /** A member of the envelope is wrong. */
  | { readonly kind: 'wrong'; readonly name: string; readonly reason: string; readonly fix: string }
  | { readonly kind: 'refused'; readonly problems: readonly SpecProblem[] };
