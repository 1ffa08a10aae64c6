// Text with its place, and cutting it without losing that.
import type { Span } from './source.js';

/** Text with its place: after unquoting, `origins` still tells where every character came from. */
export interface Fragment extends Span {
  readonly text: string;
  /**
   * Flattened pairs (index in text, offset in file): from that index on, characters follow one another in the file.
   * More than one pair only where an escape or a continuation removed bytes.
   */
  readonly origins: readonly number[];
}

/** A word or quoted string of a directive. */
export interface Token extends Fragment {
  readonly quote: '"' | "'" | null;
}

/** Where the character at `index` of a fragment's text stands in the file. */
function originOf(fragment: Pick<Fragment, 'origins'>, index: number): number {
  const { origins } = fragment;
  let pair = origins.length - 2;
  while (pair > 0 && (origins[pair] as number) > index) pair -= 2;
  return (origins[pair + 1] as number) + (index - (origins[pair] as number));
}

/** The part [from, to) of a fragment. */
export function sliceFragment(fragment: Fragment, from: number, to: number = fragment.text.length): Fragment {
  const start = originOf(fragment, from);
  const origins = [0, start];
  for (let pair = 0; pair < fragment.origins.length; pair += 2) {
    const index = fragment.origins[pair] as number;
    if (index > from && index < to) origins.push(index - from, fragment.origins[pair + 1] as number);
  }
  const end = to > from ? originOf(fragment, to - 1) + 1 : start;
  return { file: fragment.file, start, end, text: fragment.text.slice(from, to), origins };
}

/** Without whitespace at both ends. */
export function trimFragment(fragment: Fragment): Fragment {
  const { text } = fragment;
  let from = 0;
  let to = text.length;
  while (from < to && isBlank(text.charCodeAt(from))) from += 1;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to -= 1;
  return from === 0 && to === text.length ? fragment : sliceFragment(fragment, from, to);
}

export function isBlank(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

/** Replaces backslash + `quote` by `quote`; a backslash before a backslash protects nothing and both stay. */
export function unescapeFragment(fragment: Fragment, quote: string): Fragment {
  const { text } = fragment;
  if (!text.includes(`\\${quote}`)) return fragment;
  const pieces: string[] = [];
  const origins: number[] = [0, originOf(fragment, 0)];
  let length = 0;
  let from = 0;
  const keep = (to: number): void => {
    for (let pair = 0; pair < fragment.origins.length; pair += 2) {
      const index = fragment.origins[pair] as number;
      if (index > from && index < to) origins.push(length + index - from, fragment.origins[pair + 1] as number);
    }
    pieces.push(text.slice(from, to));
    length += to - from;
  };
  for (let at = 0; at + 1 < text.length; at += 1) {
    if (text[at] !== '\\') continue;
    if (text[at + 1] === quote) {
      keep(at);
      from = at + 1;
      origins.push(length, originOf(fragment, from));
    }
    at += 1;
  }
  keep(text.length);
  return { file: fragment.file, start: fragment.start, end: fragment.end, text: pieces.join(''), origins };
}
