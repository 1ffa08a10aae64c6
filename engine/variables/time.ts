// The time of the request, UTC: the engine has no clock but what its environment says.
import type { Transaction } from '../transaction/transaction.js';
import { scalar, type Variable } from './variable.js';

function two(number: number): string {
  return number < 10 ? `0${number}` : String(number);
}
const now = (transaction: Transaction): Date => new Date(transaction.environment.nowMs);

export const timeVariables: readonly Variable[] = [
  scalar('DURATION', 1, (t) => String(Math.round(t.environment.elapsedMs?.() ?? 0))),
  scalar(
    'TIME',
    1,
    (t) => `${two(now(t).getUTCHours())}:${two(now(t).getUTCMinutes())}:${two(now(t).getUTCSeconds())}`,
  ),
  scalar('TIME_DAY', 1, (t) => String(now(t).getUTCDate())),
  scalar('TIME_EPOCH', 1, (t) => String(Math.floor(t.environment.nowMs / 1000))),
  scalar('TIME_HOUR', 1, (t) => String(now(t).getUTCHours())),
  scalar('TIME_MIN', 1, (t) => String(now(t).getUTCMinutes())),
  scalar('TIME_MON', 1, (t) => String(now(t).getUTCMonth())), // 0–11, as in ModSecurity
  scalar('TIME_SEC', 1, (t) => String(now(t).getUTCSeconds())),
  scalar('TIME_WDAY', 1, (t) => String(now(t).getUTCDay())), // 0 = Sunday
  scalar('TIME_YEAR', 1, (t) => String(now(t).getUTCFullYear())),
];
