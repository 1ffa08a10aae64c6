// One line of the audit log: ModSecurity's JSON audit layout, so that existing tools read it, and what is ours beside
// it.
import type { SecurityEvent } from '../contract/index.js';

const engineStates = { On: 'Enabled', DetectionOnly: 'DetectionOnly' } as const;

/** Headers as an object; a repeated name keeps all its values, joined as HTTP joins them. */
function headerObject(flat: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let index = 0; index < flat.length; index += 2) {
    const name = flat[index] as string;
    const value = flat[index + 1] as string;
    fields[name] = Object.hasOwn(fields, name) ? `${fields[name]}, ${value}` : value;
  }
  return fields;
}

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** asctime style, UTC: `Sat Nov 21 02:54:00 2026`. */
export function asctime(atMs: number): string {
  const at = new Date(atMs);
  const two = (value: number): string => String(value).padStart(2, '0');
  const time = `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())}`;
  const date = `${months[at.getUTCMonth()]} ${String(at.getUTCDate()).padStart(2, ' ')}`;
  return `${days[at.getUTCDay()]} ${date} ${time} ${at.getUTCFullYear()}`;
}

/** One line of the audit log, without its line feed. */
export function formatAuditLine(event: SecurityEvent, serverId: string): string {
  return JSON.stringify({
    transaction: {
      client_ip: event.clientIp,
      time_stamp: asctime(event.atMs),
      server_id: serverId,
      // 0: the listener does not know it, and a log must not say what is not so
      ...(event.clientPort === 0 ? {} : { client_port: event.clientPort }),
      host_ip: event.serverIp,
      host_port: event.serverPort,
      unique_id: event.requestId,
      request: {
        method: event.method,
        http_version: event.protocol.startsWith('HTTP/') ? event.protocol.slice(5) : event.protocol,
        uri: event.uri,
        headers: headerObject(event.requestHeaders),
        ...(event.requestBody === null ? {} : { body: event.requestBody }),
      },
      response: { http_code: event.status, headers: headerObject(event.responseHeaders) },
      producer: { modsecurity: '', connector: 'gatehouse', secrules_engine: engineStates[event.mode], components: [] },
      messages: event.messages.map((message) => ({
        message: message.message,
        details: {
          match: message.match,
          reference: '',
          ruleId: String(message.ruleId),
          file: message.file,
          lineNumber: String(message.lineNumber),
          data: message.data,
          severity: message.severity,
          ver: message.ver,
          rev: message.rev,
          tags: message.tags,
          maturity: message.maturity,
          accuracy: message.accuracy,
        },
      })),
    },
    gatehouse: {
      verdict: event.verdict,
      inbound_score: event.inboundScore,
      outbound_score: event.outboundScore,
      site: event.site,
      generation: event.generation,
      phases: event.phases,
      us: event.inspectionUs,
      truncated: event.truncated,
      ...(event.tls == null ? {} : { tls: event.tls }),
      ...(event.interruption === null ? {} : { interruption: event.interruption }),
      ...(event.secondOpinion == null ? {} : { second_opinion: event.secondOpinion }),
      ...(event.error === null ? {} : { error: event.error }),
    },
  });
}
