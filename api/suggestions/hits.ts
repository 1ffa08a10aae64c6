// What tripped which rule where: read from the stored security events. Their `details.messages` are the matches as the
// data plane reports them (proxy/records/ship-records.ts).
import type { Queryable } from '../db/client.js';
import { findSamples, samplesKept } from '../records/samples.js';
import type { TrialRequest } from '#compiler';
import { isDetection } from './likelihood.js';

export interface RuleHit {
  readonly atMs: number;
  readonly requestId: string;
  readonly ruleId: number;
  readonly message: string;
  readonly tags: readonly string[];
  /** `ARGS:q`; '' when the event does not say. */
  readonly variable: string;
  /** What the rule saw, masked and cut as the event has it; '' when the event does not say. */
  readonly value: string;
  readonly site: string;
  readonly method: string;
  /** Without the query; numbers and ids as `*`. */
  readonly path: string;
  readonly uri: string;
  readonly clientIp: string;
  /** Whether it came with a cookie or an Authorization field. */
  readonly hasSession: boolean;
  readonly verdict: string;
  /** Header fields whose values the event has; others are known by name only and are left out. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Where hits come from; tests have one in memory. */
/** What the records of requests say of a client; where records are sampled, of those that were kept. */
export interface ClientPast {
  /** Requests that passed and were answered below 400. */
  readonly good: number;
  readonly all: number;
  readonly firstMs: number;
}

export interface HitSource {
  /** The newest first, of detection rules only. */
  hits(from: Date, eventsMax: number): Promise<readonly RuleHit[]>;
  /** What else is known of these clients since then; a client without records is not in it. */
  clients(clients: readonly string[], from: Date): Promise<ReadonlyMap<string, ClientPast>>;
  /** One of these requests as it was recorded, secrets masked; null when none was sampled. */
  request(requestIds: readonly string[]): Promise<TrialRequest | null>;
}

/** `/orders/42/lines` → `/orders/*` + `/lines`: what differs from request to request must not split a path's hits. */
export function templatePath(uri: string): string {
  const path = (uri.split(/[?#]/, 1)[0] ?? '').slice(0, 1024);
  const segments = path
    .split('/')
    .map((segment) => (/^\d+$|^[0-9a-f]{8}-[0-9a-f-]{27}$|^[0-9a-f]{16,}$/i.test(segment) ? '*' : segment));
  return segments.join('/') || '/';
}

interface StoredMessage {
  readonly rule_id?: unknown;
  readonly message?: unknown;
  readonly match?: unknown;
  readonly tags?: unknown;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The variable as ModSecurity's wording names it: Matched "…" against variable `ARGS:q' (Value: `…'). */
function variableOf(match: string): string {
  return /against variable `([^']{1,300})'/.exec(match)?.[1] ?? '';
}

const valueBegins = '(Value: `';

function valueOf(match: string): string {
  const at = match.indexOf(valueBegins);
  if (at < 0) return '';
  const value = match.slice(at + valueBegins.length);
  return value.endsWith("')") ? value.slice(0, -2) : value;
}

export interface StoredEvent {
  readonly at: Date;
  readonly request_id: string;
  readonly site: string;
  readonly client_ip: string;
  readonly verdict: string;
  readonly method: string;
  readonly uri: string;
  readonly details: unknown;
}

const sessionFields: ReadonlySet<string> = new Set(['cookie', 'authorization']);

/** Names are there whether or not the value is. */
const hasSessionIn = (headers: unknown): boolean =>
  Array.isArray(headers) &&
  (headers as unknown[]).some((field) => Array.isArray(field) && sessionFields.has(String(field[0]).toLowerCase()));

/** `details.headers` as the data plane sends them: `[name, value]`, or `[name]` where the value stays there. */
function headersOf(details: { readonly headers?: unknown }): [string, string][] {
  if (!Array.isArray(details.headers)) return [];
  return (details.headers as unknown[]).flatMap((field): [string, string][] => {
    const [name, value] = Array.isArray(field) ? (field as unknown[]) : [];
    return typeof name === 'string' && typeof value === 'string' ? [[name, value]] : [];
  });
}

/** What `gatehouse up` calls itself when it tries whether an attack is stopped (cli/supervise/announce.ts). */
const startCheckAgent = 'gatehouse-start-check';

const isStartCheck = (headers: readonly (readonly [name: string, value: string])[]): boolean =>
  headers.some(([name, value]) => name.toLowerCase() === 'user-agent' && value === startCheckAgent);

/**
 * Events of any age and shape in, hits out: what does not name a detection rule is left out, and so is the attack that
 * `up` sends itself, which no exclusion may ever let through. Whoever else takes its name is not helped by that: hits
 * that are left out can only make fewer proposals.
 */
function toHits(event: StoredEvent): RuleHit[] {
  const details = (event.details ?? {}) as { readonly messages?: unknown; readonly headers?: unknown };
  const { messages } = details;
  if (!Array.isArray(messages)) return [];
  const headers = headersOf(details);
  if (isStartCheck(headers)) return [];
  return (messages as StoredMessage[]).flatMap((message) => {
    const ruleId = Number(message?.rule_id);
    if (!Number.isInteger(ruleId) || !isDetection(ruleId)) return [];
    const tags = Array.isArray(message.tags)
      ? message.tags.filter((tag): tag is string => typeof tag === 'string')
      : [];
    const match = text(message.match);
    return [
      {
        atMs: event.at.getTime(),
        requestId: event.request_id,
        ruleId,
        message: text(message.message),
        tags,
        variable: variableOf(match),
        value: valueOf(match),
        site: event.site,
        method: event.method,
        path: templatePath(event.uri),
        uri: event.uri,
        clientIp: event.client_ip,
        hasSession: hasSessionIn(details.headers),
        verdict: event.verdict,
        headers,
      },
    ];
  });
}

export function createHitSource(sql: Queryable): HitSource {
  return {
    async hits(from, eventsMax) {
      const rows = await sql<StoredEvent[]>`
        select at, request_id, site, client_ip, verdict, method, uri, details from security_events
        where at >= ${from} order by at desc, id desc limit ${eventsMax}`;
      return rows.flatMap(toHits);
    },
    async clients(clients, from) {
      if (clients.length === 0) return new Map();
      const rows = await sql<{ client_ip: string; good: number; all: number; first: Date }[]>`
        select client_ip, count(*)::int as all, min(at) as first,
          count(*) filter (where status < 400 and verdict = 'pass')::int as good
        from request_records
        where at >= ${from}
          and client_ip in (select value from jsonb_array_elements_text(${sql.json([...clients])}::jsonb))
        group by client_ip`;
      return new Map(
        rows.map(({ client_ip, good, all, first }) => [client_ip, { good, all, firstMs: first.getTime() }]),
      );
    },
    async request(requestIds) {
      const sample = (await findSamples(sql, samplesKept)).find((one) => requestIds.includes(one.requestId));
      if (sample === undefined) return null;
      // samples are latin1, one code unit per byte; trials take text
      const utf8 = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');
      const headers = sample.headers.flatMap((name, index): [string, string][] =>
        index % 2 === 0 ? [[utf8(name), utf8(sample.headers[index + 1] ?? '')]] : [],
      );
      return {
        method: sample.method,
        uri: sample.uri,
        headers: headers.filter(([name]) => name.toLowerCase() !== 'content-length'),
        body: utf8(sample.body ?? ''),
      };
    },
  };
}
