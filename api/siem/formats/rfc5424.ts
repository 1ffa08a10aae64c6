// Syslog messages of RFC 5424: priority, header, structured data, message. The identifier of the structured data ends
// with a private enterprise number; 32473 is the one that RFC 5612 reserves for examples, and the option `pen` names
// another.
import type { SecurityEvent } from '../event.js';
import { withoutControls } from './texts.js';

export interface SyslogOptions {
  /** 0 to 23; 16 is local0. */
  readonly facility: number;
  readonly appName: string;
  /** Of the structured data. */
  readonly pen: string;
  /** Told where the event names no node. */
  readonly host: string;
}

export const defaultSyslog: SyslogOptions = { facility: 16, appName: 'gatehouse', pen: '32473', host: '-' };

/** 0 to 10 → critical, error, warning, notice, informational. */
const levelOf = (severity: number): number =>
  severity >= 9 ? 2 : severity >= 7 ? 3 : severity >= 4 ? 4 : severity >= 2 ? 5 : 6;

/** PRINTUSASCII of the RFC, cut to its length; `-` where nothing remains. */
function field(text: string, charsMax: number): string {
  const printable = text.replaceAll(/[^\u0021-\u007e]/g, '').slice(0, charsMax);
  return printable === '' ? '-' : printable;
}

function parameter(name: string, value: string | number | null | undefined): string {
  if (value === null || value === undefined || value === '') return '';
  const text = withoutControls(String(value).replaceAll('\u0000', ''));
  return ` ${name}="${text.replaceAll(/["\\\]]/g, (found) => `\\${found}`)}"`;
}

/**
 * A whole message. `text` replaces the message for people and the structured data, for CEF and JSON inside syslog: what
 * reads those wants nothing beside them.
 */
export function toRfc5424(event: SecurityEvent, options: SyslogOptions, text: string | null = null): string {
  const priority = options.facility * 8 + levelOf(event.severity);
  const host = field(event.node ?? options.host, 255);
  const header = `<${priority}>1 ${event.at} ${host} ${field(options.appName, 48)} - ${field(event.kind, 32)}`;
  if (text !== null) return `${header} - ${text.replaceAll(/[\r\n]+/g, ' ')}`;
  const { request, rules } = event;
  const data = [
    parameter('id', event.id),
    parameter('action', event.action),
    parameter('severity', event.severity),
    parameter('site', event.site),
    parameter('client', event.client_ip),
    parameter('request', request?.id),
    parameter('method', request?.method),
    parameter('path', request?.path),
    parameter('query', request?.query),
    parameter('status', request?.status),
    parameter('agent', request?.user_agent),
    parameter('score', event.score),
    parameter('rules', rules.map(({ id }) => id).join(',')),
    parameter('matched', rules[0]?.data),
    parameter('reason', event.reason),
  ].join('');
  const told = `${event.name}: ${event.action}${event.client_ip === null ? '' : ` ${event.client_ip}`}`;
  return `${header} [gatehouse@${options.pen}${data}] \ufeff${withoutControls(told.replaceAll(/[\r\n\u0000]+/g, ' '))}`;
}
