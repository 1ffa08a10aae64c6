// Passwords: PBKDF2-HMAC-SHA256 in PHC form, off the event loop (libuv's pool), with a bounded queue. A flood of logins
// is answered `busy` instead of filling the memory with waiting requests.
import { pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { ApiError } from '../http-kit/problem.js';

const derive = promisify(pbkdf2);

/** OWASP Password Storage Cheat Sheet for PBKDF2-HMAC-SHA256. */
export const passwordIterationsDefault = 600_000;
const saltBytes = 16;
const hashBytes = 32;
const concurrentHashesMax = 2;
const waitingHashesMax = 32;
/** Longer passwords are refused before they are hashed (HMAC would hash them down anyway). */
export const passwordLengthMax = 256;

export interface PasswordHasher {
  /** `$pbkdf2-sha256$i=<iterations>$<salt>$<hash>`, both base64 without padding. */
  hash(password: string): Promise<string>;
  /** Constant-time; `null` (unknown user, user without a password) costs as much as a real one and is never true. */
  verify(password: string, stored: string | null): Promise<boolean>;
  /** True when the stored hash was made with fewer iterations than now. */
  isOutdated(stored: string): boolean;
}

export function createPasswordHasher(iterations: number = passwordIterationsDefault): PasswordHasher {
  let running = 0;
  const waiting: (() => void)[] = [];
  const inTurn = async (work: () => Promise<Buffer>): Promise<Buffer> => {
    if (running >= concurrentHashesMax) {
      if (waiting.length >= waitingHashesMax)
        throw new ApiError('busy', 'Too many logins are being checked at this moment. Try again in a few seconds.', {
          headers: { 'retry-after': '5' },
        });
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
  const compute = (password: string, salt: Buffer, rounds: number): Promise<Buffer> =>
    inTurn(() => derive(password.normalize('NFKC'), salt, rounds, hashBytes, 'sha256'));
  const decoySalt = randomBytes(saltBytes);
  return {
    async hash(password) {
      const salt = randomBytes(saltBytes);
      const hash = await compute(password, salt, iterations);
      return `$pbkdf2-sha256$i=${iterations}$${encode(salt)}$${encode(hash)}`;
    },
    async verify(password, stored) {
      const parsed = stored === null ? null : parse(stored);
      if (password.length > passwordLengthMax) return false;
      const hash = await compute(password, parsed?.salt ?? decoySalt, parsed?.iterations ?? iterations);
      return parsed !== null && hash.length === parsed.hash.length && timingSafeEqual(hash, parsed.hash);
    },
    isOutdated: (stored) => (parse(stored)?.iterations ?? 0) < iterations,
  };
}

const encode = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

function parse(stored: string): { iterations: number; salt: Buffer; hash: Buffer } | null {
  const found = /^\$pbkdf2-sha256\$i=(\d{1,9})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(stored);
  if (found === null) return null;
  return {
    iterations: Number(found[1]),
    salt: Buffer.from(found[2] ?? '', 'base64'),
    hash: Buffer.from(found[3] ?? '', 'base64'),
  };
}

export interface PasswordPolicy {
  readonly lengthMin: number;
  /** How many of lower case, upper case, digits, others must occur (0 to 4). */
  readonly classesMin: number;
}

/**
 * Reasons why the policy refuses the password; empty when it is fine. `personal` are words of the user it must not
 * contain.
 */
export function checkPasswordPolicy(
  password: string,
  policy: PasswordPolicy,
  personal: readonly string[] = [],
): string[] {
  const reasons: string[] = [];
  const classes = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((pattern) => pattern.test(password)).length;
  if ([...password].length < policy.lengthMin) reasons.push(`it must have at least ${policy.lengthMin} characters`);
  if (password.length > passwordLengthMax) reasons.push(`it must have at most ${passwordLengthMax} characters`);
  if (classes < policy.classesMin)
    reasons.push(`it must mix at least ${policy.classesMin} of: lower case, upper case, digits, other characters`);
  if (new Set(password).size < 5) reasons.push('it must have at least 5 different characters');
  const lower = password.toLowerCase();
  if (personal.some((word) => word.length >= 4 && lower.includes(word.toLowerCase())))
    reasons.push('it must not contain the name or e-mail address');
  return reasons;
}
