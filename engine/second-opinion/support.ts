// How much supports one match: the signs of its kind of attack that the value has, in any of its readings.
import { createPatternSet } from '../compiled/scan/pattern-set.js';
import { decodePercent } from '../parse/path-readings.js';
import type { AttackKind, Sign } from './sign.js';
import { createSignMemory, type SignMemory } from './sign-memory.js';
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

/** What one kind of attack is looked for with. */
interface SignsOfKind {
  readonly signs: readonly Sign[];
  /** Of a text as it stands. */
  readonly plain: SignMemory;
  /** Of a value as it came: as it stands, and decoded once and twice. */
  readonly raw: SignMemory;
}

/** By kind; made when a value of the kind is first judged. Memories hold 512 KiB each, 5 MiB in all. */
const compiled = new Map<AttackKind, SignsOfKind>();

const none: readonly Sign[] = [];

function signsOf(kind: AttackKind): SignsOfKind {
  const known = compiled.get(kind);
  if (known !== undefined) return known;
  const signs = allSigns.filter(({ kinds }) => kinds.includes(kind));
  const set = createPatternSet(signs.map(({ pattern }) => pattern));
  const plain = createSignMemory((text) => {
    const indexes = set.match(text, isAscii(text));
    return indexes.length === 0 ? none : signs.filter((_, index) => indexes.includes(index));
  });
  const raw = createSignMemory((text) => {
    const once = decodePercent(text.replaceAll('+', ' '));
    const twice = decodePercent(once);
    let found = plain.of(text);
    if (once !== text) found = joined(signs, found, plain.of(once));
    return twice === once ? found : joined(signs, found, plain.of(twice));
  });
  const made = { signs, plain, raw };
  compiled.set(kind, made);
  return made;
}

/** Those of both, each once, in the order of the table. */
function joined(signs: readonly Sign[], left: readonly Sign[], right: readonly Sign[]): readonly Sign[] {
  if (right.length === 0 || left === right) return left;
  return left.length === 0 ? right : signs.filter((sign) => left.includes(sign) || right.includes(sign));
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) > 0x7f) return false;
  return true;
}

/** Signs of a kind that a value has as it came, as the rule saw it, and decoded once and twice; in table order. */
export function findSigns(kind: AttackKind, { raw, value }: Texts): readonly Sign[] {
  const { signs, plain, raw: decoding } = signsOf(kind);
  const isEncoded = raw.includes('%') || raw.includes('+');
  const found = (isEncoded ? decoding : plain).of(raw);
  return value === raw ? found : joined(signs, found, plain.of(value));
}

/** Points: the prior of the rule and the weights of the signs. */
export function supportOf(prior: number, signs: readonly Sign[]): number {
  return signs.reduce((sum, { weight }) => sum + weight, prior);
}
