// The one reader of severities. A severity that it does not know is `high` and marked as assumed: `info` would pass
// every gate, `critical` would wake people for a typing error, and `medium` passes the built-in gate. Whoever knows
// better rates the finding, or maps the word and imports again.
import { readCvss } from '../../findings/cvss.js';
import type { Severity } from '../../findings/words.js';
import { severityNumbers } from '../../findings/words.js';
import { str } from '../normalize.js';
import { cut } from '../record.js';
import { foldWord, severityOfWord, unratedWords, type SeverityScale } from './words.js';

export const assumedSeverity: Severity = 'high';

/** Of a record: with `severityProblem` the severity is assumed, and the problem says why. */
export interface SeverityReading {
  readonly severity: Severity;
  readonly severityProblem?: string;
}

export interface SeverityHints {
  /** What the tool defines; asked before the common words. */
  readonly scale?: SeverityScale;
  /** Where the tool has no severity for some findings: its usual one. Words that nobody knows do not get it. */
  readonly ifAbsent?: Severity;
  /** CVSS, for what nobody has put into a word. */
  readonly score?: number | null;
}

/** By the bands of CVSS 3 and 4. */
export function severityOfScore(score: number): Severity {
  if (score >= 9) return 'critical';
  if (score >= 7) return 'high';
  return score >= 4 ? 'medium' : score > 0 ? 'low' : 'info';
}

const isScore = (value: number | null | undefined): value is number =>
  typeof value === 'number' && value >= 0 && value <= 10;
export const gravest = (left: Severity, right: Severity): Severity =>
  (severityNumbers[left] ?? 0) >= (severityNumbers[right] ?? 0) ? left : right;

const assumed = (problem: string): SeverityReading => ({
  severity: assumedSeverity,
  severityProblem: `${problem}; it counts as ${assumedSeverity} until somebody rates the finding`,
});

function shown(value: unknown): string {
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return JSON.stringify(cut(str(value) || typeof value, 40));
}

function ofNumber(value: number, scale: SeverityScale): Severity | null {
  const named = Object.hasOwn(scale, String(value)) ? scale[String(value)] : undefined;
  if (named !== undefined) return named;
  // a whole number may count up or down; only a decimal is a CVSS score beyond doubt
  return Number.isInteger(value) ? null : ofDecimal(value);
}

/** Up to 1 it may as well be a share of one, where 0.95 is the gravest: CVSS 3 and 4 rate next to nothing there. */
const ofDecimal = (value: number): Severity | null =>
  isScore(value) && (value === 0 || value > 1) ? severityOfScore(value) : null;

/** A vector of CVSS 3 as scanners write it, without its version. */
const isBareVector = (text: string): boolean => /^\(?AV:[NALP]\/AC:[LH]\/PR:[NLH]\/UI:[NR]\/S:[UC]\//.test(text);

/** Null: nobody knows it; `unrated`: it says that nobody has rated it. */
function ofText(text: string, scale: SeverityScale): Severity | 'unrated' | null {
  const word = foldWord(text).replace(/(?<=.) (?:risk|severity|priority|impact|level)$/, '');
  if (Object.hasOwn(scale, word)) return scale[word] ?? null;
  // SEVERITY_HIGH, risk.critical
  const known =
    severityOfWord.get(word) ?? severityOfWord.get(word.replace(/^(?:severity|sev|risk|level)[. ](?=\D)/, ''));
  if (known !== undefined) return known;
  if (unratedWords.has(word)) return 'unrated';
  const plain = text.trim();
  const cvss = readCvss(isBareVector(plain) ? `CVSS:3.1/${plain.replace(/[()]/g, '')}` : plain, null);
  if (cvss !== null) return severityOfScore(cvss.score);
  if (/^\d{1,2}\.\d+$/.test(plain)) return ofDecimal(Number(plain));
  const outOf = /^(?:cvss(?:v?[234](?:\.\d)?)?[\s:=]*)?(\d{1,2}(?:\.\d+)?)\s*\/\s*10(?:\.0)?$/i.exec(plain);
  const named = outOf ?? /^cvss(?:v?[234](?:\.\d)?)?[\s:=]+(\d{1,2}(?:\.\d+)?)$/i.exec(plain);
  if (named !== null) return isScore(Number(named[1])) ? severityOfScore(Number(named[1])) : null;
  if (/^-?[\d.,]+$/.test(plain)) return ofNumber(Number(plain.replace(',', '.')), scale);
  return ofPair(plain, scale) ?? ofBeside(plain, scale);
}

const decimal = '\\d{1,2}[.,]\\d{1,2}';
const scored =
  `(?:cvss(?:v?[234](?:\\.\\d)?)?[\\s:=]*)?(?:${decimal}(?:\\s*/\\s*10(?:\\.0)?)?|` +
  '\\d{1,2}\\s*/\\s*10|\\d{1,2}(?=\\s))';
const scoreFirst = new RegExp(`^(${scored})\\s*[/-]?\\s*(\\p{L}.{0,39})$`, 'iu');
const scoreLast = new RegExp(`^(\\p{L}.{0,39}?)\\s*[/-]?\\s*(${decimal}(?:\\s*/\\s*10(?:\\.0)?)?)$`, 'iu');
const inBrackets = /^([^()[\]]{1,40}?)\s*[([]\s*([^()[\]]{1,40})[)\]]$/;
const range = /^(\p{L}{1,20})(?:\s*[-/–]\s*|\s+(?:to|or|bis)\s+)(\p{L}{1,20})$/iu;

/** `9.8 CRITICAL`, `Critical/9.8`, `9.8/10 critical`, `medium to high`, without a mark between: the graver one. */
function ofBeside(text: string, scale: SeverityScale): Severity | null {
  const known = (one: string): Severity | null => {
    const found = ofText(one.trim().replace(',', '.'), scale);
    // "0.0 NONE" is the scale of CVSS
    return found === 'unrated' ? (foldWord(one) === 'none' ? 'info' : null) : found;
  };
  const first = scoreFirst.exec(text);
  if (first !== null) {
    const [, number = '', word = ''] = first;
    // a whole number only counts the words
    const [left, right] = [known(/^\d+$/.test(number) ? word : number), known(word)];
    return left === null || right === null ? null : gravest(left, right);
  }
  const pair = scoreLast.exec(text) ?? inBrackets.exec(text) ?? range.exec(text);
  if (pair === null) return null;
  const [left, right] = [known(pair[1] ?? ''), known(pair[2] ?? '')];
  return left === null || right === null ? null : gravest(left, right);
}

/**
 * `high (7.5)`, `9.8 - critical`, `P1: urgent`, `severity: high`: each part is read, the graver one counts. Beside a
 * word a whole number only counts the words: `5 - Critical`, `1 (critical)`.
 */
function ofPair(text: string, scale: SeverityScale): Severity | null {
  const bare = text.replace(/^(?:severity|level|risk|priority)\s*[:=]\s*/i, '');
  if (bare !== text) {
    const found = ofText(bare, scale);
    return found === 'unrated' ? null : found;
  }
  const parts = /^([^()[\]:|,;]{1,60}?)\s*(?:[([:|,;]|\s-\s)\s*([^()[\]:|,;]{1,60}?)\s*[)\]]?$/.exec(text);
  if (parts === null) return null;
  const [first = '', second = ''] = parts.slice(1);
  const isCount = (one: string): boolean => /^\d{1,2}$/.test(one.trim());
  if (isCount(first) && isCount(second)) return null;
  const [left, right] = [
    ofText(isCount(first) ? second : first, scale),
    ofText(isCount(second) ? first : second, scale),
  ];
  if (left === null || right === null || left === 'unrated' || right === 'unrated') return null;
  return gravest(left, right);
}

/** Whatever a report calls a severity: words, scores, vectors, levels. Never throws. */
export function readSeverity(value: unknown, hints: SeverityHints = {}): SeverityReading {
  const { scale = {}, ifAbsent, score } = hints;
  const unrated = (problem: string): SeverityReading =>
    isScore(score) ? { severity: severityOfScore(score) } : assumed(problem);
  if (Array.isArray(value) && value.length === 1) return readSeverity(value[0], hints);
  const isAbsent = value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
  if (isAbsent) {
    if (isScore(score)) return { severity: severityOfScore(score) };
    return ifAbsent === undefined ? assumed('has no severity') : { severity: ifAbsent };
  }
  const found =
    typeof value === 'number'
      ? ofNumber(value, scale)
      : typeof value === 'string'
        ? ofText(value.slice(0, 300), scale)
        : null;
  if (found === 'unrated') return unrated(`has the severity ${shown(value)}, which rates nothing`);
  return found === null ? assumed(`has the severity ${shown(value)}, which is no known one`) : { severity: found };
}

/** What an operator has mapped a word to, else the word itself. */
export function mappedSeverity(value: unknown, map: Readonly<Record<string, string>>): unknown {
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  const text = String(value).trim();
  const folded = new Map(Object.entries(map).map(([from, to]) => [foldWord(from), to]));
  return (Object.hasOwn(map, text) ? map[text] : undefined) ?? folded.get(foldWord(text)) ?? value;
}
