// An import that would resolve most of what is open asks first: as a problem of the preview, or as a refusal. The
// server writes for programs, which send fields; here its numbers are shown, and the page says what to do.
import type { ImportReport } from './counts.js';

/** The first sentence of what the server says, which has the numbers: "The import would close 27 of 30 …". */
export const numbersOf = (said: string): string => `${said.split(/\.(?:\s|$)/, 1)[0] ?? ''}.`;

/** The question of a preview; null: it asks nothing. */
export function questionOf({ needs_confirm_close: isAsked, problems = [] }: ImportReport): string | null {
  const [first] = problems;
  return isAsked === true && first !== undefined ? numbersOf(first.detail) : null;
}

/** What could not be read: the question of a preview, which stands first among its problems, is none of that. */
export const unreadOf = (report: ImportReport): NonNullable<ImportReport['problems']> =>
  (report.problems ?? []).slice(questionOf(report) === null ? 0 : 1);
