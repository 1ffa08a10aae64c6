// The real thing behind the seam of inspection.ts: the compiled engine on Hyperscan.
import {
  createMemoryStore,
  creatingInspector,
  finishSteps,
  hyperscanLibrary,
  loadingRuleset,
  type CollectionStore,
  type CompiledInspector,
  type Steps,
} from '#engine';
import { shownFile } from '../records/security-event.js';
import type { LoadedInspection } from './inspection.js';

/**
 * Databases that this machine refuses are rebuilt inside, which takes seconds; other refusals throw ArtifactRefused.
 */
export function loadInspection(artifact: Uint8Array, sha256?: string, isVerified = false): LoadedInspection {
  return finishSteps(loadingInspection(artifact, sha256, isVerified));
}

/** The same in steps of a few milliseconds; unpacking what is not a database is the longest, up to ten. */
export function* loadingInspection(artifact: Uint8Array, sha256?: string, isVerified = false): Steps<LoadedInspection> {
  const known = sha256 === undefined ? null : { sha256, isVerified };
  const ruleset = yield* loadingRuleset(artifact, hyperscanLibrary(), known);
  let inspector: CompiledInspector;
  try {
    inspector = yield* creatingInspector(ruleset);
  } catch (error) {
    ruleset.release();
    throw error;
  }
  return {
    inspector,
    files: ruleset.program.files.map(shownFile),
    probes: ruleset.meta.probes,
    counters: () => inspector.counters(),
    release: () => {
      inspector.release();
      ruleset.release();
    },
  };
}

export function createStore(): CollectionStore {
  return createMemoryStore();
}
