// How a title and a weakness are read before anything is compared. Texts are those of scanners: bounded first.

/** Characters of a title that count; what a scanner says about the weakness stands at its beginning. */
export const titleCharactersMax = 300;
/** Compatibility forms (NFKC) can make one character eighteen; more than this is never normalised. */
const rawCharactersMax = 1200;

/** What has no other form and no space to spare: most titles. */
const isPlain = /^[\x21-\x7e](?: ?[\x21-\x7e]){0,299}$/u;

/** A title as the patterns read it: NFKC, lower case, single spaces, at most 300 characters. */
export function readTitle(title: string): string {
  if (isPlain.test(title)) return title.toLowerCase();
  return title
    .slice(0, rawCharactersMax)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/gu, ' ')
    .trim()
    .slice(0, titleCharactersMax);
}

/** Weaknesses as reports write them: 89, "89", "CWE-089: SQL injection", "CWE-79,CWE-89", a list of such. */
export type Weakness = number | string | readonly (number | string)[] | null | undefined;

/** Weaknesses of one finding that are read; a report that names more names a category, not a weakness. */
const weaknessesMax = 32;
const weaknessCharactersMax = 400;

function readText(text: string): number[] {
  const bounded = text.slice(0, weaknessCharactersMax);
  const named = [...bounded.matchAll(/cwe[-_: ]{0,3}0{0,6}(\d{1,5})(?!\d)/giu)].map((match) => Number(match[1]));
  if (named.length > 0) return named;
  const parts = bounded.split(/[\s,;|]+/u).filter((part) => part !== '');
  return parts.every((part) => /^0{0,6}\d{1,5}$/u.test(part)) ? parts.map(Number) : [];
}

/** The numbers of the weaknesses that a finding names, in its order; empty where it names none. */
export function readWeaknesses(weakness: Weakness): number[] {
  if (weakness == null) return [];
  if (Array.isArray(weakness) && weakness.length < 2) return readWeaknesses(weakness[0] as number | string | undefined);
  if (typeof weakness === 'number') return Number.isInteger(weakness) && weakness > 0 ? [weakness] : [];
  const values = Array.isArray(weakness) ? (weakness as readonly (number | string)[]) : [weakness as string];
  const read = values
    .slice(0, weaknessesMax)
    .flatMap((value) => (typeof value === 'number' ? [value] : readText(value)));
  return [...new Set(read.filter((number) => Number.isInteger(number) && number > 0))].slice(0, weaknessesMax);
}
