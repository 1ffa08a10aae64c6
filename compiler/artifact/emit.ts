// Program → artifact bytes: fold, plan, compile the automata, encode. The back half of the compiler; the front half
// (text → Program) is compileProgram.
import { hashArtifact, hyperscanLibrary, type ProbeIR } from '#engine';
import { encodeArtifact, type Artifact, type PolicyPlanIR, type Program } from '#engine/compile';
import { foldConstants, foldPolicies } from '../passes/fold-constants.js';
import { DatabaseCompiler, type CompileCache } from '../plan/database-compiler.js';
import { buildPlan, type PlanReport } from '../plan/plan.js';
import { selectProbes } from './probes.js';

export interface EmitOptions {
  /** Compiled databases by content; without it every compile is cold. */
  readonly cache?: CompileCache;
  /** Threads of the compile pool; default: what the machine has. */
  readonly threads?: number;
  /** Milliseconds from any origin; the compiler has no clock of its own. */
  readonly clock?: () => number;
}

export interface EmitReport {
  readonly rules: number;
  /** How many items each kind of folding removed. */
  readonly folded: Readonly<Record<string, number>>;
  readonly active: readonly number[]; // per phase, [0] unused
  readonly constants: number; // TX variables set at load
  readonly policies: number; // that the rules are folded for, 0 = all requests have the same
  readonly plan: PlanReport;
  readonly probes: readonly string[];
  readonly artifactBytes: number;
  readonly foldMs: number;
  readonly planMs: number;
  readonly probeMs: number;
  readonly encodeMs: number;
  readonly totalMs: number;
}

export interface EmittedArtifact {
  readonly bytes: Buffer;
  readonly hash: string;
  /** What `bytes` say: whoever runs the artifact where it was made need not decode them. */
  readonly content: Artifact;
  readonly report: EmitReport;
}

const compilerVersion = '0.1.0';

/**
 * Deterministic in the program, the library and the platform. Rejects only on bugs and on a machine without the native
 * addon.
 */
export async function emitArtifact(program: Program, options: EmitOptions = {}): Promise<EmittedArtifact> {
  const clock = options.clock ?? (() => 0);
  const started = clock();
  const folded = foldConstants(program);
  const policies = foldPolicies(program);
  const foldedAt = clock();
  const library = hyperscanLibrary();
  const compiler = new DatabaseCompiler(
    options.cache ?? noCache,
    `${library.name} ${library.version}`,
    options.threads,
  );
  try {
    const { plan, blobs, report } = await buildPlan(program, folded, compiler, policies.map(planOf));
    const plannedAt = clock();
    const probes = selectProbes(program, policies[0]?.folded ?? folded); // probes name no policy
    const probedAt = clock();
    const content: Artifact = {
      meta: {
        compiler: compilerVersion,
        components: program.settings.componentSignatures,
        matcher: `${library.name} ${library.version}`,
        probes,
      },
      program,
      plan,
      blobs,
    };
    const bytes = encodeArtifact(content);
    return {
      bytes,
      hash: hashArtifact(bytes),
      content,
      report: {
        rules: program.items.filter((item) => item.kind === 'rule').length,
        folded: countValues(folded.folded),
        active: folded.active.map((list) => list.length),
        constants: folded.initialTx.length,
        policies: policies.length,
        plan: report,
        probes: probes.map((probe: ProbeIR) => probe.name),
        artifactBytes: bytes.length,
        foldMs: Math.round(foldedAt - started),
        planMs: Math.round(plannedAt - foldedAt),
        probeMs: Math.round(probedAt - plannedAt),
        encodeMs: Math.round(clock() - probedAt),
        totalMs: Math.round(clock() - started),
      },
    };
  } finally {
    await compiler.close();
  }
}

function planOf({ key, folded }: ReturnType<typeof foldPolicies>[number]): PolicyPlanIR {
  const { active, certain, initialTx, constantArguments } = folded;
  return { key, active, certain, initialTx, constantArguments };
}

const noCache: CompileCache = {
  find: () => null,
  keep: () => undefined,
};

function countValues(map: ReadonlyMap<number, string>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of map.values()) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
