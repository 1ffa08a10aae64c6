// Which artifacts workers of this process have loaded and proven. A rule set is the same in every thread: the first to
// load it looks for damage and shows it the self-test, and the others take its word.
import type { GenerationPayload } from '../worker/messages.js';

/**
 * By the memory that holds the bytes and not by their name, since bytes elsewhere under the same name could be damaged.
 */
export class ProvenArtifacts {
  private readonly tests = new WeakMap<SharedArrayBuffer, GenerationPayload['selfTest']>();

  /** A worker has loaded it. */
  add({ artifact, selfTest }: GenerationPayload): void {
    if (artifact !== null && this.tests.get(artifact) !== 'inspect') this.tests.set(artifact, selfTest);
  }

  /** The generation as a worker is told it; one that was loaded without a self-test that is due is not proven. */
  mark(generation: GenerationPayload): GenerationPayload {
    const { artifact, selfTest } = generation;
    const done = artifact === null ? undefined : this.tests.get(artifact);
    return done === undefined || (selfTest === 'inspect' && done === 'skip')
      ? generation
      : { ...generation, isProven: true };
  }
}
