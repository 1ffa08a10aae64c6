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
  | 'Transfer-Encoding'
  | 'chunked framing'
  | 'body shorter than announced'
  | 'request line'
  | 'too many fields'
  | 'Expect';

/** Methods of uWebSockets.js's router and of llhttp, as far as the suite can meet them. */
const knownMethods: Readonly<Record<'uws' | 'node', ReadonlySet<string>>> = {
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
const fieldNames = { uws: /^[0-9A-Za-z-]*$/, node: /^[!#$%&'*+.^_`|~0-9A-Za-z-]*$/ } as const;
const fieldsMax = { uws: 48, node: 100 } as const;

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

function reasonsOfLine(line: string, listener: 'uws' | 'node'): UndeliveredReason[] {
  const parts = line.split(' ');
  if (parts.length !== 3) return ['request line'];
  const [method = '', target = '', version = ''] = parts;
  const reasons: UndeliveredReason[] = [];
  if (!knownMethods[listener].has(method) || method === 'CONNECT') reasons.push('method');
  if (version !== 'HTTP/1.1' && !(listener === 'node' && version === 'HTTP/1.0')) reasons.push('protocol version');
  if (!target.startsWith('/')) reasons.push('target form');
  if (/[^\x21-\x7e]|#/.test(target)) reasons.push('bytes in the target');
  return reasons;
}

/** Empty: nothing about these bytes explains that they were not delivered. */
export function undeliveredReasons(bytes: Buffer, listener: 'uws' | 'node'): UndeliveredReason[] {
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
