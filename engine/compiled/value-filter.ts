// What the evaluator asks before it transforms and tests a value of a scanned rule: "is it certain that none of the
// rule's atoms holds on it?". The memo knows it of values that were scanned.
import type { ValueFilter } from '../evaluate/evaluator.js';
import type { DatabaseIR, PlanIR, ScanClassIR } from '../program/plan.js';
import { scanSources } from '../program/plan.js';
import type { HitFinder } from './scan/hit-finder.js';
import { sourceNames, type SourceClasses } from './sources.js';

const noClasses: readonly number[] = [];

export function createValueFilter(plan: PlanIR, finder: HitFinder, classes: SourceClasses): ValueFilter {
  const classesOf = classesOfVariables(classes);
  const answered = plan.classes.map((scanClass) => atomsAnswered(scanClass, plan));
  const answersAll = (scanClass: number, atoms: readonly number[]): boolean => {
    const known = answered[scanClass] as Uint8Array;
    for (const atom of atoms) if (known[atom] === 0) return false;
    return true;
  };
  return (rule, link, variable, value) => {
    const atoms = plan.linkAtoms[rule.index]?.[link];
    if (atoms == null) return true;
    for (const scanClass of classesOf.get(variable) ?? noClasses) {
      // The same bytes may be known in a class that never asks these atoms (a Cookie header's): its silence means
      // nothing.
      if (!answersAll(scanClass, atoms)) continue;
      const record = finder.peek(scanClass, value);
      if (record === undefined) continue;
      for (const atom of atoms) if (record.hits.includes(atom)) return true;
      return false;
    }
    return true;
  };
}

/** Classes that hold values of a variable. */
function classesOfVariables(classes: SourceClasses): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, readonly number[]>();
  for (const source of sourceNames) {
    for (const variable of scanSources[source].variables) {
      const known = found.get(variable) ?? noClasses;
      const scanClass = classes[source];
      if (scanClass !== -1 && !known.includes(scanClass)) found.set(variable, [...known, scanClass]);
    }
  }
  return found;
}

/** 1 at every atom that records of the class answer. */
function atomsAnswered({ union, sets, called }: ScanClassIR, plan: PlanIR): Uint8Array {
  const answered = new Uint8Array(plan.atoms.length);
  if (union.database !== -1)
    for (const atom of (plan.databases[union.database] as DatabaseIR).atomOf) answered[atom] = 1;
  for (const { atoms } of sets) for (const atom of atoms) answered[atom] = 1;
  for (const { atom } of called) answered[atom] = 1;
  return answered;
}
