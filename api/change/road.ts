// THE ROAD OF A CHANGE (ARCHITECTURE.md), from a saved version to every node, top to bottom. flow.ts holds the `apply`
// lock around it and keeps the outcome; recovery.ts brings back what fell off it, by the same steps:
//   resolve (node-target.ts: steps/specifications.ts, steps/managed-rules.ts, steps/policy.ts, steps/proxy-config.ts)
//   → prove (steps/rule-tests.ts) → build (the compile process) → replay → keep → mark → activate (nodes/fleet.ts)
// Everything that can fail is done before the first node is touched; nothing wraps the road from outside.
import type { ProxyConfig } from '#proxy/contract';
import type { AuditLog } from '../audit/chain.js';
import { nextGeneration, type Target } from '../nodes/fleet.js';
import type { StatusAnswer } from '../nodes/node-client.js';
import { digestOf, listNodes, renameServed } from '../nodes/node-store.js';
import { findSamples } from '../records/samples.js';
import { findNotEnforced } from '../settings/not-enforced.js';
import { readState } from '../settings/state.js';
import { findVersion, readHead } from '../settings/store.js';
import { pruneArtifacts } from './artifacts.js';
import type {
  ApplyDiagnostic,
  ApplyNode,
  ApplyOutcome,
  ApplyRequest,
  ApplySettings,
  Expected,
  ReplayImpact,
  VersionToServe,
} from './contract.js';
import {
  buildTarget,
  configOf,
  expectedOf,
  resolveVersion,
  restoreTarget,
  viewNode,
  type ChangeRoadParts,
} from './node-target.js';
import { healActivation, reconcileNodes, type Healed } from './recovery.js';
import { replayConfigOf, type ReplaySample } from './replay.js';
import { keepManagedRules } from './steps/managed-rules.js';
import { tryRequests, type TryRequests } from './try-requests.js';

export interface ChangeRoad {
  /** The caller holds the `apply` lock. */
  readonly apply: ApplySettings;
  readonly heal: (audit: AuditLog) => Promise<Healed>;
  readonly reconcile: (audit: AuditLog) => Promise<string>;
  /**
   * Compiles what serves now (or what is to serve) in the compile process, drops the result. Rejects when that fails.
   */
  readonly warm: () => Promise<'compiled' | 'refused'>;
  /** What a node that serves this version is held against; null when the version is no longer kept. */
  readonly expectedOf: (versionId: number) => Promise<Expected | null>;
  readonly tryRequests: TryRequests;
}

export function createChangeRoad(parts: ChangeRoadParts): ChangeRoad {
  return {
    apply: (request) => applySettings(parts, request),
    heal: (audit) => healActivation(parts, audit),
    reconcile: (audit) => reconcileNodes(parts, audit),
    warm: () => warm(parts),
    expectedOf: (versionId) => expectedOf(parts, versionId),
    tryRequests: (rules, requests, site) => tryRequests(parts, rules, requests, site),
  };
}

const artifactsKept = 20;
const examplesMax = 20;
/**
 * A dry run is asked for the replay itself. An apply waits for it and is to be through in a second and a half on a busy
 * machine, so it gets a taste: what is left of its first part, within bounds.
 */
const replayOnDryRun = { samples: 2000, budgetMs: 10_000 };
const replayOnApply = { samples: 300, budgetMsMin: 60, budgetMsMax: 400, throughByMs: 700 };
const nobodyHit: ReplayImpact = {
  samples: 0,
  replayed: 0,
  newly_blocked: 0,
  newly_allowed: 0,
  newly_blocked_examples: [],
  newly_allowed_examples: [],
};

async function applySettings(parts: ChangeRoadParts, request: ApplyRequest): Promise<ApplyOutcome> {
  const { fleet } = parts;
  const { active } = request;
  const watch = new StepWatch(parts.clock);
  // behind a stream of records each question to the database waits its turn, so all are asked while rules compile
  const gathering = watch.time('gather', gather(parts, request));
  const resolved = await watch.time('resolve', resolveVersion(parts, request.version, 'today'));
  if (resolved.kind === 'refused') return refusal(resolved.diagnostics);
  const failing = await watch.time('prove', parts.ruleTests.prove(resolved.settings));
  if (failing.length > 0)
    return { ...refusal(failing), reason: `${failing.length} tests of custom rules fail: ${failing[0]?.message}.` };
  const next = await watch.time('compile', buildTarget(parts, resolved));
  if (next.kind === 'refused') return refusal(next.diagnostics);
  watch.parts('compile', next.compiled.steps);
  const before: Before | null = active === null ? null : { version: active, config: await configOf(parts, active) };
  const { samples, answers } = await gathering;
  const { impact, missing } =
    before === null
      ? { impact: null, missing: 'nothing was active before, so there is nothing to compare with' }
      : await watch.time(
          'replay',
          replay(parts, { before, after: next, samples, budgetMs: replayBudget(request.dryRun, watch.elapsedMs) }),
        );
  await watch.time('store', next.compiled.stored);
  const { sha256, diagnostics, managed } = next;
  const findings = () => ({
    artifactSha256: sha256,
    managedSha256: managed.sha256,
    diagnostics,
    impact,
    impactMissing: missing,
    notEnforcedYet: findNotEnforced(resolved.settings),
    tookMs: Math.round(watch.elapsedMs),
    steps: watch.steps,
  });
  if (request.dryRun)
    return { kind: 'dry_run', unchanged: before !== null && servesTheSame(before, next), ...findings() };

  await keepManagedRules(parts.database.sql, managed);
  const unchanged = before === null ? null : await findUnchanged(parts, before, next, answers);
  if (unchanged !== null) return { kind: 'unchanged', nodes: unchanged, ...findings() };
  if (![...answers.values()].some(({ kind }) => kind === 'answered'))
    return {
      kind: 'failed',
      reason: 'no data-plane node answers',
      nodes: fleet.urls.map((url) => viewNode(url, answers.get(url), undefined, null)),
    };
  // what goes back where one node takes the new generation and another refuses it, made ready before anything is
  // touched
  const fallback = active === null ? null : await restoreTarget(parts, active, 'present');
  const generation = nextGeneration(request.generation, answers);
  await watch.time('mark', request.markPending({ artifactSha256: sha256, managedSha256: managed.sha256 }, generation));
  const outcome = await watch.time('activate', fleet.activate(next, generation, answers, fallback));
  if (outcome.kind === 'failed') return outcome;
  pruneArtifacts(parts.artifactsDirectory, artifactsKept, new Set([sha256, active?.artifactSha256 ?? '']), parts.now());
  return { kind: 'active', generation: outcome.generation, nodes: outcome.nodes, ...findings() };
}

/** What serves now. */
interface Before {
  readonly version: VersionToServe;
  readonly config: ProxyConfig;
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

  parts(of: string, steps: Readonly<Record<string, number>>): void {
    for (const [name, ms] of Object.entries(steps)) this.steps[`${of}.${name}`] = ms;
  }
}

interface Gathered {
  readonly samples: readonly ReplaySample[];
  readonly answers: ReadonlyMap<string, StatusAnswer>;
}

/** What the change is held against. A dry run has nothing to ask the nodes. */
async function gather(parts: ChangeRoadParts, { active, dryRun }: ApplyRequest): Promise<Gathered> {
  const [samples, answers] = await Promise.all([
    active === null ? [] : findSamples(parts.database.sql, dryRun ? replayOnDryRun.samples : replayOnApply.samples),
    dryRun ? new Map<string, StatusAnswer>() : parts.fleet.ask(),
  ]);
  return { samples, answers };
}

function replayBudget(dryRun: boolean, elapsedMs: number): number {
  const { budgetMsMin, budgetMsMax, throughByMs } = replayOnApply;
  return dryRun ? replayOnDryRun.budgetMs : Math.max(budgetMsMin, Math.min(budgetMsMax, throughByMs - elapsedMs));
}

interface ReplayInput {
  readonly before: Before;
  readonly after: Target;
  readonly samples: readonly ReplaySample[];
  readonly budgetMs: number;
}

interface Replayed {
  readonly impact: ReplayImpact | null;
  /** Why there is no impact; null: there is one. */
  readonly missing: string | null;
}

const noArtifact =
  'the version that serves has no artifact on this server: it was applied by an older program that kept none';
const noUse =
  'the artifact of the version that serves cannot be read by this program: it is gone, damaged or of another ' +
  'release. After this apply there is one again';

/** A comparison needs the artifact of the version that serves; without it the answer says why there is none. */
async function replay(parts: ChangeRoadParts, { before, after, samples, budgetMs }: ReplayInput): Promise<Replayed> {
  const beforeSha256 = before.version.artifactSha256;
  if (beforeSha256 === null) return { impact: null, missing: noArtifact };
  // loading two rule sets to replay nothing would cost an apply a third of its time
  if (samples.length === 0) return { impact: nobodyHit, missing: null };
  const impact = await parts.compiler.replay({
    beforeSha256,
    beforeConfig: replayConfigOf(before.config),
    afterSha256: after.sha256,
    afterConfig: replayConfigOf(after.config),
    samples,
    examplesMax,
    budgetMs,
  });
  return { impact, missing: impact === null ? noUse : null };
}

/**
 * The first compile reads the rule set, checks every pattern and reads the automata; a change later on does little of
 * that. The second runs code that is still being optimised: it takes half the time of the first, and the third again
 * half.
 */
async function warm(parts: ChangeRoadParts): Promise<'compiled' | 'refused'> {
  const { sql } = parts.database;
  const { activeId } = await readState(sql);
  const active = activeId === null ? null : await findVersion(sql, activeId);
  const resolved = await resolveVersion(parts, active ?? (await readHead(sql)), active === null ? 'today' : 'applied');
  if (resolved.kind === 'refused') return 'refused';
  await buildTarget(parts, resolved);
  const built = await buildTarget(parts, resolved, true);
  if (built.kind === 'refused') return 'refused';
  await built.compiled.stored;
  if ((await findSamples(sql, 1)).length > 0) {
    const { sha256 } = built;
    const config = replayConfigOf(built.config);
    // loads the rule set that serves, which the replay of the first apply begins with
    await parts.compiler.replay({
      beforeSha256: sha256,
      beforeConfig: config,
      afterSha256: sha256,
      afterConfig: config,
      samples: [],
      examplesMax,
      budgetMs: 1,
    });
  }
  return 'compiled';
}

const servesTheSame = (before: Before, next: Target): boolean =>
  before.version.artifactSha256 === next.sha256 && JSON.stringify(before.config) === JSON.stringify(next.config);

/** The nodes' standing when they serve exactly this already; null when something is left to do. */
async function findUnchanged(
  parts: ChangeRoadParts,
  before: Before,
  next: Target,
  answers: ReadonlyMap<string, StatusAnswer>,
): Promise<ApplyNode[] | null> {
  const { sql } = parts.database;
  if (!servesTheSame(before, next)) return null;
  const rows = await listNodes(sql);
  const activeId = before.version.id;
  const expected = { versionId: activeId, config: digestOf(next.config) };
  const views = parts.fleet.urls.map((url) =>
    viewNode(
      url,
      answers.get(url),
      rows.find((row) => row.url === url),
      expected,
    ),
  );
  if (!views.some(({ state }) => state === 'active') || views.some(({ state }) => state === 'behind')) return null;
  if (activeId !== next.versionId) await renameServed(sql, activeId, next.versionId);
  return views;
}

/** Nothing was touched. */
function refusal(diagnostics: readonly ApplyDiagnostic[]): Extract<ApplyOutcome, { kind: 'refused' }> {
  return { kind: 'refused', reason: summarize(diagnostics), diagnostics };
}

function summarize(diagnostics: readonly ApplyDiagnostic[]): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first === undefined) return 'the settings do not compile';
  const place = first.path == null ? `${first.file}:${first.line}:${first.column}` : first.path;
  return `${place}: ${first.message}${errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''}`;
}
