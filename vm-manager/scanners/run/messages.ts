// What goes between a scan and its engine's process.
import type { InputFile, Outcome } from '../contract.js';
import type { Additions } from '../own/additions.js';

export interface Start {
  readonly kinds: readonly string[];
}
export interface BatchFile extends InputFile {
  /** Scanners that want it. */
  readonly kinds: readonly string[];
}
export type ToEngine =
  /** Once, before everything else; there is no answer. */
  | { readonly type: 'own'; readonly additions: Additions }
  | { readonly type: 'batch'; readonly files: readonly BatchFile[] }
  /** One more file of the batch may begin: nothing is sent for it. */
  | { readonly type: 'end' };
export type FromEngine =
  | { readonly type: 'ready' }
  | { readonly type: 'batch'; readonly outcomes: Readonly<Record<string, Outcome>> }
  | { readonly type: 'end'; readonly outcomes: Readonly<Record<string, Outcome>> }
  | { readonly type: 'broken'; readonly why: string };
