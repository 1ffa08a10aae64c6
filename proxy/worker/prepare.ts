// The part of a change that may fail, done beside the traffic: load the ruleset, compile the sites, prove that it sees.
import type { Steps } from '#engine';
import { messageOf } from '../contract/errors.js';
import type { Admission } from '../admit/index.js';
import type { ProxyConfig } from '../contract/index.js';
import type { InspectionModule, LoadedInspection } from '../inspection/inspection.js';
import { createGeneration, type Generation } from './generation.js';
import type { GenerationPayload } from './messages.js';
import { selfTest, warmUp } from './self-test.js';

export class GenerationRefused extends Error {
  override readonly name = 'GenerationRefused';
}

/**
 * In steps, because the whole takes half a hundred milliseconds and more with many sites, and requests wait for a
 * step's end only. Throws GenerationRefused with a reason for people; nothing is left behind then. Main has held the
 * artifact's bytes against their name (main/generations.ts), which is not done again here; and where another worker has
 * proven the generation, it is neither looked through for damage nor shown the self-test again: both say the same of
 * the same bytes, and take a third of the processor time that a worker starts with. `isServing`: requests come to this
 * worker already, and the next would find everything cold.
 */
export function* preparingGeneration(
  payload: GenerationPayload,
  module: InspectionModule,
  prepareGates: (config: ProxyConfig) => Admission,
  isServing: boolean,
): Steps<Generation> {
  let inspection: LoadedInspection | null = null;
  const isProven = payload.isProven === true;
  if (payload.artifact !== null) {
    const bytes = new Uint8Array(payload.artifact);
    try {
      inspection =
        module.loadingInspection === undefined
          ? module.loadInspection(bytes, payload.sha256, isProven)
          : yield* module.loadingInspection(bytes, payload.sha256, isProven);
    } catch (error) {
      throw new GenerationRefused(`the engine refused the artifact: ${messageOf(error)}`, { cause: error });
    }
  }
  yield;
  try {
    if (inspection !== null && payload.selfTest === 'inspect' && !isProven) {
      const reason = yield* selfTest(inspection, module.createStore());
      if (reason !== null) throw new GenerationRefused(reason);
    } else if (inspection !== null && isServing) yield* warmUp(inspection, module.createStore());
    const admission = prepareGates(payload.config);
    yield;
    return createGeneration(payload, inspection, admission);
  } catch (error) {
    inspection?.release();
    if (error instanceof GenerationRefused) throw error;
    throw new GenerationRefused(`the configuration cannot be used: ${messageOf(error)}`, { cause: error });
  }
}
