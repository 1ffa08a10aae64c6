// What an organisation says of the attack graph itself, as the engine reads it.
import type { Capability } from '../../chains/classification/capability.js';
import { knownCapability } from '../../chains/classification/known.js';
import { ownRule, type OwnSlot, type ToxicRule } from '../../chains/kinds/toxic-rules.js';
import type { Queryable } from '../../database.js';

/** Of findings and weaknesses together: all of them are read with each change of a finding. */
export const ownCapabilitiesMax = 2000;
/** Each is tried with each application. */
export const ownRulesMax = 50;

export interface OwnCapabilities {
  /** By finding; null: it brings an attacker no further. */
  readonly findings: ReadonlyMap<number, Capability | null>;
  /** By number of the weakness. */
  readonly weaknesses: ReadonlyMap<number, Capability | null>;
}

interface Stored {
  readonly finding_id: number | null;
  readonly cwe: number | null;
  readonly stage: string | null;
  readonly capability: string | null;
}

export async function readOwnCapabilities(sql: Queryable): Promise<OwnCapabilities> {
  const rows = await sql<Stored[]>`
    select finding_id, cwe, stage, capability from vm_capabilities order by id limit ${ownCapabilitiesMax}`;
  const own = { findings: new Map<number, Capability | null>(), weaknesses: new Map<number, Capability | null>() };
  for (const { finding_id: finding, cwe, stage, capability } of rows) {
    const given = stage === null || capability === null ? null : knownCapability(stage, capability);
    // a capability that this release has no more says nothing: the table holds again
    if (given === null && stage !== null) continue;
    if (finding !== null) own.findings.set(finding, given);
    else if (cwe !== null) own.weaknesses.set(cwe, given);
  }
  return own;
}

/** Rules out of the JSON of the engine's look: arrays of slug, name and slots. */
export const rulesIn = (text: string): ToxicRule[] =>
  (JSON.parse(text) as readonly (readonly [string, string, readonly OwnSlot[]])[]).map(([slug, name, slots]) =>
    ownRule(slug, name, slots),
  );
