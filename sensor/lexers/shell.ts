// A command line as a POSIX shell reads it: at each character whether it is quoted, and how.

/** 0: not quoted · 1: after a backslash · 2: within '…' · 3: within "…" · 4: in a comment. */
type State = 0 | 1 | 2 | 3 | 4;

function statesOf(text: string): Uint8Array {
  const states = new Uint8Array(text.length);
  let state: State = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    states[at] = state;
    if (state === 2) {
      if (character === "'") state = 0;
    } else if (state === 4) {
      if (character === '\n') state = 0;
    } else if (character === '\\') {
      if (at + 1 < text.length) states[++at] = 1;
    } else if (state === 3) {
      if (character === '"') state = 0;
    } else if (character === "'") state = 2;
    else if (character === '"') state = 3;
    else if (character === '#' && (at === 0 || /\s/.test(text[at - 1] ?? ''))) state = 4;
  }
  return states;
}

/** What a character of the value does where it stands. */
function acts(text: string, at: number, state: number): boolean {
  const character = text[at] ?? '';
  const next = text[at + 1] ?? '';
  if (state === 0)
    return (
      /[;|&<>`\n]/.test(character) || (character === '$' && /[({]/.test(next)) || (character === ' ' && next === '-')
    );
  if (state === 2) return character === "'";
  if (state === 3) return character === '"' || character === '`' || (character === '$' && /[({]/.test(next));
  return state === 4 && character === '\n';
}

const occurrencesMax = 8;

/**
 * Where the value stands in the command line as more than one argument: it ends its quotes, begins another command, or
 * adds an option. A value that is the whole line chooses the program. Null: nowhere.
 */
export function breaksShell(text: string, value: string): number | null {
  if (text.trim() === value.trim()) return 0;
  let states: Uint8Array | null = null;
  let from = text.indexOf(value);
  for (let turn = 0; from >= 0 && turn < occurrencesMax; turn++, from = text.indexOf(value, from + 1)) {
    states ??= statesOf(text);
    for (let at = from; at < from + value.length; at++)
      if (at + 1 <= text.length && acts(text, at, states[at] ?? 0)) {
        // an operator has to be of the value as a whole: `$` of it before a `(` of the program is none
        if (text[at] === '$' && at + 1 >= from + value.length) continue;
        return from;
      }
  }
  return null;
}
