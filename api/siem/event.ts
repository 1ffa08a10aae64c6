// One security event in the form that the control plane gives it, before any other format: what happened, to whom, and
// what was done about it. Every format of the connectors is made of this one.
import { isIP } from 'node:net';
import { readPrincipalKey } from '#proxy/contract';
import type { OutboxRow } from './store.js';

/** What an event is about. The names stand in what other systems have stored: none is ever given another meaning. */
export const eventKinds = {
  waf: 'rules or a gate had something to say of a request',
  'attack-mode': 'a node went into attack mode or left it',
  ban: 'a client that went on although it was limited was banned',
  verdict: 'a client is slowed down or challenged on all paths, or denied by the detection engine',
  'api-threat': 'API abuse was found',
  alert: 'an alert rule fired or is over',
  'self-test': 'the nightly self-test found protection that is gone',
  audit: 'somebody, or the program by itself, did something that the audit log has an entry of',
  vm: 'findings, imports, gates, chains and acceptances of the vulnerability manager: what became of them',
} as const;
export type EventKind = keyof typeof eventKinds;

/** Kinds that a connector gets only where it names them: what people do, and what is weak, is not for everybody. */
export const kindsByName: ReadonlySet<string> = new Set<EventKind>(['audit', 'vm']);

/** What became of it, in one word. */
export const eventActions = ['allowed', 'observed', 'blocked', 'challenged', 'throttled', 'failed'] as const;
export type EventAction = (typeof eventActions)[number];

export interface SecurityEvent {
  readonly schema: 'gatehouse.event/1';
  /** Of this event for good, also when it is sent again: receivers recognise a duplicate by it. */
  readonly id: string;
  /** A row of `eventKinds`; a newer node may have others. */
  readonly kind: string;
  /** RFC 3339, UTC. */
  readonly at: string;
  /** In a few words, for people. */
  readonly name: string;
  readonly action: EventAction;
  /** 0 to 10, as CEF counts: 0 to 3 low, 4 to 6 medium, 7 and 8 high, 9 and 10 very high. */
  readonly severity: number;
  readonly node: string | null;
  readonly site: string | null;
  /** An address or a network; null where the event is about no client. */
  readonly client_ip: string | null;
  readonly request: EventRequest | null;
  readonly rules: readonly EventRule[];
  /** The inbound anomaly score of a request. */
  readonly score: number | null;
  readonly reason: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface EventRequest {
  readonly id: string | null;
  readonly method: string;
  readonly path: string;
  /** Without the question mark; null where there is none, or where the connector leaves it out. */
  readonly query: string | null;
  readonly status: number;
  readonly user_agent: string | null;
  readonly host: string | null;
}

export interface EventRule {
  readonly id: number;
  readonly message: string;
  readonly tags: readonly string[];
  /** What it matched; null where the connector leaves it out. */
  readonly data: string | null;
}

type Row = Readonly<Record<string, unknown>>;

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
const numberOf = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);
const rowsOf = (value: unknown): Row[] =>
  Array.isArray(value) ? (value as unknown[]).filter((one): one is Row => typeof one === 'object' && one !== null) : [];

const actionOfVerdict: Readonly<Record<string, EventAction>> = {
  block: 'blocked',
  flag: 'observed',
  pass: 'allowed',
  'engine-error': 'failed',
};
const severityOfAction: Readonly<Record<EventAction, number>> = {
  allowed: 1,
  observed: 4,
  throttled: 5,
  challenged: 5,
  failed: 6,
  blocked: 7,
};

/** The event that a row of the outbox tells of. */
export function toEvent(row: OutboxRow): SecurityEvent {
  const body = row.body as Row;
  const base = {
    schema: 'gatehouse.event/1',
    id: row.event_id,
    at: row.at.toISOString(),
    node: textOf(body['node']),
    site: textOf(body['site']),
    client_ip: null,
    request: null,
    rules: [],
    score: null,
    reason: null,
    details: {},
  } as const;
  if (row.kind === 'record') return { ...base, ...ofRecord(body) };
  if (row.kind === 'ban') return { ...base, ...ofBan(body) };
  if (row.kind === 'api-threat') return { ...base, ...ofThreat(body) };
  if (row.kind === 'verdict') return { ...base, ...ofVerdict(body) };
  if (row.kind === 'audit') return { ...base, ...ofAudit(body) };
  if (row.kind === 'vm') return { ...base, ...ofVm(body) };
  return { ...base, ...ofAlert(row.kind, body) };
}

type Told = Pick<SecurityEvent, 'kind' | 'name' | 'action' | 'severity'> & Partial<SecurityEvent>;

function ofRecord(body: Row): Told {
  const kind = textOf(body['kind']) ?? 'waf';
  const details = (typeof body['details'] === 'object' && body['details'] !== null ? body['details'] : {}) as Row;
  const { headers, messages, ...others } = details;
  const action = actionOfVerdict[String(body['verdict'])] ?? 'observed';
  const rules = rowsOf(messages).map(
    (message): EventRule => ({
      id: numberOf(message['rule_id']),
      message: textOf(message['message']) ?? '',
      tags: Array.isArray(message['tags']) ? (message['tags'] as unknown[]).map(String) : [],
      data: textOf(message['match']) ?? textOf(message['data']),
    }),
  );
  const score = numberOf(body['inbound_score']);
  const isRequest = textOf(body['method']) !== null;
  return {
    kind,
    name: kind === 'attack-mode' ? 'Attack mode changed' : nameOf(rules, action),
    action,
    severity: kind === 'attack-mode' ? 8 : Math.min(10, severityOfAction[action] + (score >= 15 ? 2 : 0)),
    client_ip: textOf(body['client_ip']),
    request: isRequest ? requestOf(body, headers) : null,
    rules,
    score,
    reason: textOf((details['interruption'] as Row | null | undefined)?.['action']) ?? textOf(details['error']),
    details: others,
  };
}

function nameOf(rules: readonly EventRule[], action: EventAction): string {
  // the rule that only adds up the scores says nothing of what was found
  const telling = rules.find(({ id, message }) => message !== '' && (id < 949_000 || id >= 981_000)) ?? rules[0];
  return telling === undefined || telling.message === '' ? `Request ${action}` : telling.message.slice(0, 200);
}

function requestOf(body: Row, headers: unknown): EventRequest {
  const uri = textOf(body['uri']) ?? '/';
  const mark = uri.indexOf('?');
  const field = (name: string): string | null => {
    const found = Array.isArray(headers)
      ? (headers as unknown[]).find(
          (one): one is string[] => Array.isArray(one) && String(one[0]).toLowerCase() === name && one.length > 1,
        )
      : undefined;
    return textOf(found?.[1]);
  };
  return {
    id: textOf(body['request_id']),
    method: String(body['method']),
    path: mark < 0 ? uri : uri.slice(0, mark),
    query: mark < 0 ? null : uri.slice(mark + 1),
    status: numberOf(body['status']),
    user_agent: field('user-agent'),
    host: field('host'),
  };
}

function ofBan(body: Row): Told {
  const number = (name: string): number => numberOf(body[name]);
  return {
    kind: 'ban',
    name: 'Client banned',
    action: 'blocked',
    severity: Math.min(10, 6 + number('offence')),
    client_ip: textOf(body['network']),
    reason: `${number('threshold')} limited requests in ${number('window_seconds')} s by ${String(body['zone'])}`,
    details: {
      zone: body['zone'],
      offence: body['offence'],
      expires_at: body['expires_at'],
      request_id: body['request_id'],
    },
  };
}

function ofVerdict(body: Row): Told {
  const isChallenge = body['action'] === 'challenge';
  const isDenied = body['action'] === 'deny';
  const network = textOf(body['network']);
  const principal = network === null ? null : readPrincipalKey(network);
  const whom = principal === null ? 'Client' : 'Principal';
  return {
    kind: 'verdict',
    name: `${whom} ${isDenied ? 'denied' : isChallenge ? 'challenged' : 'slowed down'}`,
    action: isDenied ? 'blocked' : isChallenge ? 'challenged' : 'throttled',
    severity: isDenied ? 7 : 5,
    client_ip: principal === null ? network : null,
    reason: textOf(body['reason']),
    details: {
      added_by: body['added_by'],
      expires_at: body['expires_at'],
      ...(principal === null ? {} : { principal_kind: principal.kind, principal_id: principal.id }),
    },
  };
}

const severityOfThreat: Readonly<Record<string, number>> = { critical: 9, high: 8, medium: 6, low: 3 };

function ofThreat(body: Row): Told {
  const isBlocked = textOf(body['blocked_until']) !== null;
  return {
    kind: 'api-threat',
    name: `API abuse: ${String(body['kind']).replaceAll('_', ' ')}`,
    action: isBlocked ? 'blocked' : 'observed',
    severity: severityOfThreat[String(body['severity'])] ?? 5,
    client_ip: textOf(body['client_ip']),
    reason: textOf(body['reason']),
    details: (body['details'] ?? {}) as Row,
  };
}

function ofAlert(kind: string, body: Row): Told {
  return {
    kind,
    name: textOf(body['name'])?.slice(0, 200) ?? 'Alert',
    action: 'observed',
    severity: Math.min(10, Math.max(0, numberOf(body['severity']))),
    reason: textOf(body['reason']),
    details: (body['details'] ?? {}) as Row,
  };
}

/** Actions that take protection away, or change who may do what. */
const weightyAudit = /^(?:user|token|account|settings|config|rule_set|sso)\.|\.(?:lost|refused|delete)$/;

function ofAudit(body: Row): Told {
  const action = String(body['action']);
  const source = textOf(body['source_ip']);
  return {
    kind: 'audit',
    name: `Audit: ${action}`.slice(0, 200),
    action: action.endsWith('.refused') ? 'failed' : 'observed',
    severity: weightyAudit.test(action) ? 5 : 3,
    client_ip: source !== null && isIP(source) !== 0 ? source : null,
    reason: textOf(body['summary']),
    details: {
      entry: body['id'],
      action,
      actor: body['actor'],
      actor_id: body['actor_id'],
      role: body['role'],
      hash: body['hash'],
      details: parsed(body['details']),
    },
  };
}

/** Of events that are about no open finding; 3 for the others. */
const severityOfVm: Readonly<Record<string, number>> = {
  'chain.danger': 8,
  'health.failing': 8,
  'vpatch.stale': 7,
  'report.failed': 5,
  'schedule.refused': 5,
  'gate.failed': 6,
  'acceptance.expired': 5,
  'acceptance.expiring': 4,
};
/** By the severity of a finding, 0 info to 4 critical. */
const severityOfFinding = [1, 3, 6, 8, 9] as const;

function ofVm(body: Row): Told {
  const type = String(body['type']);
  const ofOpen = body['is_open'] === true ? severityOfFinding[numberOf(body['severity'])] : undefined;
  const title = textOf(body['title']);
  const application = textOf(body['application']);
  const about = title === null ? '' : `: ${title}`;
  const reason = `${textOf(body['told']) ?? type}${about}${application === null ? '' : `, in ${application}`}`;
  return {
    kind: 'vm',
    name: `Vulnerability manager: ${type}`.slice(0, 200),
    action: type === 'gate.failed' ? 'blocked' : 'observed',
    severity: Math.max(severityOfVm[type] ?? 3, ofOpen ?? 0),
    // formats of one line tell no details: it has to say what it is about
    reason: reason.slice(0, 1000),
    details: {
      event: body['id'],
      type,
      entity: body['entity'],
      entity_id: body['entity_id'],
      application_id: body['application_id'],
      application: body['application'],
      title,
      payload: body['payload'],
    },
  };
}

/** Details of an entry are kept as the text that its hash is made of. */
function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return text;
  }
}
