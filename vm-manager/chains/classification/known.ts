// Every capability that a finding can have, by its stage and name: what a classification by hand may choose from.
import { capability, type Capability } from './capability.js';
import { byWeakness } from './cwe-table.js';
import { vulnerableComponent, wordsOfWeakness } from './cwe-words.js';
import { keywords } from './keywords.js';
import { stages } from './stages.js';

const keyOf = (stage: string, cap: string): string => `${stage}/${cap}`;

function read(): Map<string, Capability> {
  const found = new Map<string, Capability>();
  const words = [...keywords, ...[...wordsOfWeakness.values()].flat()];
  for (const one of [...byWeakness.values(), vulnerableComponent, ...words.map((word) => word.capability)]) {
    const { stage, cap, mitre, label } = one;
    // whether it leads on is the business of the class: what a single weakness lacks is not asked
    if (!found.has(keyOf(stage, cap))) found.set(keyOf(stage, cap), capability(stage, cap, mitre, label));
  }
  return found;
}
const known = read();

/** The capability of a stage and a name; null where there is none. */
export const knownCapability = (stage: string, cap: string): Capability | null => known.get(keyOf(stage, cap)) ?? null;

/** Names of the capabilities of a stage, sorted. */
export const capabilitiesOf = (stage: string): string[] =>
  [...known.values()]
    .filter((one) => one.stage === stage)
    .map(({ cap }) => cap)
    .sort();

/** What a slot of a toxic combination may ask for: a capability by name, or any of a stage (`stage:entry`). */
export const slotWords: ReadonlySet<string> = new Set([
  ...[...known.values()].map(({ cap }) => cap),
  ...stages.map((stage) => `stage:${stage}`),
]);
