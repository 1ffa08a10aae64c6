// The engine's door: artifact bytes in, verdicts out.
//
// It refuses: to parse seclang (the compiler does), to read files, clocks or the environment (all ambient things are
// arguments), to wait (every call on the request road is synchronous).
//
// Start at transaction/inspector.ts (the one interface), evaluate/evaluator.ts (what a match is), compiled/inspect.ts
// (how the few rules worth running are found).
//
// A data plane: `loadRuleset` once per generation, `createCompiledInspector` once per thread, then per request
// begin → requestHeaders → requestBody → responseHeaders → responseBody → finish. While requests are served the two are
// done in steps (`loadingRuleset`, `creatingInspector`).
//
// What a compiler needs besides is behind the other door (compile.ts).
export { loadingRuleset, loadRuleset, rulesetOf, type Ruleset } from './program/ruleset.js';
export { createCompiledInspector, creatingInspector, type CompiledInspector } from './compiled/inspect.js';
export { finishSteps, type Steps } from './program/steps.js';
export { createMemoryStore } from './transaction/memory-store.js';
export {
  duplicateSocket,
  exitNow,
  giveBackMemory,
  mapFile,
  openSharedSocket,
  tellServiceManager,
  textSender,
  yieldToOthers,
} from './native/addon.js';
export { hyperscanLibrary } from './native/hyperscan.js';
export { ArtifactRefused, decodeArtifact, hashArtifact } from './program/artifact.js';
export { keyOf, normalisePath, pathKeys } from './parse/path-keys.js';
export { decodePercent, isPlainPath, pathOf, readingsOf } from './parse/path-readings.js';
export { SeenOnce } from './parse/seen-once.js';
export { parseIpv4, parseIpv6 } from './operators/network/ip-address.js';
export type { ArtifactMeta, ProbeIR } from './program/artifact-sections.js';
export type { GivenValues, GivenVariable } from './program/given-variables.js';
export type { Inspector } from './transaction/inspector.js';
// What a matched rule refers to.
export type { ActionIR, LinkIR, Program, RuleIR } from './program/ir.js';
export type { CollectionStore } from './transaction/store.js';
export { originTextMax, type Origin } from './transaction/origins.js';
export type {
  Interruption,
  MatchedRule,
  RequestHead,
  ResponseHead,
  Transaction,
  TransactionEnvironment,
} from './transaction/transaction.js';
export { evidenceRules, raisedRuleId } from './second-opinion/evidence-rules.js';
export { judgeMatch, type MatchJudgement } from './second-opinion/judge-match.js';
export type { Feature, OpinionMode, SecondOpinion } from './second-opinion/opinion.js';
export { allSigns, supportedFrom } from './second-opinion/support.js';
export { weakRules } from './second-opinion/weak-rules.js';
export type { Verdict } from './transaction/verdict.js';
