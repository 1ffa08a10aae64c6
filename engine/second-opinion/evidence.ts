// What a request is judged by: values on which rules matched, noted while the rules look at it. Only transactions that
// want a second opinion have a list of it.
import type { LinkIR } from '../program/ir.js';
import { leadingInteger } from '../transaction/memory-store.js';
import { limits } from '../transaction/limits.js';
import type { Transaction } from '../transaction/transaction.js';
import { evidenceRules } from './evidence-rules.js';
import type { Evidence } from './opinion.js';
import type { AttackKind } from './sign.js';
import { findSigns, supportedFrom, supportOf, type Texts } from './support.js';

/** Values of one request that are noted; where there are more, no match of a rule that scores is overruled. */
export const evidenceMax = 256;
/** A value that an evidence rule matches is held against signs up to this length; a longer one counts as supported. */
export const raisedBytesMax = 262_144;

/** Segments of a path that are looked at by themselves, and how long one has to be. */
const segmentsMax = 256;
const segmentCharsMin = 3;

/** Of version 4 of the CRS, and of 3.3: a sum for each paranoia level. */
const sums = [1, 2, 3, 4].map((level) => [`inbound_anomaly_score_pl${level}`, `anomaly_score_pl${level}`] as const);

/** The sum of the scores of the levels that block. */
export function blockingScore({ tx }: Pick<Transaction, 'tx'>): number {
  const level = leadingInteger(tx.get('blocking_paranoia_level') ?? tx.get('paranoia_level') ?? '0');
  let score = 0;
  for (let each = 0; each < level && each < sums.length; each += 1) {
    const [inbound, older] = sums[each] as (typeof sums)[number];
    score += Math.max(leadingInteger(tx.get(inbound) ?? '0'), leadingInteger(tx.get(older) ?? '0'));
  }
  return score;
}

/** Whether a match of `link` can be evidence at all: it changes a variable, or its rule is there for nothing else. */
export function mayBeEvidence({ rule }: Transaction, link: LinkIR): boolean {
  return link.actions.some(({ kind }) => kind === 'setvar') || (rule !== null && evidenceRules.has(rule.id));
}

/**
 * What of a value signs support: all of it, or the name of a file without its ending, or, of a path, its first segment
 * that they support, because signs that ask for the end of a value find it at the end of a segment. Null: nothing.
 */
function supportedPart(kind: AttackKind, found: Omit<Evidence, 'rule' | 'points'>): typeof found | null {
  const isSupported = (one: Texts): boolean => supportOf(0, findSigns(kind, one)) >= supportedFrom;
  if (Math.max(found.raw.length, found.value.length) > raisedBytesMax || isSupported(found)) return found;
  if (found.variable === 'FILES' || found.variable.startsWith('FILES:')) {
    // a command is one with `.png` behind it, too
    const value = found.value.replace(/\.\w{1,5}$/, '');
    const part = { ...found, raw: value, value };
    return value !== found.value && isSupported(part) ? part : null;
  }
  if (found.variable !== 'REQUEST_FILENAME') return null;
  for (const segment of found.value.split('/', segmentsMax)) {
    const part = { ...found, raw: segment, value: segment };
    if (segment.length >= segmentCharsMin && isSupported(part)) return part;
  }
  return null;
}

/** Behind so many characters no more values of a chain are noted: it is more than `judge` looks at. */
const chainCharsMax = 65_536;

/**
 * What the last link of a chain saw may be a piece that an earlier one cut out (`TX:1`), and the grammar is around it:
 * such a match is judged by every value that its chain matched.
 */
function wholeOf(transaction: Transaction, found: Omit<Evidence, 'rule' | 'points'>): typeof found {
  const { rule, matchedVars } = transaction;
  if ((rule?.links.length ?? 0) < 2 || !/^(?:TX|MATCHED_VARS?)\b/.test(found.variable)) return found;
  if (found.raw.length > chainCharsMax) return found;
  // the value that the piece is from may be one that is no longer remembered
  if (matchedVars.size >= limits.matchedVarsMax) transaction.evidenceIsCut = true;
  const values = new Set([found.raw]);
  let length = found.raw.length;
  for (const value of matchedVars.values) {
    if (length > chainCharsMax) break;
    if (values.has(value)) continue;
    length += value.length;
    values.add(value.slice(0, chainCharsMax));
  }
  return { ...found, raw: [...values].join('\n') };
}

/** Notes a value that matched `link`; `before`: the blocking score before its setvar actions ran. */
export function noteEvidence(
  transaction: Transaction,
  link: LinkIR,
  found: Omit<Evidence, 'rule' | 'points'>,
  before: number,
): void {
  const { evidence, rule } = transaction;
  if (evidence === null || rule === null) return;
  const kind = evidenceRules.get(rule.id);
  if (kind !== undefined) {
    // One a kind is enough, and is looked for at once, so that no number of harmless ones hides it.
    if (evidence.some((one) => one.points === 0 && evidenceRules.get(one.rule.id) === kind)) return;
    const one = supportedPart(kind, found);
    if (one !== null) evidence.push({ ...one, rule, points: 0 });
    return;
  }
  const points = blockingScore(transaction) - before;
  if (points <= 0) return;
  if (evidence.length >= evidenceMax) transaction.evidenceIsCut = true;
  else evidence.push({ ...wholeOf(transaction, found), rule, points });
}
