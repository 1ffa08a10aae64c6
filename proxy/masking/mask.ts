// What is kept of a request must not be a treasure: credentials, session ids, secrets in parameters and card numbers
// are replaced by as many x before anything is stored, always. `privacy_mode` adds personal data: e-mail addresses,
// telephone numbers, IBANs, national ids, and the values of fields that are named after such things. The shape stays
// (punctuation, names, the e-mail's domain, the IBAN's country), so most rules see what they saw and analysts see what
// was tried. Client addresses stay: blocking and the deny list live on them, and the specification does not count them
// as personal data.
// One set of masks for both planes: the node's audit log, and whatever the control plane stores of requests.
import { maskMultipartFields } from './multipart-fields.js';
import { maskCards, maskPersonal, maskTokens } from './personal-data.js';

/** `secrets` is the least; `personal` is privacy_mode. */
export type MaskLevel = 'secrets' | 'personal';

export const maskLevelOf = (isPrivate: boolean): MaskLevel => (isPrivate ? 'personal' : 'secrets');

const secretHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'x-auth-token',
  'x-csrf-token',
  'x-xsrf-token',
  'x-amz-security-token',
  'www-authenticate',
  'set-cookie',
]);
const secretName = new RegExp(
  [
    String.raw`pass(?:word|wd|phrase)?$|^pwd|secret|token|api[-_]?key|^auth(?!or)|session|^sid$|^otp$|^totp$|^pin$`,
    String.raw`^cvv2?$|^cvc$|card[-_]?(?:no|num)|^pan$|^iban$|^ssn$|credential|signature|^code$|^state$`,
  ].join('|'),
  'i',
);
const personalNames = [
  String.raw`e[-_]?mail|mail|phone|tel|telephone|mobile|msisdn|fax`,
  String.raw`(?:first|last|full|given|family|user|nick)[-_]?name|surname|login|birth[-_]?(?:day|date)|dob|address`,
  String.raw`street|zip|(?:zip|postal|post)[-_]?code|passport|national[-_]?id|tax[-_]?id|ssn|iban|bic`,
  String.raw`account[-_]?(?:no|num|number|id)`,
];
const personalName = new RegExp(`(?:^|[-_])(?:${personalNames.join('|')})$`, 'i');

/**
 * Letters, digits and what is not ASCII become x; punctuation stays, because rules look at it and secrets rarely are
 * it.
 */
function blank(text: string): string {
  // an escape becomes one x: "%xx" would be an encoding error, which rules punish
  return text.replace(/%[0-9A-Fa-f]{2}|[A-Za-z0-9]|[^\u0000-\u007f]/g, 'x');
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/**
 * `user[password]` → `user[password`; the places of a list are no name: `password[]`, `password[0]`, `a.password.0`. An
 * expression for the end of `]]]…x` needs the square of its length.
 */
function withoutClosing(name: string): string {
  let end = name.length;
  for (;;) {
    while (end > 0 && (name[end - 1] === ']' || name[end - 1] === ')')) end--;
    let at = end;
    while (at > 0 && isDigit(name.charCodeAt(at - 1))) at--;
    if (at < 2 || (name[at - 1] !== '[' && !(name[at - 1] === '.' && at < end))) return name.slice(0, end);
    end = at - 1;
  }
}

/** `%2540` and `%252540` as `%40`: what was encoded again and again, as it was encoded once. */
const encodedOnce = (text: string): string => text.replace(/%(?:25)+(?=[0-9A-Fa-f]{2})/g, '%');
const decodedOnce = (text: string): string =>
  text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));

/** Of `user[password]`, `a.b.password` and `password` the last part counts; of what is encoded, what it says. */
function judgeName(name: string, level: MaskLevel): boolean {
  const plain = name.includes('%') ? decodedOnce(encodedOnce(name)) : name;
  const whole = plain.trim();
  const decoded = withoutClosing(whole);
  const leaf = decoded.slice(
    Math.max(decoded.lastIndexOf('['), decoded.lastIndexOf('.'), decoded.lastIndexOf(':')) + 1,
  );
  return (
    secretName.test(decoded) ||
    secretName.test(leaf) ||
    (level === 'personal' && (personalName.test(leaf) || personalName.test(decoded)))
  );
}

/** Names come again and again, twenty thousand records a second; what was found out about short ones is kept. */
const judged: Readonly<Record<MaskLevel, Map<string, boolean>>> = { secrets: new Map(), personal: new Map() };
const judgedMax = 2000;
const judgedCharsMax = 64;

/** Whether values under a name are masked. */
export function isNamedSecret(name: string, level: MaskLevel): boolean {
  const names = judged[level];
  const known = names.get(name);
  if (known !== undefined) return known;
  const isSecret = judgeName(name, level);
  if (name.length > judgedCharsMax) return isSecret;
  if (names.size >= judgedMax) names.clear();
  names.set(name, isSecret);
  return isSecret;
}

/**
 * What shows itself, whatever its name: tokens of known shapes and card numbers, and personal data where it must not
 * stay.
 */
function maskShapes(text: string, level: MaskLevel): string {
  const once = maskEncodedOnce(text, level);
  if (!once.includes('%25')) return once;
  // A part that shows something when it is read again and again is kept as it was read; all others stay as they came.
  const parts = once.split(/([\s&?/"'=;,<>]+)/);
  return parts
    .map((part) => {
      if (!part.includes('%25')) return part;
      const plain = encodedOnce(part);
      const masked = maskEncodedOnce(plain, level);
      return masked === plain ? part : masked;
    })
    .join('');
}

const userInfo = /((?::|%3A)(?:\/|%2F){2})((?:(?!%2F|%3F|%23)[^\s/?#@"'`<>&]){1,256})(?=@|%40)/gi;

/** `https://name:password@host`, also encoded. */
function maskUserInfo(text: string): string {
  if (!text.includes('@') && !text.includes('%40')) return text;
  return text.replace(userInfo, (_, before: string, who: string) => before + blank(who));
}

function maskEncodedOnce(text: string, level: MaskLevel): string {
  const plain = maskCards(maskTokens(maskUserInfo(text), blank), blank);
  return level === 'personal' ? maskPersonal(plain, blank) : plain;
}

/** `a=1&password=2`: values of secret names, also behind a semicolon. */
function maskPairs(text: string, level: MaskLevel): string {
  if (!text.includes('=')) return text;
  return text
    .split('&')
    .map((pair) => {
      const at = pair.indexOf('=');
      if (at < 0) return pair;
      if (isNamedSecret(pair.slice(0, at), level)) return `${pair.slice(0, at + 1)}${blank(pair.slice(at + 1))}`;
      return maskWithin(pair.includes(';') ? maskMatrix(pair, level) : pair, at + 1, level);
    })
    .join('&');
}

/** A pair of a query within a value: `https%3A%2F%2Fh%2F%3Ftoken%3D1`. */
const innerPair = /(%3F|%26|%23|[?#])([\w.[\]-]{1,64})(%3D|=)((?:(?!%26|%23|%3F)[^&?#\s]){1,2048})/gi;

/** The value from `from` on: pairs of a URL that it is, members of JSON that it is. */
function maskWithin(pair: string, from: number, level: MaskLevel): string {
  const value = pair.slice(from);
  if (/^(?:%7B|%5B|[{[])/i.test(value)) {
    if (!value.includes('%')) return pair.slice(0, from) + maskMembers(value, level);
    const json = decodedOnce(value);
    const masked = maskMembers(json, level);
    if (masked === json) return pair;
    // half encoded: nothing may become longer than what a node kept
    const shown = encoded(masked);
    return pair.slice(0, from) + (shown.length > value.length ? blank(value) : shown);
  }
  if (!/%3D|=/i.test(value)) return pair;
  const shown = value.replace(innerPair, (all, before: string, name: string, is: string, text: string) =>
    isNamedSecret(name, level) ? `${before}${name}${is}${blank(text)}` : all,
  );
  return pair.slice(0, from) + shown;
}

/** Bytes as a query has them. */
function encoded(text: string): string {
  return text.replace(
    /[^A-Za-z0-9\-_.~!*'()+]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

/** `/a;jsessionid=1/b`: matrix parameters. */
function maskMatrix(text: string, level: MaskLevel): string {
  return text.replace(/;([^=;/?]{1,100})=([^;/?]*)/g, (all, name: string, value: string) =>
    isNamedSecret(name, level) ? `;${name}=${blank(value)}` : all,
  );
}

export function maskUri(uri: string, level: MaskLevel = 'secrets'): string {
  const at = uri.indexOf('?');
  const path = at < 0 ? uri : uri.slice(0, at);
  const masked = path.includes(';') ? maskMatrix(path, level) : path;
  return maskShapes(at < 0 ? masked : `${masked}?${maskPairs(uri.slice(at + 1), level)}`, level);
}

/** Flat headers; every cookie's value is masked, its name stays. */
export function maskHeaders(headers: readonly string[], level: MaskLevel = 'secrets'): string[] {
  const masked = [...headers];
  for (let index = 0; index + 1 < masked.length; index += 2)
    masked[index + 1] = maskHeader((masked[index] as string).toLowerCase(), masked[index + 1] as string, level);
  return masked;
}

function maskHeader(name: string, value: string, level: MaskLevel): string {
  if (name === 'cookie')
    return value
      .split(';')
      .map((pair) =>
        pair.includes('=')
          ? `${pair.slice(0, pair.indexOf('=') + 1)}${blank(pair.slice(pair.indexOf('=') + 1))}`
          : pair,
      )
      .join(';');
  if (name === 'authorization' || name === 'proxy-authorization')
    return value
      .replace(/^(\S+)(\s+)([^]*)$/, (_, scheme: string, gap: string, rest: string) => `${scheme}${gap}${blank(rest)}`)
      .replace(/^\S+$/, blank);
  if (secretHeaders.has(name) || isNamedSecret(name, level)) return blank(value);
  return name === 'referer' ? maskUri(value, level) : maskShapes(value, level);
}

/** Members of secret names in what looks like JSON, multipart, XML or `name="value"`, complete or cut off. */
function maskMembers(text: string, level: MaskLevel): string {
  const strings = text.replace(
    /("((?:[^"\\\n]|\\.){1,100})"\s{0,20}:\s{0,20}")((?:[^"\\]|\\.)*)/g,
    (all, head: string, name: string, value: string) => (isNamedSecret(name, level) ? `${head}${blank(value)}` : all),
  );
  // a number stays one, or the document would not parse any more
  const numbers = strings.replace(
    /("((?:[^"\\\n]|\\.){1,100})"\s{0,20}:\s{0,20})(-?\d[\d.eE+-]*)/g,
    (all, head: string, name: string, value: string) =>
      isNamedSecret(name, level) ? `${head}${value.replace(/\d/g, '1')}` : all,
  );
  const parts = maskMultipartFields(numbers, (name, value) => (isNamedSecret(name, level) ? blank(value) : value));
  const elements = parts.replace(element, (all, name: string, rest: string, value: string) =>
    isNamedSecret(name, level) ? `<${name}${rest}${blank(value)}` : all,
  );
  return elements.replace(attribute, (all, name: string, mid: string, value: string) =>
    name.toLowerCase() !== 'name' && isNamedSecret(name, level) ? `${name}${mid}${blank(value)}` : all,
  );
}

/** With the text behind it, also where that stands in a CDATA section. */
const element = /<([A-Za-z][\w:.-]{0,99})((?:\s[^<>]{0,300})?>(?:\s{0,100}<!\[CDATA\[)?)([^<]+)/g;
const attribute = /(?<![\w:.-])([\w:.-]{1,100})(\s{0,20}=\s{0,20}["'])([^"'<>]*)/g;

/** Texts of elements, and values of attributes, of secret names in an XML document, as they stand there. */
export function secretTextsOf(document: string, level: MaskLevel = 'secrets'): string[] {
  const texts: string[] = [];
  for (const [, name = '', , found = ''] of [...document.matchAll(element), ...document.matchAll(attribute)]) {
    const end = found.indexOf(']]>'); // of a CDATA section
    const text = end < 0 ? found : found.slice(0, end);
    if (text.trim() !== '' && isNamedSecret(name, level)) texts.push(text);
  }
  return texts;
}

/** Form pairs, and members of secret names in anything that looks like JSON, XML or multipart. */
export function maskBody(body: string, level: MaskLevel = 'secrets'): string {
  const members = maskMembers(body, level);
  return maskShapes(/^[^\s{[<][^\n]*=/.test(members) ? maskPairs(members, level) : members, level);
}

/** Text that quotes a request: a matched value, an error, a user agent. Secrets are found by their names within it. */
export function maskText(text: string, level: MaskLevel = 'secrets'): string {
  if (text === '') return text;
  // a value ends where a quotation or the next pair begins
  const pairs = text.includes('=')
    ? text.replace(/(?<![\w.:[\]%-])([\w.:[\]%-]{1,100})=([^&;\s"'`<>]+)/g, (all, name: string, value: string) =>
        isNamedSecret(name, level) ? `${name}=${blank(value)}` : all,
      )
    : text;
  return maskShapes(/["<]/.test(pairs) ? maskMembers(pairs, level) : pairs, level);
}

/**
 * Whether a match, in ModSecurity's wording, is about a value that must not be shown: `against variable `ARGS:password'
 * (Value: `…')`.
 */
function isSecretMatch(match: string, level: MaskLevel): boolean {
  const [, collection = '', name = ''] = /variable `([A-Z_]{1,40}):([^']{1,300})'/.exec(match) ?? [];
  return isSecretVariable(collection, name, level);
}

/** The same of a variable and its member: `ARGS`, `password`. */
export function isSecretVariable(collection: string, name: string, level: MaskLevel): boolean {
  if (name === '' || collection.endsWith('_NAMES')) return false;
  if (collection === 'REQUEST_COOKIES') return true;
  const lower = name.toLowerCase();
  return (
    (collection.endsWith('_HEADERS') && (secretHeaders.has(lower) || lower === 'cookie')) || isNamedSecret(name, level)
  );
}

/** A match and what it quotes: of a secret, the form of the value stays and says what was tried. */
export function maskMatch(
  match: string,
  data: string,
  level: MaskLevel,
): { readonly match: string; readonly data: string } {
  if (!isSecretMatch(match, level)) return { match: maskText(match, level), data: maskText(data, level) };
  const at = match.indexOf('(Value: `');
  return {
    match: at < 0 ? match : `${match.slice(0, at + 9)}${blank(match.slice(at + 9))}`,
    data: data === '' ? '' : '(masked)',
  };
}

const depthMax = 8;

/**
 * Every text within; names of members, numbers and flags stay. What lies deeper than anything a node sends is left out.
 */
export function maskDetails<T>(value: T, level: MaskLevel, depth = 0): T {
  if (typeof value === 'string') return maskText(value, level) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= depthMax) return null as T;
  if (Array.isArray(value)) return value.map((item: unknown) => maskDetails(item, level, depth + 1)) as T;
  const { match, data } = value as { readonly match?: unknown; readonly data?: unknown };
  const quoted = typeof match === 'string' ? maskMatch(match, typeof data === 'string' ? data : '', level) : null;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      if (quoted !== null && (name === 'match' || (name === 'data' && typeof item === 'string')))
        return [name, quoted[name]];
      return [name, maskDetails(item as unknown, level, depth + 1)];
    }),
  ) as T;
}
