// The seam between the data plane and the engine. A worker loads one module that knows how to turn artifact bytes into
// an inspector; tests bring their own. Nothing here can read a rule.
import type { CollectionStore, Inspector, ProbeIR, Steps } from '#engine';
import { putTogether } from './put-together.js';

/** Values looked up in the memo, those it knew, scans of the others, and their bytes. */
export interface InspectionCounters {
  readonly lookups: number;
  readonly found: number;
  readonly scans: number;
  readonly scannedBytes: number;
}

/** A ruleset loaded in this thread. */
export interface LoadedInspection {
  readonly inspector: Inspector;
  /** Names of the rule files, for the audit log. */
  readonly files: readonly string[];
  /** Self-tests that the compiler put into the artifact; run besides the built-in ones. */
  readonly probes: readonly ProbeIR[];
  /**
   * What the automata did so far, from loading on; none where the module does not count. Not called after `release`.
   */
  counters?(): InspectionCounters;
  /** Gives back native memory; called once, when no transaction uses it any more. */
  release(): void;
}

export interface InspectionModule {
  /** Persistent collections of this thread; kept across generations. */
  createStore(): CollectionStore;
  /**
   * Loads and freezes a ruleset. Throws with a message for people when the bytes are refused. `sha256` is what they are
   * known by; without it they are hashed. `isVerified`: another thread has loaded these very bytes, so that they are
   * not looked through for damage again.
   */
  loadInspection(artifact: Uint8Array, sha256?: string, isVerified?: boolean): LoadedInspection;
  /** The same in steps, between which requests are answered; a module without it loads in one go. */
  loadingInspection?(artifact: Uint8Array, sha256?: string, isVerified?: boolean): Steps<LoadedInspection>;
}

/** The module that workers import when they are not told otherwise. */
export const engineModule = putTogether(new URL('./engine-inspection.js', import.meta.url)).href;
