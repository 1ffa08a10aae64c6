// THE ROAD OF A CHANGE (house.md §5), steps 5 to 15. One function, `applySettings`; everything else here is a step of it
// or brings back to the road what fell off it: a server that died on the way (`heal`), a node that was away (`reconcile`).
// Everything that can fail is done before the first node is touched. The caller holds the `apply` lock.
import { stat } from 'node:fs/promises';
import type { ProxyConfig } from '#proxy/contract';
import { systemActor, type AuditLog } from '../audit/chain.js';
import type { Sealing } from '../auth/sealing.js';
import type { Database } from '../db/client.js';
import { nextGeneration, type Fleet, type Target } from '../nodes/fleet.js';
import type { StatusAnswer } from '../nodes/node-client.js';
import { listNodes, renameServed, type NodeRow } from '../nodes/node-store.js';
import { findSamples } from '../records/samples.js';
import { artifactPath, pruneArtifacts } from './apply-artifacts.js';
import type { CompileResult, PolicyCompiler } from './apply-compiler.js';
import type { PolicyInput } from './apply-messages.js';
import { enforcedNames } from './apply-enforced.js';
import { requireProxyConfig, selfTestOf, toPolicyInput, toProxyConfig, type FindVirtualPatch, type Upstreams } from './apply-policy.js';
import type { ApplyDiagnostic, ApplyNode, ApplyOutcome, ApplyRequest, ApplySettings, ReplayImpact } from './contract.js';
import { findNotEnforced } from './not-enforced.js';
import type { Settings } from './schema.js';
import { revealSecrets } from './secrets.js';
import { clearPending, findVersion, markActive, readState } from './store.js';

export interface ChangeRoadOptions {
  readonly database: Database;
  readonly sealing: Sealing;
  readonly compiler: PolicyCompiler;
  readonly fleet: Fleet;
  readonly artifactsDirectory: string;
  readonly upstreams: Upstreams;
  readonly findVirtualPatch: FindVirtualPatch;
  readonly now: () => number;
  /** Milliseconds from any origin, for durations. */
  readonly clock: () => number;
}

export interface ChangeRoad {
  readonly applySettings: ApplySettings;
  /** Finishes or forgets an activation that a crash interrupted. Call with the audit log at start and in the background. */
  heal(audit: AuditLog): Promise<'nothing' | 'finished' | 'forgotten' | 'waiting'>;
  /** Asks every node, brings those that are behind up to date. Returns one line about it. */
  reconcile(audit: AuditLog): Promise<string>;
}

const artifactsKept = 20;
const examplesMax = 20;
/** An apply waits for the replay, so it gets a taste; a dry run is asked for the replay itself. */
const replayOnApply = { samples: 300, budgetMs: 400 };
const replayOnDryRun = { samples: 2000, budgetMs: 10_000 };

export function createChangeRoad(options: ChangeRoadOptions): ChangeRoad {
  const { database, fleet, compiler } = options;
  const { sql } = database;

  const inputOf = (settings: Settings): PolicyInput => {
    const { waf, exclusions } = toPolicyInput(settings, options.findVirtualPatch);
    return { waf, exclusions };
  };
  /** Settings that served once → what a node needs to serve them again; compiled anew when the artifact is gone. */
  const targetOf = async (versionId: number, settings: Settings, sha256: string | null): Promise<Target | null> => {
    const config = requireProxyConfig(settings, options.upstreams);
    const make = (known: string): Target => ({ versionId, sha256: known, artifactFile: artifactPath(options.artifactsDirectory, known), config, selfTest: selfTestOf(settings) });
    if (sha256 !== null && (await isFile(artifactPath(options.artifactsDirectory, sha256)))) return make(sha256);
    const compiled = await compiler.compile(inputOf(settings));
    return compiled.kind === 'compiled' ? make(compiled.sha256) : null;
  };
  const versionTarget = async (versionId: number | null): Promise<Target | null> => {
    const version = versionId === null ? null : await findVersion(sql, versionId);
    return version === null ? null : targetOf(version.id, revealSecrets(version.settings, options.sealing), version.artifactSha256);
  };

  const applySettings = async (request: ApplyRequest): Promise<ApplyOutcome> => {
    const startedMs = options.clock();
    const compiled = await compileSettings(options, request.settings);
    if (compiled.kind === 'refused') return { kind: 'refused', reason: summarize(compiled.diagnostics), diagnostics: compiled.diagnostics };
    const { sha256, diagnostics } = compiled;
    const { activeId } = await readState(sql);
    const active = activeId === null ? null : await findVersion(sql, activeId);
    const next: Target = { versionId: request.versionId, sha256, artifactFile: artifactPath(options.artifactsDirectory, sha256), config: compiled.config, selfTest: selfTestOf(request.settings) };
    const before = active === null || request.activeSettings === null ? null : { versionId: active.id, sha256: active.artifactSha256, config: requireProxyConfig(request.activeSettings, options.upstreams) };
    const impact = before?.sha256 == null ? null : await replay(options, { sha256: before.sha256, config: before.config }, next, request.dryRun);
    const findings = () => ({ artifactSha256: sha256, diagnostics, impact, notEnforcedYet: findNotEnforced(request.settings, enforcedNames), tookMs: Math.round(options.clock() - startedMs) });
    if (request.dryRun) return { kind: 'dry_run', ...findings() };

    const answers = await fleet.ask();
    const isSame = before !== null && before.sha256 === sha256 && JSON.stringify(before.config) === JSON.stringify(next.config);
    if (isSame) {
      const rows = await listNodes(sql);
      const views = fleet.urls.map((url) => viewNode(url, answers.get(url), rows.find((row) => row.url === url), before.versionId));
      if (views.some(({ state }) => state === 'active') && views.every(({ state }) => state !== 'behind')) {
        if (before.versionId !== next.versionId) await renameServed(sql, before.versionId, next.versionId);
        return { kind: 'unchanged', nodes: views, ...findings() };
      }
    }
    // what goes back where one node takes the new generation and another refuses it, made ready before anything is touched
    const fallback = before === null || request.activeSettings === null ? null : await targetOf(before.versionId, request.activeSettings, before.sha256);
    const generation = nextGeneration(request.generation, answers);
    if (![...answers.values()].some(({ kind }) => kind === 'answered')) return { kind: 'failed', reason: 'no data-plane node answers', nodes: fleet.urls.map((url) => viewNode(url, answers.get(url), undefined, null)) };
    await request.markPending(sha256, generation);
    const outcome = await fleet.activate(next, generation, answers, fallback);
    if (outcome.kind === 'failed') return outcome;
    pruneArtifacts(options.artifactsDirectory, artifactsKept, new Set([sha256, ...(before?.sha256 == null ? [] : [before.sha256])]), options.now());
    return { kind: 'active', generation: outcome.generation, nodes: outcome.nodes, ...findings() };
  };

  const heal: ChangeRoad['heal'] = async (audit) => {
    if ((await readState(sql)).pendingId === null) return 'nothing';
    return database.withLock('apply', async () => {
      const state = await readState(sql);
      if (state.pendingId === null) return 'nothing';
      const pending = await findVersion(sql, state.pendingId);
      const answers = await fleet.ask();
      const answered = [...answers.values()].flatMap((answer) => (answer.kind === 'answered' ? [answer.status] : []));
      if (answered.length === 0) return 'waiting';
      const isServed = answered.some(({ generation, ruleset }) => generation === state.generation && ruleset === pending?.artifactSha256);
      const target = isServed ? await versionTarget(state.pendingId) : null;
      const outcome = target === null ? null : await fleet.activate(target, nextGeneration(state.generation + 1, answers), answers, await versionTarget(state.activeId));
      const isFinished = outcome?.kind === 'active' && target !== null;
      await sql.begin(async (tx) => {
        if (isFinished) await markActive(tx, target.versionId, target.sha256, outcome.generation);
        else await clearPending(tx);
        const summary = isFinished ? `finished the activation of settings version ${target.versionId} that a restart had interrupted` : `settings version ${state.pendingId} was on its way when the server stopped and serves nowhere; what served before serves`;
        await audit.record(tx, { actor: systemActor, action: 'config.apply.healed', summary, details: { version: state.pendingId } });
      });
      return isFinished ? 'finished' : 'forgotten';
    });
  };

  /** Under the lock, with everything read again: the first look was without it. */
  const bringUp = (url: string, audit: AuditLog): Promise<string> => database.withLock('apply', async () => {
    const state = await readState(sql);
    const answer = (await fleet.ask()).get(url);
    const row = (await listNodes(sql)).find((one) => one.url === url);
    if (state.pendingId !== null || answer?.kind !== 'answered' || viewNode(url, answer, row, state.activeId).state !== 'behind') return 'is up to date';
    const target = await versionTarget(state.activeId);
    if (target === null) return 'cannot be brought up to date: the active settings do not compile any more';
    const generation = nextGeneration(state.generation, new Map([[url, answer]]));
    let result = await fleet.activateOne(url, target, generation);
    if (result.kind === 'refused') {
      // an artifact of an older program: the settings are what counts, so they are compiled anew
      const version = await findVersion(sql, target.versionId);
      const again = version === null ? null : await targetOf(version.id, revealSecrets(version.settings, options.sealing), null);
      if (again !== null && again.sha256 !== target.sha256) result = await fleet.activateOne(url, again, generation);
    }
    if (result.kind !== 'active') return `did not take it: ${result.kind === 'refused' ? result.reason : result.detail}`;
    await sql.begin((tx) => audit.record(tx, { actor: systemActor, action: 'nodes.reconcile', summary: `brought ${url} up to settings version ${target.versionId} as its generation ${generation}`, details: { url, version: target.versionId, generation } }));
    return `now serves version ${target.versionId} as generation ${generation}`;
  });

  return {
    applySettings,
    heal,
    async reconcile(audit) {
      const healed = await heal(audit);
      const answers = await fleet.ask();
      const state = await readState(sql);
      const rows = await listNodes(sql);
      const away = [...answers.values()].filter(({ kind }) => kind === 'unreachable').length;
      const lines = [`${answers.size - away} of ${answers.size} nodes answer`];
      if (healed !== 'nothing') lines.push(`an interrupted activation was ${healed}`);
      if (state.activeId === null || state.pendingId !== null) return lines.join('; ');
      for (const [url, answer] of answers) {
        const { state: standing } = viewNode(url, answer, rows.find((row) => row.url === url), state.activeId);
        if (standing === 'behind') lines.push(`${url} ${await bringUp(url, audit)}`);
      }
      return lines.join('; ');
    },
  };
}

type Compiled = Extract<CompileResult, { kind: 'refused' }> | (Extract<CompileResult, { kind: 'compiled' }> & { readonly config: ProxyConfig });

async function compileSettings(options: ChangeRoadOptions, settings: Settings): Promise<Compiled> {
  const { waf, exclusions, problems } = toPolicyInput(settings, options.findVirtualPatch);
  const { config, problems: fromProxy } = toProxyConfig(settings, options.upstreams);
  if (config === null || problems.length > 0) return { kind: 'refused', diagnostics: [...problems, ...fromProxy] };
  const compiled = await options.compiler.compile({ waf, exclusions });
  return compiled.kind === 'refused' ? compiled : { ...compiled, config };
}

async function replay(options: ChangeRoadOptions, before: Pick<Target, 'sha256' | 'config'>, after: Target, dryRun: boolean): Promise<ReplayImpact | null> {
  const { samples: count, budgetMs } = dryRun ? replayOnDryRun : replayOnApply;
  const samples = await findSamples(options.database.sql, count);
  // loading two rule sets to replay nothing would cost an apply a third of its time
  if (samples.length === 0) return { replayed: 0, newly_blocked: 0, newly_allowed: 0, newly_blocked_examples: [], newly_allowed_examples: [] };
  return options.compiler.replay({ beforeSha256: before.sha256, beforeSites: before.config.sites, afterSha256: after.sha256, afterSites: after.config.sites, samples, examplesMax, budgetMs });
}

/** How a node stands to the version it should serve. */
export function viewNode(url: string, answer: StatusAnswer | undefined, row: NodeRow | undefined, versionId: number | null): ApplyNode {
  if (answer === undefined || answer.kind === 'unreachable') return { url, state: 'unreachable', generation: row?.generation ?? null, detail: answer?.detail ?? 'it was never asked' };
  const { generation, ruleset } = answer.status;
  const isServing = row !== undefined && versionId !== null && row.served_version === versionId && row.served_generation === generation && row.served_sha256 === ruleset;
  return { url, state: isServing ? 'active' : 'behind', generation, detail: isServing ? '' : 'it serves something else than the active settings' };
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function summarize(diagnostics: readonly ApplyDiagnostic[]): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first === undefined) return 'the settings do not compile';
  const place = first.path == null ? `${first.file}:${first.line}:${first.column}` : first.path;
  return `${place}: ${first.message}${errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''}`;
}
