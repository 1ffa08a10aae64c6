// From what rules and gates said of a request to the record that leaves the worker.
import { raisedRuleId, type MatchedRule, type RequestHead, type SecondOpinion, type Verdict } from '#engine';
import { gateNotes } from '../admit/gate-notes.js';
import type { Decided, Throttling } from '../admit/decision.js';
import type { EventMessage, EventTls, EventVerdict, SecurityEvent } from '../contract/index.js';
import type { ClientTls } from '../listeners/front/connection-facts.js';
import type { Action } from '../metrics/families.js';
import type { Generation } from '../worker/generation.js';
import { DocumentSecrets, hideMadeOfSecrets } from './made-of-secrets.js';

const valueBytesMax = 512; // of a matched value in the log: enough to see what it was
const messagesMax = 64; // per event

export interface EventFacts {
  readonly requestId: string;
  readonly atMs: number;
  readonly site: string;
  readonly generation: Generation;
  readonly head: RequestHead;
  readonly clientIp: string;
  readonly tls: ClientTls | null;
  readonly body: Buffer | null;
  readonly status: number;
  readonly responseHeaders: readonly string[];
  readonly verdict: Verdict | null;
  /** What another thread found, when the body was inspected there. */
  readonly foreign: {
    readonly messages: readonly EventMessage[];
    readonly inboundScore: number;
    readonly truncated: boolean;
    readonly opinion?: SecondOpinion | null;
  } | null;
  /** Of gates, in their order. */
  readonly decisions: readonly Decided[];
  /** Names of the gates that were to be asked, in their order. */
  readonly asked: readonly string[];
  /** In force or withheld. */
  readonly interruption: SecurityEvent['interruption'];
  readonly kind: EventVerdict;
  /** What became of it, and what ended it; absent: a message of a WebSocket. */
  readonly action?: Action;
  readonly endedBy?: string | null;
  readonly mode: SecurityEvent['mode'];
  readonly inspectionUs: number;
  readonly error: string | null;
}

function clip(text: string): string {
  return text.length <= valueBytesMax ? text : `${text.slice(0, valueBytesMax)}…(${text.length} bytes)`;
}

function textOf(value: number | null): string {
  return value === null ? '' : String(value);
}

/** A rule file as logs name it: `rules/NAME.conf`, whichever directory of whichever machine it was compiled in. */
export function shownFile(path: string): string {
  return path.startsWith('/') ? path.split('/').slice(-2).join('/') : path;
}

export function toEventMessage(found: MatchedRule, files: readonly string[], document?: DocumentSecrets): EventMessage {
  const { rule } = found;
  const matched = hideMadeOfSecrets(found, document);
  const head = rule.links[0];
  const operator = head?.operator ?? null;
  const what = operator === null ? 'SecAction' : `Operator \`${operator.name}'`;
  return {
    ruleId: rule.id,
    message: matched.msg,
    data: clip(matched.logdata),
    match: `Matched "${what}" against variable \`${matched.variable}' (Value: \`${clip(matched.value)}')`,
    severity: textOf(rule.severity),
    file: head === undefined ? '' : (files[head.file] ?? ''),
    lineNumber: head?.line ?? 0,
    ver: rule.ver ?? '',
    rev: rule.rev ?? '',
    tags: matched.tags,
    maturity: textOf(rule.maturity),
    accuracy: textOf(rule.accuracy),
  };
}

/** Why a gate decided so, and with which numbers; nothing where no rule stands for it. */
function messagesOfGate({ decision }: Decided): EventMessage[] {
  const { rule } = decision;
  if (rule === null) return [];
  const numbers = decision.kind === 'throttle' ? numbersOf(decision) : '';
  return [
    {
      ruleId: rule.id,
      message: rule.message,
      data: [rule.data, numbers].filter((part) => part !== '').join(' '),
      match: rule.match,
      severity: rule.severity,
      file: '',
      lineNumber: 0,
      ver: '',
      rev: '',
      tags: rule.tags,
      maturity: '',
      accuracy: '',
    },
  ];
}

function numbersOf({ zone, limit, windowSeconds, remaining, retryAfterSeconds }: Throttling): string {
  return (
    `zone=${zone} limit=${limit} window_seconds=${windowSeconds} ` +
    `remaining=${remaining} retry_after_seconds=${retryAfterSeconds}`
  );
}

/** Rule 1006610 has no text of its own: what it denies for is the opinion. */
function messageOfRaise({ score, threshold, features }: SecondOpinion): EventMessage {
  const found = features.filter((feature) => feature.is_supported);
  return {
    ruleId: raisedRuleId,
    message: 'Signs of an attack in values that no rule scores',
    data: `score=${score} threshold=${threshold} signs=${found.flatMap(({ signs }) => signs).join(',')}`,
    match: found.map(({ variable }) => variable).join(', '),
    severity: '2',
    file: '',
    lineNumber: 0,
    ver: '',
    rev: '',
    tags: ['gatehouse/second-opinion'],
    maturity: '',
    accuracy: '',
  };
}

function eventTls({ version, serverName, alpn, ja3, ja4 }: ClientTls): EventTls {
  return { version, server_name: serverName === null ? null : clip(serverName), alpn, ja3, ja4 };
}

export function toSecurityEvent(facts: EventFacts): SecurityEvent {
  const { verdict, foreign, generation, head } = facts;
  const files = generation.inspection?.files ?? [];
  const messages: EventMessage[] = foreign === null ? [] : foreign.messages.slice(0, messagesMax);
  messages.unshift(...facts.decisions.flatMap(messagesOfGate));
  if (verdict !== null) {
    const document = new DocumentSecrets(facts.body);
    for (const matched of verdict.matched) {
      if (messages.length >= messagesMax) break;
      // The other thread ran phases 1 and 2 as well: its findings stand for both.
      if (foreign === null || matched.phase > 2) messages.push(toEventMessage(matched, files, document));
    }
  }
  const secondOpinion = foreign === null ? (verdict?.opinion ?? null) : (foreign.opinion ?? null);
  const interruption = facts.interruption ?? verdict?.interruption ?? null;
  if (interruption?.ruleId === raisedRuleId && secondOpinion !== null) messages.unshift(messageOfRaise(secondOpinion));
  const bodyBytesMax = generation.config.auditRequestBodyBytesMax;
  return {
    requestId: facts.requestId,
    atMs: facts.atMs,
    site: facts.site,
    generation: generation.id,
    verdict: facts.kind,
    ...(facts.action === undefined ? {} : { outcome: facts.action, endedBy: facts.endedBy ?? null }),
    mode: facts.mode,
    clientIp: facts.clientIp,
    clientPort: head.clientPort,
    serverIp: head.serverIp,
    serverPort: head.serverPort,
    method: head.method,
    uri: head.uri,
    protocol: head.protocol,
    tls: facts.tls === null ? null : eventTls(facts.tls),
    requestHeaders: head.headers,
    requestBody:
      facts.body === null || bodyBytesMax === 0
        ? null
        : facts.body.toString('latin1', 0, Math.min(facts.body.length, bodyBytesMax)),
    status: facts.status,
    responseHeaders: facts.responseHeaders,
    interruption:
      interruption === null
        ? null
        : {
            ruleId: interruption.ruleId,
            action: interruption.action,
            phase: interruption.phase,
            status: interruption.status,
          },
    messages,
    gates: gateNotes(facts.asked, facts.decisions, facts.mode),
    inboundScore: foreign?.inboundScore ?? verdict?.inboundScore ?? 0,
    outboundScore: verdict?.outboundScore ?? 0,
    phases:
      foreign === null ? (verdict?.phases ?? []) : [1, 2, ...(verdict?.phases ?? []).filter((phase) => phase > 2)],
    secondOpinion,
    truncated: (foreign?.truncated ?? false) || (verdict?.truncated ?? false),
    inspectionUs: facts.inspectionUs,
    error: facts.error,
  };
}
