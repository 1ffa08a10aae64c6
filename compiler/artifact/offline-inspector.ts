// An artifact run outside the data plane: the control plane replays recorded requests through the old and the new one
// before it activates anything. It gets an Inspector and never sees rulesets or databases.
export { giveBackMemory } from '#engine';
import {
  ArtifactRefused,
  createCompiledInspector,
  createMemoryStore,
  hyperscanLibrary,
  loadRuleset,
  rulesetOf,
  type CollectionStore,
  type Inspector,
  type Ruleset,
} from '#engine';
import type { EmittedArtifact } from './emit.js';

export interface OfflineInspector {
  readonly inspector: Inspector;
  readonly store: CollectionStore;
  /** Frees native memory; the inspector must not be used afterwards. */
  release(): void;
}

/** null for an artifact that another release made. `sha256`: the bytes were held against this name already. */
export function loadOfflineInspector(artifact: Uint8Array, sha256: string): OfflineInspector | null {
  let ruleset: Ruleset;
  try {
    ruleset = loadRuleset(artifact, hyperscanLibrary(), { sha256, isVerified: true });
  } catch (error) {
    if (error instanceof ArtifactRefused) return null;
    throw error;
  }
  return inspectorOf(ruleset);
}

/** An artifact that was made in this thread: nothing is decoded or hashed. */
export function offlineInspectorOf({ content, hash }: Pick<EmittedArtifact, 'content' | 'hash'>): OfflineInspector {
  return inspectorOf(rulesetOf(content, hash, hyperscanLibrary()));
}

function inspectorOf(ruleset: Ruleset): OfflineInspector {
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
