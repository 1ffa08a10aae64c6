import { connectionListed, findField, hopByHopFields, joinedField } from './header-fields.js';

/** A field name as sent → lower case; '' = the field ends at this hop. */
const knownNames = new Map<string, string>();
/** Applications send the same few names; emptied when it is full. */
const knownNamesMax = 512;
const knownNameCharsMax = 64;

function nameOf(name: string): string {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  const isOwn = lower === 'content-length' || lower === 'x-request-id' || hopByHopFields.has(lower);
  const found = isOwn ? '' : lower;
  if (knownNames.size >= knownNamesMax) knownNames.clear();
  if (name.length <= knownNameCharsMax) knownNames.set(name, found);
  return found;
}

/** An upstream's response headers as the client gets them: without the hop's own fields, with the request id. */
export function relayedFields(headers: readonly string[], requestId: string): string[] {
  const connection = joinedField(headers, 'connection');
  const listed =
    connection === null || connection === 'keep-alive' || connection === 'close' ? null : connectionListed(connection);
  const relayed: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] as string;
    const lower = nameOf(name);
    if (lower === '' || (listed !== null && listed.has(lower))) continue;
    relayed.push(name, headers[index + 1] as string);
  }
  relayed.push('X-Request-Id', requestId);
  return relayed;
}

/**
 * Fields that mean something else, or nothing, behind a body (RFC 9110 section 6.5.1): framing, routing, request
 * modifiers, authentication and cookies, control of caches and of the response, format of the content, policies of
 * browsers. A client that merges trailers into the header fields would act on them; the rules for response headers have
 * not seen them.
 */
const neverTrailers: ReadonlySet<string> = new Set([
  'content-length',
  'host',
  'expect',
  'max-forwards',
  'range',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'if-range',
  'authorization',
  'www-authenticate',
  'cookie',
  'set-cookie',
  'set-cookie2',
  'age',
  'cache-control',
  'date',
  'expires',
  'location',
  'pragma',
  'refresh',
  'retry-after',
  'vary',
  'warning',
  'x-request-id',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-location',
  'content-range',
  'content-type',
  'alt-svc',
  'clear-site-data',
  'content-security-policy',
  'content-security-policy-report-only',
  'strict-transport-security',
  'x-content-type-options',
  'x-frame-options',
]);

/** An upstream's trailers as the client gets them; null when nothing is left. */
export function relayedTrailers(trailers: readonly string[]): string[] | null {
  const relayed: string[] = [];
  for (let index = 0; index < trailers.length; index += 2) {
    const name = trailers[index] as string;
    const lower = name.toLowerCase();
    if (hopByHopFields.has(lower) || neverTrailers.has(lower) || lower.startsWith('access-control-')) continue;
    relayed.push(name, trailers[index + 1] as string);
  }
  return relayed.length === 0 ? null : relayed;
}

/** Responses that never end or must not wait: relayed as they come, whatever the rules would like to see. */
export function isStream(headers: readonly string[]): boolean {
  const type = findField(headers, 'content-type');
  if (type === null) return false;
  const lower = type.toLowerCase();
  return (
    lower.startsWith('text/event-stream') ||
    lower.startsWith('application/grpc') ||
    lower.startsWith('multipart/x-mixed-replace')
  );
}
