// Nobody hands on, or takes away, what they do not have themselves.
import { ApiError } from '#http-kit';
import { isUnconfined } from '../kit/caller.js';
import type { Call } from '../kit/endpoint.js';
import { isPermission, type VmPermission } from '../kit/permissions.js';

/** Throws `role_denied` for permissions that the caller does not have everywhere. */
export function requireHeld(call: Call, wanted: readonly string[], what: 'hand on' | 'take away' = 'hand on'): void {
  const hasEverywhere = (name: VmPermission): boolean => {
    const reach = call.caller.reach(name, !name.startsWith('view_'));
    return reach !== null && isUnconfined(reach);
  };
  const missing = wanted.filter((name) => !isPermission(name) || !hasEverywhere(name));
  if (missing.length > 0)
    throw new ApiError('role_denied', `You cannot ${what} ${missing.join(', ')}: you do not have it everywhere.`);
}
