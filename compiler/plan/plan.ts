// The planner: atoms → scan classes → automata. Sources that ask nearly the same questions share a class, so that a
// name and a value are scanned by the same databases and remembered together; a long raw body, which few rules read,
// has a small class of its own. Inside a class: one union database of all patterns, for values that no pipeline
// changes; one database per pipeline, for values that it changes; smaller databases for values made of few kinds of
// bytes; RE2 sets for what Hyperscan refuses or only approximates (measured: RE2 takes those giants at 2–4 ns a byte,
// see docs/adr/0001-automata.md).
import {
  familiesMax,
  scanSources,
  transformations,
  type CalledAtomIR,
  type DatabaseIR,
  type FamilyIR,
  type GroupIR,
  type PatternFit,
  type PatternSpec,
  type PlanIR,
  type Program,
  type RegexSetIR,
  type ScanClassIR,
  type ScanSource,
} from '#engine/compile';
import type { FoldedProgram } from '../passes/fold-constants.js';
import { planAtoms, type AtomPlan, type PlannedAtom } from './atoms.js';
import type { CompiledDatabase, DatabaseCompiler, PatternList } from './database-compiler.js';
import { serialOf, type ScanPattern } from './patterns.js';

export interface PlanReport {
  readonly atoms: number;
  readonly pipelines: number;
  readonly classes: readonly {
    readonly sources: readonly string[];
    readonly atoms: number;
    readonly patterns: number;
    readonly sets: number;
    readonly called: number;
  }[];
  readonly databases: readonly {
    readonly key: string;
    readonly patterns: number;
    readonly bytes: number;
    readonly compileMs: number;
  }[];
  /** Patterns that Hyperscan approximates or refuses: they run in RE2. */
  readonly inRe2: readonly { readonly rule: number; readonly fit: PatternFit; readonly patternBytes: number }[];
}

/**
 * Most new values are ids, tokens and numbers, most others words; the last alphabet adds what prose and paths have.
 * Smallest first.
 */
const alphabets = [
  '0123456789ABCDEFabcdef.-',
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.-',
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.- ,:/@+',
];
const alphabetTables = alphabets.map((alphabet) => {
  const table = new Uint8Array(256);
  for (const character of alphabet) table[character.charCodeAt(0)] = 1;
  return table;
});
/** Sources join a class when they share at least this part of all their atoms (Jaccard). */
const classSimilarityMin = 0.5;
/** A sub-database for an alphabet pays only where it leaves out at least this part of the patterns. */
const alphabetShareMax = 0.7;
/** Patterns cut down to an alphabet take a database of their own: from this many on. */
const cutDownPatternsMin = 50;
/**
 * One for the pipelines that share a transformation pays where it is a small part of them: it is compiled in no time
 * and stays in the cache of the processor.
 */
const familyShareMax = 0.05;

export async function buildPlan(
  program: Program,
  folded: FoldedProgram,
  compiler: DatabaseCompiler,
): Promise<{ plan: PlanIR; blobs: ReadonlyMap<string, Uint8Array>; report: PlanReport }> {
  const atomPlan = planAtoms(program, folded);
  const fits = await classifyPatterns(atomPlan, compiler);
  const builder = new PlanBuilder(program, atomPlan, fits);
  const own = findOwnAtoms(program, atomPlan.atoms);
  const drafts = groupSources(atomPlan.atoms, own).map(({ sources, atoms }) => builder.buildClass(sources, atoms, own));
  const compiled = await compiler.compile(builder.lists);
  const databases: DatabaseIR[] = compiled.map(({ key, patterns }, index) => ({
    key,
    patterns,
    atomOf: (builder.lists[index] as BuiltList).atomOf,
  }));
  const isWhole = (database: number): boolean =>
    (compiled[database] as CompiledDatabase).refused.every((id) => builder.lists[database]?.instead?.get(id) !== null);
  const classes: ScanClassIR[] = drafts.map(({ sets, ...scanClass }) => ({
    ...scanClass,
    sets: sets.map((set) => setOf(set, scanClass.union, isWhole)),
  }));
  const plan: PlanIR = {
    pipelines: atomPlan.pipelines,
    atoms: atomPlan.atoms.map(({ pipeline, item, link }) => ({ pipeline, item, link })),
    classes,
    databases,
    alphabets,
    linkAtoms: atomPlan.linkAtoms,
    active: folded.active,
    certain: folded.certain,
    initialTx: folded.initialTx,
    constantArguments: folded.constantArguments,
  };
  return {
    plan,
    blobs: new Map(compiled.map((database) => [database.key, database.bytes])),
    report: {
      atoms: atomPlan.atoms.length,
      pipelines: atomPlan.pipelines.length,
      classes: classes.map((scanClass, index) => ({
        sources: scanClass.sources,
        ...(builder.counts[index] as { atoms: number; patterns: number }),
        sets: scanClass.sets.length,
        called: scanClass.called.length,
      })),
      databases: compiled.map((database, index) => ({
        key: database.key,
        patterns: (databases[index] as DatabaseIR).patterns.length,
        bytes: database.bytes.length,
        compileMs: Math.round(database.compileMs),
      })),
      inRe2: builder.inRe2,
    },
  };
}

/** How Hyperscan takes each regular expression; literals always fit. */
async function classifyPatterns(
  atomPlan: AtomPlan,
  compiler: DatabaseCompiler,
): Promise<ReadonlyMap<ScanPattern, PatternFit>> {
  const patterns = atomPlan.atoms.flatMap((atom) => (atom.means.kind === 'patterns' ? atom.means.patterns : []));
  const doubtful = patterns.filter((pattern) => !pattern.isLiteral);
  const answers = await compiler.classify(doubtful.map((pattern) => specOf(pattern, 0)));
  const fits = new Map<ScanPattern, PatternFit>(patterns.map((pattern) => [pattern, 'exact']));
  doubtful.forEach((pattern, index) => fits.set(pattern, answers[index] as PatternFit));
  return fits;
}

function specOf(pattern: ScanPattern, id: number): PatternSpec {
  return {
    id,
    source: pattern.hyperscan,
    caseless: pattern.caseless,
    dotAll: pattern.dotAll,
    multiline: pattern.multiline,
    prefilter: false,
  };
}

/** Rules that people write in the settings, by the file names that policy.ts gives them. */
const ownFiles = /^gatehouse\/(custom|custom-allow|virtual-patches|rule-exclusions)\.conf$/;
/** More patterns than these are scanned with the rest: an RE2 set of thousands would cost every request. */
const ownPatternsMax = 500;

/**
 * Atoms that only a person's own rules ask. They stay out of the automata and go into RE2 sets, which take milliseconds
 * to
 * build: a union of thousands of patterns takes seconds, and a change of one custom rule must not wait for it.
 */
function findOwnAtoms(program: Program, atoms: readonly PlannedAtom[]): ReadonlySet<number> {
  const own = atoms.filter((atom) => {
    const item = program.items[atom.item];
    const head = item?.kind === 'rule' ? item.links[0] : undefined;
    return head !== undefined && atom.means.kind === 'patterns' && ownFiles.test(program.files[head.file] ?? '');
  });
  const patterns = own.reduce((sum, { means }) => sum + (means.kind === 'patterns' ? means.patterns.length : 0), 0);
  return new Set(patterns > ownPatternsMax ? [] : own.map(({ index }) => index));
}

/**
 * Clusters sources by the atoms they need, the richest source first. `own` atoms have no say in it: the clusters, and
 * so the databases, stay as they are without them.
 */
function groupSources(
  atoms: readonly PlannedAtom[],
  own: ReadonlySet<number>,
): { sources: ScanSource[]; atoms: Set<number> }[] {
  const classes = clusterSources(atoms.filter(({ index }) => !own.has(index)));
  for (const atom of atoms) {
    if (!own.has(atom.index)) continue;
    for (const source of atom.sources) {
      let home = classes.find(({ sources }) => sources.includes(source));
      if (home === undefined) classes.push((home = { sources: [source], atoms: new Set() }));
      home.atoms.add(atom.index);
    }
  }
  return classes;
}

function clusterSources(atoms: readonly PlannedAtom[]): { sources: ScanSource[]; atoms: Set<number> }[] {
  const needs = (Object.keys(scanSources) as ScanSource[])
    .map((source) => ({
      source,
      wanted: new Set(atoms.filter((atom) => atom.sources.has(source)).map((atom) => atom.index)),
    }))
    .filter(({ wanted }) => wanted.size > 0)
    .sort((a, b) => b.wanted.size - a.wanted.size);
  const classes: { sources: ScanSource[]; atoms: Set<number> }[] = [];
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

/** Letters, digits or spaces are enough to make it do something. */
function changesOrdinaryText(name: string): boolean {
  const triggers = transformations.get(name)?.triggers;
  return triggers == null || triggers.some((byte) => byte === 0x20 || (alphabetTables[0] as Uint8Array)[byte] === 1);
}

function isResponse(source: ScanSource): boolean {
  return scanSources[source].phase >= 3;
}

function similarity(a: ReadonlySet<number>, b: ReadonlySet<number>): number {
  let shared = 0;
  for (const atom of b) if (a.has(atom)) shared += 1;
  return shared / (a.size + b.size - shared);
}

interface AutomatonAtom {
  readonly atom: PlannedAtom;
  readonly patterns: readonly ScanPattern[];
}

interface AskedPattern {
  readonly atom: PlannedAtom;
  readonly pattern: ScanPattern;
}

/** Patterns that are to run in RE2. */
interface DraftSet {
  readonly pipeline: number;
  readonly entries: readonly AskedPattern[];
  /** The databases of the class's union for small alphabets hold them, too. */
  readonly isInUnion: boolean;
}

type DraftClass = Omit<ScanClassIR, 'sets'> & { readonly sets: readonly DraftSet[] };

interface BuiltList extends PatternList {
  readonly atomOf: readonly number[];
}

/** What goes into a list: a pattern, and what stands in for it when Hyperscan refuses it (undefined = it does not). */
interface ListEntry {
  readonly atom: number;
  readonly pattern: ScanPattern;
  readonly instead?: ScanPattern | null;
}

class PlanBuilder {
  readonly lists: BuiltList[] = [];
  readonly counts: { readonly atoms: number; readonly patterns: number }[] = [];
  readonly inRe2: { rule: number; fit: PatternFit; patternBytes: number }[] = [];
  private readonly listIds = new Map<string, number>();
  private readonly reported = new Set<number>();

  constructor(
    private readonly program: Program,
    private readonly atomPlan: AtomPlan,
    private readonly fits: ReadonlyMap<ScanPattern, PatternFit>,
  ) {}

  buildClass(sources: readonly ScanSource[], wanted: ReadonlySet<number>, own: ReadonlySet<number>): DraftClass {
    const automaton: AutomatonAtom[] = [];
    const inSets = new Map<string, { pipeline: number; entries: AskedPattern[]; isInUnion: boolean }>();
    const called: CalledAtomIR[] = [];
    for (const index of [...wanted].sort((a, b) => a - b)) {
      const atom = this.atomPlan.atoms[index] as PlannedAtom;
      if (atom.means.kind === 'called') {
        called.push({ atom: index, pipeline: atom.pipeline, neededBytes: atom.means.neededBytes });
        continue;
      }
      const misfit = atom.means.patterns.find((pattern) => this.fits.get(pattern) !== 'exact');
      if (misfit === undefined && !own.has(index)) {
        automaton.push({ atom, patterns: atom.means.patterns });
        continue;
      }
      if (misfit !== undefined) this.report(atom, misfit);
      const name = `${atom.pipeline}/${own.has(index)}`;
      // A union asks the value itself; of what a pipeline makes of it, a hit would be a hit of another text.
      const set = inSets.get(name) ?? {
        pipeline: atom.pipeline,
        entries: [],
        isInUnion: atom.pipeline === 0 && !own.has(index),
      };
      inSets.set(name, set);
      for (const pattern of atom.means.patterns) set.entries.push({ atom, pattern });
    }
    const isCutDown = automaton.reduce((sum, { patterns }) => sum + patterns.length, 0) >= cutDownPatternsMin;
    const sets = [...inSets.values()].map((set) => ({ ...set, isInUnion: set.isInUnion && isCutDown }));
    const pipelines = [...new Set(automaton.map(({ atom }) => atom.pipeline))]
      .filter((pipeline) => pipeline !== 0)
      .sort((a, b) => a - b);
    this.counts.push({
      atoms: wanted.size,
      patterns: automaton.reduce((sum, { patterns }) => sum + patterns.length, 0),
    });
    return {
      sources,
      union: isCutDown
        ? this.cutDownUnion(
            automaton,
            sets.flatMap(({ isInUnion, entries }) => (isInUnion ? entries : [])),
          )
        : this.groupOf(0, automaton),
      groups: pipelines.map((pipeline) =>
        this.groupOf(
          pipeline,
          automaton.filter(({ atom }) => atom.pipeline === pipeline),
        ),
      ),
      families: this.familiesOf(automaton),
      sets,
      called,
    };
  }

  /**
   * By transformation, smallest first: the patterns of all pipelines that have it, where it makes texts that no other
   * pipeline sees.
   */
  private familiesOf(automaton: readonly AutomatonAtom[]): FamilyIR[] {
    const total = automaton.reduce((sum, { patterns }) => sum + patterns.length, 0);
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
        patterns: atoms.reduce((sum, { patterns }) => sum + patterns.length, 0),
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
    const database = this.listOf(entriesOf(atoms));
    const total = atoms.reduce((sum, { patterns }) => sum + patterns.length, 0);
    const byAlphabet = alphabetTables.map((table) => {
      const possible = entriesOf(atoms).filter(({ pattern }) => pattern.within(table) !== null);
      return possible.length > total * alphabetShareMax ? database : this.listOf(possible);
    });
    return { pipeline, database, byAlphabet };
  }

  /**
   * For a small alphabet each pattern is cut down to what such values can hold, which Hyperscan scans two to three
   * times faster;
   * what it refuses whole, it takes so: most values need no RE2 at all then.
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
      return this.listOf(restricted);
    });
    return { pipeline: 0, database: this.listOf(entries), byAlphabet };
  }

  /** Interns a pattern list; equal lists are one database. */
  private listOf(entries: readonly ListEntry[]): number {
    if (entries.length === 0) return -1;
    // serials instead of the patterns' texts: a list has thousands, and there are a hundred lists
    const name = entries.map(({ pattern }) => serialOf(pattern)).join();
    const key = `${name}/${entries.map(({ atom }) => atom).join()}`;
    const known = this.listIds.get(key);
    if (known !== undefined) return known;
    const instead = new Map(
      entries.flatMap(({ instead }, id): [number, PatternSpec | null][] =>
        instead === undefined ? [] : [[id, instead === null ? null : specOf(instead, id)]],
      ),
    );
    this.lists.push({
      patterns: entries.map(({ pattern }, id) => specOf(pattern, id)),
      instead,
      atomOf: entries.map(({ atom }) => atom),
      name,
    });
    this.listIds.set(key, this.lists.length - 1);
    return this.lists.length - 1;
  }

  private report(atom: PlannedAtom, pattern: ScanPattern): void {
    if (this.reported.has(atom.index)) return;
    this.reported.add(atom.index);
    const item = this.program.items[atom.item];
    this.inRe2.push({
      rule: item?.kind === 'rule' ? item.id : 0,
      fit: this.fits.get(pattern) as PatternFit,
      patternBytes: pattern.hyperscan.length,
    });
  }
}

function entriesOf(atoms: readonly AutomatonAtom[]): ListEntry[] {
  return atoms.flatMap(({ atom, patterns }) => patterns.map((pattern) => ({ atom: atom.index, pattern })));
}

/** `isWhole`: nothing was left out of the database. */
function setOf(
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
