// Open Cybersecurity Schema Framework: what is about a request is an HTTP Activity (class 4002) with the profile
// `security_control`; an entry of the audit log is an API Activity (class 6003); a ban, a verdict, an alert or what is
// known of a weakness is no request, and is a Detection Finding (class 2004).
import { isIP } from 'node:net';
import type { EventAction, EventKind, SecurityEvent } from '../event.js';
import { hostOf } from './texts.js';

/** The first that has `is_alert` and the action Observed, and the method PATCH. */
const version = '1.5.0';

const activities: Readonly<Record<string, number>> = {
  CONNECT: 1,
  DELETE: 2,
  GET: 3,
  HEAD: 4,
  OPTIONS: 5,
  POST: 6,
  PUT: 7,
  TRACE: 8,
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

/** What is told and is no detection: nobody has to look at it. */
const records: ReadonlySet<string> = new Set<EventKind>(['audit', 'vm']);

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
    is_alert: event.action !== 'allowed' && !records.has(event.kind),
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
  if (event.request !== null) return { ...base, ...ofHttp(event, event.request) };
  return { ...base, ...(event.kind === 'audit' ? ofAudit(event) : ofFinding(event)) };
}

function ofHttp(event: SecurityEvent, request: NonNullable<SecurityEvent['request']>): object {
  const { name: host, port } = hostOf(request.host);
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
        ...(host === null ? {} : { hostname: host }),
        ...(port === null ? {} : { port }),
      },
    },
    http_response: { code: request.status },
    src_endpoint: endpointOf(event.client_ip),
    dst_endpoint: {
      name: event.site ?? 'withheld',
      ...(host === null ? {} : { hostname: host }),
      ...(port === null ? {} : { port }),
    },
  };
}

/** Create, Read, Update, Delete; 99 is another. */
const auditActivities: readonly (readonly [end: RegExp, activity: number])[] = [
  [/\.(?:create|add|upload|activate|apply)$/, 1],
  [/\.(?:export|read)$/, 2],
  [/\.(?:update|enable|disable|rollback|password|mark|transition)$/, 3],
  [/\.(?:delete|remove|revoke|lift|forget)$/, 4],
];

/** Somebody did something by the API of the control plane. What the connector leaves out is named so. */
function ofAudit(event: SecurityEvent): object {
  const { details } = event;
  const told = (name: string): string | null => (typeof details[name] === 'string' ? details[name] : null);
  const operation = told('action') ?? 'withheld';
  const activity = auditActivities.find(([end]) => end.test(operation))?.[1] ?? otherActivity;
  const id = told('actor_id');
  return {
    class_uid: 6003,
    category_uid: 6,
    activity_id: activity,
    type_uid: 600_300 + activity,
    status_id: event.action === 'failed' ? 2 : 1,
    actor: { user: { name: told('actor') ?? 'withheld', ...(id === null ? {} : { uid: id }) } },
    api: { operation },
    src_endpoint: endpointOf(event.client_ip),
    ...(event.reason === null ? {} : { status_detail: event.reason }),
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
