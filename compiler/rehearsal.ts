// An artifact brought to life outside the data plane: the control plane replays recorded requests through the old and
// the new one before it activates anything. It gets an Inspector and never sees rulesets or databases.
import { createCompiledInspector, createMemoryStore, hyperscanLibrary, loadRuleset, type CollectionStore } from '#engine';
import type { Inspector } from '#engine/inspector';

export interface Rehearsal {
  readonly inspector: Inspector;
  readonly store: CollectionStore;
  /** Frees native memory; the inspector must not be used afterwards. */
  release(): void;
}

/** Throws ArtifactRefused for bytes that are no artifact of this program. */
export function loadRehearsal(artifact: Uint8Array): Rehearsal {
  const ruleset = loadRuleset(artifact, hyperscanLibrary());
  const inspector = createCompiledInspector(ruleset);
  return {
    inspector,
    store: createMemoryStore(),
    release: () => {
      inspector.release();
      ruleset.release();
    },
  };
}
