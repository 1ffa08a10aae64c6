// The fields of a response in the form that the library of HTTP/2 takes: one member a name, several values as a list.
import type { OutgoingHttpHeaders } from 'node:http2';

/** Of a connection, or of an upgrade: HTTP/2 has none of them (RFC 9113 section 8.2.2). */
const connectionFields: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'te',
]);

/** Fields of which the library takes one value only, and throws for more. */
const singleFields: ReadonlySet<string> = new Set([
  'access-control-allow-credentials',
  'access-control-max-age',
  'access-control-request-method',
  'age',
  'authorization',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-md5',
  'content-range',
  'content-type',
  'date',
  'dnt',
  'etag',
  'expires',
  'from',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'range',
  'referer',
  'retry-after',
  'tk',
  'upgrade-insecure-requests',
  'user-agent',
  'x-content-type-options',
]);

/**
 * `headers` flat, in any case. Repeated fields stay several; where the library allows one only they become a list,
 * which says the same (RFC 9110 section 5.3).
 */
export function http2Fields(headers: readonly string[]): OutgoingHttpHeaders {
  const fields = Object.create(null) as Record<string, string | string[]>;
  for (let index = 0; index < headers.length; index += 2) {
    const name = (headers[index] as string).toLowerCase();
    const value = headers[index + 1] as string;
    if (connectionFields.has(name) || name.startsWith(':')) continue;
    const before = fields[name];
    if (before === undefined) fields[name] = value;
    else if (singleFields.has(name)) fields[name] = `${before as string}, ${value}`;
    else if (Array.isArray(before)) before.push(value);
    else fields[name] = [before, value];
  }
  return fields;
}
