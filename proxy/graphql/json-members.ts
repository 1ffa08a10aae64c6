// Where the members of an object stand in the text of a JSON document that JSON.parse has taken. The text is latin1,
// one code unit a byte: structure is ASCII, so that places are places of bytes.

export interface MemberPlace {
  /** Decoded. */
  readonly name: string;
  /** Of the value. */
  readonly from: number;
  readonly to: number;
}

export const textAt = (text: string, { from, to }: Pick<MemberPlace, 'from' | 'to'>): string =>
  Buffer.from(text.slice(from, to), 'latin1').toString('utf8');

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at += 1;
  return at;
}

/** Behind the closing quotation mark. */
function skipString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function skipValue(text: string, from: number): number {
  if (text[from] === '"') return skipString(text, from);
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const unit = text[at];
    if (unit === '"') {
      at = skipString(text, at);
      continue;
    }
    if (unit === '{' || unit === '[') depth += 1;
    else if (unit === '}' || unit === ']') {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (unit === ',' && depth === 0) return at;
    at += 1;
  }
  return at;
}

/** Of the object that begins at `from`; null: none does. */
export function membersAt(text: string, from: number): MemberPlace[] | null {
  if (text[from] !== '{') return null;
  const members: MemberPlace[] = [];
  let at = skipSpace(text, from + 1);
  while (text[at] === '"') {
    const end = skipString(text, at);
    const name = JSON.parse(textAt(text, { from: at, to: end })) as string;
    const value = skipSpace(text, skipSpace(text, end) + 1);
    const to = skipValue(text, value);
    members.push({ name, from: value, to });
    at = skipSpace(text, skipSpace(text, to) + 1);
  }
  return members;
}

/** Members of the one object, or of each object of a list; null: something else stands there. */
export function objectsOf(text: string): { readonly objects: MemberPlace[][]; readonly isList: boolean } | null {
  let at = skipSpace(text, text.startsWith('\u00ef\u00bb\u00bf') ? 3 : 0);
  if (text[at] !== '[') {
    const members = membersAt(text, at);
    return members === null ? null : { objects: [members], isList: false };
  }
  const objects: MemberPlace[][] = [];
  at = skipSpace(text, at + 1);
  while (text[at] !== ']' && at < text.length) {
    const members = membersAt(text, at);
    if (members === null) return null;
    objects.push(members);
    at = skipSpace(text, skipValue(text, at));
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return objects.length === 0 ? null : { objects, isList: true };
}
