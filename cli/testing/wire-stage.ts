// Why a stage of the CRS regression suite does not reach the rules over a real listener: facts about its bytes, each of
// which a strict server refuses before any rule runs. Judged from the bytes alone, so that a request that is lost for
// another reason shows up as unexplained.
import { parseWire } from '../inspect/wire.js';

export type UndeliveredReason =
  | 'protocol version'
  | 'target form'
  | 'bytes in the target'
  | 'method'
  | 'field name'
  | 'field without a name or colon'
  | 'control bytes in a field'
  | 'Host'
  | 'Content-Length'
  | 'repeated field'
  | 'Transfer-Encoding'
  | 'chunked framing'
  | 'body shorter than announced'
  | 'request line'
  | 'too many fields'
  | 'Expect';

/** The section that lets a server refuse such a request, or makes it. */
export const sections: Readonly<Record<UndeliveredReason, string>> = {
  'protocol version': 'RFC 9110 section 15.6.6: 505',
  'target form': 'RFC 9112 section 3.2: four forms; what is in none of them is answered 400',
  'bytes in the target': 'RFC 9112 section 3.2: "a server SHOULD respond with a 400 (Bad Request)"; no target has "#"',
  method: 'RFC 9110 section 9.1: a token; section 9.3.6: CONNECT is for proxies',
  'field name': 'RFC 9110 section 5.1: a token; RFC 9112 section 5.1: MUST reject a space before the colon',
  'field without a name or colon': 'RFC 9112 section 5: a name and a colon; section 5.2: MUST reject a folded line',
  'control bytes in a field': 'RFC 9110 section 5.5: CR, LF and NUL are to be rejected, others are invalid, too',
  Host: 'RFC 9112 section 3.2: MUST respond with a 400 where it is lacking, twice there, or no host',
  'Content-Length': 'RFC 9112 section 6.3: an invalid one is an unrecoverable error',
  'repeated field':
    'RFC 9110 section 5.3: MUST NOT be generated twice; of two, a gate and the application take another',
  'Transfer-Encoding': 'RFC 9112 section 6.1 and 6.3: beside Content-Length, or not understood',
  'chunked framing': 'RFC 9112 section 7.1: the grammar of chunks',
  'body shorter than announced': 'RFC 9112 section 8: an incomplete request; 408 (RFC 9110 section 15.5.9)',
  'request line': 'RFC 9112 section 3: an invalid request line is answered 400',
  'too many fields': 'RFC 6585 section 5: 431',
  Expect: 'RFC 9110 section 10.1.1: 417',
};

/** Those that run the suite. */
export type WireListener = 'net' | 'uws' | 'node';

/** Methods of uWebSockets.js's router and of llhttp, as far as the suite can meet them; null = any token. */
const knownMethods: Readonly<Record<WireListener, ReadonlySet<string> | null>> = {
  net: null,
  uws: new Set(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'TRACE', 'CONNECT']),
  node: new Set([
    'GET',
    'POST',
    'PUT',
    'DELETE',
    'PATCH',
    'OPTIONS',
    'HEAD',
    'TRACE',
    'PROPFIND',
    'MKCOL',
    'COPY',
    'MOVE',
    'LOCK',
    'UNLOCK',
    'SEARCH',
    'PURGE',
    'REPORT',
    'LINK',
    'UNLINK',
    'BIND',
    'SOURCE',
    'QUERY',
  ]),
};
/** Fields of one value that gates and rules decide by. */
const fieldsOfOneValue = [
  'authorization',
  'content-type',
  'origin',
  'user-agent',
  'x-api-key',
  'access-control-request-method',
];
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]*$/;
const fieldNames = { net: token, uws: /^[0-9A-Za-z-]*$/, node: token } as const;
const fieldsMax = { net: 128, uws: 48, node: 100 } as const;

function fieldsOf(
  lines: readonly string[],
): { readonly name: string; readonly value: string; readonly hasColon: boolean }[] {
  return lines.map((line) => {
    const colon = line.indexOf(':');
    return colon < 0
      ? { name: line, value: '', hasColon: false }
      : { name: line.slice(0, colon), value: line.slice(colon + 1).trim(), hasColon: true };
  });
}

function reasonsOfLine(line: string, listener: WireListener): UndeliveredReason[] {
  const parts = line.split(' ');
  if (parts.length !== 3) return ['request line'];
  const [method = '', target = '', version = ''] = parts;
  const reasons: UndeliveredReason[] = [];
  const isKnown = knownMethods[listener]?.has(method) ?? (method !== '' && token.test(method));
  if (!isKnown || method === 'CONNECT') reasons.push('method');
  if (version !== 'HTTP/1.1' && !(listener !== 'uws' && version === 'HTTP/1.0')) reasons.push('protocol version');
  if (!target.startsWith('/')) reasons.push('target form');
  if ((listener === 'net' ? /[\x00-\x20\x7f]|#/ : /[^\x21-\x7e]|#/).test(target)) reasons.push('bytes in the target');
  return reasons;
}

/** Empty: nothing about these bytes explains that they were not delivered. */
export function undeliveredReasons(bytes: Buffer, listener: WireListener): UndeliveredReason[] {
  const text = bytes.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  const [line = '', ...rest] = text.slice(0, end < 0 ? text.length : end).split('\r\n');
  const fields = fieldsOf(rest);
  const reasons = reasonsOfLine(line, listener);
  const valuesOf = (name: string): string[] =>
    fields.filter((field) => field.name.toLowerCase() === name).map(({ value }) => value);
  const [hosts, lengths, codings, expectations] = [
    valuesOf('host'),
    valuesOf('content-length'),
    valuesOf('transfer-encoding'),
    valuesOf('expect'),
  ];
  if (fields.some(({ name, hasColon }) => name === '' || !hasColon)) reasons.push('field without a name or colon');
  if (fields.some(({ name }) => !fieldNames[listener].test(name))) reasons.push('field name');
  if (fields.some(({ value }) => /[\x00-\x08\x0a-\x1f\x7f]/.test(value))) reasons.push('control bytes in a field');
  if (hosts.length !== 1 || !/^[\w.:[\]\x80-\xff-]+$/.test(hosts[0] ?? '')) reasons.push('Host');
  if (lengths.length > 1 || lengths.some((value) => !/^\d{1,15}$/.test(value))) reasons.push('Content-Length');
  if (fieldsOfOneValue.some((name) => valuesOf(name).length > 1)) reasons.push('repeated field');
  if (
    codings.length > 1 ||
    (codings.length > 0 && lengths.length > 0) ||
    codings.some((value) => value.toLowerCase() !== 'chunked')
  )
    reasons.push('Transfer-Encoding');
  if (fields.length > fieldsMax[listener]) reasons.push('too many fields');
  if (expectations.some((value) => value.toLowerCase() !== '100-continue')) reasons.push('Expect');
  const sent = bytes.length - (end < 0 ? bytes.length : end + 4);
  if (lengths.length === 1 && Number(lengths[0]) > sent) reasons.push('body shorter than announced');
  if (codings.length === 1 && !/^(?:[0-9a-fA-F]+\r\n[\s\S]*\r\n)?0+\r\n/m.test(text.slice(end + 4)))
    reasons.push('chunked framing');
  if (parseWire(bytes) === null) reasons.push('request line');
  return reasons;
}
