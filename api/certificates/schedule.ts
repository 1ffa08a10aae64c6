// When certificates are ordered again and when people are told of an end. Pure; times in milliseconds since 1970.

const hourMs = 3_600_000;
const dayMs = 86_400_000;

/** Of its life a certificate has served when it is renewed: so short and long ones do alike. */
const renewShare = 2 / 3;
/** Renewals of many certificates that were issued together spread over this share of their life. */
const jitterShare = 1 / 30;

/** So long a new certificate is left alone whatever it says: clocks differ, and an order every round would not end. */
const restShare = 1 / 10;

/** `random` from 0 to 1. Not later than two thirds of the life where the clocks of both sides agree. */
export function renewAtMs(notBeforeMs: number, notAfterMs: number, random: number, nowMs: number): number {
  const lifeMs = notAfterMs - notBeforeMs;
  return Math.max(notBeforeMs + lifeMs * (renewShare - jitterShare * random), nowMs + lifeMs * restShare);
}

/** Pause after `failures` failures in a row: an hour, doubled each time up to a day; up to a tenth less by chance. */
export function pauseMs(failures: number, random: number): number {
  return Math.min(24, 2 ** Math.max(0, failures - 1)) * hourMs * (1 - random / 10);
}

export const warningDays = [21, 7, 1, 0] as const;
export type WarningDays = (typeof warningDays)[number];

/**
 * The warning that is due: 21, 7 or 1 days before the end, or 0 behind it; null: none. Warnings that would come before
 * the renewal is even due say nothing about certificates of short life, and are left out.
 */
export function warningOf(
  { notBeforeMs, notAfterMs, isRenewed }: { notBeforeMs: number; notAfterMs: number; isRenewed: boolean },
  nowMs: number,
): WarningDays | null {
  const lifeMs = notAfterMs - notBeforeMs;
  const within = isRenewed ? lifeMs * (1 - renewShare) : lifeMs / 2;
  const due = warningDays.filter((days) => notAfterMs - nowMs <= days * dayMs && (days === 0 || days * dayMs < within));
  return due.at(-1) ?? null;
}
