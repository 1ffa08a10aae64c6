// What a value looks like: a segment of a path, a parameter, a member of a body. Kinds form the lattice of the template
// learner (api/inventory/templates/): a kind says which values stand for each other. Read character by character,
// because the values are an attacker's: no regular expression, and nothing grows with the value beyond its clip.

/** From the most to the least specific. `word` and `slug` may be names of resources; all others are data. */
export const segmentKinds = [
  'uuid', // RFC 9562, versions 1 to 8, and the nil and max ones
  'ulid', // 26 characters of Crockford's base 32, the first one at most 7
  'objectid', // 24 hexadecimal digits: MongoDB's
  'snowflake', // 17 to 19 decimal digits
  'year', // 1900 to 2099
  'integer',
  'decimal',
  'date', // ISO 8601, a day or a moment
  'hex', // at least 16 hexadecimal digits, not all of them decimal
  'email',
  'version', // v1, v2.1
  'locale', // BCP 47, a language with a region: en-US
  'language', // two letters of ISO 639-1
  'token', // at least 20 characters of base64url that are no words
  'prefixed', // a short word, a separator, an id: cus_9s6XKzkNRiz8i3, ORD-10042
  'slug', // words with separators or digits
  'word',
  'other',
] as const;
export type SegmentKind = (typeof segmentKinds)[number];

const digit = 1;
const hexLower = 2;
const hexUpper = 4;
const letter = 8;
const separator = 16; // - _ . ~ and what is percent-encoded
const odd = 32;

const classes = new Uint8Array(256).fill(odd);
for (let code = 48; code <= 57; code += 1) classes[code] = digit;
for (let code = 65; code <= 90; code += 1) {
  classes[code] = code <= 70 ? hexUpper | letter : letter;
  classes[code + 32] = code <= 70 ? hexLower | letter : letter;
}
for (const one of '-_.~') classes[one.charCodeAt(0)] = separator;

const languages = new Set(
  (
    'ar az be bg bn bs ca cs cy da de el en es et eu fa fi fr ga gl gu he hi hr hu hy id is it ja ka kk km kn ko ky ' +
    'lo lt lv mk ml mn mr ms mt my nb ne nl nn no pa pl ps pt ro ru si sk sl sq sr sv sw ta te tg th tk tl tr uk ur ' +
    'uz vi zh zu'
  ).split(' '),
);
const crockford = (code: number): boolean => {
  const upper = code >= 97 ? code - 32 : code;
  return classOf(code) === digit || (upper >= 65 && upper <= 90 && !'ILOU'.includes(String.fromCharCode(upper)));
};
const classOf = (code: number): number => (code < 256 ? (classes[code] as number) : odd);
const isDigits = (text: string, from: number, to: number): boolean => {
  for (let at = from; at < to; at += 1) if (classOf(text.charCodeAt(at)) !== digit) return false;
  return to > from;
};

/** Operations of GraphQL, as observe-finished.ts names them. */
const isOperation = (text: string): boolean =>
  text.startsWith('query:') || text.startsWith('mutation:') || text.startsWith('subscription:');

/** The kind of a value; latin1 or text. A value of more than 512 characters is `other`. */
export function segmentKind(text: string): SegmentKind {
  const { length } = text;
  if (length === 0 || length > 512) return 'other';
  if (isOperation(text)) return 'word';
  let seen = 0;
  let digits = 0;
  let separators = 0;
  for (let at = 0; at < length; at += 1) {
    const kind = classOf(text.charCodeAt(at));
    seen |= kind;
    if (kind === digit) digits += 1;
    else if (kind === separator) separators += 1;
  }
  if (digits === length) return kindOfDigits(text);
  if ((seen & odd) !== 0) return kindOfOdd(text);
  if (separators > 0) return kindWithSeparators(text, digits, seen);
  if ((seen & letter) !== 0 && digits === 0) return kindOfLetters(text);
  return kindOfMixed(text, digits);
}

function kindOfDigits(text: string): SegmentKind {
  const { length } = text;
  if (length === 4 && (text.startsWith('19') || text.startsWith('20'))) return 'year';
  if (length === 8 && (text.startsWith('19') || text.startsWith('20')) && isMonthDay(text, 4, 6)) return 'date';
  return length >= 17 && length <= 19 ? 'snowflake' : 'integer';
}

function isMonthDay(text: string, month: number, day: number): boolean {
  const m = Number(text.slice(month, month + 2));
  const d = Number(text.slice(day, day + 2));
  return m >= 1 && m <= 12 && d >= 1 && d <= 31;
}

/** Characters that no name of a resource has: an address of mail, a time, something encoded, or a negative value. */
function kindOfOdd(text: string): SegmentKind {
  const at = text.includes('@') ? text.indexOf('@') : text.toLowerCase().indexOf('%40');
  if (at > 0 && text.indexOf('.', at) > at + 1 && text.indexOf('.', at) < text.length - 2) return 'email';
  if (isIsoDay(text) && text.length > 10 && (text[10] === 'T' || text[10] === 't')) return 'date';
  return 'other';
}

function isIsoDay(text: string): boolean {
  return (
    text.length >= 10 &&
    text[4] === '-' &&
    text[7] === '-' &&
    isDigits(text, 0, 4) &&
    isDigits(text, 5, 7) &&
    isDigits(text, 8, 10) &&
    isMonthDay(text, 5, 8)
  );
}

const hexDigit = digit | hexLower | hexUpper;
const isHex = (text: string): boolean => {
  for (let at = 0; at < text.length; at += 1) if ((classOf(text.charCodeAt(at)) & hexDigit) === 0) return false;
  return true;
};

function isUuid(text: string): boolean {
  if (text.length !== 36) return false;
  for (let at = 0; at < 36; at += 1) {
    if (at === 8 || at === 13 || at === 18 || at === 23) {
      if (text.charCodeAt(at) !== 45) return false;
    } else if ((classOf(text.charCodeAt(at)) & hexDigit) === 0) return false;
  }
  return true;
}

function kindOfLetters(text: string): SegmentKind {
  if (text.length === 2 && languages.has(text.toLowerCase())) return 'language';
  if (text.length === 26 && isUlid(text) && text === text.toUpperCase()) return 'ulid';
  return text.length >= 20 && changesOfCase(text) >= text.length / 4 ? 'token' : 'word';
}

const isUlid = (text: string): boolean => {
  if (text.length !== 26 || text.charCodeAt(0) > 55) return false;
  for (let at = 0; at < 26; at += 1) if (!crockford(text.charCodeAt(at))) return false;
  return true;
};

/** Letters and digits without separators. */
function kindOfMixed(text: string, digits: number): SegmentKind {
  const { length } = text;
  if (isUlid(text)) return 'ulid';
  if (isHex(text) && length >= 16) {
    if (length === 24) return 'objectid';
    return length === 32 && digits < length ? 'uuid' : 'hex';
  }
  if ((text[0] === 'v' || text[0] === 'V') && length <= 4 && isDigits(text, 1, length)) return 'version';
  if (isShortKey(text, digits)) return 'token';
  return length >= 20 && (digits >= 2 || changesOfCase(text) >= 4) ? 'token' : 'slug';
}

/** An id of few characters such as `dQw4w9WgXcQ`: digits between letters, or case that changes as no word does. */
function isShortKey(text: string, digits: number): boolean {
  if (text.length < 8) return false;
  let changes = 0;
  for (let at = 1; at < text.length; at += 1)
    if ((classOf(text.charCodeAt(at)) === digit) !== (classOf(text.charCodeAt(at - 1)) === digit)) changes += 1;
  return digits >= 1 && (changes >= 3 || (changes >= 2 && changesOfCase(text) >= 2));
}

function changesOfCase(text: string): number {
  let changes = 0;
  for (let at = 1; at < text.length; at += 1) {
    const isUpper = (code: number): boolean => code >= 65 && code <= 90;
    if (isUpper(text.charCodeAt(at)) !== isUpper(text.charCodeAt(at - 1))) changes += 1;
  }
  return changes;
}

function kindWithSeparators(text: string, digits: number, seen: number): SegmentKind {
  const { length } = text;
  if (isUuid(text)) return 'uuid';
  if (isIsoDay(text) && length === 10) return 'date';
  if (length === 7 && text[4] === '-' && isDigits(text, 0, 4) && isDigits(text, 5, 7)) return 'date';
  if (isPlainVersion(text)) return 'version';
  if ((seen & letter) === 0) return isDecimal(text) ? 'decimal' : digits > 0 ? 'prefixed' : 'slug';
  if ((text[0] === 'v' || text[0] === 'V') && length <= 8 && isVersionTail(text)) return 'version';
  if (isLocale(text)) return 'locale';
  if (isPrefixed(text, digits)) return 'prefixed';
  return length >= 20 && isScrambled(text, digits) ? 'token' : 'slug';
}

function isDecimal(text: string): boolean {
  const from = text[0] === '-' ? 1 : 0;
  const dot = text.indexOf('.');
  if (dot < 0) return isDigits(text, from, text.length);
  return isDigits(text, from, dot) && isDigits(text, dot + 1, text.length);
}

/** `1.0`, `2.1`: as a segment of a path the version of an API. */
const isPlainVersion = (text: string): boolean =>
  text.length === 3 && text[1] === '.' && isDigits(text, 0, 1) && isDigits(text, 2, 3);

function isVersionTail(text: string): boolean {
  let hasDigit = false;
  for (let at = 1; at < text.length; at += 1) {
    const isDigit = classOf(text.charCodeAt(at)) === digit;
    if (!isDigit && text[at] !== '.') return false;
    hasDigit ||= isDigit;
  }
  return hasDigit;
}

function isLocale(text: string): boolean {
  if (text.length !== 5 || (text[2] !== '-' && text[2] !== '_')) return false;
  return (
    languages.has(text.slice(0, 2).toLowerCase()) &&
    (classOf(text.charCodeAt(3)) & letter) !== 0 &&
    (classOf(text.charCodeAt(4)) & letter) !== 0
  );
}

/** `cus_9s6XKzkNRiz8i3`, `ORD-10042`: one separator, letters before it, and behind it an id with a digit. */
function isPrefixed(text: string, digits: number): boolean {
  if (digits === 0) return false;
  let cut = -1;
  for (let at = 0; at < text.length; at += 1) {
    const kind = classOf(text.charCodeAt(at));
    if (kind === separator) {
      if (cut >= 0) return false;
      cut = at;
    }
  }
  if (cut < 1 || cut > 8 || text[cut] === '.') return false;
  for (let at = 0; at < cut; at += 1) if ((classOf(text.charCodeAt(at)) & letter) === 0) return false;
  const tail = text.slice(cut + 1);
  // numbers of tickets have capitals before them, however few digits they have: OPS-88
  if (isDigits(tail, 0, tail.length)) return tail.length >= 3 || (tail.length === 2 && isCapitals(text, cut));
  return tail.length >= 6 && digits >= 2 && (changesOfCase(tail) >= 2 || isHex(tail) || isShortKey(tail, digits));
}

const isCapitals = (text: string, to: number): boolean => {
  for (let at = 0; at < to; at += 1) if (text.charCodeAt(at) < 65 || text.charCodeAt(at) > 90) return false;
  return to >= 2;
};

/** base64url with its two separators: case and digits change as in no text. */
function isScrambled(text: string, digits: number): boolean {
  return digits >= 2 && changesOfCase(text) >= 5;
}

/** The kind of a parameter or a member of a body, in the words of a schema where it has them. */
export function valueKind(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'object') return Array.isArray(value) ? 'array' : 'object';
  if (typeof value !== 'string') return 'string';
  if (value === 'true' || value === 'false') return 'boolean';
  const kind = segmentKind(value);
  if (kind === 'integer' || kind === 'year' || kind === 'snowflake') return 'integer';
  if (kind === 'decimal' || (kind === 'version' && isPlainVersion(value))) return 'number';
  return kind === 'uuid' || kind === 'date' || kind === 'email' || kind === 'ulid' ? kind : 'string';
}
