// Secrets by the way they are written: options of commands, arguments of calls, settings, other languages. Each file is
// a table; a text without the words of a table costs one look.
import { callNames, maskArguments, maskAssigned, mayBeCall } from './calls.js';
import { commandNames, maskCommands, mayBeCommand } from './commands.js';
import { maskLines, maskPairs } from './configuration.js';
import { foreignName, foreignWords } from './foreign-names.js';
import { Hints } from './hints.js';
import { maskForeign } from './languages.js';

/** Names of settings that are in no other table. */
const setting = new RegExp(
  'env\\s|arg\\s|param\\s|community|psk|wep_?key|pin|otp|cv[vc]|code|machine\\s|rootpw|bindpw|' +
    'authentication-key|key-string|auth\\s|priv\\s|:\\s(?:EAP|XAUTH)|sae_',
  'i',
);
const ofLine = /:(?:\d{4,5}|\*):|:[\w./]{13}(?:[\r\n]|$)|\$[\w]|\}[\w./+]|:::|\s\*\s/;
const isOfLine = (text: string): boolean =>
  text.includes('@') ||
  ((text.includes(':') || text.includes('$') || text.includes('}') || text.includes('*')) && ofLine.test(text));

const some = (words: string): string[] => words.split(' ');
const command = {
  words: [
    ...commandNames,
    ...some(
      'htpasswd mosquitto_passwd rabbitmqctl wpa_pass nmcli sqlplus sqlldr rman vault config:set secret secrets ' +
        'configure user-secrets rclone encrypt_string pdftk qpdf dscl send --from-literal echo print printf ' +
        'write-output <<< npm composer rasdial bitsadmin autologon autologon64 mount mount.cifs sc.exe reg.exe',
    ),
    'sc config',
    'sc create',
    'reg add',
    'bw ',
    'mc ',
    'net use',
    'net1 use',
  ],
  isStart: true,
};
const option = { words: some('pass pwd psk secret token key auth .py'), isStart: false };
const callName = { words: callNames, isStart: true };
const assigned = {
  words: some('sp_ identified securestring auth cred login pass pwd pw secret token key ${'),
  isStart: false,
};
const settingName = {
  words: some('env arg param pin otp totp cvv cvc mfa code one-time priv eap xauth'),
  isStart: true,
};
const settingPart = {
  words: some(
    'pass pwd secret token key psk credential setenv setx _param community wep_ wepkey _pin _otp pincode machine ' +
      'rootpw bindpw auth sae_ geheimzahl',
  ),
  isStart: false,
};
const language = { words: foreignWords, isStart: false };
const hints = new Hints([command, option, callName, assigned, settingName, settingPart, language]);
const [ofCommand, ofCallName, ofAssigned, ofSettingName, ofSetting, ofLanguage] = [3, 4, 8, 16, 32, 64];

/** A line of a script of ftp; the word alone is in most descriptions. */
const ftpUser = /(?:^|[\n;"'])[ \t]{0,8}(?:quote\s{1,3})?user\s/;

const isCommand = (text: string, found: number): boolean =>
  ((found & ofCommand) !== 0 && mayBeCommand.test(text)) || (text.includes('user ') && ftpUser.test(text));
const isSetting = (text: string, found: number): boolean =>
  (found & ofSetting) !== 0 || ((found & ofSettingName) !== 0 && setting.test(text));

export function maySpell(text: string): boolean {
  const found = hints.in(text);
  return (
    (found & (ofAssigned | ofSetting)) !== 0 ||
    isOfLine(text) ||
    isCommand(text, found) ||
    ((found & ofCallName) !== 0 && mayBeCall.test(text)) ||
    isSetting(text, found) ||
    ((found & ofLanguage) !== 0 && foreignName.test(text))
  );
}

/** The text without what is written in one of these ways. */
export function maskSpellings(given: string): string {
  let text = given;
  // masks take words away and add none
  const found = hints.in(text);
  if (isCommand(text, found)) text = maskCommands(text);
  if (isSetting(text, found)) text = maskPairs(text);
  if ((found & ofCallName) !== 0) text = maskArguments(text);
  if ((found & ofAssigned) !== 0) text = maskAssigned(text);
  if ((found & ofLanguage) !== 0 && foreignName.test(text)) text = maskForeign(text);
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
