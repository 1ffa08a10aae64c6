// Header lists are flat [name, value, …] latin1 arrays, in wire order. What the road needs of them, without objects.

/**
 * Whether a field is called so. Letter by letter: a name is asked about a dozen times a request, and to lower its case
 * each time costs a string. `lowerName`: lower case, ASCII.
 */
export function isNamed(name: string, lowerName: string): boolean {
  const { length } = lowerName;
  if (name.length !== length) return false;
  for (let index = 0; index < length; index += 1) {
    const code = name.charCodeAt(index);
    const wanted = lowerName.charCodeAt(index);
    if (code !== wanted && (code < 0x41 || code > 0x5a || code + 0x20 !== wanted)) return false;
  }
  return true;
}

/** Value of the first field called `lowerName` (already lower case), or null. */
export function findField(headers: readonly string[], lowerName: string): string | null {
  for (let index = 0; index < headers.length; index += 2) {
    if (isNamed(headers[index] as string, lowerName)) return headers[index + 1] as string;
  }
  return null;
}

/** Values of all fields called `lowerName` as one list, or null. */
export function joinedField(headers: readonly string[], lowerName: string): string | null {
  let joined: string | null = null;
  for (let index = 0; index < headers.length; index += 2) {
    if (!isNamed(headers[index] as string, lowerName)) continue;
    joined = joined === null ? (headers[index + 1] as string) : `${joined}, ${headers[index + 1] as string}`;
  }
  return joined;
}

/** True when the comma-separated list `value` has the token `lowerToken`, compared caselessly. */
export function listHasToken(value: string, lowerToken: string): boolean {
  if (value.length < lowerToken.length) return false;
  if (value.length === lowerToken.length) return value.toLowerCase() === lowerToken;
  for (const part of value.split(',')) if (part.trim().toLowerCase() === lowerToken) return true;
  return false;
}

/** Fields that end at each hop (RFC 9110 section 7.6.1), plus the ones this proxy writes itself. */
export const hopByHopFields: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-authentication-info',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);

/**
 * A client may name fields in `Connection` to have them removed at this hop. Not these: without them the upstream
 * would see another request than the one inspected, or lose what this proxy vouches for.
 */
const neverStripped: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'content-type',
  'content-encoding',
  'content-disposition',
  'cookie',
  'authorization',
  'x-api-key',
  'user-agent',
  'origin',
  'access-control-request-method',
  'range',
  'x-request-id',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-real-ip',
  'forwarded',
  'via',
  'cdn-loop',
]);

/**
 * Lower-case names listed in a `Connection` value that are to be dropped; null when there are none beyond the usual.
 */
export function connectionListed(value: string): Set<string> | null {
  let listed: Set<string> | null = null;
  for (const part of value.split(',')) {
    const name = part.trim().toLowerCase();
    if (name === '' || name === 'keep-alive' || name === 'close' || name === 'upgrade' || neverStripped.has(name))
      continue;
    listed ??= new Set();
    listed.add(name);
  }
  return listed;
}

/** True for a byte allowed in a field name or method (RFC 9110 `tchar`). */
export function isTokenByte(code: number): boolean {
  return tokenBytes[code] === 1;
}

const tokenBytes = new Uint8Array(256);
for (const character of "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
  tokenBytes[character.charCodeAt(0)] = 1;

export function isToken(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) if (!isTokenByte(text.charCodeAt(index))) return false;
  return true;
}

/**
 * No control characters but tab: a bare CR, LF or NUL would let an upstream write header lines of its own to the
 * client.
 */
export function isFieldText(value: string): boolean {
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index);
    if ((code < 0x20 && code !== 0x09) || code === 0x7f || code > 0xff) return false;
  }
  return true;
}
