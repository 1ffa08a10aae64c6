// An authenticator app, for tests.
import { HOTP, Secret } from 'otpauth';
import { testPassword, type TestApp } from './app.js';

export const codeAt = (secret: string, nowMs: number): string =>
  HOTP.generate({ secret: Secret.fromBase32(secret), counter: Math.floor(nowMs / 30_000) });

/** Turns two-factor authentication on, and lets the code that proved it pass. */
export async function enrol(at: TestApp, token: string): Promise<{ secret: string; codes: string[] }> {
  const begun = await at.call('POST', '/api/account/totp', { token, body: { password: testPassword } });
  const secret = String(begun.body['secret']);
  const confirmed = await at.call('POST', '/api/account/totp/confirm', {
    token,
    body: { otp: codeAt(secret, at.clock.nowMs) },
  });
  if (confirmed.status !== 200) throw new Error(confirmed.text);
  at.clock.nowMs += 60_000;
  return { secret, codes: confirmed.body['recovery_codes'] as string[] };
}
