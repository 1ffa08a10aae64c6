// Challenges and passes without memory: what a client is given says itself when it was made and for whom, and is signed
// with a secret that all nodes of an installation have. Bound to the client's network, the host and the User-Agent, so
// that nobody solves for others.
//
// A challenge is for five minutes and counts once (`spent`, by its random part); a pass is for as long as the settings
// say. The work: a number whose SHA-256 together with the challenge begins with `bits` zeros; 2^bits attempts on
// average.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export interface Bearer {
  /** As limits count clients: an address, or a /64. */
  readonly network: string;
  readonly host: string;
  readonly userAgent: string;
}

const lifeMs = 5 * 60_000;
/** Without a script: how long one has to wait at least. */
export const waitMs = 5000;
const solutionMax = 16;

function sign(secret: Buffer, purpose: string, text: string, { network, host, userAgent }: Bearer): string {
  const parts = [purpose, text, network, host.toLowerCase(), userAgent];
  return createHmac('sha256', secret).update(JSON.stringify(parts)).digest('base64url');
}

function isSigned(secret: Buffer, purpose: string, text: string, bearer: Bearer, signature: string): boolean {
  const expected = Buffer.from(sign(secret, purpose, text, bearer));
  const given = Buffer.from(signature, 'latin1');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

export function makeChallenge(secret: Buffer, bearer: Bearer, bits: number, nowMs: number): string {
  const text = `${nowMs.toString(36)}.${bits}.${randomBytes(12).toString('base64url')}`;
  return `${text}.${sign(secret, 'challenge', text, bearer)}`;
}

export type ChallengeAnswer =
  | { readonly kind: 'solved'; readonly random: string }
  | { readonly kind: 'refused'; readonly why: 'forged' | 'expired' | 'unsolved' | 'too early' };

const refused = (why: 'forged' | 'expired' | 'unsolved' | 'too early'): ChallengeAnswer => ({ kind: 'refused', why });

/** `solution` null: waited instead. Whether it was spent before is for the caller to say. */
export function checkChallenge(
  secret: Buffer,
  bearer: Bearer,
  challenge: string,
  solution: string | null,
  nowMs: number,
): ChallengeAnswer {
  const [made = '', bits = '', random = '', signature = '', ...more] = challenge.split('.', 5);
  if (more.length > 0 || !isSigned(secret, 'challenge', `${made}.${bits}.${random}`, bearer, signature))
    return refused('forged');
  const ageMs = nowMs - Number.parseInt(made, 36);
  if (!(ageMs >= 0 && ageMs < lifeMs)) return refused('expired');
  if (solution === null) return ageMs >= waitMs ? { kind: 'solved', random } : refused('too early');
  return isWorkDone(challenge, solution, Number(bits)) ? { kind: 'solved', random } : refused('unsolved');
}

function isWorkDone(challenge: string, solution: string, bits: number): boolean {
  if (solution.length > solutionMax) return false;
  const digest = createHash('sha256').update(`${challenge}.${solution}`, 'latin1').digest();
  let zeros = 0;
  for (const byte of digest) {
    zeros += byte === 0 ? 8 : Math.clz32(byte) - 24;
    if (byte !== 0) break;
  }
  return zeros >= bits;
}

export function makePass(secret: Buffer, bearer: Bearer, untilMs: number): string {
  const text = untilMs.toString(36);
  return `${text}.${sign(secret, 'pass', text, bearer)}`;
}

export function isPass(secret: Buffer, bearer: Bearer, pass: string, nowMs: number): boolean {
  const [until = '', signature = '', ...more] = pass.split('.', 3);
  if (more.length > 0 || !(Number.parseInt(until, 36) > nowMs)) return false;
  return isSigned(secret, 'pass', until, bearer, signature);
}
