// The three trims share one function; white space is isspace of the C locale.
import { isSpace, spaceBytes } from '../bytes.js';
import type { Transformation } from '../transformation.js';

function trimmed(value: string, left: boolean, right: boolean): string {
  let from = 0;
  let to = value.length;
  if (left) while (from < to && isSpace(value.charCodeAt(from))) from += 1;
  if (right) while (to > from && isSpace(value.charCodeAt(to - 1))) to -= 1;
  return to - from === value.length ? value : value.slice(from, to);
}

/** White space removed at both ends. Idempotent. */
export const trim: Transformation = {
  name: 'trim',
  triggers: spaceBytes,
  apply: (value) => trimmed(value, true, true),
};
/** White space removed at the start. Idempotent. */
export const trimLeft: Transformation = {
  name: 'trimLeft',
  triggers: spaceBytes,
  apply: (value) => trimmed(value, true, false),
};
/** White space removed at the end. Idempotent. */
export const trimRight: Transformation = {
  name: 'trimRight',
  triggers: spaceBytes,
  apply: (value) => trimmed(value, false, true),
};
