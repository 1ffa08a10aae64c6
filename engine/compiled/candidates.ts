// The rules that a scan says may match: the values that a phase made known are looked up or scanned, and each atom that
// may hold marks the rules that ask it.
import type { Program } from '../program/ir.js';
import type { PlanIR } from '../program/plan.js';
import { indexAtomUses, type AtomUse } from './atom-uses.js';
import { FoundValues, type OnHits } from './found-values.js';
import { gatherersOf, type Gather } from './gatherers.js';
import type { HitFinder } from './scan/hit-finder.js';
import { sourceBit, type SourceClasses } from './sources.js';
import type { CompiledTransaction } from './transaction.js';
import type { HeadShapes } from './unscanned/head-shapes.js';

const headerBits = sourceBit.headerValue | sourceBit.cookieHeader;

function readsHeader({ headerNames, headersLeftOut }: AtomUse, name: string): boolean {
  if (headerNames === null && headersLeftOut.length === 0) return true;
  const lower = name.toLowerCase();
  return headerNames?.includes(lower) !== false && !headersLeftOut.includes(lower);
}

export class CandidateFinder {
  private readonly uses: readonly (readonly AtomUse[])[];
  /** Some scanned rule belongs to the logging phase. */
  private readonly scansForLogging: boolean;
  private readonly found: FoundValues;
  /** By phase, [0] = phase 1. */
  private readonly gatherers: readonly (readonly Gather[])[];

  constructor(program: Program, plan: PlanIR, finder: HitFinder, classes: SourceClasses, shapes: HeadShapes | null) {
    this.uses = indexAtomUses(program, plan);
    this.scansForLogging = this.uses.some((list) => list.some((use) => use.phase === 5));
    const found = new FoundValues(finder);
    this.found = found;
    this.gatherers = [1, 2, 3, 4].map((phase) => gatherersOf(phase, classes, found, shapes));
  }

  /** Collects and scans what this phase made known, and marks the rules to run. */
  find(transaction: CompiledTransaction, phase: number): void {
    if (phase === 5 && !this.scansForLogging) return;
    // Phases that `allow` left out, or that nobody called, have values all the same.
    for (let known = transaction.phasesRun.at(-2) ?? 0; known < Math.min(phase, 4); known += 1) {
      for (const gather of this.gatherers[known] as readonly Gather[]) gather(transaction);
    }
    this.found.settle(transaction, phase, this.mark);
  }

  private readonly mark: OnHits = (transaction, phase, hits, bit, name) => {
    for (const atom of hits) {
      for (const use of this.uses[atom] as readonly AtomUse[]) {
        if ((use.sources & bit) === 0 || use.phase < phase) continue;
        if ((bit & headerBits) !== 0 && !readsHeader(use, name)) continue;
        transaction.candidates ??= [[], [], [], [], [], []];
        const list = transaction.candidates[use.phase] as number[];
        if (!list.includes(use.item)) list.push(use.item);
      }
    }
  };
}
