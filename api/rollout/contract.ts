import type { AuditLog } from '../audit/chain.js';
import { ApiError, type Actor } from '../http-kit/index.js';
import type { Limits } from './judge.js';
import type { RolloutRow } from './store.js';

export const noRollout = (): ApiError => new ApiError('not_found', 'No rollout is under way.');

export interface RolloutRequest {
  /** Labels `ring`, in the order in which they get the version. */
  readonly rings: readonly string[];
  readonly limits: Limits;
}

export interface Rollouts {
  /**
   * Compiles the head settings and puts them on the first ring. Throws ApiError `conflict` (another one is under way,
   * nothing to roll out), `unfit` (no node has such a label), `apply_refused`, `apply_failed`.
   */
  start(audit: AuditLog, actor: Actor, request: RolloutRequest): Promise<RolloutRow>;
  /** Takes it back. Throws ApiError `not_found` where none is under way, as does the next. */
  stop(audit: AuditLog, actor: Actor): Promise<RolloutRow>;
  /** Goes on without waiting for the judgement. */
  advance(audit: AuditLog, actor: Actor): Promise<RolloutRow>;
  /** Looks at the one that is under way, judges it, and takes the step that follows. */
  look(audit: AuditLog): Promise<void>;
}
