// How much supports one match: the signs of its kind of attack that the value has, in any of its readings.
import { createPatternSet, type PatternSet } from '../compiled/scan/pattern-set.js';
import { decodePercent } from '../parse/path-readings.js';
import type { AttackKind, Sign } from './sign.js';
import { codeSigns } from './signs/code.js';
import { fileSigns } from './signs/file.js';
import { scriptSigns } from './signs/script.js';
import { sqlSigns } from './signs/sql.js';

/** Points from which a match counts. */
export const supportedFrom = 5;

export const allSigns: readonly Sign[] = [...sqlSigns, ...codeSigns, ...scriptSigns, ...fileSigns];

/** A value before and after the transformations of the rule that matched it. */
export interface Texts {
  readonly raw: string;
  readonly value: string;
}

interface SignsOfKind {
  readonly signs: readonly Sign[];
  readonly set: PatternSet;
}

/** By kind; compiled when a value of the kind is first judged, and immutable from then on. */
const compiled = new Map<AttackKind, SignsOfKind>();

function signsOf(kind: AttackKind): SignsOfKind {
  let known = compiled.get(kind);
  if (known === undefined) {
    const signs = allSigns.filter(({ kinds }) => kinds.includes(kind));
    compiled.set(kind, (known = { signs, set: createPatternSet(signs.map(({ pattern }) => pattern)) }));
  }
  return known;
}

/** As it came, as the rule saw it, and decoded once and twice. */
function readingsOf({ raw, value }: Texts): ReadonlySet<string> {
  const readings = new Set([raw, value]);
  if (!raw.includes('%') && !raw.includes('+')) return readings;
  const once = decodePercent(raw.replaceAll('+', ' '));
  return readings.add(once).add(decodePercent(once));
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 0x7f) return false;
  return true;
}

/** What was found in texts of one request, by kind: several rules match one value, and most see it alike. */
export type Found = Map<AttackKind, Map<string, readonly number[]>>;

/** Signs of a kind that a value has, in the order of their table; `known` is read and added to. */
export function findSigns(kind: AttackKind, texts: Texts, known: Found = new Map()): readonly Sign[] {
  const { signs, set } = signsOf(kind);
  const ofKind = known.get(kind) ?? new Map<string, readonly number[]>();
  known.set(kind, ofKind);
  const found = new Set<number>();
  for (const text of readingsOf(texts)) {
    const indexes = ofKind.get(text) ?? set.match(text, isAscii(text));
    ofKind.set(text, indexes);
    for (const index of indexes) found.add(index);
  }
  return signs.filter((_, index) => found.has(index));
}

/** Points: the prior of the rule and the weights of the signs. */
export function supportOf(prior: number, signs: readonly Sign[]): number {
  return signs.reduce((sum, { weight }) => sum + weight, prior);
}
