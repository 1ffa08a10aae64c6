// What the API and its compile process say to each other.
import type { RuleSettings } from '#settings';
import type { ApplyDiagnostic, ReplayImpact } from './contract.js';
import type { Outcome, ReplayConfig, ReplaySample } from './replay.js';

export interface CompileStart {
  /** ModSecurity's code page table; null = the built-in one. */
  readonly unicodeMapping: string | null;
  readonly artifactsDirectory: string;
  /** Compiled automata by content. */
  readonly cacheDirectory: string;
  readonly threads: number | null;
  /** It does not give way to others until it is told to: on a first start, and in tests, nobody is served beside it. */
  readonly keepsPriority?: boolean;
}

export interface ReplayRequest {
  readonly beforeSha256: string;
  readonly beforeConfig: ReplayConfig;
  readonly afterSha256: string;
  readonly afterConfig: ReplayConfig;
  readonly samples: readonly ReplaySample[];
  readonly examplesMax: number;
  /**
   * For loading the rule sets and running the samples together. Loading comes out of it but is not cut short (130 ms
   * for a rule set that is not at hand; it stays at hand for the next replay), and the first few samples run whatever
   * is left.
   */
  readonly budgetMs: number;
}

export interface TryRequest {
  readonly sha256: string;
  readonly config: ReplayConfig;
  readonly samples: readonly ReplaySample[];
}

export type CompileQuestion =
  | {
      readonly kind: 'compile';
      readonly token: number;
      readonly policy: RuleSettings;
      /** An unpacked OWASP CRS release: the one in use now. */
      readonly crsDirectory: string;
      readonly anew: boolean;
    }
  | { readonly kind: 'replay'; readonly token: number; readonly request: ReplayRequest }
  | { readonly kind: 'try'; readonly token: number; readonly request: TryRequest };

export type ToCompileProcess =
  | CompileQuestion
  /** It began with the priority of others, because nothing was served yet. */
  | { readonly kind: 'give-way' };

export interface CompiledPolicy {
  readonly sha256: string;
  readonly bytes: number;
  readonly diagnostics: readonly ApplyDiagnostic[];
  /** Milliseconds of each step. */
  readonly steps: Readonly<Record<string, number>>;
}

/** An error on its way to another process; `code` of the system's errors (ENOSPC), which tell whose fault it is. */
export interface Failure {
  readonly reason: string;
  readonly code: string | null;
}

export type FromCompileProcess =
  /** Its turn has come: from here on its time counts. */
  | { readonly kind: 'begun'; readonly token: number }
  | ({ readonly kind: 'compiled'; readonly token: number } & CompiledPolicy)
  | { readonly kind: 'refused'; readonly token: number; readonly diagnostics: readonly ApplyDiagnostic[] }
  /** Sent behind `compiled`: the artifact lies on disk, or why it does not. */
  | { readonly kind: 'stored'; readonly token: number; readonly problem: Failure | null }
  /** null: one of the two artifacts is not on this machine any more. */
  | { readonly kind: 'replayed'; readonly token: number; readonly impact: ReplayImpact | null }
  /** In the order of the samples; null: the artifact is not on this machine any more. */
  | { readonly kind: 'tried'; readonly token: number; readonly outcomes: readonly Outcome[] | null }
  | ({ readonly kind: 'failed'; readonly token: number } & Failure);
