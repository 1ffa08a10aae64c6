// Common passwords, without asking any service: a dictionary of the library @zxcvbn-ts/language-common (MIT; 49,233
// passwords in the order of frequency), and the patterns that people wrap around one. A password is common if removing
// predictable ends (`2026`, `123`, `!!`) and undoing letter swaps (`p@ssw0rd`) leaves a listed word, two frequent
// words, a keyboard walk, or a repetition. The unit that a password repeats is judged up to `lengthMax` characters.
// So is one listed word, once or more, with any digits and signs around and between, also in letters that look alike.
// That bounds the work: the worst password that a random search found costs some 20 ms.
import { dictionary } from '@zxcvbn-ts/language-common';
import { folded } from './look-alikes.js';

/** Words of this product and of the calendar, which a general dictionary ranks low or lacks. */
const ownWords = `gatehouse waap firewall administrator superadmin operator viewer auditor security
  default initial temporary
  january february march april may june july august september october november december
  contrasena motdepasse passwort kennwort wachtwoord parola senha haslo heslo jelszo lozinka salasana losenord
  parool sifre пароль
  monday tuesday wednesday thursday friday saturday sunday spring summer autumn fall winter`;

/** Of the dictionary: two words of this rank side by side are common, such as `adminpassword`. */
const frequentWords = 1000;
const frequentLengthMin = 4;
const lengthMax = 64;

/** Keyboard rows and columns, the alphabet, digits. Walks in both directions count. */
const walks = [
  '`1234567890-=',
  'qwertyuiop[]',
  "asdfghjkl;'",
  'zxcvbnm,./',
  'qwertzuiop',
  'yxcvbnm',
  'azertyuiop',
  'qsdfghjklm',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.0p;/',
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  'a1b2c3d4e5f6g7h8i9j0',
  '1a2b3c4d5e6f7g8h9i0j',
  '147258369963852741',
  '159357258456',
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890123456789',
  '12345678910111213141516',
  '!@#$%^&*()_+',
  '!"#$%&/()=?',
];
const walkLengthMin = 3;
const runs = [...walks, ...walks.map((walk) => [...walk].reverse().join(''))];

interface Words {
  readonly all: ReadonlySet<string>;
  readonly frequent: ReadonlySet<string>;
}
let loaded: Words | null = null;

function words(): Words {
  if (loaded !== null) return loaded;
  const listed = dictionary['passwords-common'].map((word) => word.toLowerCase());
  const own = ownWords.split(/\s+/);
  loaded = {
    all: new Set([...listed.filter((word) => word.length >= frequentLengthMin), ...own]),
    frequent: new Set([
      ...listed.slice(0, frequentWords).filter((word) => word.length >= frequentLengthMin && /[a-z]/.test(word)),
      ...own,
    ]),
  };
  return loaded;
}

const swapTable: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '8': 'b',
  '9': 'g',
  '@': 'a',
  $: 's',
  '!': 'i',
  '|': 'l',
  '+': 't',
  '€': 'e',
  '(': 'c',
};
const unswap = (text: string, one: string): string =>
  [...text].map((sign) => (sign === '1' || sign === '!' ? one : (swapTable[sign] ?? sign))).join('');

/** Spellings of a text with swapped letters undone, and backwards. */
function spellings(text: string): string[] {
  const plain = new Set([text, unswap(text, 'i'), unswap(text, 'l'), text.replace(/[\s._-]+/g, '')]);
  return [...plain, ...[...plain].map((one) => [...one].reverse().join(''))];
}

/** The shortest text whose repetition is the given one (`abcabc` → `abc`); the text itself if nothing repeats. */
function unitOf(text: string): string {
  const at = (text + text).indexOf(text, 1);
  return at < text.length ? text.slice(0, at) : text;
}

/** Whether walks of at least three keys cover the text, but for one key between or after them. */
function isWalk(text: string): boolean {
  let loose = 0;
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at);
    const length = Math.max(...runs.map((run) => lengthWithin(run, rest)));
    if (length < walkLengthMin) {
      if (++loose > 1) return false;
      at++;
    } else at += length;
  }
  return text.length >= walkLengthMin;
}

/** How many first characters of the text stand side by side in the run. */
function lengthWithin(run: string, text: string): number {
  let length = 0;
  while (length < text.length && run.includes(text.slice(0, length + 1))) length++;
  return length;
}

function isPair(text: string, { frequent }: Words): boolean {
  for (let at = frequentLengthMin; at <= text.length - frequentLengthMin; at++)
    if (frequent.has(text.slice(0, at)) && frequent.has(text.slice(at))) return true;
  return false;
}

/** Ends that are guessed first: signs, years (also read backwards), one or two digits, digits in a row or the same. */
const signs = /[^\p{L}\p{N}]{1,4}$/u;
const digitsMax = 12;
const isPredictable = (digits: string): boolean =>
  digits.length <= 2 ||
  /^(?:(?:19|20)\d\d|\d\d(?:91|02))$/.test(digits) ||
  unitOf(digits).length <= 2 ||
  isWalk(digits);

const endsMax = 6;
const coresMax = 100;

/** Texts that remain if predictable ends are removed, one after the other. */
function coresOf(text: string): Set<string> {
  const cores = new Set([text]);
  let fresh = [text];
  for (let round = 0; round < endsMax && fresh.length > 0; round++) {
    const next: string[] = [];
    for (const one of fresh)
      for (const shorter of [...withoutEnd(one), ...withoutStart(one)])
        if (!cores.has(shorter) && cores.size < coresMax) {
          cores.add(shorter);
          next.push(shorter);
        }
    fresh = next;
  }
  return cores;
}

function withoutEnd(text: string): string[] {
  const count = signs.exec(text)?.[0].length ?? 0;
  // a sign beside the word may be a swapped letter (`1!@dmin`): each number of signs is tried
  const found = Array.from({ length: count }, (_, more) => text.slice(0, -(more + 1)));
  const digits = /\d+$/.exec(text)?.[0] ?? '';
  if (digits !== '' && digits.length <= digitsMax && isPredictable(digits)) found.push(text.slice(0, -digits.length));
  return found;
}

function withoutStart(text: string): string[] {
  const backwards = [...text].reverse().join('');
  return withoutEnd(backwards).map((one) => [...one].reverse().join(''));
}

const lettersMin = 5;

/** The listed word in a part of a password, in each of its spellings; null: it is none. */
function listedIn(part: string, { all }: Words): string | null {
  const bare = part.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
  for (const core of new Set([part, bare, ...[part, bare].flatMap((one) => [...coresOf(one)])]))
    for (const text of spellings(core))
      if (text.length >= lettersMin - 1 && /\p{L}/u.test(text) && all.has(text)) return unswap(text, 'i');
  return null;
}

/** Whether it is one listed word, once or more, and digits and signs: `Football1863!`, `P4ssw0rd-p4ssw0rd`. */
function isOneWord(text: string, known: Words): boolean {
  const letters = text.replace(/[^\p{L}]+/gu, '');
  // `foot1863ball`, `Password1234Password`
  if (letters.length >= lettersMin && letters.length * 2 >= text.length && known.all.has(unitOf(letters))) return true;
  for (const between of [/[\s._,:;/~=*#&-]+/, /[\s._,:;/~=*#&!?-]+|\d{2,}/]) {
    const found = new Set<string>();
    for (const part of text.split(between)) {
      if (!/\p{L}/u.test(part)) continue;
      const word = listedIn(part, known);
      // two of these are no repetition
      found.add(word ?? '');
      if (word === null || found.size > 1) break;
    }
    if (found.size === 1 && !found.has('')) return true;
  }
  return false;
}
/** Whether a list of guesses in use would hold the password among its first. */
export function isCommonPassword(password: string): boolean {
  const trimmed = password.trim();
  return [...new Set([trimmed.normalize('NFKC').toLowerCase(), folded(trimmed)])].some(isCommon);
}

function isCommon(text: string): boolean {
  const known = words();
  const lower = unitOf(text);
  if (lower.length > lengthMax) return false;
  for (const core of coresOf(lower)) {
    if (core.length <= 2) return true;
    const unit = unitOf(core);
    if (unit.length <= 3 && core !== lower && unit !== core) return true;
    if (isWalk(core) || isWalk(unit)) return true;
    if ([...spellings(core), ...spellings(unit)].some((text) => known.all.has(text))) return true;
    if ([core, unswap(core, 'i'), unswap(core, 'l')].some((text) => isPair(text, known))) return true;
  }
  return isOneWord(lower, known);
}
