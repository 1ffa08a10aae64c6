// Problems of one entry of a list in the settings, by the field that shows each.
import type { FieldProblem, Refused } from '../../client/http.js';

export interface EntryProblems {
  /** Of a field, by its path within the entry: `upstream`, `health_check/path`. */
  at(field: string): string | null;
  /** What no field shows. */
  readonly rest: string | null;
}

export const noProblems: EntryProblems = { at: () => null, rest: null };

const sentence = ({ reason, fix }: FieldProblem): string => `${reason}${fix ? `; ${fix}` : ''}`;

/** Whether a problem is of a field: of itself, or of what is in it. */
const isAt = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);

/** `place`: JSON pointer of the entry. `fields`: those that show a problem themselves. */
export function problemsOfEntry(refused: Refused, place: string, fields: readonly string[]): EntryProblems {
  const all = [
    ...refused.errors,
    ...refused.diagnostics.map(({ path, message, hint }) => ({ path: path ?? '', reason: message, fix: hint ?? '' })),
  ];
  // of a value or null, both sides complain: that it is not null says nothing
  const found = all.filter(
    ({ path, reason }) => reason !== 'must be null' || !all.some((one) => one.path === path && one.reason !== reason),
  );
  const isShown = ({ path }: FieldProblem): boolean => fields.some((field) => isAt(path, `${place}/${field}`));
  const rest = found.filter((one) => !isShown(one));
  return {
    at(field) {
      const mine = found.filter(({ path }) => isAt(path, `${place}/${field}`));
      return mine.length === 0 ? null : mine.map(sentence).join('. ');
    },
    rest: found.length === 0 ? refused.message : rest.length === 0 ? null : rest.map((one) => sentence(one)).join('. '),
  };
}
