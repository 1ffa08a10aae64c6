// RFC 6238 one-time codes: SHA-1, 6 digits, 30 s, one step of tolerance on either side. A code is single-use: the step
// that was accepted last is stored, and only later ones are looked at.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { HOTP, Secret, TOTP } from 'otpauth';

const periodSeconds = 30;
const windowSteps = 1;
const recoveryCodeCount = 10;

export function createTotpSecret(): string {
  return new Secret({ size: 20 }).base32;
}

/** The `otpauth://` URI an authenticator app reads from a QR code. */
export function toTotpUri(secret: string, account: string, issuer: string): string {
  return new TOTP({
    issuer,
    label: account,
    secret: Secret.fromBase32(secret),
    algorithm: 'SHA1',
    digits: 6,
    period: periodSeconds,
  }).toString();
}

/**
 * The time step a code belongs to, or null. `lastStep` is the step accepted before: codes up to it are refused, so a
 * code seen over a shoulder or on the wire is worth nothing. `nowMs` is milliseconds since 1970.
 */
export function acceptTotp(secret: string, code: string, nowMs: number, lastStep: number): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const now = Math.floor(nowMs / 1000 / periodSeconds);
  const key = Secret.fromBase32(secret);
  let accepted: number | null = null;
  for (let step = now - windowSteps; step <= now + windowSteps; step++) {
    const expected = HOTP.generate({ secret: key, algorithm: 'SHA1', digits: 6, counter: step });
    // no early exit: the time taken does not tell which step matched
    if (timingSafeEqual(Buffer.from(expected), Buffer.from(code)) && step > lastStep && accepted === null)
      accepted = step;
  }
  return accepted;
}

/**
 * Ten codes of 80 random bits, shown once. Their hashes are what is stored; that much randomness needs no slow hash.
 */
export function createRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodeCount }, () =>
    (randomBytes(10).toString('hex').match(/.{5}/g) ?? []).join('-'),
  );
}

export function hashRecoveryCode(code: string): string {
  return createHash('sha256').update(code.replace(/[\s-]/g, '').toLowerCase()).digest('hex');
}
