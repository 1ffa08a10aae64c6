// Sources that ask nearly the same questions share a scan class.
import { scanSources, type ScanSource } from '#engine/compile';
import type { PlannedAtom } from './atoms.js';

/** Sources join a class when they share at least this part of all their atoms (Jaccard). */
const classSimilarityMin = 0.5;

/** Sources whose values are scanned alike, with the atoms that they need. */
export interface SourceClass {
  readonly sources: ScanSource[];
  readonly atoms: Set<number>;
}

/**
 * Clusters sources by the atoms they need, the richest source first. `custom` atoms have no say in it: the clusters,
 * and so the databases, stay as they are without them.
 */
export function classifySources(atoms: readonly PlannedAtom[], custom: ReadonlySet<number>): SourceClass[] {
  const classes = clusterSources(atoms.filter(({ index }) => !custom.has(index)));
  for (const atom of atoms) {
    if (!custom.has(atom.index)) continue;
    for (const source of atom.sources) {
      let home = classes.find(({ sources }) => sources.includes(source));
      if (home === undefined) classes.push((home = { sources: [source], atoms: new Set() }));
      home.atoms.add(atom.index);
    }
  }
  return classes;
}

function clusterSources(atoms: readonly PlannedAtom[]): SourceClass[] {
  const needs = (Object.keys(scanSources) as ScanSource[])
    .map((source) => ({
      source,
      wanted: new Set(atoms.filter((atom) => atom.sources.has(source)).map((atom) => atom.index)),
    }))
    .filter(({ wanted }) => wanted.size > 0)
    .sort((a, b) => b.wanted.size - a.wanted.size);
  const classes: SourceClass[] = [];
  for (const { source, wanted } of needs) {
    // Request and response are never scanned together; a shared class would only make both databases larger.
    const near = classes.find(
      (other) =>
        similarity(other.atoms, wanted) >= classSimilarityMin &&
        isResponse(other.sources[0] as ScanSource) === isResponse(source),
    );
    if (near === undefined) classes.push({ sources: [source], atoms: new Set(wanted) });
    else {
      near.sources.push(source);
      for (const atom of wanted) near.atoms.add(atom);
    }
  }
  return classes;
}

function isResponse(source: ScanSource): boolean {
  return scanSources[source].phase >= 3;
}

function similarity(a: ReadonlySet<number>, b: ReadonlySet<number>): number {
  let shared = 0;
  for (const atom of b) if (a.has(atom)) shared += 1;
  return shared / (a.size + b.size - shared);
}
