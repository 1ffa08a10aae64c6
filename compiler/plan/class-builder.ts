// One scan class: which of its atoms automata answer and with which lists, which go to RE2 sets, which operators are
// called.
//
// Inside a class: one union database of all patterns, for values that no pipeline changes; one database per pipeline,
// for values that it changes; smaller databases for values made of few kinds of bytes; RE2 sets for what Hyperscan
// refuses or only approximates (measured: RE2 takes those giants at 2–4 ns a byte, see docs/adr/0001-automata.md).
import {
  familiesMax,
  transformations,
  type CalledAtomIR,
  type FamilyIR,
  type GroupIR,
  type PatternFit,
  type RegexSetIR,
  type ScanClassIR,
} from '#engine/compile';
import { alphabetTables } from './alphabets.js';
import type { AtomPlan, PlannedAtom } from './atoms.js';
import { entriesOf, patternsIn, PatternLists, type AutomatonAtom, type ListEntry } from './pattern-lists.js';
import type { ScanPattern } from './patterns.js';
import type { SourceClass } from './source-classes.js';

/** A sub-database for an alphabet pays only where it leaves out at least this part of the patterns. */
const alphabetShareMax = 0.7;
/** Patterns cut down to an alphabet take a database of their own: from this many on. */
const cutDownPatternsMin = 50;
/**
 * One for the pipelines that share a transformation pays where it is a small part of them: it is compiled in no time
 * and stays in the cache of the processor.
 */
const familyShareMax = 0.05;

/** Letters, digits or spaces are enough to make it do something. */
function changesOrdinaryText(name: string): boolean {
  const triggers = transformations.get(name)?.triggers;
  return triggers == null || triggers.some((byte) => byte === 0x20 || (alphabetTables[0] as Uint8Array)[byte] === 1);
}

interface AskedPattern {
  readonly atom: PlannedAtom;
  readonly pattern: ScanPattern;
}

/** Patterns that are to run in RE2. */
export interface DraftSet {
  readonly pipeline: number;
  readonly entries: readonly AskedPattern[];
  /** The databases of the class's union for small alphabets may hold them, too. */
  readonly isInUnion: boolean;
}

export type DraftClass = Omit<ScanClassIR, 'sets'> & { readonly sets: readonly DraftSet[] };

/** The atoms of a class by what answers them. */
interface SortedAtoms {
  readonly automaton: readonly AutomatonAtom[];
  readonly sets: readonly DraftSet[];
  readonly called: readonly CalledAtomIR[];
}

/** An atom whose patterns Hyperscan only approximates or refuses. */
export interface Misfit {
  readonly atom: PlannedAtom;
  readonly pattern: ScanPattern;
}

export class ClassBuilder {
  readonly lists = new PatternLists();
  /** By class, for the report. */
  readonly counts: { readonly atoms: number; readonly patterns: number }[] = [];
  private readonly misfitAtoms = new Map<number, Misfit>();

  constructor(
    private readonly atomPlan: AtomPlan,
    private readonly fits: ReadonlyMap<ScanPattern, PatternFit>,
    private readonly custom: ReadonlySet<number>,
  ) {}

  /** Of all classes, in the order in which they were met. */
  get misfits(): readonly Misfit[] {
    return [...this.misfitAtoms.values()];
  }

  build({ sources, atoms }: SourceClass): DraftClass {
    const { automaton, sets, called } = this.sort(atoms);
    const patterns = patternsIn(automaton);
    const isCutDown = patterns >= cutDownPatternsMin;
    this.counts.push({ atoms: atoms.size, patterns });
    const pipelines = [...new Set(automaton.map(({ atom }) => atom.pipeline))]
      .filter((pipeline) => pipeline !== 0)
      .sort((a, b) => a - b);
    const inUnion = isCutDown ? sets.filter(({ isInUnion }) => isInUnion) : [];
    return {
      sources,
      union: isCutDown
        ? this.cutDownUnion(
            automaton,
            inUnion.flatMap(({ entries }) => entries),
          )
        : this.groupOf(0, automaton),
      groups: pipelines.map((pipeline) =>
        this.groupOf(
          pipeline,
          automaton.filter(({ atom }) => atom.pipeline === pipeline),
        ),
      ),
      families: this.familiesOf(automaton),
      sets: sets.map((set) => ({ ...set, isInUnion: inUnion.includes(set) })),
      called,
    };
  }

  private sort(wanted: ReadonlySet<number>): SortedAtoms {
    const automaton: AutomatonAtom[] = [];
    const sets = new Map<string, { pipeline: number; entries: AskedPattern[]; isInUnion: boolean }>();
    const called: CalledAtomIR[] = [];
    for (const index of [...wanted].sort((a, b) => a - b)) {
      const atom = this.atomPlan.atoms[index] as PlannedAtom;
      const { means, pipeline } = atom;
      if (means.kind === 'called') {
        called.push({ atom: index, pipeline, neededBytes: means.neededBytes });
        continue;
      }
      const misfit = means.patterns.find((pattern) => this.fits.get(pattern) !== 'exact');
      const isCustom = this.custom.has(index);
      if (misfit === undefined && !isCustom) {
        automaton.push({ atom, patterns: means.patterns });
        continue;
      }
      if (misfit !== undefined && !this.misfitAtoms.has(index)) this.misfitAtoms.set(index, { atom, pattern: misfit });
      const name = `${pipeline}/${isCustom}`;
      // A union asks the value itself; of what a pipeline makes of it, a hit would be a hit of another text.
      const set = sets.get(name) ?? { pipeline, entries: [], isInUnion: pipeline === 0 && !isCustom };
      sets.set(name, set);
      for (const pattern of means.patterns) set.entries.push({ atom, pattern });
    }
    return { automaton, sets: [...sets.values()], called };
  }

  /**
   * By transformation, smallest first: the patterns of all pipelines that have it, where it makes texts that no other
   * pipeline sees.
   */
  private familiesOf(automaton: readonly AutomatonAtom[]): FamilyIR[] {
    const total = patternsIn(automaton);
    const { pipelines } = this.atomPlan;
    const members = new Map<string, AutomatonAtom[]>();
    for (const entry of automaton) {
      for (const transformation of new Set(pipelines[entry.atom.pipeline]))
        if (changesOrdinaryText(transformation))
          members.set(transformation, [...(members.get(transformation) ?? []), entry]);
    }
    return [...members]
      .map(([transformation, atoms]) => ({
        transformation,
        atoms,
        patterns: patternsIn(atoms),
      }))
      .filter(
        ({ atoms, patterns }) =>
          new Set(atoms.map(({ atom }) => atom.pipeline)).size > 1 && patterns <= total * familyShareMax,
      )
      .sort((a, b) => a.patterns - b.patterns || (a.transformation < b.transformation ? -1 : 1))
      .slice(0, familiesMax)
      .map(({ transformation, atoms }) => ({ transformation, group: this.groupOf(0, atoms) }));
  }

  private groupOf(pipeline: number, atoms: readonly AutomatonAtom[]): GroupIR {
    const database = this.lists.add(entriesOf(atoms));
    const total = patternsIn(atoms);
    const byAlphabet = alphabetTables.map((table) => {
      const possible = entriesOf(atoms).filter(({ pattern }) => pattern.within(table) !== null);
      return possible.length > total * alphabetShareMax ? database : this.lists.add(possible);
    });
    return { pipeline, database, byAlphabet };
  }

  /**
   * For a small alphabet each pattern is cut down to what such values can hold, which Hyperscan scans two to three
   * times faster; what it refuses whole, it takes so: most values need no RE2 at all then.
   */
  private cutDownUnion(atoms: readonly AutomatonAtom[], misfits: readonly AskedPattern[]): GroupIR {
    const entries = entriesOf(atoms);
    const byAlphabet = alphabetTables.map((table) => {
      const restricted: ListEntry[] = [];
      for (const { atom, pattern } of entries) {
        const left = pattern.within(table);
        if (left === pattern) restricted.push({ atom, pattern });
        else if (left !== null) restricted.push({ atom, pattern: left, instead: pattern });
      }
      for (const { atom, pattern } of misfits) {
        const left = pattern.within(table);
        if (left !== null) restricted.push({ atom: atom.index, pattern: left, instead: null });
      }
      return this.lists.add(restricted);
    });
    return { pipeline: 0, database: this.lists.add(entries), byAlphabet };
  }
}

/** `isWhole`: nothing was left out of the database. */
export function setOf(
  { pipeline, entries, isInUnion }: DraftSet,
  union: GroupIR,
  isWhole: (database: number) => boolean,
): RegexSetIR {
  return {
    pipeline,
    sources: entries.map(({ pattern }) => pattern.re2),
    atoms: entries.map(({ atom }) => atom.index),
    settledByAlphabet: alphabetTables.map((table, index) => {
      if (entries.every(({ pattern }) => pattern.within(table) === null)) return true;
      const database = union.byAlphabet[index] as number;
      return isInUnion && database !== -1 && isWhole(database);
    }),
  };
}
