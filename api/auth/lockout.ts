// Guessing is slowed down per account and source address, and more gently per account alone, always with growing delays
// and never for good: a hard lock would let an attacker lock the administrator out. Password spraying (many accounts
// from many addresses, CWE-307) is limited by the total of attempts from sources that their account does not know;
// logins from known sources and from this host are never subject to that. An attempt counts before the password is
// hashed, so parallel guesses cannot slip through, and a locked attempt costs no hash.
import { createHash } from 'node:crypto';
import { readAddress, toSourceKey } from '../addresses/address.js';
import type { Queryable } from '../db/client.js';
import { ApiError } from '../http-kit/index.js';

export interface LockoutPolicy {
  /** Wrong attempts per account and source address before the first delay. */
  readonly threshold: number;
  /** Longest delay. */
  readonly lockMsMax: number;
}

const firstDelayMs = 30_000;
/** A source that logged in within this time is known to the account. */
const knownForMs = 30 * 86_400_000;
const forgetAfterMs = 24 * 3600_000;
/** The account alone tolerates more, and waits at most this long: an attacker must not keep the owner out. */
const accountFactor = 10;
const accountDelayMsMax = 60_000;

/**
 * Attempts of sources that are unknown to the account within a minute, in thresholds: of one source, of its network,
 * and of all of them together. A login that succeeds gives its attempt back. None may use up what the wider one has, so
 * that keeping out who comes from a new place takes several networks; more addresses of one network buy nothing.
 */
const shares = { source: 2, network: 3, all: 10 } as const;
const totalWindowMs = 60_000;
/** Nobody on this host is kept out by what others do: the last way in for an administrator. */
const isLocal = (ip: string): boolean => /^(?:127\.|::1$|::ffff:127\.)/.test(ip);

/**
 * Whether some account logged in from this source within the last month, or it is this host: the limit of requests
 * before a login is read leaves these out, since an attacker behind the same address would use it up for all. What an
 * account takes from there stays limited above, and an attempt beyond that costs no hash.
 */
export async function isFamiliar(sql: Queryable, ip: string, nowMs: number): Promise<boolean> {
  if (isLocal(ip)) return true;
  const [known] = await sql`
    select 1 from known_logins
    where source_ip = ${toSourceKey(ip)} and last_at > ${new Date(nowMs - knownForMs)} limit 1`;
  return known !== undefined;
}

const hide = (text: string): string => createHash('sha256').update(text).digest('base64url');

/**
 * Counts an attempt, or throws `login_locked` with Retry-After. `account` is the normalised login name, known or not.
 * A source the account logged in from before is not subject to the account's own lock.
 */
export async function beginAttempt(
  sql: Queryable,
  account: string,
  ip: string,
  policy: LockoutPolicy,
  nowMs: number,
): Promise<void> {
  // one look before anything is written: a flood against a locked account costs one query each
  const now = new Date(nowMs);
  const [state] = await sql<{ pair_until: Date | null; account_until: Date | null; is_known: boolean }[]>`
    select (select locked_until from login_failures where key = ${pairKey(account, ip)}) as pair_until,
      (select locked_until from login_failures where key = ${accountKey(account)}) as account_until,
      exists (
        select 1 from known_logins k join users u on u.id = k.user_id
        where u.email_key = ${account} and k.source_ip = ${toSourceKey(ip)}
          and k.last_at > ${new Date(nowMs - knownForMs)}) as is_known`;
  for (const until of [state?.pair_until ?? null, state?.is_known === true ? null : (state?.account_until ?? null)])
    if (until !== null && until > now) throw locked(until, nowMs);
  await count(sql, pairKey(account, ip), policy.threshold, policy.lockMsMax, nowMs);
  if (state?.is_known !== true && !isLocal(ip)) await countShares(sql, ip, policy.threshold, nowMs);
  if (state?.is_known !== true)
    await count(sql, accountKey(account), policy.threshold * accountFactor, accountDelayMsMax, nowMs);
}

/** The same for a confirmation inside a session, where the account is proven and only the session's holder can fail. */
export async function beginConfirmation(
  sql: Queryable,
  name: string,
  policy: LockoutPolicy,
  nowMs: number,
): Promise<void> {
  await count(sql, `confirm:${hide(name)}`, policy.threshold, policy.lockMsMax, nowMs);
}

export async function forgetConfirmations(sql: Queryable, name: string): Promise<void> {
  await sql`delete from login_failures where key = ${`confirm:${hide(name)}`}`;
}

function locked(until: Date, nowMs: number): ApiError {
  const seconds = Math.max(1, Math.ceil((until.getTime() - nowMs) / 1000));
  return new ApiError('login_locked', `Too many wrong attempts. Try again in ${seconds} seconds.`, {
    headers: { 'retry-after': String(seconds) },
  });
}

/**
 * After a login that succeeded, before its source is noted as known. `userId`: whose known sources decide whether the
 * attempt counted towards the total.
 */
export async function forgetAttempts(
  sql: Queryable,
  account: string,
  ip: string,
  userId: string,
  nowMs: number,
): Promise<void> {
  await sql`delete from login_failures where key in (${pairKey(account, ip)}, ${accountKey(account)})`;
  if (isLocal(ip)) return;
  await sql`
    update login_failures set failures = failures - 1
    where key in ${sql(sharesOf(ip, nowMs).map(({ key }) => key))} and failures > 0 and not exists (
      select 1 from known_logins where user_id = ${userId} and source_ip = ${toSourceKey(ip)}
        and last_at > ${new Date(nowMs - knownForMs)})`;
}

/** Throws `login_locked` where the source, its network, or all unknown sources have used up what they have. */
async function countShares(sql: Queryable, ip: string, threshold: number, nowMs: number): Promise<void> {
  for (const { key, factor } of sharesOf(ip, nowMs)) {
    const [row] = await sql`
      insert into login_failures as f (key, failures, last_at, locked_until)
      values (${key}, 1, ${new Date(nowMs)}, null)
      on conflict (key) do update set failures = f.failures + 1, last_at = ${new Date(nowMs)}
      where f.failures < ${threshold * factor}::integer
      returning failures`;
    if (row === undefined) throw locked(new Date((Math.floor(nowMs / totalWindowMs) + 1) * totalWindowMs), nowMs);
  }
}

/** The narrowest first: what it refuses takes nothing from others. */
function sharesOf(ip: string, nowMs: number): readonly { readonly key: string; readonly factor: number }[] {
  const window = `total:${Math.floor(nowMs / totalWindowMs)}`;
  return [
    { key: `${window}:source:${hide(toSourceKey(ip))}`, factor: shares.source },
    { key: `${window}:network:${hide(networkOf(ip))}`, factor: shares.network },
    { key: window, factor: shares.all },
  ];
}

/** What one customer of a provider has at most: /24 of IPv4, /48 of IPv6. */
function networkOf(ip: string): string {
  const address = readAddress(ip);
  if (address === null) return '';
  return address.family === 4 ? `4:${Math.floor(address.value / 256)}` : `6:${String(address.value >> 80n)}`;
}

export async function pruneAttempts(sql: Queryable, nowMs: number): Promise<number> {
  return (await sql`delete from login_failures where last_at < ${new Date(nowMs - forgetAfterMs)}`).count;
}

const pairKey = (account: string, ip: string): string => `pair:${hide(`${account} ${toSourceKey(ip)}`)}`;
const accountKey = (account: string): string => `account:${hide(account)}`;

async function count(sql: Queryable, key: string, threshold: number, delayMsMax: number, nowMs: number): Promise<void> {
  const now = new Date(nowMs);
  const forgetBefore = new Date(nowMs - forgetAfterMs);
  // counting and locking are one statement: parallel guesses see each other
  const [row] = await sql`
    insert into login_failures as f (key, failures, last_at, locked_until) values (${key}, 1, ${now}, null)
    on conflict (key) do update set
      failures = case when f.last_at < ${forgetBefore} then 1 else f.failures + 1 end,
      last_at = ${now},
      locked_until = case when f.last_at >= ${forgetBefore} and f.failures + 1 >= ${threshold}::integer
        then ${now}::timestamptz + interval '1 millisecond' * least(${delayMsMax}::float8,
          ${firstDelayMs}::float8 * power(2, least(20, f.failures + 1 - ${threshold}::integer))) end
    where f.locked_until is null or f.locked_until <= ${now}
    returning failures`;
  if (row !== undefined) return;
  const [found] = await sql<
    { locked_until: Date | null }[]
  >`select locked_until from login_failures where key = ${key}`;
  throw locked(found?.locked_until ?? now, nowMs);
}
