// Open Cybersecurity Schema Framework: what is about a request is an HTTP Activity (class 4002) with the profile
// `security_control`; a ban, a verdict or an alert is no request, and is a Detection Finding (class 2004).
import { isIP } from 'node:net';
import type { EventAction, SecurityEvent } from '../event.js';

const version = '1.3.0';

const activities: Readonly<Record<string, number>> = {
  CONNECT: 1,
  DELETE: 2,
  GET: 3,
  HEAD: 4,
  OPTIONS: 5,
  POST: 6,
  PUT: 7,
  TRACE: 8,
  PATCH: 9,
};
const otherActivity = 99;

/** `action_id` and `disposition_id` of the profile `security_control`. */
const controls: Readonly<Record<EventAction, readonly [action: number, disposition: number]>> = {
  allowed: [1, 1],
  observed: [3, 15],
  blocked: [2, 2],
  challenged: [2, 23],
  throttled: [2, 25],
  failed: [0, 17],
};

/** 0 to 10 → Informational, Low, Medium, High, Critical. */
const severityId = (severity: number): number =>
  severity < 1 ? 1 : severity < 4 ? 2 : severity < 7 ? 3 : severity < 9 ? 4 : 5;

const endpointOf = (client: string | null): object =>
  client === null ? { name: 'withheld' } : isIP(client) === 0 ? { name: client } : { ip: client };

export function toOcsf(event: SecurityEvent): object {
  const [action, disposition] = controls[event.action];
  const [rule] = event.rules;
  const base = {
    time: Date.parse(event.at),
    severity_id: severityId(event.severity),
    message: event.name,
    action_id: action,
    disposition_id: disposition,
    is_alert: event.action !== 'allowed',
    metadata: {
      uid: event.id,
      version,
      profiles: ['security_control'],
      product: { name: 'Gatehouse', vendor_name: 'Gatehouse' },
      ...(event.node === null ? {} : { log_provider: event.node }),
    },
    ...(rule === undefined
      ? {}
      : {
          firewall_rule: {
            uid: String(rule.id),
            name: rule.message,
            ...(rule.data === null ? {} : { desc: rule.data }),
          },
        }),
    unmapped: { kind: event.kind, score: event.score, reason: event.reason, details: JSON.stringify(event.details) },
  };
  return event.request === null ? { ...base, ...ofFinding(event) } : { ...base, ...ofHttp(event, event.request) };
}

function ofHttp(event: SecurityEvent, request: NonNullable<SecurityEvent['request']>): object {
  const activity = activities[request.method] ?? otherActivity;
  return {
    class_uid: 4002,
    category_uid: 4,
    activity_id: activity,
    type_uid: 400_200 + activity,
    http_request: {
      http_method: request.method,
      ...(request.id === null ? {} : { uid: request.id }),
      ...(request.user_agent === null ? {} : { user_agent: request.user_agent }),
      url: {
        path: request.path,
        ...(request.query === null ? {} : { query_string: request.query }),
        ...(request.host === null ? {} : { hostname: request.host }),
      },
    },
    http_response: { code: request.status },
    src_endpoint: endpointOf(event.client_ip),
    dst_endpoint: { name: event.site ?? 'withheld', ...(request.host === null ? {} : { hostname: request.host }) },
  };
}

function ofFinding(event: SecurityEvent): object {
  return {
    class_uid: 2004,
    category_uid: 2,
    activity_id: 1,
    type_uid: 200_401,
    finding_info: {
      uid: event.id,
      title: event.name,
      types: [event.kind],
      ...(event.reason === null ? {} : { desc: event.reason }),
    },
    ...(event.client_ip === null ? {} : { evidences: [{ src_endpoint: endpointOf(event.client_ip) }] }),
  };
}
