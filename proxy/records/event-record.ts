// A security event as the control plane takes it: bounded, without credentials. Members are those of its EventRecord
// (api/events/record.ts).
import type { EventMessage, SecurityEvent } from '../contract/index.js';
import { maskMatch } from '../masking/mask.js';
import { eventKinds } from './kinds.js';

/** Fields whose values an analyst needs and that carry no credentials; of the others the names go. */
const shownFields: ReadonlySet<string> = new Set([
  'host',
  'user-agent',
  'accept',
  'accept-language',
  'accept-encoding',
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'origin',
  'range',
  'upgrade',
  'x-forwarded-for',
  'x-requested-with',
]);
const messagesMax = 20;
const textCharsMax = 1024;

function describeMessage(message: EventMessage): object {
  const { match, data } = maskMatch(message.match, message.data, 'secrets');
  return {
    rule_id: message.ruleId,
    message: message.message.slice(0, textCharsMax),
    severity: message.severity,
    tags: message.tags,
    file: message.file,
    line: message.lineNumber,
    data: data.slice(0, textCharsMax),
    match: match.slice(0, textCharsMax),
  };
}

export function toEventRecord(event: SecurityEvent): object {
  const fields: string[][] = [];
  for (let index = 0; index + 1 < event.requestHeaders.length && fields.length < 100; index += 2) {
    const name = event.requestHeaders[index] as string;
    fields.push(
      shownFields.has(name.toLowerCase())
        ? [name, (event.requestHeaders[index + 1] as string).slice(0, textCharsMax)]
        : [name],
    );
  }
  const details = {
    protocol: event.protocol,
    ...(event.tls == null ? {} : { tls: event.tls }),
    client_port: event.clientPort === 0 ? null : event.clientPort,
    generation: event.generation,
    outbound_score: event.outboundScore,
    phases: event.phases,
    truncated: event.truncated,
    inspection_us: Math.round(event.inspectionUs),
    error: event.error,
    ...(event.outcome === undefined ? {} : { outcome: event.outcome, ended_by: event.endedBy ?? null }),
    interruption: event.interruption,
    ...(event.gates === undefined || event.gates.length === 0 ? {} : { gates: event.gates }),
    headers: fields,
    ...(event.secondOpinion == null ? {} : { second_opinion: event.secondOpinion }),
    messages: event.messages.slice(0, messagesMax).map(describeMessage),
  };
  return {
    at_ms: Math.max(0, Math.round(event.atMs)),
    request_id: event.requestId.slice(0, 128),
    site: event.site.slice(0, 200),
    client_ip: event.clientIp.slice(0, 64),
    kind: eventKinds.request,
    verdict: event.verdict,
    method: event.method.slice(0, 64),
    uri: event.uri.slice(0, 8192),
    status: Math.min(999, Math.max(0, event.status)),
    rule_id: telling(event),
    inbound_score: Math.max(0, Math.round(event.inboundScore)),
    details,
  };
}

/**
 * Rules of the core rule set that add scores up and block (949, 959), or tell of it (980): they say that, not what it
 * was.
 */
const isSummary = (ruleId: number): boolean => [949, 959, 980].includes(Math.floor(ruleId / 1000));

/**
 * The rule that says what it was: the one that blocked by itself, or else the gravest of those whose scores were added
 * up.
 */
function telling({ interruption, messages }: SecurityEvent): number | null {
  if (interruption !== null && !isSummary(interruption.ruleId)) return interruption.ruleId;
  const told = messages.filter(({ ruleId }) => !isSummary(ruleId));
  // 0 emergency … 7 debug
  const gravity = ({ severity }: EventMessage): number => (severity === '' ? 8 : Number(severity));
  const gravest = told.reduce<EventMessage | undefined>(
    (best, one) => (best === undefined || gravity(one) < gravity(best) ? one : best),
    undefined,
  );
  return gravest?.ruleId ?? interruption?.ruleId ?? messages[0]?.ruleId ?? null;
}
