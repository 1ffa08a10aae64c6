// Texts as they look: names of secrets are found in letters of full width, in letters of other scripts that look the
// same, with blanks or characters in them that have no form, in colours of a terminal, and escaped more than once.

const mayDisguise = /[^\u0000-\u007f]|\u001b/;
/** Colours and movements (CSI), titles and links (OSC). */
const terminal = new RegExp(
  '(?:\\u001b\\[|\\u009b)[0-?]{0,40}[ -/]{0,4}[@-~]|' +
    '\\u001b\\][^\\u0007\\u001b]{0,400}(?:\\u0007|\\u001b\\\\)|\\u001b[@-Z\\\\-_]',
  'g',
);
const unseen = /\p{Default_Ignorable_Code_Point}/gu;

/** Letters of other scripts, and the Latin ones that they look like. */
const [foreign, latin] = [
  'аеорсхуіѕјкмтвнԁԛԝһӏАВЕКМНОРСТХУІЅЈοαρνεικτυχΑΒΕΗΙΚΜΝΟΡΤΥΧıɡոս',
  'aeopcxyisjkmtbhdqwhlABEKMHOPCTXYISJoapveiktuxABEHIKMNOPTYXigns',
];
const alike = new Map([...foreign].map((letter, at) => [letter, latin[at] ?? letter]));
/** A word of both scripts: one of a single script is a word of its language. */
const mixedWord = /(?=[\p{L}\d_]{0,40}[A-Za-z])[\p{L}\d_]{2,60}/gu;
const inLatin = (text: string): string =>
  text.replace(mixedWord, (word) => [...word].map((letter) => alike.get(letter) ?? letter).join(''));

/** `P a s s w o r d :` */
const spaced = /(?<![A-Za-z] ?)(?:[A-Za-z] ){2,24}[A-Za-z](?=\s{0,3}[:=])/g;
const maySpaced = /[A-Za-z] [A-Za-z] [A-Za-z]\s{0,3}[:=]/;

/** Quotation marks of a document in a document in a document, and characters that are written as numbers. */
const escapes = /\\{2,16}(["'nrt])|\\{1,16}(?:u00|x)([2-7][\da-f])/gi;
const mayEscape = /\\(?:\\+["'nrt]|u00[2-7]|x[2-7])/i;
const unescaped = (text: string): string =>
  text.replace(escapes, (_, escaped: string | undefined, code: string | undefined) =>
    escaped === undefined ? String.fromCharCode(Number.parseInt(code ?? '', 16)) : `\\${escaped}`,
  );

/** The same text where nothing in it is disguised. */
export function undisguised(given: string): string {
  const text = mayEscape.test(given) ? unescaped(given) : given;
  const plain = mayDisguise.test(text)
    ? inLatin(text.replace(terminal, '').replace(unseen, '').normalize('NFKC'))
    : text;
  return maySpaced.test(plain) ? plain.replace(spaced, (name) => name.replaceAll(' ', '')) : plain;
}
