// Logging in, step by step. Wrong name, wrong password and suspended account get one answer that takes one time.
import type { FastifyRequest } from 'fastify';
import type { House } from '../parts.js';
import type { Tx } from '../db/client.js';
import { ApiError } from '../http-kit/problem.js';
import { beginAttempt, forgetAttempts, toSourceKey } from './lockout.js';
import {
  findUser,
  findUserByEmail,
  takeRecoveryCode,
  takeTotpStep,
  toEmailKey,
  updateUser,
  type User,
} from '../users/store.js';
import { insertSession } from './sessions.js';
import { acceptTotp, hashRecoveryCode } from './totp.js';

export interface LoggedIn {
  readonly kind: 'in';
  readonly token: string;
  readonly expiresAt: Date;
  readonly user: User;
}
export type LoginResult = LoggedIn | { readonly kind: 'otp_required'; readonly challenge: string };

const refused = (): ApiError =>
  new ApiError('bad_credentials', 'The e-mail address or the password is wrong, or the account may not log in.');

/** Step one. With a second factor and no code, answers with a challenge for step two. */
export async function logIn(
  house: House,
  request: FastifyRequest,
  email: string,
  password: string,
  code: string | null,
): Promise<LoginResult> {
  const { sql } = house.database;
  const account = toEmailKey(email);
  await countAttempt(house, account, request.ip);
  const user = await findUserByEmail(sql, email);
  const isRight = await house.hasher.verify(password, user?.password_hash ?? null);
  if (user === null || !isRight || user.suspended) throw refused();
  if (user.totp_secret !== null && code === null)
    return { kind: 'otp_required', challenge: await house.tokens.issueOtpChallenge(user.id, user.token_version) };
  const method = user.totp_secret === null ? 'password' : await checkSecondFactor(house, user, code ?? '');
  const outdated = user.password_hash !== null && house.hasher.isOutdated(user.password_hash);
  return openSession(house, request, user, method, outdated ? await house.hasher.hash(password) : null);
}

/** Step two: the challenge of step one and a code (six digits) or a recovery code. */
export async function answerOtp(
  house: House,
  request: FastifyRequest,
  challenge: string,
  code: string,
): Promise<LoggedIn> {
  const { userId, version } = await house.tokens.verifyOtpChallenge(challenge);
  const user = await findUser(house.database.sql, userId);
  if (user === null || user.suspended || user.token_version !== version || user.totp_secret === null) throw refused();
  await countAttempt(house, toEmailKey(user.email), request.ip);
  return openSession(house, request, user, await checkSecondFactor(house, user, code), null);
}

async function countAttempt(house: House, account: string, ip: string): Promise<void> {
  const settings = await house.currentSettings();
  const policy = { threshold: settings.policy_lockout_threshold, lockMsMax: settings.policy_lockout_minutes * 60_000 };
  await beginAttempt(house.database.sql, account, ip, policy, house.now());
}

/** Takes a one-time code or a recovery code, each exactly once. Returns how the login is recorded. */
export async function checkSecondFactor(
  house: House,
  user: User,
  code: string,
): Promise<'password+totp' | 'password+recovery'> {
  const { sql } = house.database;
  const secret = user.totp_secret === null ? null : house.sealing.open(user.totp_secret, `totp:${user.id}`);
  const step = secret === null ? null : acceptTotp(secret, code.trim(), house.now(), user.totp_last_step);
  if (step !== null && (await takeTotpStep(sql, user.id, step))) return 'password+totp';
  if (
    /^[0-9a-fA-F\s-]{20,30}$/.test(code) &&
    (await takeRecoveryCode(sql, user.id, hashRecoveryCode(code), new Date(house.now())))
  )
    return 'password+recovery';
  throw new ApiError('bad_otp', 'The code is wrong, too old, or was used before.');
}

/** A fresh session (never one the client brought), remembered source, audit entry; all or nothing. */
export async function openSession(
  house: House,
  request: FastifyRequest,
  user: User,
  method: string,
  newHash: string | null,
): Promise<LoggedIn> {
  const settings = await house.currentSettings();
  const now = new Date(house.now());
  const expiresAt = new Date(now.getTime() + settings.policy_session_ttl_minutes * 60_000);
  const sessionId = await house.database.sql.begin(async (tx: Tx) => {
    await forgetAttempts(tx, toEmailKey(user.email), request.ip);
    await tx`insert into known_logins (user_id, source_ip, last_at) values (${user.id}, ${toSourceKey(request.ip)}, ${now}) on conflict (user_id, source_ip) do update set last_at = ${now}`;
    await updateUser(tx, user.id, { last_login_at: now, ...(newHash === null ? {} : { password_hash: newHash }) }, now);
    const id = await insertSession(
      tx,
      { userId: user.id, expiresAt, sourceIp: request.ip, userAgent: request.headers['user-agent'] ?? '', method },
      now,
    );
    await house.audit.record(tx, {
      actor: { id: user.id, name: user.email, role: user.role, sourceIp: request.ip },
      action: 'login',
      summary: `${user.email} logged in (${method})`,
    });
    return id;
  });
  const token = await house.tokens.issue(
    { userId: user.id, role: user.role, sessionId, version: user.token_version },
    expiresAt,
  );
  return { kind: 'in', token, expiresAt, user };
}
