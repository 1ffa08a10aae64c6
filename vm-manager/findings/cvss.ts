// CVSS scores, always worked out from the vector where there is one: a bare number of a report is believed only
// without it. Versions 2.0, 3.0, 3.1 and 4.0 (FIRST's specifications), by a kept calculator.
import calculator from 'ae-cvss-calculator';
import type { CvssValue } from './fields.js';

const shapes: readonly (readonly [string, RegExp])[] = [
  ['4.0', /^CVSS:4\.0(\/[A-Z]{1,3}:[A-Za-z]{1,7})+$/],
  ['3.1', /^CVSS:3\.1(\/[A-Z]{1,3}:[A-Z])+$/],
  ['3.0', /^CVSS:3\.0(\/[A-Z]{1,3}:[A-Z])+$/],
  ['2.0', /^(CVSS2#)?\(?AV:[LAN]\/AC:[LMH]\/Au:[MSN](\/[A-Za-z]{1,3}:[A-Za-z]{1,3})+\)?$/],
];

/** From a vector, else from a bare score; null when neither is one. */
export function readCvss(vector: string | null, score: number | null): CvssValue | null {
  const text = (vector ?? '').trim().slice(0, 300);
  const version = shapes.find(([, shape]) => shape.test(text))?.[0];
  if (version !== undefined) {
    const base = baseOf(text.replace(/^CVSS2#|[()]/g, ''));
    if (base !== null) return { version, vector: text, score: base };
  }
  if (score === null || !Number.isFinite(score) || score < 0 || score > 10) return null;
  return { version: 'unknown', vector: null, score: Math.round(score * 10) / 10 };
}

function baseOf(vector: string): number | null {
  const { base, overall } = calculator.fromVector(vector)?.calculateScores() ?? {};
  const found = base ?? overall;
  return typeof found === 'number' && Number.isFinite(found) && found >= 0 && found <= 10 ? found : null;
}
