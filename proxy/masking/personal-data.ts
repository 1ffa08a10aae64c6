// Data that shows itself by its form, whatever it is called: card numbers, tokens of known services, e-mail addresses,
// telephone numbers, IBANs, national ids. Only what passes its check digits is taken, so that order numbers and
// timestamps stay readable. Every pattern is linear: repetitions are bounded or cannot overlap.

/** Gets what was found and returns what stands there instead, of the same shape. */
export type Blank = (found: string) => string;

/** ISO/IEC 7812: doubles every second digit from the right. */
export function isLuhnValid(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - 48;
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/**
 * Issuer ranges and lengths in use: Visa, Mastercard, Mir, American Express, Diners, JCB, Discover, UnionPay, Maestro.
 */
const issuers = [
  String.raw`4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:2(?:2[1-9]|[3-9]\d)|[3-6]\d\d|7(?:[01]\d|20))\d{12}`,
  String.raw`220[0-4]\d{12}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12,15}`,
  String.raw`6(?:011|4[4-9]\d|5\d\d)\d{12,15}|62\d{14,17}|(?:50|5[6-9]|6\d)\d{11,17}`,
];
const issuer = new RegExp(`^(?:${issuers.join('|')})$`);

/** A number of an issuer in use, with its check digit (ISO/IEC 7812). */
export function isCard(digits: string): boolean {
  return (
    digits.length >= 13 &&
    digits.length <= 19 &&
    issuer.test(digits) &&
    isLuhnValid(digits) &&
    !/^(\d)\1*$/.test(digits)
  );
}

/** Card numbers, whole or in groups; never inside a longer number. */
export function maskCards(text: string, blank: Blank): string {
  // The digits of an escape in front are none of the number's: "%204111…".
  // Groups have three digits or more, or a text of single digits would be tried at every place.
  return text.replace(/(?<!%[0-9A-Fa-f]?)\d{3,}(?:(?:[ +-]|%20|%2[dD])\d{3,})*/g, (found) => {
    if (found.length < 13) return found;
    const parts = found.split(/([ +-]|%20|%2[dD])/); // digits at even places, separators between
    for (let first = 0; first < parts.length; first += 2) {
      let digits = '';
      for (let last = first; last < parts.length && digits.length < 19; last += 2) {
        digits += parts[last] as string;
        if (!isCard(digits)) continue;
        for (let index = first; index <= last; index += 2) parts[index] = blank(parts[index] as string);
        first = last;
        break;
      }
    }
    return parts.join('');
  });
}

/** JSON web tokens, and keys of services that mark theirs. */
const token = new RegExp(
  [
    String.raw`(?<![\w-])eyJ[\w-]{5,}\.[\w-]{2,}\.[\w-]*|(?:AKIA|ASIA)[A-Z0-9]{16}|gh[pousr]_[A-Za-z0-9]{20,}`,
    String.raw`github_pat_\w{20,}|xox[abeprs]-[\w-]{10,}|sk_live_[A-Za-z0-9]{10,}|AIza[\w-]{35}|glpat-[\w-]{20}`,
  ].join('|'),
  'g',
);
const bearer = /\b(Bearer|Basic)((?: |\+|%20)+)([\w.~+/=%-]{8,})/gi;

export function maskTokens(text: string, blank: Blank): string {
  const marked = /eyJ|AKIA|ASIA|gh[pousr]_|github_pat_|xox|sk_live_|AIza|glpat-/.test(text)
    ? text.replace(token, blank)
    : text;
  return /bearer|basic/i.test(marked)
    ? marked.replace(bearer, (all, scheme: string, gap: string, value: string) =>
        /^[a-z.]+$/.test(value) ? all : `${scheme}${gap}${blank(value)}`,
      )
    : marked; // "basic authentication" is prose
}

/** SWIFT's IBAN registry: countries and lengths. */
export const ibanLengths: ReadonlyMap<string, number> = new Map(
  [
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28',
    'EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26',
    'IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28',
    'NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25',
    'SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30',
  ]
    .join(' ')
    .split(' ')
    .map((row) => [row.slice(0, 2), Number(row.slice(2))] as const),
);

/** ISO 13616: the first four to the end, letters as 10 to 35, modulo 97. */
export function isIban(iban: string): boolean {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

/** The country stays. */
function maskIbans(text: string, blank: Blank): string {
  let done = '';
  let from = 0;
  for (const { index } of text.matchAll(/(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}|(?<=%[0-9A-Fa-f]{2})[A-Za-z]{2}\d{2}/g)) {
    const length = ibanLengths.get(text.slice(index, index + 2).toUpperCase());
    if (length === undefined || index < from) continue;
    const candidate = new RegExp(`(?:[A-Za-z0-9](?:[ +-]|%20)?){${length - 1}}[A-Za-z0-9](?![A-Za-z0-9])`, 'y');
    candidate.lastIndex = index;
    const found = candidate.exec(text)?.[0];
    if (found === undefined || !isIban(found.replace(/%20|[^A-Za-z0-9]/g, ''))) continue;
    done += `${text.slice(from, index + 2)}${blank(found.slice(2))}`;
    from = index + found.length;
  }
  return from === 0 ? text : done + text.slice(from);
}

/** The domain stays; something of the form a@b.c, encoded or not. */
const email = /([\w.%+-]{1,64})(@|%40)((?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,63})/g;
const phone = /(?:\+|%2[bB])\d(?:(?:[ ().-]|%20)?\d){7,14}(?!\d)/g;
const socialSecurity = /(?<!\d)(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?!\d)/g;
/** United Arab Emirates: 784, year, seven digits, check digit. */
const emirates = /(?<!\d)784-?\d{4}-?\d{7}-?\d(?!\d)/g;

export function maskPersonal(text: string, blank: Blank): string {
  const isMail = text.includes('@') || text.includes('%40');
  const mails = isMail
    ? text.replace(email, (_, local: string, at: string, domain: string) => `${blank(local)}${at}${domain}`)
    : text;
  const ibans = maskIbans(mails, blank);
  // cards are gone by now, so what is left of digits behind a plus is a telephone number
  const phones = ibans.replace(
    phone,
    (found) => `${found.startsWith('%') ? found.slice(0, 3) : '+'}${blank(found.slice(found.startsWith('%') ? 3 : 1))}`,
  );
  return phones
    .replace(socialSecurity, blank)
    .replace(emirates, (found) => (isLuhnValid(found.replaceAll('-', '')) ? blank(found) : found));
}
