// The part of a change that may fail, done beside the traffic: load the ruleset, compile the sites, prove that it sees.
import { messageOf } from '../contract/errors.js';
import type { Admission } from '../admit/index.js';
import type { ProxyConfig } from '../contract/index.js';
import type { InspectionModule, LoadedInspection } from '../inspection/inspection.js';
import { createGeneration, type Generation } from './generation.js';
import type { GenerationPayload } from './messages.js';
import { selfTest } from './self-test.js';

export class GenerationRefused extends Error {
  override readonly name = 'GenerationRefused';
}

/**
 * Throws GenerationRefused with a reason for people; nothing is left behind then. Main has held the artifact's bytes
 * against their name (main/generations.ts); once more here would keep this thread's requests waiting another 15 ms.
 */
export function prepareGeneration(
  payload: GenerationPayload,
  module: InspectionModule,
  prepareGates: (config: ProxyConfig) => Admission,
): Generation {
  let inspection: LoadedInspection | null = null;
  if (payload.artifact !== null) {
    const bytes = new Uint8Array(payload.artifact);
    try {
      inspection = module.loadInspection(bytes, payload.sha256);
    } catch (error) {
      throw new GenerationRefused(`the engine refused the artifact: ${messageOf(error)}`, { cause: error });
    }
  }
  try {
    if (inspection !== null && payload.selfTest === 'inspect') {
      const reason = selfTest(inspection, module.createStore());
      if (reason !== null) throw new GenerationRefused(reason);
    }
    return createGeneration(payload, inspection, prepareGates(payload.config));
  } catch (error) {
    inspection?.release();
    if (error instanceof GenerationRefused) throw error;
    throw new GenerationRefused(`the configuration cannot be used: ${messageOf(error)}`, { cause: error });
  }
}
