// Logging in, step by step. Wrong name, wrong password and suspended account get one answer that takes one time.
import type { FastifyRequest } from 'fastify';
import type { Tx } from '../db/client.js';
import { ApiError } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { toSourceKey } from '../addresses/address.js';
import { beginAttempt, forgetAttempts } from './lockout.js';
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

/** What opens a session. */
export type SessionParts = Pick<Parts, 'database' | 'now' | 'tokens' | 'audit' | 'currentSettings'>;
/** What checks a one-time code. */
export type SecondFactorParts = Pick<Parts, 'database' | 'now' | 'sealing'>;
export type LoginParts = SessionParts & SecondFactorParts & Pick<Parts, 'hasher'>;

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
  parts: LoginParts,
  request: FastifyRequest,
  email: string,
  password: string,
  code: string | null,
): Promise<LoginResult> {
  const { sql } = parts.database;
  const account = toEmailKey(email);
  await countAttempt(parts, account, request.ip);
  const user = await findUserByEmail(sql, email);
  const isRight = await parts.hasher.verify(password, user?.password_hash ?? null);
  if (user === null || !isRight || user.suspended) throw refused();
  if (user.totp_secret !== null && code === null)
    return { kind: 'otp_required', challenge: await parts.tokens.issueOtpChallenge(user.id, user.token_version) };
  const method = user.totp_secret === null ? 'password' : await checkSecondFactor(parts, user, code ?? '');
  const outdated = user.password_hash !== null && parts.hasher.isOutdated(user.password_hash);
  return openSession(parts, request, user, method, outdated ? await parts.hasher.hash(password) : null);
}

/** Step two: the challenge of step one and a code (six digits) or a recovery code. */
export async function answerOtp(
  parts: LoginParts,
  request: FastifyRequest,
  challenge: string,
  code: string,
): Promise<LoggedIn> {
  const { userId, version } = await parts.tokens.verifyOtpChallenge(challenge);
  const user = await findUser(parts.database.sql, userId);
  if (user === null || user.suspended || user.token_version !== version || user.totp_secret === null) throw refused();
  await countAttempt(parts, toEmailKey(user.email), request.ip);
  return openSession(parts, request, user, await checkSecondFactor(parts, user, code), null);
}

async function countAttempt(
  parts: Pick<Parts, 'database' | 'now' | 'currentSettings'>,
  account: string,
  ip: string,
): Promise<void> {
  const settings = await parts.currentSettings();
  const policy = { threshold: settings.policy_lockout_threshold, lockMsMax: settings.policy_lockout_minutes * 60_000 };
  await beginAttempt(parts.database.sql, account, ip, policy, parts.now());
}

/** Takes a one-time code or a recovery code, each exactly once. Returns how the login is recorded. */
export async function checkSecondFactor(
  parts: SecondFactorParts,
  user: User,
  code: string,
): Promise<'password+totp' | 'password+recovery'> {
  const { sql } = parts.database;
  const secret = user.totp_secret === null ? null : parts.sealing.open(user.totp_secret, `totp:${user.id}`);
  const step = secret === null ? null : acceptTotp(secret, code.trim(), parts.now(), user.totp_last_step);
  if (step !== null && (await takeTotpStep(sql, user.id, step))) return 'password+totp';
  if (
    /^[0-9a-fA-F\s-]{20,30}$/.test(code) &&
    (await takeRecoveryCode(sql, user.id, hashRecoveryCode(code), new Date(parts.now())))
  )
    return 'password+recovery';
  throw new ApiError('bad_otp', 'The code is wrong, too old, or was used before.');
}

/** A fresh session (never one the client brought), remembered source, audit entry; all or nothing. */
export async function openSession(
  parts: SessionParts,
  request: FastifyRequest,
  user: User,
  method: string,
  newHash: string | null,
): Promise<LoggedIn> {
  const settings = await parts.currentSettings();
  const now = new Date(parts.now());
  const expiresAt = new Date(now.getTime() + settings.policy_session_ttl_minutes * 60_000);
  const sessionId = await parts.database.sql.begin(async (tx: Tx) => {
    if (method.startsWith('password'))
      await forgetAttempts(tx, toEmailKey(user.email), request.ip, user.id, now.getTime());
    await tx`
      insert into known_logins (user_id, source_ip, last_at) values (${user.id}, ${toSourceKey(request.ip)}, ${now})
      on conflict (user_id, source_ip) do update set last_at = ${now}`;
    await updateUser(tx, user.id, { last_login_at: now, ...(newHash === null ? {} : { password_hash: newHash }) }, now);
    const id = await insertSession(
      tx,
      { userId: user.id, expiresAt, sourceIp: request.ip, userAgent: request.headers['user-agent'] ?? '', method },
      now,
    );
    await parts.audit.record(tx, {
      actor: { id: user.id, name: user.email, role: user.role, sourceIp: request.ip },
      action: 'login',
      summary: `${user.email} logged in (${method})`,
    });
    return id;
  });
  const token = await parts.tokens.issue(
    { userId: user.id, role: user.role, sessionId, version: user.token_version },
    expiresAt,
  );
  return { kind: 'in', token, expiresAt, user };
}
