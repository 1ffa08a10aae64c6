// Severities that writers of SARIF put into members of their own, beside a level that has no word for critical:
// scores of CVSS (OWASP dependency-check) and words. They make a result graver, never milder: what a linter calls
// `severity` is its own business.
import type { Severity } from '../../../findings/words.js';
import { at, num, str, type Json } from '../../normalize.js';
import { gravest, readSeverity, severityOfScore } from '../../severity/read.js';

const scores = [
  'cvssv4_baseScore',
  'cvssv3_baseScore',
  'cvssv2_score',
  'cvssScore',
  'cvss_score',
  'cvss3_score',
  'cvss',
];
const words = ['cvssv4_baseSeverity', 'cvssv3_baseSeverity', 'severity', 'Severity'];
const grave = /^(?:critical|very[ -]high|high|severe)$/i;

function* toldIn(one: Json): Generator<Severity> {
  for (const name of scores) {
    const score = num(at(one, 'properties', name));
    if (score !== null && score > 0 && score <= 10) yield severityOfScore(score);
  }
  for (const name of words) {
    const word = str(at(one, 'properties', name)).trim();
    if (grave.test(word)) yield readSeverity(word).severity;
  }
}

/** The gravest of what the level says and what members of the result, else of its rule, say beside it. */
export function gravestBeside(level: Severity, result: Json, rule: Json): Severity {
  const told = [result, rule].map((one) => [...toldIn(one)]).find(({ length }) => length > 0) ?? [];
  return told.reduce(gravest, level);
}
