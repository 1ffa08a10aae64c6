// Step 4 of the road: the gates, in the order of their table (index.ts). A gate may have to wait for a moment (a
// place of a limit that several nodes share); the request goes on at the same gate when that is over.
import type { Decision } from './decision.js';
import type { GateRequest, PreparedGate } from './gate.js';
import { asError } from '../contract/errors.js';
import type { Site } from '../road/route.js';

/** How often a gate may wait for one request; then it decides with what there is. */
const waitsMax = 4;

export interface AskedRequest extends GateRequest {
  readonly isOver: boolean;
  settleGate(gate: PreparedGate, decision: Decision, site: Site): void;
  failedOpenOrClosed(error: Error, site: Site, gate: string | null): void;
}

/** Where the request goes on, and when. */
export interface Pause {
  readonly at: number;
  readonly waits: number;
  readonly until: Promise<void>;
}

/** null: the gates let it through, or one ended it (`isOver`). `from`: the pause that is over. */
export function askGates(
  request: AskedRequest,
  gates: readonly PreparedGate[],
  site: Site,
  from: Pause | null,
): Pause | null {
  for (let at = from === null ? 0 : from.at; at < gates.length; at += 1) {
    const gate = gates[at] as PreparedGate;
    let decision: Decision | null = null;
    try {
      if (gate.wait !== null) {
        const waits = from?.at === at ? from.waits : 0;
        const until = waits < waitsMax ? gate.wait(request) : null;
        if (until !== null) return { at, waits: waits + 1, until };
      }
      decision = gate.decide(request, site);
    } catch (error) {
      request.failedOpenOrClosed(asError(error), site, gate.name);
    }
    if (decision !== null) request.settleGate(gate, decision, site);
    if (request.isOver) return null;
  }
  return null;
}
