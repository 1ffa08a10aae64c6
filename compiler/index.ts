// The compiler's door: rule text and settings in, a Program, an artifact and diagnostics out.
//
// It reads nothing by itself: files come through an injected SourceReader, time and randomness are not used. It never
// throws on what a user wrote. The folders are the stages: text/ → tree/ → program/ (compile-program.ts names their
// steps in order), then passes/ → plan/ → artifact/ (artifact/emit.ts).
export { compileProgram } from './compile-program.js';
export type { Diagnostic } from './diagnostics/diagnostics.js';
export { formatDiagnostics } from './diagnostics/format.js';
export type { SourceReader, SourceText } from './text/source.js';
export { renderPolicy, resolvePolicy, type Policy } from './policy/policy.js';
export { loadCoreRuleSet, supportedVersionIn } from './policy/crs.js';
export { scoreCountedBy, supportedVersions } from './policy/generations.js';
export {
  chooseRuleSet,
  currentRuleSet,
  formatNotice,
  listRuleSets,
  noticeOf,
  readRuleSetChoice,
  ruleSetFolder,
  type RuleSetChoice,
  type RuleSetNotice,
} from './disk/rule-sets.js';
export { categoryTags } from './policy/settings.js';
// For whoever makes artifacts at run time (the control plane's worker): the back half, its cache and files from disk.
export { emitArtifact, type EmittedArtifact } from './artifact/emit.js';
export { createFileCache } from './disk/file-cache.js';
export type { CompileCache } from './plan/database-compiler.js';
export { rememberIn } from './plan/memory-cache.js';
export { diskReader, expandGlob } from './disk/disk-reader.js';
// For the command line.
export { severityNames } from './program/actions/index.js';
export { openPatternCache } from './disk/pattern-cache.js';
export { dumpPlan, dumpProgram } from './artifact/dump.js';
export {
  giveBackMemory,
  loadOfflineInspector,
  offlineInspectorOf,
  type OfflineInspector,
} from './artifact/offline-inspector.js';
export { namesOfRules } from './policy/rule-names.js';
export { checkFormRule } from './policy/forms/check-form.js';
export { checkRuleText, findRuleIds, type CheckedRule, type RuleHead } from './policy/raw-rule.js';
export {
  renderRuleExclusions,
  type ScopedExclusion,
} from './policy/rule-exclusions.js';
export {
  compileRuleTrial,
  createTrial,
  toRequestHead,
  type Trial,
  type TrialOutcome,
  type TrialRequest,
} from './policy/trial.js';
// For the control plane, which weighs stored matches; it loads the engine in its sandbox only.
export { judgeMatch, type MatchJudgement } from '#engine';
