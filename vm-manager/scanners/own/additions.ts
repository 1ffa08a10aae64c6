// What an installation adds to the scanners: rules of its own as patterns, which run on RE2 alone, and secrets that are
// known to be none.
import type { Severity } from '../../findings/words.js';

export interface OwnRule {
  readonly id: string;
  readonly kind: 'sast' | 'secrets';
  readonly title: string;
  readonly severity: Severity;
  /** Of RE2; the group `value` is the secret. */
  readonly pattern: string;
  /** Endings of files, without the dot; none: every file that the scanner reads. */
  readonly endings: readonly string[];
}

export interface Allowed {
  readonly kind: 'hash' | 'path' | 'regex';
  /** SHA-256 of the secret in hexadecimal; a path with `*` and `**`; a pattern of RE2 that the whole secret fits. */
  readonly value: string;
  readonly reason: string;
}

export interface Additions {
  readonly rules: readonly OwnRule[];
  readonly allowed: readonly Allowed[];
}

export const noAdditions: Additions = { rules: [], allowed: [] };
