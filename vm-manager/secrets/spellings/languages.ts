// Values behind names of secrets in other languages, where the sentence or the file shows that they are values.
import { hide, isMadeUp, isMixed, isNameOfCode, isSecretLiteral } from '../values.js';
import { foreignName, foreignNames as name } from './foreign-names.js';
import { isGiven, isTyped } from './spelling.js';

const inner =
  '(?:(?<![\\p{L}\\d])|(?<=[\\p{Ll}\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}]))';
const operator =
  '(?:\\s{0,5}(?:=>|:=|->|={1,3}|[:：＝])\\s{0,5}|\\s{1,3}(?:lautet|ist|est|es|è|é|is|jest|je|это|είναι)\\s{1,3}|' +
  '\\s{0,2}(?=[「『])|\\s{0,2}(?:是|为|為|は|은|는|이)\\s{0,2}|>)';
const assigned = new RegExp(
  `((?:${inner}(?:${name})(?:e?s|[a-z]{1,2}(?=\\s{1,3}\\p{L}))?(?:[-_.]\\w{1,20}|` +
    `\\d{1,3})?\\\\?["'\`\\]»”」]{0,2}${operator})` +
    '(?:[bfrun@]{0,2}(\\\\?["\'`«“「『]))?)' +
    '((?<=["\'`])[^"\'`\\n]{1,200}|(?<=[«“「『])[^»”」\\n]{1,200}|' +
    '(?<!["\'`«“「『])[^\\s"\'`,;，。；&<>(){}[\\]\\\\]{3,200}(?![\\w([]))',
  'giu',
);
/** `setPasswort("x")`, `['contraseña', 'x']`, `Passwort "x"`. */
const quoted = new RegExp(
  `((?:${name})\\w{0,20}["'\`]?(?:\\s{0,3}[,(]\\s{0,3}|\\s{1,3})\\\\?["'\`])([^"'\`\\n]{3,200})(?=["'\`])`,
  'giu',
);
const spoken = new RegExp(`(${inner}(?:${name})\\s{1,3}(?!["'\`]))([^\\s"'\`,;:=()<>]{6,200})`, 'giu');

/** What files of settings and descriptions of other languages write instead of a value. */
const ordinary = new RegExp(
  '^(?:erforderlich|ungültig|ungueltig|falsch|fehlt|leer|gesetzt|geändert|vergessen|ändern|schwach|' +
    'unsicher|requis|obligatoire|invalide|incorrecte?|manquante?|vide|oubliée?|faible|requerid[ao]|' +
    'inválid[ao]|incorrect[ao]|vac[ií][ao]|olvidada|débil|obrigatóri[ao]|esquecida|fraca|' +
    'richiest[ao]|obbligatori[ao]|errat[ao]|mancante|debole|vereist|ongeldig|verplicht|zwak|wymagane|' +
    'nieprawidłowe|słabe|povinné|zorunlu|geçersiz|обязателен|неверный|слабый|string|text|texto|texte)$',
  'iu',
);

const isWord = (value: string): boolean => /^[\p{L}\p{M}]+[.!?]?$/u.test(value);

function isValue(value: string, isQuoted: boolean, head: string, isLine: boolean): boolean {
  if (!isGiven(value) || ordinary.test(value)) return false;
  // a label: "Passwort": "Neues Passwort"
  if (foreignName.test(value) && !/\d/.test(value)) return false;
  if (isQuoted) return isSecretLiteral(value) && (!/\s/.test(value) || isMixed(value));
  if (isNameOfCode(value) && /[.:>]/.test(value)) return false;
  if (/^[\d.]{1,3}$/.test(value)) return false;
  if (/\d/.test(value) && !/^\d+(?:[.-]\d+)*[.:)]?$/.test(value)) return true;
  if (/^\d{4,12}$/.test(value) || isMadeUp(value)) return !/\s$/.test(head) || isLine;
  // a word: of a variable file, or alone in its line
  if (/[=]$/.test(head)) return isTyped(value);
  return isLine && (isWord(value) ? value.length >= 6 && /[a-z]/i.test(value) : isTyped(value)) && isTyped(value);
}

/** A line begins before the name and ends behind the value. */
function isWholeLine(text: string, from: number, to: number): boolean {
  const before = text.slice(Math.max(0, from - 40), from);
  return /^(?:[ \t]*[\r\n]|[ \t]*$)/.test(text.slice(to, to + 20)) && /(?:^|\n)[ \t\w.$-]{0,30}$/.test(before);
}

/** `dbPasswort` is a name, `resenha` another word. */
const begins = (text: string, at: number): boolean =>
  !/\p{Ll}/u.test(text[at - 1] ?? '') || !/\p{Ll}/u.test(text[at] ?? '');

export const maskForeign = (text: string): string =>
  text
    .replace(assigned, (all: string, head: string, quote: string | undefined, value: string, at: number) =>
      begins(text, at) && isValue(value, quote !== undefined, head, isWholeLine(text, at, at + all.length))
        ? head + hide(value)
        : all,
    )
    .replace(quoted, (all: string, head: string, value: string) =>
      isGiven(value) &&
      !/\s/.test(value) &&
      !foreignName.test(value) &&
      (isMixed(value) || /[,(]\s*\\?["'`]$/.test(head))
        ? head + hide(value)
        : all,
    )
    .replace(spoken, (all: string, head: string, value: string, at: number) =>
      begins(text, at) && isTyped(value) && isMixed(value) && /\d/.test(value) && !/^[\p{L}]+\d{1,4}[.,]?$/u.test(value)
        ? head + hide(value)
        : all,
    );
