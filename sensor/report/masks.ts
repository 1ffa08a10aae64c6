// What leaves the application is the shape of an attack, and no data: words that may be secrets or names are hidden.

const secretName = /pass|pwd|secret|token|key|auth|cookie|session|credential|signature|otp|pin|card|iban|ssn/i;
const shown = 4;
const valueMax = 300;

const hide = (word: string): string => `${word.slice(0, shown)}****`;

/** Long runs of letters and digits, numbers of accounts, and addresses of mailboxes. */
const maskWords = (text: string): string =>
  text
    .replace(/[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}/g, (address) => hide(address))
    .replace(/[A-Za-z0-9_+=-]{24,}/g, hide)
    .replace(/\d{7,}/g, hide);

/** A value as its shape: of a parameter that is called like a secret only the signs stay. At most 300 characters. */
export function maskShape(name: string, text: string): string {
  const cut = text.slice(0, valueMax);
  const place = name.split(' ', 1)[0] ?? '';
  const isSecret = place === 'cookie' || secretName.test(name.slice(place.length));
  return isSecret ? cut.replace(/[\p{L}\p{N}]/gu, 'x') : maskWords(cut);
}

/** The program's own text around it: what it quotes is data, and hidden. */
export const maskTexts = (text: string): string =>
  maskWords(
    text
      .replace(/'[^']{3,}'/g, "'…'")
      .replace(/"[^"]{3,}"/g, '"…"')
      .replace(/\d{5,}/g, '0'),
  );
