// Values of addresses, forms and cookies whose name says that they let a client in. Everything else of an address stays
// readable: it says where the weakness is.
import { isOpaque, isUnpronounceable } from './words.js';

/** Their whole value is a secret, also one that is a word. */
const always =
  /passw|passphrase|passcode|(?:^|[^a-z])(?:pass|pwd|pw|pswd)\d?$|pwd|secret|credential|otp$|(?:^|[^a-z])pin$/;
/** Their value is a secret where it is no word and no small number. */
const mostly = new RegExp(
  'token|session|sess(?:ion)?_?id|signature|jwt|[cx]srf|saml|assertion|hmac|' +
    'cookie|authori[sz]|nonce|ticket|verifier|bearer|oauth',
);
const mostlyWhole = new RegExp(
  '(?:^|[^a-z])(?:sid|sig|sign|code|auth|key|mfa|state|refresh|relaystate|' +
    'mac|access|invite|reset|magic|sess|c_hash|s_hash)(?:$|[^a-z])',
);
const mostlyEnd = /(?:key|keyid|accesskeyid|sid|sig|pass|auth|code)$/;

type Kind = 'always' | 'mostly' | 'never';
const kindsMax = 2000;
const kinds = new Map<string, Kind>();

/** Remembered, as reports repeat the names of parameters; bounded, as they may not. */
function kindOf(given: string): Kind {
  const known = kinds.get(given);
  if (known !== undefined) return known;
  // of `user[password]` and `user%5Bpassword%5D` the inner name counts
  const name = given
    .toLowerCase()
    .replace(/%5b|%5d|[[\]]/g, '_')
    .replace(/_+$/, '');
  const isMostly = mostly.test(name) || mostlyWhole.test(name) || mostlyEnd.test(name);
  const kind = always.test(name) ? 'always' : isMostly ? 'mostly' : 'never';
  if (kinds.size >= kindsMax) kinds.clear();
  kinds.set(given, kind);
  return kind;
}

/** `open`, `north-east`, `E_FAIL`, `404`. */
export function isObvious(value: string): boolean {
  if (/^\d{1,5}$/.test(value) || value.length < 6) return true;
  if (!/^[A-Za-z][A-Za-z_.~+-]{0,40}$/.test(value.replace(/%20/g, '+'))) return false;
  return value.split(/[^A-Za-z]+/).every((word) => !isOpaque(word) && !isUnpronounceable(word) && isCased(word));
}

/** Small, capital, or words that begin with a capital. */
const isCased = (word: string): boolean => (word.match(/[a-z](?=[A-Z])/g)?.length ?? 0) * 5 <= word.length;

const isHidden = (value: string): boolean => /^.{0,4}\*{4}/.test(value) || /^[*x•]{3,}$/i.test(value);
/** `{{token}}`, `$TOKEN`, `<token>`, `%s`: stands for a value. */
const isBlank = (value: string): boolean => /^(?:\$?\{|\$[A-Z_]+$|%s$|%7B|<)/i.test(value);

const isSecretValue = (kind: Kind, value: string): boolean =>
  kind !== 'never' &&
  !isHidden(value) &&
  !isBlank(value) &&
  (kind === 'always' ? value.length >= 3 : !isObvious(value));

/** `?name=value`, `;name=value` of a path, `#name=value` of an answer of OAuth. */
const parameter = /([?&;#]|%26|%3F)([\w.~[\]$-][\w.~%[\]$-]{0,99})=([^\s"'`<>&;#]{3,4000})/gi;

/** The text without secret values of parameters; `hide` says what stays of one. */
export const maskParameters = (text: string, hide: (secret: string) => string): string =>
  text.replace(parameter, (all, _mark: string, name: string, value: string) =>
    isSecretValue(kindOf(name), value) ? all.slice(0, all.length - value.length) + hide(value) : all,
  );

/** `/reset/token/VALUE` of an address: the value stands behind its name. */
const segment = new RegExp(
  '(/(?:(?:\\w{1,20}[-_])?(?:tokens?|secret|otp|jwt|api[-_]?key|magic(?:[-_]?link)?)|' +
    '(?:reset|forgot|recover|change)[-_]?password|password[-_]?reset|(?:verify|confirm|activat\\w{1,4})' +
    '(?:[-_]?e?mail|[-_]?account)?|reset|invite|invitations?|unsubscribe)/)([^\\s/?#"\'`<>&;]{8,400})',
  'gi',
);
const address = /\b(?:https?|wss?):\/\/[^\s"'`<>?#]{1,2000}/gi;
/** Letters and digits, and no version, file or slug. */
const isMixedSegment = (value: string): boolean =>
  /\d/.test(value) &&
  /[A-Za-z]/.test(value) &&
  !/\.\w{1,5}$/.test(value) &&
  !/^[a-z]+(?:[-_][a-z]+){0,5}[-_.]?v?\d{1,5}$/i.test(value);

/** A path by itself, also without a slash before it. */
const path = /(?<![\w.:/~%-])\/?[\w.~-]{1,100}(?:\/[\w.~!$*+=@-]{1,400}){1,20}/g;
const mayBeSegment = new RegExp(
  '(?:tokens?|secret|otp|jwt|key|link|magic|password|mail|account|verify|confirm|activat\\w{1,4}|reset|' +
    'invit\\w{1,6}|unsubscribe)/[^\\s/]{8}',
  'i',
);
/** Words with numbers between them; in a path of files names like that are many: `token/Provider2Test`. */
const words = /^(?:[A-Z]?[a-z]{2,}|\d{1,3}|[A-Z]{2,}|[-_~])+$/;
const isRandomSegment = (value: string): boolean =>
  isMixedSegment(value) &&
  !words.test(value) &&
  (/^[0-9a-f]{16,}$/i.test(value) || (/[a-z]/.test(value) && /[A-Z]/.test(value)));

/** The text without secrets that are a part of a path, of an address or by itself. */
export function maskSegments(text: string, hide: (secret: string) => string): string {
  const without = (all: string, isSecret: (value: string) => boolean): string =>
    all.replace(segment, (found, name: string, value: string) =>
      isSecret(value) && !isHidden(value) && !isBlank(value) ? name + hide(value) : found,
    );
  const masked = text.includes('://') ? text.replace(address, (all) => without(all, isMixedSegment)) : text;
  return !mayBeSegment.test(masked)
    ? masked
    : masked.replace(path, (all) =>
        all.startsWith('/') ? without(all, isRandomSegment) : without(`/${all}`, isRandomSegment).slice(1),
      );
}

/** A field of cookies to the end of its line. */
const cookies = /(\b(?:set-)?cookie2?["']?\s{0,3}[:=]\s{0,3}["']?)([^\r\n"']{3,4000})/gi;
const pair = /([\w.!#$%&*+^`|~-]{1,100}=)([^\s;,"'<>]{6,4000})/g;
const attribute = /^(?:path|domain|expires|max-age|samesite|version|priority|comment)=/i;

/** Each value of a cookie, whatever its name is. */
export const maskCookies = (text: string, hide: (secret: string) => string): string =>
  text.replace(
    cookies,
    (_, head: string, list: string) =>
      head +
      list.replace(pair, (all, name: string, value: string) =>
        attribute.test(name) || isHidden(value) || isObvious(value) ? all : name + hide(value),
      ),
  );

/** A part of an address, between the marks of queries. */
const part = /[^\s"'`<>?&;#]+/g;
const encodedCharacter = /%[2-7][\da-f]/i;
const encodedMax = 4000;

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null; // `100%25%zz` is no encoding
  }
}

/** Halves of characters, which no address has, become `\ufffd`. */
const encoded = (text: string): string => encodeURIComponent(Buffer.from(text).toString());

/** Blanks of a form are written as `+`; only a name and a value can be of one. */
const isForm = (given: string): boolean => /^[^=]{1,100}=[^+]*\+/.test(given);

/** The text without secrets that stand percent-encoded in it, or as in a form; `mask` reads what the parts say. */
export function maskEncoded(text: string, mask: (plain: string) => string): string {
  return text.replace(part, (given) => {
    if (given.length > encodedMax) return given;
    const isEncoded = encodedCharacter.test(given);
    const masked = isEncoded ? maskedPart(given, decoded, encoded, mask) : null;
    if (masked !== null || !isForm(given)) return masked ?? given;
    const read = isEncoded
      ? (some: string): string | null => decoded(some.replaceAll('+', ' '))
      : (some: string): string => some.replaceAll('+', ' ');
    const write = (some: string): string =>
      isEncoded ? encoded(some).replaceAll('%20', '+') : some.replaceAll(' ', '+');
    return maskedPart(given, read, write, mask) ?? given;
  });
}

/** null: no secret stands in it. */
function maskedPart(
  given: string,
  read: (text: string) => string | null,
  write: (text: string) => string,
  mask: (plain: string) => string,
): string | null {
  const plain = read(given);
  const masked = plain === null ? null : mask(plain);
  if (masked === null || masked === plain) return null;
  const at = given.indexOf('=');
  const name = at < 0 ? '' : `${read(given.slice(0, at)) ?? ''}=`;
  return at >= 0 && masked.startsWith(name)
    ? given.slice(0, at + 1) + write(masked.slice(name.length))
    : write(masked);
}
