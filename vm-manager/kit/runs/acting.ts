// Work that the clock begins, with the rights that its owner has at this moment, and under their name in the audit log.
import { ApiError } from '#http-kit';
import type { Host } from '../../host.js';
import { callerOf } from '../caller.js';
import type { Acting } from '../endpoint.js';
import type { VmPermission } from '../permissions.js';

/** Throws ApiError where the owner is gone, or may not do it any more. */
export async function actingAs(host: Host, userId: string, permission: VmPermission, now: Date): Promise<Acting> {
  const caller = await callerOf(host, userId);
  if (caller === null) throw new ApiError('role_denied', 'Its owner is suspended, or is no user any more.');
  const reach = caller.reach(permission, true);
  if (reach === null) throw new ApiError('role_denied', `Its owner has not the permission ${permission} any more.`);
  const { actor } = caller;
  return {
    ...{ host, sql: host.sql, now, caller, reach },
    audited: async (action, summary, work, details) =>
      host.sql.begin(async (tx) => {
        const made = await work(tx);
        const text = typeof summary === 'string' ? summary : summary(made);
        const of = details?.(made) ?? null;
        await host.audit.record(tx, { actor, action, summary: `${actor.name} ${text} (by a schedule)`, details: of });
        return made;
      }) as never,
  };
}
