// What the hit finder asks of values of one scan class, laid out for the hot road: the trie of its pipelines, the
// databases by pipeline and alphabet, the RE2 sets and the operators to call. Built once per rule set and thread.
import type { Matcher } from '../../operators/operator.js';
import type { GroupIR, PlanIR, ScanClassIR } from '../../program/plan.js';
import type { Transformation } from '../../transformations/transformation.js';
import type { ByteGroups } from './byte-groups.js';
import type { PatternSet } from './pattern-set.js';
import { ReachableSteps } from './reachable-steps.js';
import type { PipelineStep } from './text-table.js';

export interface ScanGroup {
  readonly database: number;
  readonly byAlphabet: readonly number[];
}

export interface ClassTable {
  readonly steps: readonly PipelineStep[]; // [0] is the identity and unused
  readonly reachable: ReachableSteps;
  /** Pipeline position in this class → step whose text it scans; position 0 = identity. */
  readonly stepOf: readonly number[];
  readonly anyMask: number;
  readonly alwaysChanges: boolean;
  readonly union: ScanGroup;
  readonly groups: readonly (ScanGroup | null)[]; // by pipeline position
  readonly families: readonly ScanGroup[];
  /** Pipeline position → bits of the families that it belongs to. */
  readonly familiesOf: Int32Array;
  /** Atom → pipeline position in this class (-1 = not of this class). */
  readonly positionOf: Int16Array;
  readonly sets: readonly AskedSet[];
  readonly called: readonly AskedOperator[];
}

interface AskedSet {
  readonly set: PatternSet;
  readonly step: number;
  readonly atoms: readonly number[];
  readonly settled: readonly boolean[];
}

/** One operator and argument, asked behind several pipelines. */
interface AskedOperator {
  readonly matcher: Matcher;
  readonly mask: number; // -1 = any text
  readonly atoms: readonly number[];
  readonly steps: readonly number[]; // parallel
}

export interface ClassTableParts {
  readonly plan: PlanIR;
  readonly groups: ByteGroups;
  readonly transformations: ReadonlyMap<string, Transformation>;
  /** Matchers of called atoms, by atom. */
  readonly matchers: readonly (Matcher | undefined)[];
}

const identity: Transformation = { name: 'none', apply: (value) => value, triggers: [] };

/** Pipelines that begin alike share their first steps. */
class PipelineTrie {
  readonly steps: PipelineStep[] = [{ parent: 0, transformation: identity, kind: 0, mask: 0 }];
  private readonly kinds = new Map<string, number>();
  private readonly byPath = new Map<string, number>([['', 0]]);

  constructor(private readonly parts: ClassTableParts) {}

  /** The step whose text is the value after this pipeline. */
  stepOf(pipeline: number): number {
    let path = '';
    let step = 0;
    for (const name of this.parts.plan.pipelines[pipeline] as readonly string[]) {
      path += `,${name}`;
      const known = this.byPath.get(path);
      step = known ?? this.add(step, name);
      if (known === undefined) this.byPath.set(path, step);
    }
    return step;
  }

  private add(parent: number, name: string): number {
    const transformation = this.parts.transformations.get(name);
    if (transformation === undefined)
      throw new Error(
        `the plan names an unknown transformation "${name}": the artifact is of another version, compile it again`,
      );
    const kind = this.kinds.get(name) ?? this.kinds.size;
    this.kinds.set(name, kind);
    const { triggers } = transformation;
    this.steps.push({
      parent,
      transformation,
      kind,
      mask: triggers === null ? -1 : this.parts.groups.maskOf(triggers),
    });
    return this.steps.length - 1;
  }
}

/** The pipelines of a class in the order in which its atoms name them, and the atoms' positions among them. */
class PipelinePositions {
  readonly pipelines = [0];
  readonly positionOf: Int16Array;

  constructor(private readonly plan: PlanIR) {
    this.positionOf = new Int16Array(plan.atoms.length).fill(-1);
  }

  place(atom: number): void {
    const { pipeline } = this.plan.atoms[atom] as { readonly pipeline: number };
    let at = this.pipelines.indexOf(pipeline);
    if (at === -1) at = this.pipelines.push(pipeline) - 1;
    this.positionOf[atom] = at;
  }
}

/** `sets`: compiled, parallel to the class's. */
export function buildClassTable(
  scanClass: ScanClassIR,
  sets: readonly PatternSet[],
  parts: ClassTableParts,
): ClassTable {
  const { plan, groups } = parts;
  const trie = new PipelineTrie(parts);
  const positions = new PipelinePositions(plan);
  for (const { database } of [scanClass.union, ...scanClass.groups])
    for (const atom of plan.databases[database]?.atomOf ?? []) positions.place(atom);
  const askedSets = scanClass.sets.map((set, at) => {
    for (const atom of set.atoms) positions.place(atom);
    return {
      set: sets[at] as PatternSet,
      step: trie.stepOf(set.pipeline),
      atoms: set.atoms,
      settled: set.settledByAlphabet,
    };
  });
  const called = scanClass.called.map(({ atom, pipeline, neededBytes }) => {
    positions.place(atom);
    return {
      atom,
      step: trie.stepOf(pipeline),
      mask: neededBytes === null ? -1 : groups.maskOf(neededBytes),
      matcher: parts.matchers[atom] as Matcher,
    };
  });
  const { pipelines, positionOf } = positions;
  const stepOf = pipelines.map((pipeline) => trie.stepOf(pipeline));
  const { steps } = trie;
  return {
    steps,
    reachable: new ReachableSteps(steps, stepOf),
    stepOf,
    anyMask: steps.reduce((mask, step) => (step.mask === -1 ? mask : mask | step.mask), 0),
    alwaysChanges: steps.some((step) => step.mask === -1),
    union: scanGroupOf(scanClass.union),
    groups: pipelines.map((pipeline, position) => (position === 0 ? null : groupFor(scanClass, pipeline))),
    families: scanClass.families.map(({ group }) => scanGroupOf(group)),
    familiesOf: Int32Array.from(pipelines, (pipeline) => familyBits(scanClass, plan, pipeline)),
    positionOf,
    sets: askedSets,
    called: gatherCalled(called),
  };
}

function scanGroupOf({ database, byAlphabet }: GroupIR): ScanGroup {
  return { database, byAlphabet };
}

function groupFor(scanClass: ScanClassIR, pipeline: number): ScanGroup | null {
  const found = scanClass.groups.find((group) => group.pipeline === pipeline);
  return found === undefined ? null : scanGroupOf(found);
}

function familyBits({ families }: ScanClassIR, plan: PlanIR, pipeline: number): number {
  const names = plan.pipelines[pipeline] as readonly string[];
  return families.reduce(
    (bits, { transformation }, index) => (names.includes(transformation) ? bits | (1 << index) : bits),
    0,
  );
}

/** Atoms whose matcher is the same one are asked together. */
function gatherCalled(
  list: readonly { readonly atom: number; readonly step: number; readonly mask: number; readonly matcher: Matcher }[],
): AskedOperator[] {
  const found = new Map<Matcher, { matcher: Matcher; mask: number; atoms: number[]; steps: number[] }>();
  for (const { atom, step, mask, matcher } of list) {
    let called = found.get(matcher);
    if (called === undefined) found.set(matcher, (called = { matcher, mask, atoms: [], steps: [] }));
    called.atoms.push(atom);
    called.steps.push(step);
  }
  return [...found.values()];
}
