// What could be done about an exclusion, for people to decide.
import type { Exclusion } from './scope.js';
import type { ExclusionUse } from './store.js';

const dayMs = 86_400_000;

export type Proposal =
  | { readonly action: 'keep' | 'remove'; readonly reason: string; readonly expires_at: null }
  | { readonly action: 'renew' | 'limit'; readonly reason: string; readonly expires_at: string };

export const idleDays = 30;
const soonDays = 14;
const renewedDays = 90;

/**
 * What to do about an exclusion, for people to decide; nothing is changed by itself. `skipped`: records were left out,
 * so "nobody came" cannot be said.
 */
export function proposeFor(exclusion: Exclusion, use: ExclusionUse, nowMs: number, skipped: boolean): Proposal {
  const decide = (action: 'keep' | 'remove', reason: string): Proposal => ({ action, reason, expires_at: null });
  const later = new Date(Math.ceil(nowMs / dayMs) * dayMs + renewedDays * dayMs).toISOString();
  const expiresMs = exclusion.expires_at === null ? Infinity : Date.parse(exclusion.expires_at);
  if (expiresMs <= nowMs) return decide('remove', 'it has expired and does nothing');
  if (!exclusion.enabled) return decide('keep', 'it is switched off');
  const watchedMs = use.watchedSince === null ? 0 : nowMs - use.watchedSince.getTime();
  const isIdle = use.requests === 0 && watchedMs >= idleDays * dayMs;
  if (isIdle && !skipped) return decide('remove', `no request came where it applies for ${idleDays} days`);
  if (expiresMs - nowMs <= soonDays * dayMs) {
    return use.requests === 0
      ? decide('keep', 'it expires soon, and nobody came by lately')
      : {
          action: 'renew',
          reason:
            `it expires soon and applied to ${use.requests} requests in ${idleDays} days; ` +
            'have the application fixed, or let it last longer',
          expires_at: later,
        };
  }
  if (exclusion.expires_at === null)
    return { action: 'limit', reason: 'it never expires; with an end somebody looks at it again', expires_at: later };
  if (watchedMs < idleDays * dayMs) return decide('keep', `it is watched for less than ${idleDays} days`);
  return decide(
    'keep',
    use.requests > 0
      ? `it applied to ${use.requests} requests in ${idleDays} days`
      : 'records were left out of the counting, so that nobody came cannot be said',
  );
}
