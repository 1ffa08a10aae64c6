// THE ROAD OF A CHANGE (ARCHITECTURE.md), steps 3 to 8. Everything that can fail is done before the first node is touched;
// what a crash leaves half-way is brought to an end by apply-recovery.ts. The caller holds the `apply` lock.
import type { ProxyConfig } from '#proxy/contract';
import type { AuditLog } from '../audit/chain.js';
import { nextGeneration, type Target } from '../nodes/fleet.js';
import type { StatusAnswer } from '../nodes/node-client.js';
import { digestOf, listNodes, renameServed } from '../nodes/node-store.js';
import { findSamples } from '../records/samples.js';
import { artifactPath, pruneArtifacts } from './apply-artifacts.js';
import type { Compiled, CompileResult } from './apply-compiler.js';
import { enforcedNames } from './apply-enforced.js';
import { requireProxyConfig, selfTestOf, toPolicyInput, toProxyConfig } from './apply-policy.js';
import { healActivation, reconcileNodes, type Healed } from './apply-recovery.js';
import { targetOf, viewNode, type ChangeRoadOptions } from './apply-target.js';
import type { ApplyDiagnostic, ApplyNode, ApplyOutcome, ApplyRequest, ApplySettings, ReplayImpact } from './contract.js';
import { findNotEnforced } from './not-enforced.js';
import type { ReplaySample } from './replay.js';
import type { Settings } from './schema.js';
import { revealSecrets } from './secrets.js';
import { findVersion, readHead, readState } from './store.js';

export interface ChangeRoad {
  readonly applySettings: ApplySettings;
  readonly heal: (audit: AuditLog) => Promise<Healed>;
  readonly reconcile: (audit: AuditLog) => Promise<string>;
  /** Compiles what serves now (or what is to serve) in the compile thread and drops the result. Rejects when that fails. */
  readonly warm: () => Promise<'compiled' | 'refused'>;
}

export function createChangeRoad(options: ChangeRoadOptions): ChangeRoad {
  return { applySettings: (request) => applySettings(options, request), heal: (audit) => healActivation(options, audit), reconcile: (audit) => reconcileNodes(options, audit), warm: () => warm(options) };
}

const artifactsKept = 20;
const examplesMax = 20;
/**
 * A dry run is asked for the replay itself. An apply waits for it and is to be through in a second and a half on a busy
 * machine, so it gets a taste: what is left of its first part, within bounds.
 */
const replayOnDryRun = { samples: 2000, budgetMs: 10_000 };
const replayOnApply = { samples: 300, budgetMsMin: 60, budgetMsMax: 400, throughByMs: 700 };
const nobodyHit: ReplayImpact = { samples: 0, replayed: 0, newly_blocked: 0, newly_allowed: 0, newly_blocked_examples: [], newly_allowed_examples: [] };

/** What serves now; `sha256` is null for a version from before artifacts were kept. */
interface Active {
  readonly versionId: number;
  readonly sha256: string | null;
  readonly config: ProxyConfig;
}

async function applySettings(options: ChangeRoadOptions, request: ApplyRequest): Promise<ApplyOutcome> {
  const { fleet, artifactsDirectory } = options;
  const watch = new StepWatch(options.clock);
  // behind a stream of records each question to the database waits its turn, so all are asked while the thread compiles
  const gathering = watch.time('gather', gather(options, request));
  const compiled = await watch.time('compile', compileSettings(options, request.settings));
  if (compiled.kind === 'refused') return { kind: 'refused', reason: summarize(compiled.diagnostics), diagnostics: compiled.diagnostics };
  for (const [part, ms] of Object.entries(compiled.steps)) watch.steps[`compile.${part}`] = ms;
  const { sha256, diagnostics, config } = compiled;
  const next: Target = { versionId: request.versionId, sha256, artifactFile: artifactPath(artifactsDirectory, sha256), config, selfTest: selfTestOf(request.settings) };
  const active = activeOf(options, request);
  const { samples, answers } = await gathering;
  const impact = active === null || active.sha256 === null ? null : await watch.time('replay', replay(options, { before: { ...active, sha256: active.sha256 }, after: next, samples, budgetMs: replayBudget(request.dryRun, watch.elapsedMs) }));
  await watch.time('store', compiled.stored);
  const findings = () => ({ artifactSha256: sha256, diagnostics, impact, notEnforcedYet: findNotEnforced(request.settings, enforcedNames), tookMs: Math.round(watch.elapsedMs), steps: watch.steps });
  if (request.dryRun) return { kind: 'dry_run', unchanged: active !== null && servesTheSame(active, next), ...findings() };

  const unchanged = active === null ? null : await findUnchanged(options, active, next, answers);
  if (unchanged !== null) return { kind: 'unchanged', nodes: unchanged, ...findings() };
  if (![...answers.values()].some(({ kind }) => kind === 'answered')) return { kind: 'failed', reason: 'no data-plane node answers', nodes: fleet.urls.map((url) => viewNode(url, answers.get(url), undefined, null)) };
  // what goes back where one node takes the new generation and another refuses it, made ready before anything is touched
  const fallback = active === null || request.activeSettings === null ? null : await targetOf(options, active.versionId, request.activeSettings, active.sha256);
  const generation = nextGeneration(request.generation, answers);
  await watch.time('mark', request.markPending(sha256, generation));
  const outcome = await watch.time('activate', fleet.activate(next, generation, answers, fallback));
  if (outcome.kind === 'failed') return outcome;
  pruneArtifacts(artifactsDirectory, artifactsKept, new Set([sha256, active?.sha256 ?? '']), options.now());
  return { kind: 'active', generation: outcome.generation, nodes: outcome.nodes, ...findings() };
}

class StepWatch {
  readonly steps: Record<string, number> = {};
  private readonly startedMs: number;

  constructor(private readonly clock: () => number) {
    this.startedMs = clock();
  }

  get elapsedMs(): number {
    return this.clock() - this.startedMs;
  }

  /** Nobody has to await a step that another one made superfluous. */
  time<T>(name: string, step: Promise<T>): Promise<T> {
    const atMs = this.clock();
    const timed = step.finally(() => {
      this.steps[name] = Math.round(this.clock() - atMs);
    });
    timed.catch(() => undefined);
    return timed;
  }
}

interface Gathered {
  readonly samples: readonly ReplaySample[];
  readonly answers: ReadonlyMap<string, StatusAnswer>;
}

/** What the change is held against. A dry run has nothing to ask the nodes. */
async function gather(options: ChangeRoadOptions, { activeSettings, dryRun }: ApplyRequest): Promise<Gathered> {
  const [samples, answers] = await Promise.all([
    activeSettings === null ? [] : findSamples(options.database.sql, dryRun ? replayOnDryRun.samples : replayOnApply.samples),
    dryRun ? new Map<string, StatusAnswer>() : options.fleet.ask(),
  ]);
  return { samples, answers };
}

function replayBudget(dryRun: boolean, elapsedMs: number): number {
  const { budgetMsMin, budgetMsMax, throughByMs } = replayOnApply;
  return dryRun ? replayOnDryRun.budgetMs : Math.max(budgetMsMin, Math.min(budgetMsMax, throughByMs - elapsedMs));
}

type Resolved = Extract<CompileResult, { kind: 'refused' }> | (Compiled & { readonly config: ProxyConfig });

async function compileSettings(options: ChangeRoadOptions, settings: Settings, anew = false): Promise<Resolved> {
  const { waf, exclusions, problems } = toPolicyInput(settings, options.findVirtualPatch);
  const { config, problems: fromProxy } = toProxyConfig(settings, options.upstreams);
  if (config === null || problems.length > 0) return { kind: 'refused', diagnostics: [...problems, ...fromProxy] };
  const compiled = await options.compiler.compile({ waf, exclusions }, anew);
  return compiled.kind === 'refused' ? compiled : { ...compiled, config };
}

function activeOf(options: ChangeRoadOptions, { activeSettings, activeVersion }: ApplyRequest): Active | null {
  if (activeSettings === null || activeVersion === null) return null;
  return { versionId: activeVersion.id, sha256: activeVersion.artifactSha256, config: requireProxyConfig(activeSettings, options.upstreams) };
}

interface ReplayInput {
  readonly before: { readonly sha256: string; readonly config: ProxyConfig };
  readonly after: Target;
  readonly samples: readonly ReplaySample[];
  readonly budgetMs: number;
}

async function replay(options: ChangeRoadOptions, { before, after, samples, budgetMs }: ReplayInput): Promise<ReplayImpact | null> {
  // loading two rule sets to replay nothing would cost an apply a third of its time
  if (samples.length === 0) return nobodyHit;
  return options.compiler.replay({ beforeSha256: before.sha256, beforeSites: before.config.sites, afterSha256: after.sha256, afterSites: after.config.sites, samples, examplesMax, budgetMs });
}

/**
 * The first compile reads the rule set, checks every pattern and reads the automata; a change later on does little of
 * that. The second runs code that is still being optimised: it takes half the time of the first, and the third again half.
 */
async function warm(options: ChangeRoadOptions): Promise<'compiled' | 'refused'> {
  const { sql } = options.database;
  const { activeId } = await readState(sql);
  const { settings } = (activeId === null ? null : await findVersion(sql, activeId)) ?? (await readHead(sql));
  const clear = revealSecrets(settings, options.sealing);
  await compileSettings(options, clear);
  const compiled = await compileSettings(options, clear, true);
  if (compiled.kind === 'compiled') await compiled.stored;
  if (compiled.kind === 'compiled' && (await findSamples(sql, 1)).length > 0) {
    const { sha256, config: { sites } } = compiled;
    // loads the rule set that serves, which the replay of the first apply begins with
    await options.compiler.replay({ beforeSha256: sha256, beforeSites: sites, afterSha256: sha256, afterSites: sites, samples: [], examplesMax, budgetMs: 1 });
  }
  return compiled.kind;
}

const servesTheSame = (active: Active, next: Target): boolean => active.sha256 === next.sha256 && JSON.stringify(active.config) === JSON.stringify(next.config);

/** The nodes' standing when they serve exactly this already; null when something is left to do. */
async function findUnchanged(options: ChangeRoadOptions, active: Active, next: Target, answers: ReadonlyMap<string, StatusAnswer>): Promise<ApplyNode[] | null> {
  const { sql } = options.database;
  if (!servesTheSame(active, next)) return null;
  const rows = await listNodes(sql);
  const expected = { versionId: active.versionId, config: digestOf(next.config) };
  const views = options.fleet.urls.map((url) => viewNode(url, answers.get(url), rows.find((row) => row.url === url), expected));
  if (!views.some(({ state }) => state === 'active') || views.some(({ state }) => state === 'behind')) return null;
  if (active.versionId !== next.versionId) await renameServed(sql, active.versionId, next.versionId);
  return views;
}

function summarize(diagnostics: readonly ApplyDiagnostic[]): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first === undefined) return 'the settings do not compile';
  const place = first.path == null ? `${first.file}:${first.line}:${first.column}` : first.path;
  return `${place}: ${first.message}${errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''}`;
}
