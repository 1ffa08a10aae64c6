import fc from 'fast-check';
import t from 'tap';
import { visiblePieces } from './visible-text.js';

t.test('what would hide or reorder text is named', async (t) => {
  const cases: [string, string][] = [
    ['plain <b>text</b>', 'plain <b>text</b>'],
    ['a\u202eb', 'a[U+202E]b'],
    ['a\u0000b\r\n', 'a[NUL]b[CR][LF]'],
    ['\u200bx\ufeff', '[U+200B]x[U+FEFF]'],
    ['\u{e0041}', '[U+E0041]'],
    ['\ud800', '[U+D800]'],
    ['naïve 日本語 🙂', 'naïve 日本語 🙂'],
    ['👩‍👧 ❤️ 👩🏽‍🚀 🏴‍☠️', '👩‍👧 ❤️ 👩🏽‍🚀 🏴‍☠️'],
    ['a\u200d🙂', 'a[U+200D]🙂'],
    ['🙂\u200db', '🙂[U+200D]b'],
    ['a\ufe0f❤\ufe0f\ufe0f', 'a[U+FE0F]❤\ufe0f[U+FE0F]'],
    ['\u200c\ufe0e', '[U+200C][U+FE0E]'],
    ['', ''],
  ];
  const shown = (text: string): string =>
    visiblePieces(text)
      .map((piece) => (piece.isOdd ? `[${piece.text}]` : piece.text))
      .join('');
  for (const [text, wanted] of cases) t.equal(shown(text), wanted);
});

t.test('nothing else is lost', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const kept = visiblePieces(text).filter(({ isOdd }) => !isOdd);
      return kept.every((piece) => text.includes(piece.text)) && visiblePieces(text).length <= text.length + 1;
    }),
    { seed: 13 },
  );
});
