// What the thread that reads specifications is asked, and what it answers. Jobs are small or in parts: what comes back
// in one message is taken apart by the thread that serves requests.
import type { ApiGap, DeclaredOperation, SitePosture } from '#vm-manager';
import type { EndpointRow } from '../../../inventory/index.js';
import type { RefusedPath } from '../../../posture/gaps/report.js';
import type { SpecificationHead } from '../../../spec/store.js';
import type { SpecProblem } from '../../../spec/document/problem.js';

/** A stored document, and where its operations are asked for. */
export interface PlacedDocument {
  readonly sha256: string;
  readonly name: string;
  readonly version: number;
  /** Of its entry of the settings; null: as the document says. */
  readonly basePath: string | null;
  /** Of its site, without a slash at the end. */
  readonly prefix: string;
}

export type GapCounts = Readonly<Record<ApiGap['severity'], number>>;
export type PostureFigures = Omit<SitePosture, 'gaps'>;

export type ReadingJob =
  | { readonly kind: 'read'; readonly text: string }
  | { readonly kind: 'known'; readonly digests: readonly string[] }
  | { readonly kind: 'take'; readonly sha256: string; readonly body: string }
  | { readonly kind: 'lint'; readonly sha256: string; readonly body: string }
  | { readonly kind: 'servers'; readonly sha256: string }
  | { readonly kind: 'declared'; readonly site: string; readonly document: PlacedDocument }
  | { readonly kind: 'begin'; readonly site: string; readonly documents: readonly PlacedDocument[] }
  | { readonly kind: 'endpoints'; readonly rows: readonly EndpointRow[] }
  | { readonly kind: 'refused'; readonly rows: readonly RefusedPath[] }
  | { readonly kind: 'posture'; readonly nowMs: number }
  | { readonly kind: 'gaps' | 'operations'; readonly from: number; readonly count: number };

export type ReadingReply =
  | { readonly kind: 'head'; readonly head: SpecificationHead }
  | { readonly kind: 'problems'; readonly problems: readonly SpecProblem[] }
  | { readonly kind: 'missing'; readonly digests: readonly string[] }
  | { readonly kind: 'done' }
  /** Of the gaps or the operations that the next jobs take in parts. */
  | { readonly kind: 'count'; readonly total: number; readonly of: GapCounts }
  | { readonly kind: 'urls'; readonly urls: readonly string[] }
  | { readonly kind: 'figures'; readonly figures: PostureFigures }
  | { readonly kind: 'gaps'; readonly gaps: readonly ApiGap[] }
  | { readonly kind: 'operations'; readonly operations: readonly DeclaredOperation[] }
  | { readonly kind: 'failed'; readonly why: string };
