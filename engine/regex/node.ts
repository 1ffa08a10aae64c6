// The syntax tree of a PCRE pattern over bytes. Flags are resolved while parsing: a tree needs no flags to be
// understood (a caseless `a` is the set {a, A}, a dotall `.` is every byte, `^` says whether it means text or line).
import type { ByteSet } from './byte-set.js';

export type AssertionKind =
  | 'textStart' // \A, \G, ^ without multiline
  | 'lineStart' // ^ with multiline: at the start and behind every \n that is not the last byte
  | 'textEnd' // \z
  | 'textEndOrFinalNewline' // \Z, $ without multiline
  | 'lineEnd' // $ with multiline
  | 'wordBoundary'
  | 'notWordBoundary';

export type RepeatMode = 'greedy' | 'lazy' | 'possessive';

export type RegexNode =
  | { readonly kind: 'set'; readonly set: ByteSet } // exactly one byte
  | { readonly kind: 'sequence'; readonly items: readonly RegexNode[] } // no items = the empty string
  | { readonly kind: 'alternation'; readonly items: readonly RegexNode[] }
  // capturing
  | { readonly kind: 'group'; readonly index: number; readonly name: string | null; readonly body: RegexNode }
  | {
      readonly kind: 'repeat';
      readonly body: RegexNode;
      readonly min: number;
      readonly max: number;
      readonly mode: RepeatMode;
      readonly offset: number;
    } // max may be Infinity
  | { readonly kind: 'atomic'; readonly body: RegexNode; readonly offset: number }
  | { readonly kind: 'assertion'; readonly assertion: AssertionKind; readonly offset: number }
  | {
      readonly kind: 'lookaround';
      readonly ahead: boolean;
      readonly negative: boolean;
      readonly body: RegexNode;
      readonly offset: number;
    }
  // back-reference, recursion, \K, …
  | { readonly kind: 'unsupported'; readonly what: string; readonly offset: number };

/** Index of the group around what a rewritten look-ahead reads behind the end of the match; no pattern has it. */
export const tailGroup = -1;

export interface RegexFlags {
  readonly caseless: boolean;
  readonly dotAll: boolean; // `.` matches \n
  readonly multiline: boolean; // ^ and $ at every line
}

/** Text that is no regular expression; `offset` is in bytes from its start, the message says how to fix it. */
export class RegexSyntaxError extends Error {
  constructor(
    readonly offset: number,
    message: string,
  ) {
    super(`${message} (at offset ${offset})`);
  }
}

/** A regular expression that no linear-time engine can run (look-around, back-references, …). */
export class RegexUnsupportedError extends Error {
  constructor(
    readonly offset: number,
    message: string,
  ) {
    super(`${message} (at offset ${offset})`);
  }
}
