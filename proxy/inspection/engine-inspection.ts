// The real thing behind the seam of inspection.ts: the compiled engine on Hyperscan.
import {
  createCompiledInspector,
  createMemoryStore,
  hyperscanLibrary,
  loadRuleset,
  type CollectionStore,
} from '#engine';
import { shownFile } from '../records/security-event.js';
import type { LoadedInspection } from './inspection.js';

/**
 * Databases that this machine refuses are rebuilt inside, which takes seconds; other refusals throw ArtifactRefused.
 */
export function loadInspection(artifact: Uint8Array, sha256?: string): LoadedInspection {
  const ruleset = loadRuleset(
    artifact,
    hyperscanLibrary(),
    sha256 === undefined ? null : { sha256, isVerified: false },
  );
  const inspector = createCompiledInspector(ruleset);
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
