// Errors of a database that is away or full. They are nobody's bug: the caller is told so, and to come again.

/** postgres.js's own codes, beside those of the system and SQLSTATEs. */
const connectionCodes = new Set(['CONNECTION_CLOSED', 'CONNECTION_ENDED', 'CONNECTION_DESTROYED', 'CONNECT_TIMEOUT']);
/** Classes 08 (connection exception) and 57P0x (server shuts down, crashed or starts), 53300 (too many connections). */
const unreachableState = /^(08...|57P0\d|53300)$/;
/** SQLSTATE disk_full, PostgreSQL's 58030 for input and output in general, and what the system says of a disk. */
const diskCodes = new Set(['53100', '58030', 'ENOSPC', 'EDQUOT', 'EROFS']);

export type Outage = 'unreachable' | 'disk' | 'read-only';

/**
 * What is wrong with the database behind `error` or one of its causes: it does not answer, its disk takes nothing more,
 * or it takes no writes (SQLSTATE 25006: a standby, as after a failover); null where the error says none of them. A
 * refused connection counts only where a query met it: other servers can refuse one, too. Source: PostgreSQL manual,
 * appendix A (error codes).
 */
export function findOutage(error: unknown): Outage | null {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const { code } = at as NodeJS.ErrnoException;
    if (typeof code !== 'string') continue;
    if (diskCodes.has(code)) return 'disk';
    if (code === '25006') return 'read-only';
    if (connectionCodes.has(code) || unreachableState.test(code)) return 'unreachable';
    if ('syscall' in at && 'query' in at) return 'unreachable'; // postgres.js notes the query on what ended it
  }
  return null;
}
