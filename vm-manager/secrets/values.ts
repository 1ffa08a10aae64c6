// What a value behind a name of a secret may be: the secret itself, a stand-in for it, or a name of code.
import { isKeyWord } from './shapes.js';
import { foreignName } from './spellings/foreign-names.js';
import { isOpaque, isOrdinary, isPhrase, isUnpronounceable } from './words.js';

const shown = 4;

/** Four characters stay of what is long, so that two secrets can be told apart. */
export const hide = (secret: string): string => (secret.length >= 16 ? `${secret.slice(0, shown)}****` : '****');

export const isPlaceholder = (value: string): boolean =>
  /^(?:[*x.•-]{3,}|.{0,4}\*{4}|<.*>|\$?\{.*\}|\$\{?|%\(\w+\)s|%s|%\w+%|null|none|nil|true|false)$/i.test(value) ||
  /^(?:\$[A-Z_][A-Z0-9_]*|undefined|optional|required)$/.test(value) ||
  /[=:;/]["']?.{0,4}\*{4}["']?$/.test(value);

/** A name of code: `user.password`, `settings.token`, `settings::key`. */
export const isNameOfCode = (value: string): boolean =>
  /^[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)*$/.test(value);

/** Names of things that have a digit in them, and that names of variables begin with. */
const numbered = new RegExp(
  '^(?:oauth[12]|auth0|base(?:32|58|64)|sha[1-9]|md[45]|aes|rc4|s3|ec2|k[38]s|x509|pkcs|p12|db2|h2|http2|web3|v\\d|' +
    'id3|i18n|l10n|ipv[46]|utf8|u2f|o365|m365|e2e|b2[bc]|a11y|ed25519|x25519|p256|bip39|n8n|' +
    '(?:step|test|user|node|app|db)\\d)',
);

/**
 * `hunter2secret`, all small letters, with a digit that more letters stand behind: words of code begin anew behind a
 * digit (`password2_secret`, `db2Token`), but for a few whose names have one (`oauth2token`).
 */
export const isNumberedWord = (value: string): boolean => /^[a-z]+\d+[a-z]+$/.test(value) && !numbered.test(value);

export function isSecretLiteral(value: string): boolean {
  if (value.length < 3 || isPlaceholder(value)) return false;
  // a sentence about secrets, or the name of an entry: "Enter your password", "auth.token", "PASSWORD"
  if (/^[;,)\]]\s|^(?:include|omit|same-origin)$/.test(value)) return false;
  return (
    !(isKeyWord.test(value) && /^[A-Za-z_.\s,!?-]+$/.test(value)) && !(foreignName.test(value) && !/\d/.test(value))
  );
}

/** Not a word of the language: `password 'userName'` may be a field, `password 'hunter2!'` is a value. */
export const isMixed = (value: string): boolean =>
  /[A-Za-z]/.test(value) && /\d|[!#$%^*~]/.test(value) && !isPlaceholder(value) && !/^[./$]|\(|\/.*\//.test(value);

/** Made by chance, as far as letters can tell. */
export const isMadeUp = (value: string): boolean => isOpaque(value) || isUnpronounceable(value);

/** So long and so mixed that it is no name and no number of a version. */
export const isTokenLike = (value: string): boolean =>
  value.length >= 16 &&
  /^[\w+/=.~%-]+$/.test(value) &&
  !/^[./]|\.\w{1,4}$|[._/-].*[._/-].*[._/-].*[._/-]/.test(value) &&
  (isMadeUp(value) || (/\d.*\d/.test(value) && /[A-Za-z].*[A-Za-z]/.test(value) && !/^[a-z]+[-_.]?\d+$/i.test(value)));

const endings =
  /\.(?:[cm]?[jt]sx?|py|go|rb|rs|java|kt|cs|c|h|cpp|php|ya?ml|json|xml|toml|ini|env|tf|sh|md|txt|html?)$/i;
export const isFile = (value: string): boolean =>
  (/^[\w@./\\-]{1,210}$/.test(value) && endings.test(value)) || /^(?:[A-Za-z]:)?[\\/]|^\.{1,2}\//.test(value);

/**
 * One word in quotation marks where the text says that a secret is in the code: neither a name of code, nor a file,
 * nor a number, nor a sentence.
 */
export function isCredentialWord(value: string): boolean {
  if (!isSecretLiteral(value) || isOrdinary(value) || isFile(value)) return false;
  // a small number, a version, an address
  if (/^(?:[\d.:x-]{1,7}|\d+(?:\.\d+){1,3}(?:[:/]\d+)?)$/i.test(value)) return false;
  if (/^(?:basic|bearer|token|digest)\s+\S{6,}$/i.test(value)) return true;
  if (/:\/\/|[A-Za-z]\w*\(|\$\{|\w=[^=]/.test(value)) return false;
  if (/\s/.test(value)) return isPhrase(value) || (isMixed(value) && value.split(/\s+/).length <= 5);
  // `os.environ`, `user_name`, `userName`: names; `Winter_77` and `winter.garden!` are none
  if (/^[A-Z][A-Z_]*_[A-Z_]*$/.test(value) || /^[a-z]+(?:[A-Z][a-z]+)+$/.test(value)) return isMadeUp(value);
  if (/^[A-Za-z_]+(?:(?:[._]|::|->)[A-Za-z_]+)+$/.test(value)) return value.split(/[._:>-]+/).some(isMadeUp);
  return true;
}
