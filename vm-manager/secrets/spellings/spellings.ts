// Secrets by the way they are written: options of commands, arguments of calls, settings, other languages. Each file is
// a table; a text without the words of a table costs one look.
import { callNames, maskCalls, mayBeCall } from './calls.js';
import { commandNames, maskCommands, mayBeCommand } from './commands.js';
import { maskLines, maskPairs } from './configuration.js';
import { foreignName, foreignWords } from './foreign-names.js';
import { Hints } from './hints.js';
import { maskForeign } from './languages.js';

/** Names of settings that are in no other table. */
const setting =
  /env\s|arg\s|param\s|community|psk|wep_?key|pin|otp|cv[vc]|code|machine\s|rootpw|bindpw|authentication-key|key-string|auth\s|priv\s|:\s(?:EAP|XAUTH)|sae_/i;
const named = /pass|pwd|secret|token|key|psk|credential/i;
const ofLine = /:(?:\d{4,5}|\*):|:[\w./]{13}(?:[\r\n]|$)|\$[\w]|\}[\w./+]|:::|\s\*\s/;
const isOfLine = (text: string): boolean => text.includes('@') || ofLine.test(text);

/** Beginnings of words that the tables have besides names of commands and of calls. */
const beginnings = (
  'htpa _pas rabb wpa_ nmcl sqlp sqll rman vaul conf secr user rclo encr pdft qpdf dscl send npm comp pass pwd pw tok ' +
  'key psk cred auth iden secu sp_ env arg para comm wep pin otp cvv cvc code mach root bind priv eap xaut sae_ --fr ' +
  'net <<< echo prin writ kini .py ${ setx geheimz logi bear'
).split(' ');
const hints = new Hints([...commandNames, ...callNames, ...foreignWords, ...beginnings, 'bw ', 'mc ']);

export const maySpell = (text: string): boolean =>
  isOfLine(text) ||
  (hints.in(text) && (mayBeCommand.test(text) || mayBeCall.test(text) || setting.test(text) || foreignName.test(text)));

/** The text without what is written in one of these ways. */
export function maskSpellings(given: string): string {
  let text = given;
  if (hints.in(text)) {
    if (mayBeCommand.test(text)) text = maskCommands(text);
    if (named.test(text) || setting.test(text)) text = maskPairs(text);
    if (mayBeCall.test(text)) text = maskCalls(text);
    if (foreignName.test(text)) text = maskForeign(text);
  }
  return isOfLine(text) ? maskLines(text) : text;
}

/** Stand for what is not escaped while what is escaped is read: both end a word, and no report has them. */
const [quote, lineEnd] = ['\u2029', '\u2028'];

/** A text within a text (`"run \"x\""`), read by `mask` as if it stood alone. */
export function maskEscaped(text: string, mask: (text: string) => string): string {
  if (!/\\["n]/.test(text) || text.includes(quote) || text.includes(lineEnd)) return text;
  const plain = text
    .replaceAll('"', quote)
    .replaceAll('\n', lineEnd)
    .replaceAll(`\\${quote}`, '"')
    .replaceAll('\\n', '\n');
  const masked = mask(plain);
  if (masked === plain) return text;
  return masked.replaceAll('\n', '\\n').replaceAll('"', '\\"').replaceAll(lineEnd, '\n').replaceAll(quote, '"');
}
