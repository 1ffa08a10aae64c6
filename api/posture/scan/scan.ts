// The scan of one document against its gates, as the answers of every format are made of it. Pure.
import type { Specification } from '../../spec/document/read.js';
import { postureScore, scanModel, type ScanFinding, type ScanSeverity } from './rules.js';

export interface Gates {
  readonly maxHigh: number;
  readonly maxMedium: number;
}

export interface LocatedFinding extends ScanFinding {
  /** Of the text that was sent, from 1. */
  readonly line: number;
}

export interface Scan {
  readonly title: string;
  readonly passed: boolean;
  /** 0 to 100. */
  readonly score: number;
  readonly operations: number;
  readonly counts: Readonly<Record<ScanSeverity, number>>;
  readonly gates: Gates;
  /** Which gate was breached, in words; empty: none. */
  readonly breaches: readonly string[];
  readonly findings: readonly LocatedFinding[];
}

const namesOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));

export function scanSpecification(
  { model }: Specification,
  gates: Gates,
  lineOf: (path: readonly (string | number)[]) => number,
): Scan {
  const findings = scanModel(model).map((one) => ({ ...one, line: lineOf(namesOf(one.pointer)) }));
  const count = (severity: ScanSeverity): number => findings.filter((one) => one.severity === severity).length;
  const counts = { high: count('high'), medium: count('medium'), low: count('low') };
  const breaches = [
    ...(counts.high > gates.maxHigh ? [`${counts.high} findings are high, ${gates.maxHigh} are allowed`] : []),
    ...(counts.medium > gates.maxMedium
      ? [`${counts.medium} findings are medium, ${gates.maxMedium} are allowed`]
      : []),
  ];
  const operations = model.operations.length;
  const score = postureScore(operations, findings);
  return { title: model.title, passed: breaches.length === 0, score, operations, counts, gates, breaches, findings };
}
