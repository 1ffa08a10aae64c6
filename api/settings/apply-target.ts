// What a node is to serve, made again from settings that are stored: the configuration from the settings themselves, the
// artifact by its hash, or compiled anew when it is gone.
import { stat } from 'node:fs/promises';
import type { Sealing } from '../auth/sealing.js';
import type { Database } from '../db/client.js';
import type { Fleet, Target } from '../nodes/fleet.js';
import type { StatusAnswer } from '../nodes/node-client.js';
import { digestOf, type NodeRow } from '../nodes/node-store.js';
import { artifactPath } from './apply-artifacts.js';
import type { PolicyCompiler } from './apply-compiler.js';
import { requireProxyConfig, selfTestOf, toPolicyInput, type FindVirtualPatch, type Upstreams } from './apply-policy.js';
import type { ApplyNode } from './contract.js';
import type { Settings } from './schema.js';
import { revealSecrets } from './secrets.js';
import { findVersion } from './store.js';

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

/** null when the settings do not compile (any more). `sha256` null: compile whatever is on disk. */
export async function targetOf(options: ChangeRoadOptions, versionId: number, settings: Settings, sha256: string | null): Promise<Target | null> {
  const config = requireProxyConfig(settings, options.upstreams);
  const make = (known: string): Target => ({ versionId, sha256: known, artifactFile: artifactPath(options.artifactsDirectory, known), config, selfTest: selfTestOf(settings) });
  if (sha256 !== null && (await isFile(artifactPath(options.artifactsDirectory, sha256)))) return make(sha256);
  const { waf, exclusions } = toPolicyInput(settings, options.findVirtualPatch);
  const compiled = await options.compiler.compile({ waf, exclusions });
  if (compiled.kind === 'refused') return null;
  await compiled.stored;
  return make(compiled.sha256);
}

/** The target of a stored version; `fresh` compiles it anew. */
export async function versionTarget(options: ChangeRoadOptions, versionId: number | null, fresh = false): Promise<Target | null> {
  const version = versionId === null ? null : await findVersion(options.database.sql, versionId);
  return version === null ? null : targetOf(options, version.id, revealSecrets(version.settings, options.sealing), fresh ? null : version.artifactSha256);
}

/** What a node is held against. */
export interface Expected {
  readonly versionId: number;
  /** `digestOf` what the version's settings mean in the environment of today. */
  readonly config: string;
}

export async function expectedOf(options: ChangeRoadOptions, versionId: number): Promise<Expected | null> {
  const version = await findVersion(options.database.sql, versionId);
  return version === null ? null : { versionId, config: digestOf(requireProxyConfig(revealSecrets(version.settings, options.sealing), options.upstreams)) };
}

/** How a node stands to the version it should serve. */
export function viewNode(url: string, answer: StatusAnswer | undefined, row: NodeRow | undefined, expected: Expected | null): ApplyNode {
  if (answer === undefined || answer.kind === 'unreachable') return { url, state: 'unreachable', generation: row?.generation ?? null, detail: answer?.detail ?? 'it was never asked' };
  return { url, generation: answer.status.generation, ...standingOf(answer.status, row, expected) };
}

/** Of a node that answers; `serves` is what it said. */
export function standingOf(serves: { readonly generation: number | null; readonly ruleset: string }, row: NodeRow | undefined, expected: Expected | null): { readonly state: 'active' | 'behind'; readonly detail: string } {
  const isServing = row !== undefined && expected !== null && row.served_version === expected.versionId && row.served_generation === serves.generation && row.served_sha256 === serves.ruleset;
  if (!isServing) return { state: 'behind', detail: 'it serves something else than the active settings' };
  if (row.served_config !== expected.config) return { state: 'behind', detail: 'what the settings leave to the environment or the program is not what it was given' };
  return { state: 'active', detail: '' };
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
