// Character classes: [abc], [^a-z], [[:alpha:]\d\x{41}-\x5a], \Q…\E inside, as PCRE reads them.
import { type ByteSet, closeUnderCase, complement, escapeClasses, posixClasses, union } from './byte-set.js';
import { type Cursor, readByteEscape } from './cursor.js';

type Item = { readonly byte: number } | { readonly set: ByteSet };

/** `[:alpha:]`, `[:^alpha:]`; null when what follows is an ordinary bracket. */
function readPosix(cursor: Cursor, caseless: boolean): ByteSet | null {
  const kind = cursor.peek(1);
  if (kind !== ':' && kind !== '.' && kind !== '=') return null;
  const end = cursor.source.indexOf(`${kind}]`, cursor.at + 2);
  const name = end === -1 ? '' : cursor.source.slice(cursor.at + 2, end);
  if (end === -1 || !/^\^?[a-z]*$/.test(name)) return null;
  if (kind !== ':') cursor.fail('Collating elements ([. .] and [= =]) are not part of PCRE: list the bytes');
  const negated = name.startsWith('^');
  let plain = negated ? name.slice(1) : name;
  if (caseless && (plain === 'upper' || plain === 'lower')) plain = 'alpha'; // before negation, as PCRE does
  const set = posixClasses[plain];
  if (set === undefined)
    cursor.fail(`There is no class [:${plain}:]: use one of ${Object.keys(posixClasses).join(', ')}`);
  cursor.at = end + 2;
  return negated ? complement(set) : set;
}

function readEscape(cursor: Cursor): Item {
  const start = cursor.at++;
  if (cursor.take('b')) return { byte: 0x08 };
  const set = cursor.peek() === 'N' ? undefined : escapeClasses[cursor.peek()];
  if (set !== undefined) {
    cursor.at++;
    return { set };
  }
  const byte = readByteEscape(cursor);
  if (byte === null)
    cursor.fail(
      `\\${cursor.peek()} has no meaning in a character class: write the character without the backslash`,
      start,
    );
  return { byte };
}

function readItem(cursor: Cursor, caseless: boolean): Item {
  if (cursor.peek() === '[') {
    const set = readPosix(cursor, caseless);
    if (set !== null) return { set };
  }
  if (cursor.peek() === '\\') return readEscape(cursor);
  return { byte: cursor.next().charCodeAt(0) };
}

/** Skips \E and opens \Q; returns whether literal text begins. */
function quoteState(cursor: Cursor, quoted: boolean): boolean {
  let inside = quoted;
  for (;;) {
    if (inside ? cursor.take('\\E') : cursor.take('\\Q')) inside = !inside;
    else if (inside || !cursor.take('\\E')) return inside;
  }
}

/** The cursor is behind `[`; returns the set and leaves the cursor behind `]`. */
export function readCharacterClass(cursor: Cursor, caseless: boolean): ByteSet {
  const start = cursor.at - 1;
  const negated = cursor.take('^');
  const sets: ByteSet[] = [];
  const bytes = new Uint8Array(256);
  let first = true;
  let quoted = false;
  for (;;) {
    quoted = quoteState(cursor, quoted);
    if (cursor.done) cursor.fail('A character class is not closed: add ]', start);
    if (!quoted && !first && cursor.take(']')) break;
    first = false;
    const itemStart = cursor.at;
    const from: Item = quoted ? { byte: cursor.next().charCodeAt(0) } : readItem(cursor, caseless);
    if ('set' in from) {
      sets.push(from.set);
      continue;
    }
    let last = from.byte;
    if (!quoted && cursor.peek() === '-' && cursor.peek(1) !== ']' && cursor.peek(1) !== '') {
      const dash = cursor.at++;
      const to = readItem(cursor, caseless);
      if ('set' in to) {
        cursor.at = dash; // `a-\d`: the hyphen is literal
        bytes[from.byte] = 1;
        bytes[0x2d] = 1;
        cursor.at++;
        continue;
      }
      last = to.byte;
      if (last < from.byte) cursor.fail('This range runs backwards: swap its ends, or put the hyphen last', itemStart);
    }
    bytes.fill(1, from.byte, last + 1);
  }
  const all = union(bytes, ...sets);
  const folded = caseless ? closeUnderCase(all) : all;
  return negated ? complement(folded) : folded;
}
