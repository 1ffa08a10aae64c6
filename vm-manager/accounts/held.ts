// Nobody hands on what they do not have themselves.
import { ApiError } from '#http-kit';
import type { Call } from '../kit/endpoint.js';
import { isPermission } from '../kit/permissions.js';

/** Throws `role_denied` for permissions that the caller does not have everywhere. */
export function requireHeld(call: Call, wanted: readonly string[]): void {
  const missing = wanted.filter((name) => !isPermission(name) || call.caller.reach(name, true)?.all !== true);
  if (missing.length > 0)
    throw new ApiError('role_denied', `You cannot hand on ${missing.join(', ')}: you do not have it everywhere.`);
}
