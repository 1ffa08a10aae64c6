// Common Event Format 0: a head of seven fields and an extension of `key=value`. Backslash and bar are escaped in the
// head; backslash, equals sign and line ends in the extension.
import { isIP } from 'node:net';
import type { SecurityEvent } from '../event.js';
import { cut, hostOf, withoutControls } from './texts.js';

/** The longest value that is told: receivers cut lines that are much longer than a packet. */
const valueCharsMax = 1023;

const oneLine = (text: string): string => withoutControls(text.replaceAll(/[\r\n\u0000]+/g, ' '));
const head = (text: string): string => oneLine(text).replaceAll('\\', '\\\\').replaceAll('|', '\\|');
const extension = (text: string): string =>
  withoutControls(cut(text, valueCharsMax).replaceAll('\u0000', ''), '\r\n\t')
    .replaceAll('\\', '\\\\')
    .replaceAll('=', '\\=')
    .replaceAll(/\r\n|\r|\n/g, '\\n');

/** The line without what carries it (RFC 5424). */
export function toCef(event: SecurityEvent): string {
  const { request, rules, client_ip: client } = event;
  const [rule] = rules;
  const { name: host, port } = hostOf(request?.host ?? null);
  const isOneAddress = client !== null && isIP(client) !== 0;
  const fields: [string, string | number | null | undefined][] = [
    ['rt', Date.parse(event.at)],
    ['externalId', event.id],
    ['cat', event.kind],
    ['act', event.action],
    ['src', isOneAddress && isIP(client) === 4 ? client : null],
    ['c6a2', isOneAddress && isIP(client) === 6 ? client : null],
    ['c6a2Label', isOneAddress && isIP(client) === 6 ? 'Source IPv6 Address' : null],
    ['cs3', client !== null && !isOneAddress ? client : null],
    ['cs3Label', client !== null && !isOneAddress ? 'Source Network' : null],
    ['dvchost', event.node],
    ['dhost', host],
    ['dpt', port],
    ['app', request === null ? null : 'HTTP'],
    ['requestMethod', request?.method],
    ['request', request === null ? null : request.query === null ? request.path : `${request.path}?${request.query}`],
    ['requestClientApplication', request?.user_agent],
    ['outcome', request === null ? null : String(request.status)],
    ['cs1', event.site],
    ['cs1Label', event.site === null ? null : 'Site'],
    ['cs2', request?.id],
    ['cs2Label', request?.id ? 'Request Id' : null],
    ['cs4', rules.length === 0 ? null : rules.map(({ id }) => id).join(' ')],
    ['cs4Label', rules.length === 0 ? null : 'Rules'],
    ['cn1', event.score],
    ['cn1Label', event.score === null ? null : 'Anomaly Score'],
    ['reason', event.reason],
    ['msg', rule?.data],
  ];
  const told = fields.flatMap(([key, value]) =>
    value === null || value === undefined || value === '' ? [] : [`${key}=${extension(String(value))}`],
  );
  const signature = rule === undefined ? event.kind : String(rule.id);
  return `CEF:0|Gatehouse|Gatehouse|1|${head(signature)}|${head(event.name)}|${event.severity}|${told.join(' ')}`;
}
