// The words of seclang that an editor colours. They are found line by line with one pattern: a language of CodeMirror's
// own would bring a parser, its trees and its styles along, a third of the editor, for what these few words say.
const words: readonly (readonly [kind: string, pattern: string])[] = [
  ['comment', '^\\s*#.*'],
  ['directive', '\\bSec[A-Za-z]+\\b'],
  ['operator', '(?<![A-Za-z0-9.])!?@[A-Za-z]+'],
  ['variable', '%\\{[^}]*\\}|\\b[A-Z][A-Z0-9_]{2,}\\b'],
  [
    'action',
    '\\b(?:deny|block|pass|allow|drop|redirect|log|nolog|auditlog|noauditlog|capture|chain|multiMatch)\\b(?!:)',
  ],
  [
    'key',
    '\\b(?:id|phase|status|severity|t|msg|logdata|tag|setvar|ctl|skipAfter|expirevar|initcol|ver|rev|redirect)(?=:)',
  ],
  ['number', '\\b\\d+\\b'],
];

export const wordKinds: readonly string[] = words.map(([kind]) => kind);

/** Finds them in one line; the first kind that fits is the name of the group that is set. */
export const wordPattern = new RegExp(words.map(([kind, pattern]) => `(?<${kind}>${pattern})`).join('|'), 'g');

/** Which kind of word a match of `wordPattern` is. */
export const kindOfWord = ({ groups = {} }: RegExpExecArray): string =>
  wordKinds.find((kind) => groups[kind] !== undefined) ?? '';
