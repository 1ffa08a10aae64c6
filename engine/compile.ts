// The engine's second door: what a compiler needs to know of the engine, and a data plane does not. Whoever makes
// artifacts imports from here, a data-plane worker never does: the planner's half of the engine stays out of its memory
// (engine/doors.test.ts).
//
// The consumer owns the contract: the rule program, the plan and the artifact are defined here, and the compiler
// produces exactly this.

// The contract: rule program, plan, artifact.
export { defaultEngineSettings } from './program/ir.js';
export type {
  ActionIR,
  ControlIR,
  DisruptiveIR,
  EngineSettings,
  LinkIR,
  MacroRef,
  MarkerIR,
  OperatorIR,
  Phase,
  Program,
  RuleIR,
  SetvarOperation,
  TargetIR,
  Template,
} from './program/ir.js';
export { givenVariables } from './program/given-variables.js';
export { scoredMatchesMaxOf } from './evaluate/matches-max.js';
export { familiesMax, scanSources } from './program/plan.js';
export type {
  CalledAtomIR,
  DatabaseIR,
  FamilyIR,
  FoldedIR,
  GroupIR,
  PlanIR,
  PolicyPlanIR,
  RegexSetIR,
  ScanClassIR,
  ScanSource,
} from './program/plan.js';
export { encodeArtifact } from './program/artifact.js';
export type { Artifact } from './program/artifact-sections.js';

// The tables that names of rules are bound to.
export { transformationContext } from './transformations/context.js';
export { canonicalTransformationName, transformations } from './transformations/index.js';
export { createMatcher, operators } from './operators/index.js';
export { literalsAreCaseless, literalsOf } from './operators/literals.js';
export { pmPhrases } from './operators/text/pm.js';
export { OperatorArgumentError, type Matcher } from './operators/operator.js';
export { compileNetworks } from './operators/network/network-set.js';
export { expand, variables } from './variables/index.js';

// What a rule means, where the compiler has to know it beforehand.
export { isActingLink, readsEarlierLinks, seesEarlierRules } from './program/chain-links.js';
export { bindTarget, bindTargets, collectTargets, fullName } from './variables/targets.js';
export { namesRule } from './evaluate/removals.js';
export { leadingInteger } from './transaction/memory-store.js';
export { policyVariable } from './transaction/begin.js';
export { limits } from './transaction/limits.js';

// Patterns: translation, analysis, and the libraries that run them.
export { foldLowercase, restrictTo } from './regex/analysis.js';
export type { ByteSet } from './regex/byte-set.js';
export { toHyperscanSource } from './regex/hyperscan-source.js';
export { RegexSyntaxError, RegexUnsupportedError, type RegexNode } from './regex/node.js';
export { parseRegex } from './regex/parser.js';
export { toRe2Source } from './regex/re2-source.js';
export { compileRe2, useAcceptedForms, type AcceptedForms } from './native/re2-pattern.js';
export { PatternRefused, type MatcherLibrary, type PatternSpec } from './native/matcher.js';
export { re2Library } from './native/re2.js';
export type { CompileReply, CompileTask, PatternFit } from './native/database-worker.js';
/** The file of a pool that compiles databases: a module for worker threads. */
export const databaseWorker = new URL('./native/database-worker.js', import.meta.url);

// The oracle, and the part of the product that reads plans: what tests hold plans and the compiled engine to.
export { createInterpreter } from './evaluate/interpreter.js';
export { createHitFinder } from './compiled/scan/create-hit-finder.js';
export type { HitFinder, MemoSize } from './compiled/scan/hit-finder.js';
