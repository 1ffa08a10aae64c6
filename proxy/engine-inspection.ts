// The real thing behind the seam of inspection.ts: the compiled engine.
import { createCompiledInspector, createMemoryStore, loadRuleset, releaseRuleset, type CollectionStore } from '#engine';
import type { LoadedInspection } from './inspection.js';

export function loadInspection(artifact: Uint8Array): LoadedInspection {
  const ruleset = loadRuleset(artifact);
  return { inspector: createCompiledInspector(ruleset), files: ruleset.program.files, release: () => releaseRuleset(ruleset) };
}

export function createStore(): CollectionStore {
  return createMemoryStore();
}
