// What is kept of a request for replays must not be a treasure: credentials, session ids, secrets in parameters and card
// numbers are replaced by as many x before anything is stored. The shape stays, so most rules see what they saw.

const secretHeaders: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'x-api-key', 'x-auth-token', 'x-csrf-token', 'x-xsrf-token', 'x-amz-security-token', 'www-authenticate', 'set-cookie']);
const secretName = /pass(?:word|wd|phrase)?$|^pwd|secret|token|api[-_]?key|^auth|session|^sid$|^otp$|^totp$|^pin$|^cvv2?$|^cvc$|card[-_]?(?:no|num)|^pan$|^iban$|^ssn$|credential|signature|^code$|^state$/i;

/** Letters, digits and bytes beyond ASCII become x; punctuation stays, because rules look at it and secrets rarely are it. */
function blank(text: string): string {
  return text.replace(/[A-Za-z0-9\u0080-\u00ff]/g, 'x');
}

/** ISO/IEC 7812: doubles every second digit from the right. */
function isLuhnValid(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - 48;
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

function maskCards(text: string): string {
  return text.replace(/\d(?:[ -]?\d){12,18}/g, (found) => (isLuhnValid(found.replace(/\D/g, '')) ? found.replace(/\d/g, 'x') : found));
}

/** `a=1&password=2`: values of secret names; names as sent or percent-encoded once. */
function maskPairs(text: string, separator: '&' | ';'): string {
  return text.split(separator).map((pair) => {
    const at = pair.indexOf('=');
    if (at < 0) return pair;
    const name = pair.slice(0, at).trim().replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
    // an escape becomes one x: "%xx" would be an encoding error, which rules punish
    return secretName.test(name) ? `${pair.slice(0, at + 1)}${blank(pair.slice(at + 1).replace(/%[0-9A-Fa-f]{2}/g, 'x'))}` : pair;
  }).join(separator);
}

export function maskUri(uri: string): string {
  const at = uri.indexOf('?');
  return maskCards(at < 0 ? uri : `${uri.slice(0, at + 1)}${maskPairs(uri.slice(at + 1), '&')}`);
}

/** Flat headers; every cookie's value is masked, its name stays. */
export function maskHeaders(headers: readonly string[]): string[] {
  const masked = [...headers];
  for (let index = 0; index + 1 < masked.length; index += 2) {
    const name = (masked[index] as string).toLowerCase();
    const value = masked[index + 1] as string;
    if (name === 'cookie') masked[index + 1] = value.split(';').map((pair) => (pair.includes('=') ? `${pair.slice(0, pair.indexOf('=') + 1)}${blank(pair.slice(pair.indexOf('=') + 1))}` : pair)).join(';');
    else if (name === 'authorization' || name === 'proxy-authorization') masked[index + 1] = value.replace(/^(\S+)(\s+)([^]*)$/, (_, scheme: string, gap: string, rest: string) => `${scheme}${gap}${blank(rest)}`).replace(/^\S+$/, blank);
    else if (secretHeaders.has(name) || secretName.test(name)) masked[index + 1] = blank(value);
    else if (name === 'referer') masked[index + 1] = maskUri(value);
    else masked[index + 1] = maskCards(value);
  }
  return masked;
}

/** Form pairs, and string values of secret members in anything that looks like JSON or multipart. */
export function maskBody(body: string): string {
  const json = body.replace(/("((?:[^"\\\n]|\\.){1,100})"\s*:\s*")((?:[^"\\]|\\.)*)"/g, (all, head: string, name: string, value: string) => (secretName.test(name) ? `${head}${blank(value)}"` : all));
  const parts = json.replace(/(name="([^"\r\n]{1,100})"[^\r\n]*\r?\n(?:[^\r\n]{1,300}\r?\n){0,6}\r?\n)([^\r\n]*)/g, (all, head: string, name: string, value: string) => (secretName.test(name) ? `${head}${blank(value)}` : all));
  return maskCards(/^[^\s{[<][^\n]*=/.test(parts) ? maskPairs(parts, '&') : parts);
}
