// A stored version of the settings → what a node is to serve. `resolveVersion` and `buildTarget` are the only way
// there: apply, dry run, warm-up, fallback, rollback and recovery all take it, so nothing can be forgotten on one.
import { stat } from 'node:fs/promises';
import type { ProxyConfig } from '#proxy/contract';
import type { Sealing } from '../auth/sealing.js';
import type { Database } from '../db/client.js';
import type { Fleet, Target } from '../nodes/fleet.js';
import type { StatusAnswer } from '../nodes/node-client.js';
import { digestOf, type NodeRow } from '../nodes/node-store.js';
import type { RuleSettings, Settings } from '#settings';
import { revealSecrets } from '../settings/secrets.js';
import { listCrawlerLists } from '../edge/crawler-lists/store.js';
import { findVersion } from '../settings/store.js';
import { artifactPath } from './artifacts.js';
import type { Compiled, PolicyCompiler } from './policy-compiler.js';
import type { ApplyDiagnostic, ApplyNode, Expected, VersionToServe } from './contract.js';
import { findAppliedRules, keepManagedRules, readManagedRules, type ManagedRules } from './steps/managed-rules.js';
import { withCrawlerRanges } from './steps/crawler-ranges.js';
import { toPolicy } from './steps/policy.js';
import { impossibleIn, proxyConfigOf, selfTestOf, type Upstreams } from './steps/proxy-config.js';
import {
  graphqlDeclaredIn,
  plansFor,
  readSpecifications,
  withSpecifications,
  type SpecificationsInForce,
} from './steps/specifications.js';
import type { RuleTests } from './steps/rule-tests.js';

export interface ChangeRoadParts {
  readonly database: Database;
  readonly sealing: Sealing;
  readonly compiler: PolicyCompiler;
  readonly ruleTests: RuleTests;
  readonly fleet: Fleet;
  readonly artifactsDirectory: string;
  readonly upstreams: Upstreams;
  readonly now: () => number;
  /** Milliseconds from any origin, for durations. */
  readonly clock: () => number;
}

type Refused = { readonly kind: 'refused'; readonly diagnostics: readonly ApplyDiagnostic[] };

/** What a version means today: the rules to compile, and everything beside them. */
export interface Resolved {
  readonly kind: 'resolved';
  readonly versionId: number;
  /** Secrets in plain text: never store or log it. */
  readonly settings: Settings;
  readonly managed: ManagedRules;
  readonly policy: RuleSettings;
  readonly config: ProxyConfig;
}

/**
 * `rules`: whose managed rules go with it. An apply takes the feed's of `today`; whatever brings a version back takes
 * those it was `applied` with (today's where those were not kept: versions from before they were).
 */
export async function resolveVersion(
  parts: ChangeRoadParts,
  version: VersionToServe,
  rules: 'today' | 'applied',
): Promise<Resolved | Refused> {
  const { sql } = parts.database;
  const saved = revealSecrets(version.settings, parts.sealing);
  const specifications = await readSpecifications(sql, saved);
  const lists = await listCrawlerLists(sql, saved);
  const settings = withCrawlerRanges(withSpecifications(saved, specifications), lists);
  const kept = rules === 'applied' ? await findAppliedRules(sql, version.managedSha256) : null;
  const managed = kept ?? (await readManagedRules(sql, settings));
  const { rules: policy, problems } = toPolicy(settings, managed);
  const impossible = [...impossibleIn(settings), ...specifications.problems, ...problems];
  if (impossible.length > 0) return { kind: 'refused', diagnostics: impossible };
  const config = configWith(parts, settings, specifications);
  return { kind: 'resolved', versionId: version.id, settings, managed, policy, config };
}

export interface Built extends Target {
  readonly kind: 'built';
  readonly managed: ManagedRules;
  readonly diagnostics: readonly ApplyDiagnostic[];
  readonly compiled: Pick<Compiled, 'steps' | 'stored'>;
}

/**
 * `anew`: also where the same was compiled before. The artifact may still be on its way to the disk: see
 * `compiled.stored`.
 */
export async function buildTarget(parts: ChangeRoadParts, resolved: Resolved, anew = false): Promise<Built | Refused> {
  const compiled = await parts.compiler.compile(resolved.policy, anew);
  if (compiled.kind === 'refused') return compiled;
  const { sha256, diagnostics, steps, stored } = compiled;
  return {
    kind: 'built',
    ...targetOf(parts, resolved, sha256),
    managed: resolved.managed,
    diagnostics,
    compiled: { steps, stored },
  };
}

function targetOf(parts: ChangeRoadParts, { versionId, config, settings }: Resolved, sha256: string): Target {
  return {
    versionId,
    sha256,
    artifactFile: artifactPath(parts.artifactsDirectory, sha256),
    config,
    selfTest: selfTestOf(settings),
  };
}

export interface Restored extends Target {
  /** Of the managed rules in it; null: unknown, it is from before they were kept. */
  readonly managedSha256: string | null;
}

/**
 * What a version that served is brought back as. `artifact`: `present` takes the file on disk as it is, whoever gets it
 * looks whether it is whole; where there is none, and with `none`, it is compiled again. null: it does not compile any
 * more.
 */
export async function restoreTarget(
  parts: ChangeRoadParts,
  version: VersionToServe,
  artifact: 'present' | 'none',
): Promise<Restored | null> {
  const resolved = await resolveVersion(parts, version, 'applied');
  if (resolved.kind === 'refused') return null;
  const { artifactSha256, managedSha256 } = version;
  if (artifact === 'present' && artifactSha256 !== null && (await isPresent(parts.artifactsDirectory, artifactSha256)))
    return { ...targetOf(parts, resolved, artifactSha256), managedSha256 };
  const built = await buildTarget(parts, resolved);
  if (built.kind === 'refused') return null;
  await built.compiled.stored;
  await keepManagedRules(parts.database.sql, built.managed);
  return { ...built, managedSha256: built.managed.sha256 };
}

async function isPresent(directory: string, sha256: string): Promise<boolean> {
  try {
    return (await stat(artifactPath(directory, sha256))).isFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

export async function expectedOf(parts: ChangeRoadParts, versionId: number): Promise<Expected | null> {
  const version = await findVersion(parts.database.sql, versionId);
  return version === null ? null : { versionId, config: digestOf(await configOf(parts, version)) };
}

const configWith = (
  { upstreams }: Pick<ChangeRoadParts, 'upstreams'>,
  settings: Settings,
  specifications: SpecificationsInForce,
): ProxyConfig =>
  proxyConfigOf(settings, upstreams, plansFor(settings, specifications), graphqlDeclaredIn(settings, specifications));

/** Of a version that served. */
export async function configOf(
  parts: ChangeRoadParts,
  version: Pick<VersionToServe, 'settings'>,
): Promise<ProxyConfig> {
  const { sql } = parts.database;
  const saved = revealSecrets(version.settings, parts.sealing);
  const specifications = await readSpecifications(sql, saved);
  const lists = await listCrawlerLists(sql, saved);
  const settings = withCrawlerRanges(withSpecifications(saved, specifications), lists);
  return configWith(parts, settings, specifications);
}

/** How a node stands to the version it should serve. */
export function viewNode(
  url: string,
  answer: StatusAnswer | undefined,
  row: NodeRow | undefined,
  expected: Expected | null,
): ApplyNode {
  if (answer === undefined || answer.kind === 'unreachable')
    return {
      url,
      state: 'unreachable',
      generation: row?.generation ?? null,
      detail: answer?.detail ?? 'it was never asked',
    };
  return { url, generation: answer.status.generation, ...standingOf(answer.status, row, expected) };
}

/** Of a node that answers; `serves` is what it said. */
export function standingOf(
  serves: { readonly generation: number | null; readonly ruleset: string },
  row: NodeRow | undefined,
  expected: Expected | null,
): { readonly state: 'active' | 'behind'; readonly detail: string } {
  const isServing =
    row !== undefined &&
    expected !== null &&
    row.served_version === expected.versionId &&
    row.served_generation === serves.generation &&
    row.served_sha256 === serves.ruleset;
  if (!isServing) return { state: 'behind', detail: 'it serves something else than the active settings' };
  if (row.served_config !== expected.config)
    return {
      state: 'behind',
      detail: 'what the settings leave to the environment or the program is not what it was given',
    };
  return { state: 'active', detail: '' };
}
