// An artifact brought to life outside the data plane: the control plane replays recorded requests through the old and
// the new one before it activates anything. It gets an Inspector and never sees rulesets or databases.
export { giveBackMemory } from '#engine';
import { createCompiledInspector, createMemoryStore, hyperscanLibrary, loadRuleset, rulesetOf, type CollectionStore, type Ruleset } from '#engine';
import type { Inspector } from '#engine/inspector';
import type { EmittedArtifact } from './emit.js';

export interface Rehearsal {
  readonly inspector: Inspector;
  readonly store: CollectionStore;
  /** Frees native memory; the inspector must not be used afterwards. */
  release(): void;
}

/** Throws ArtifactRefused for bytes that are no artifact of this program. `sha256`: they were held against this name already. */
export function loadRehearsal(artifact: Uint8Array, sha256: string | null = null): Rehearsal {
  return rehearse(loadRuleset(artifact, hyperscanLibrary(), sha256 === null ? null : { sha256, isVerified: true }));
}

/** An artifact that was made in this thread: nothing is decoded or hashed. */
export function rehearseEmitted({ content, hash }: Pick<EmittedArtifact, 'content' | 'hash'>): Rehearsal {
  return rehearse(rulesetOf(content, hash, hyperscanLibrary()));
}

function rehearse(ruleset: Ruleset): Rehearsal {
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
