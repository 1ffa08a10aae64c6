// Texts of a PDF as lines of runs, each in a font that has its letters. pdfkit breaks lines itself, but with one font
// only.
import type { ReportFont } from './fonts.js';

export interface TextRun {
  /** Which of the fonts given. */
  readonly font: number;
  readonly text: string;
}

/** Letters that take no room and mean nothing on paper: joiners and variation selectors. */
const unseen = /\u200c|\u200d|[\ufe00-\ufe0f]/gu;
/** Control characters, and those that change the direction of others' text. */
const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;

const named = (letter: string): string =>
  `[U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`;

/** As it can be drawn: a letter that no font has is named by its number, never replaced by another one. */
export function toPrintable(text: string, fonts: readonly ReportFont[]): string {
  const visible = text
    .replaceAll(/\p{Surrogate}/gu, '\ufffd')
    .replaceAll(/\r\n?|\n/g, '\n')
    .replaceAll('\t', ' ')
    .replaceAll(unseen, '')
    .replaceAll(controls, named);
  return [...visible]
    .map((letter) => (letter === '\n' || fontOf(letter, fonts) >= 0 ? letter : named(letter)))
    .join('');
}

/** -1: none has it. */
const fontOf = (letter: string, fonts: readonly ReportFont[]): number =>
  fonts.findIndex((font) => font.has(letter.codePointAt(0) ?? 0));

const widthOf = (letter: string, fonts: readonly ReportFont[]): number =>
  fonts[fontOf(letter, fonts)]?.widthOf(letter.codePointAt(0) ?? 0) ?? 0;

/** Letters between which a line may end (Unicode line breaking class ID, roughly). */
const isIdeographic = (letter: string): boolean =>
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(letter);

/**
 * Lines no wider than `width` points at `size` points: ended at spaces, between ideographs, and within a word only
 * where it has no room of its own. `text` is printable.
 */
export function toLines(text: string, fonts: readonly ReportFont[], size: number, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    let lineWidth = 0;
    for (const piece of paragraph.match(/\s+|[^\s]+/gu) ?? []) {
      const letters = [...piece];
      const pieceWidth = letters.reduce((sum, letter) => sum + widthOf(letter, fonts) * size, 0);
      const mayBreak = letters.some(isIdeographic) || pieceWidth > width;
      if (!mayBreak) {
        if (lineWidth + pieceWidth > width && line !== '') {
          lines.push(line.trimEnd());
          line = '';
          lineWidth = 0;
          if (piece.trim() === '') continue;
        }
        line += piece;
        lineWidth += pieceWidth;
        continue;
      }
      for (const letter of letters) {
        const letterWidth = widthOf(letter, fonts) * size;
        if (lineWidth + letterWidth > width && line !== '') {
          lines.push(line.trimEnd());
          line = '';
          lineWidth = 0;
        }
        line += letter;
        lineWidth += letterWidth;
      }
    }
    lines.push(line.trimEnd());
  }
  return lines;
}

const isRightToLeft = (word: string): boolean => /[\p{Script=Hebrew}\p{Script=Arabic}]/u.test(word);

/**
 * Words from left to right as they stand on paper: neighbours of scripts that are written from right to left change
 * places (a small part of UAX 9; letters within a word are ordered by the font's layout).
 */
function toVisualOrder(line: string): string[] {
  const words = line.match(/\s+|[^\s]+/gu) ?? [];
  for (let from = 0; from < words.length; from++) {
    if (!isRightToLeft(words[from] as string)) continue;
    let to = from;
    while (to + 2 < words.length && isRightToLeft(words[to + 2] as string)) to += 2;
    words.splice(from, to - from + 1, ...words.slice(from, to + 1).toReversed());
    from = to;
  }
  return words;
}

/** In the order on paper. Spaces go with the run before them. */
export function toRuns(line: string, fonts: readonly ReportFont[]): TextRun[] {
  const runs: { font: number; text: string; isClosed: boolean }[] = [];
  for (const word of toVisualOrder(line)) {
    // a run has one direction
    const isClosed = isRightToLeft(word);
    const first = runs.length;
    for (const letter of word) {
      const last = runs.at(-1);
      const isOpen = last !== undefined && last.isClosed === isClosed && (!isClosed || runs.length > first);
      const font = letter === ' ' && isOpen ? last.font : Math.max(0, fontOf(letter, fonts));
      if (isOpen && last.font === font) last.text += letter;
      else runs.push({ font, text: letter, isClosed });
    }
  }
  return runs.map(({ font, text }) => ({ font, text }));
}
