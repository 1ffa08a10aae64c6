// Artifact → Ruleset: everything that is immutable and shared. One native database per process, shared by its threads;
// databases that this machine refuses (other library version, other CPU) are rebuilt from the pattern sources that the
// plan carries. Whatever changes lives in the Transaction, or in a thread's inspector (compiled/inspect.ts).
import type { Artifact, ArtifactMeta } from './artifact-sections.js';
import { decodingArtifact, hashArtifact } from './artifact.js';
import type { Program } from './ir.js';
import { DatabaseRefused, type Database, type MatcherLibrary } from '../native/matcher.js';
import type { DatabaseIR, PlanIR } from './plan.js';
import { finishSteps, type Steps } from './steps.js';

export interface Ruleset {
  /** SHA-256 of the artifact, lower-case hex. */
  readonly hash: string;
  readonly meta: ArtifactMeta;
  readonly program: Program;
  readonly plan: PlanIR;
  readonly library: MatcherLibrary;
  /** Parallel to plan.databases. */
  readonly databases: readonly Database[];
  /** Keys of databases that this machine refused and that were compiled anew, with the reason. */
  readonly rebuilt: readonly { readonly key: string; readonly reason: string }[];
  /** Drops this holder's share of the databases; idempotent. */
  release(): void;
}

/** What the caller knows of the bytes, so that they are not hashed again while requests wait. */
export interface KnownArtifact {
  readonly sha256: string;
  /** The caller, or another thread, has held these very bytes against that name, so they are not damaged. */
  readonly isVerified: boolean;
}

/**
 * Loads an artifact in this thread. Throws ArtifactRefused for bytes that are not a whole artifact of this format;
 * takes seconds instead of milliseconds when databases have to be rebuilt.
 */
export function loadRuleset(bytes: Uint8Array, library: MatcherLibrary, known: KnownArtifact | null = null): Ruleset {
  return finishSteps(loadingRuleset(bytes, library, known));
}

/** The same, with places to pause at in the checksum and after each database. */
export function* loadingRuleset(
  bytes: Uint8Array,
  library: MatcherLibrary,
  known: KnownArtifact | null = null,
): Steps<Ruleset> {
  const artifact = yield* decodingArtifact(bytes, known?.isVerified);
  yield;
  return yield* rulesetSteps(artifact, known?.sha256 ?? hashArtifact(bytes), library, known?.isVerified);
}

/** What an artifact says, without its bytes: for whoever has just made it. */
export function rulesetOf(artifact: Artifact, hash: string, library: MatcherLibrary): Ruleset {
  return finishSteps(rulesetSteps(artifact, hash, library));
}

function* rulesetSteps(artifact: Artifact, hash: string, library: MatcherLibrary, isVerified = false): Steps<Ruleset> {
  const rebuilt: { key: string; reason: string }[] = [];
  const databases: Database[] = [];
  try {
    for (const database of artifact.plan.databases) {
      const blob = artifact.blobs.get(database.key);
      databases.push(loadOrRebuild(library, database, blob, isVerified, rebuilt));
      yield;
    }
  } catch (error) {
    for (const database of databases) database.release();
    throw error;
  }
  let released = false;
  return {
    hash,
    meta: artifact.meta,
    program: artifact.program,
    plan: artifact.plan,
    library,
    databases,
    rebuilt,
    release() {
      if (released) return;
      released = true;
      for (const database of databases) database.release();
    },
  };
}

function loadOrRebuild(
  library: MatcherLibrary,
  wanted: DatabaseIR,
  blob: Uint8Array | undefined,
  isVerified: boolean,
  rebuilt: { key: string; reason: string }[],
): Database {
  const { key } = wanted;
  let reason = 'the artifact carries no bytes for it';
  if (blob !== undefined && library.name === 'hyperscan') {
    try {
      return library.load(blob, key, isVerified);
    } catch (error) {
      if (!(error instanceof DatabaseRefused)) throw error;
      reason = error.message;
    }
  }
  rebuilt.push({ key, reason });
  return library.load(library.compile(wanted.patterns), `${key}:rebuilt`);
}
