// Secrets by the way they are written: options of commands, arguments of calls, settings, other languages. Each file is
// a table; what none of its words is in costs one look.
import { maskCalls, mayBeCall } from './calls.js';
import { maskCommands, mayBeCommand } from './commands.js';
import { maskLines, maskPairs } from './configuration.js';
import { foreignName } from './foreign-names.js';
import { maskForeign } from './languages.js';

/** Names of settings that are in no other table. */
const setting =
  /env\s|arg\s|community|psk|wep|identified|pin|otp|cv[vc]|code|machine\s|rootpw|bindpw|authentication-key|key-string|auth\s|priv\s|:\s(?:EAP|XAUTH)/i;
const ofLine = /:(?:\d{4,5}|\*):|:[\w./]{13}(?:[\r\n]|$)|\$\w|\}\w|:::|@|\s\*\s/;

export const maySpell = (text: string): boolean =>
  mayBeCommand.test(text) || mayBeCall.test(text) || setting.test(text) || ofLine.test(text) || foreignName.test(text);

/** The text without what is written in one of these ways. */
export function maskSpellings(given: string): string {
  let text = given;
  if (mayBeCommand.test(text)) text = maskCommands(text);
  if (/pass|pwd|secret|token|key|psk|credential|val/i.test(text) || setting.test(text)) text = maskPairs(text);
  if (mayBeCall.test(text)) text = maskCalls(text);
  if (ofLine.test(text)) text = maskLines(text);
  return foreignName.test(text) ? maskForeign(text) : text;
}
