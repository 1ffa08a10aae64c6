// Guessing is slowed down per account and source address, and more gently per account alone, always with growing delays
// and never for good: a hard lock would let anybody lock the administrator out. An attempt counts before the password is
// hashed, so parallel guesses cannot slip through, and a locked attempt costs no hash.
import ipaddr from 'ipaddr.js';
import { createHash } from 'node:crypto';
import type { Queryable } from '../db/client.js';
import { ApiError } from '../errors.js';

export interface LockoutPolicy {
  /** Wrong attempts per account and source address before the first delay. */
  readonly threshold: number;
  /** Longest delay. */
  readonly lockMsMax: number;
}

const firstDelayMs = 30_000;
const forgetAfterMs = 24 * 3600_000;
/** The account alone tolerates more, and waits at most this long: an attacker must not keep the owner out. */
const accountFactor = 10;
const accountDelayMsMax = 60_000;

/** IPv6 clients own a /64; counting single addresses would count nothing. */
export function toSourceKey(ip: string): string {
  if (!ipaddr.isValid(ip)) return 'unknown';
  const address = ipaddr.process(ip);
  return address.kind() === 'ipv4' ? address.toString() : `${(address as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16)).join(':')}::/64`;
}

const hide = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** Counts an attempt, or throws `login_locked` with Retry-After. `account` is the normalised login name, known or not. */
export async function beginAttempt(sql: Queryable, account: string, ip: string, isKnownSource: boolean, policy: LockoutPolicy, nowMs: number): Promise<void> {
  await count(sql, pairKey(account, ip), policy.threshold, policy.lockMsMax, nowMs);
  if (!isKnownSource) await count(sql, accountKey(account), policy.threshold * accountFactor, accountDelayMsMax, nowMs);
}

/** After a login that succeeded. */
export async function forgetAttempts(sql: Queryable, account: string, ip: string): Promise<void> {
  await sql`delete from login_failures where key in (${pairKey(account, ip)}, ${accountKey(account)})`;
}

export async function pruneAttempts(sql: Queryable, nowMs: number): Promise<number> {
  return (await sql`delete from login_failures where last_at < ${new Date(nowMs - forgetAfterMs)}`).count;
}

const pairKey = (account: string, ip: string): string => `pair:${hide(`${account} ${toSourceKey(ip)}`)}`;
const accountKey = (account: string): string => `account:${hide(account)}`;

async function count(sql: Queryable, key: string, threshold: number, delayMsMax: number, nowMs: number): Promise<void> {
  const now = new Date(nowMs);
  const [row] = await sql<{ failures: number }[]>`
    insert into login_failures as f (key, failures, last_at) values (${key}, 1, ${now})
    on conflict (key) do update set failures = case when f.last_at < ${new Date(nowMs - forgetAfterMs)} then 1 else f.failures + 1 end, last_at = ${now}
    where f.locked_until is null or f.locked_until <= ${now}
    returning failures`;
  if (row === undefined) {
    const [locked] = await sql<{ locked_until: Date | null }[]>`select locked_until from login_failures where key = ${key}`;
    const seconds = Math.max(1, Math.ceil(((locked?.locked_until?.getTime() ?? nowMs) - nowMs) / 1000));
    throw new ApiError('login_locked', `Too many wrong attempts. Try again in ${seconds} seconds.`, { headers: { 'retry-after': String(seconds) } });
  }
  if (row.failures < threshold) return;
  const delayMs = Math.min(delayMsMax, firstDelayMs * 2 ** Math.min(20, row.failures - threshold));
  await sql`update login_failures set locked_until = ${new Date(nowMs + delayMs)} where key = ${key}`;
}
