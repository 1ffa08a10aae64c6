// Texts as they look: names of secrets are found in letters of full width, with characters in them that nobody sees,
// and in colours of a terminal.

const mayDisguise = /[^\u0000-\u007f]|\u001b/;
/** Colours and movements (CSI), titles and links (OSC). */
const terminal = new RegExp(
  '(?:\\u001b\\[|\\u009b)[0-?]{0,40}[ -/]{0,4}[@-~]|' +
    '\\u001b\\][^\\u0007\\u001b]{0,400}(?:\\u0007|\\u001b\\\\)|\\u001b[@-Z\\\\-_]',
  'g',
);
const unseen = /\p{Default_Ignorable_Code_Point}/gu;

/** The same text where nothing in it is disguised. */
export const undisguised = (text: string): string =>
  mayDisguise.test(text) ? text.replace(terminal, '').replace(unseen, '').normalize('NFKC') : text;
