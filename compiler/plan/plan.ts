// The planner: atoms → scan classes → automata. Sources that ask nearly the same questions share a class, so that a
// name and a value are scanned by the same databases and remembered together; a long raw body, which few rules read,
// has a small class of its own. What a class holds is in class-builder.ts.
import {
  type DatabaseIR,
  type PatternFit,
  type PlanIR,
  type PolicyPlanIR,
  type Program,
  type ScanClassIR,
} from '#engine/compile';
import type { FoldedProgram } from '../passes/fold-constants.js';
import { alphabets } from './alphabets.js';
import { planAtoms, type AtomPlan } from './atoms.js';
import { ClassBuilder, setOf } from './class-builder.js';
import { findCustomAtoms } from './custom-atoms.js';
import type { CompiledDatabase, DatabaseCompiler } from './database-compiler.js';
import { specOf, type BuiltList } from './pattern-lists.js';
import type { ScanPattern } from './patterns.js';
import { classifySources } from './source-classes.js';

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

export interface BuiltPlan {
  readonly plan: PlanIR;
  /** Serialised databases by key. */
  readonly blobs: ReadonlyMap<string, Uint8Array>;
  readonly report: PlanReport;
}

/** `folded`: the program whatever the policy, which the automata serve; `policies`: for each of its policies. */
export async function buildPlan(
  program: Program,
  folded: FoldedProgram,
  compiler: DatabaseCompiler,
  policies: readonly PolicyPlanIR[] = [],
): Promise<BuiltPlan> {
  const atomPlan = planAtoms(program, folded);
  const fits = await classifyPatterns(atomPlan, compiler);
  const custom = findCustomAtoms(program, atomPlan.atoms);
  const builder = new ClassBuilder(atomPlan, fits, custom);
  const drafts = classifySources(atomPlan.atoms, custom).map((sourceClass) => builder.build(sourceClass));
  const lists = builder.lists.all;
  const compiled = await compiler.compile(lists);
  const databases: DatabaseIR[] = compiled.map(({ key, patterns }, index) => ({
    key,
    patterns,
    atomOf: (lists[index] as BuiltList).atomOf,
  }));
  const isWhole = (database: number): boolean =>
    (compiled[database] as CompiledDatabase).refused.every((id) => lists[database]?.instead?.get(id) !== null);
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
    ...(policies.length === 0 ? {} : { policies }),
  };
  return {
    plan,
    blobs: new Map(compiled.map((database) => [database.key, database.bytes])),
    report: reportOf(program, plan, compiled, builder, fits),
  };
}

function reportOf(
  program: Program,
  plan: PlanIR,
  compiled: readonly CompiledDatabase[],
  builder: ClassBuilder,
  fits: ReadonlyMap<ScanPattern, PatternFit>,
): PlanReport {
  return {
    atoms: plan.atoms.length,
    pipelines: plan.pipelines.length,
    classes: plan.classes.map((scanClass, index) => ({
      sources: scanClass.sources,
      ...(builder.counts[index] as { atoms: number; patterns: number }),
      sets: scanClass.sets.length,
      called: scanClass.called.length,
    })),
    databases: compiled.map((database) => ({
      key: database.key,
      patterns: database.patterns.length,
      bytes: database.bytes.length,
      compileMs: Math.round(database.compileMs),
    })),
    inRe2: builder.misfits.map(({ atom, pattern }) => {
      const item = program.items[atom.item];
      return {
        rule: item?.kind === 'rule' ? item.id : 0,
        fit: fits.get(pattern) as PatternFit,
        patternBytes: pattern.hyperscan.length,
      };
    }),
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
