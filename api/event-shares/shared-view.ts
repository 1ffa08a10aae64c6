// What a reader without a login sees of an event: chosen member by member, so that a member that a later node adds is
// not shown by oversight. Records are stored without secrets; here they pass the masks again, with those for personal
// data whatever `privacy_mode` says, and the client's address is shown as its network.
import { Type, type Static } from '@sinclair/typebox';
import { clientNetwork } from '../addresses/address.js';
import { SummaryView, viewEvent, type RecordedEvent } from '../events/view.js';
import { Nullable, Time } from '../http-kit/index.js';
import { maskRecords } from '../masking/mask-records.js';

const Text = Type.String();
const MessageView = Type.Object({
  rule_id: Type.Integer(),
  message: Text,
  data: Text,
  match: Text,
  severity: Text,
  tags: Type.Array(Text),
  file: Text,
  line: Type.Integer(),
});
const PointsView = Type.Object({ rule_id: Type.Integer(), points: Type.Number(), is_supported: Type.Boolean() });

export const SharedEventView = Type.Object({
  at: Time,
  request_id: Text,
  site: Text,
  client_network: Type.String({ description: 'the first 24 bits of an IPv4 address, the first 48 of an IPv6 address' }),
  kind: Text,
  verdict: Text,
  method: Text,
  uri: Text,
  status: Type.Integer(),
  rule_id: Nullable(Type.Integer()),
  inbound_score: Type.Integer(),
  summary: SummaryView,
  details: Type.Object({
    protocol: Text,
    truncated: Type.Boolean(),
    error: Nullable(Text),
    phases: Type.Array(Type.Integer()),
    interruption: Nullable(
      Type.Object({ ruleId: Type.Integer(), phase: Nullable(Type.Integer()), status: Nullable(Type.Integer()) }),
    ),
    headers: Type.Array(Type.Array(Text, { minItems: 1, maxItems: 2 })),
    messages: Type.Array(MessageView),
    second_opinion: Nullable(Type.Object({ features: Type.Array(PointsView) })),
  }),
  expires_at: Time,
});
export type SharedEventView = Static<typeof SharedEventView>;

type Details = SharedEventView['details'];
type Fields = Readonly<Record<string, unknown>>;

const textCharsMax = 2048;
const messagesMax = 20;
const headersMax = 100;
/** Their values name the client. */
const clientHeaders: ReadonlySet<string> = new Set(['x-forwarded-for', 'forwarded', 'x-real-ip', 'true-client-ip']);

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown): string => (typeof value === 'string' ? value.slice(0, textCharsMax) : '');
const wholeOf = (value: unknown): number | null => (Number.isSafeInteger(value) ? (value as number) : null);

function messageOf(value: unknown): Details['messages'] {
  const one = fieldsOf(value);
  const id = wholeOf(one['rule_id']);
  if (id === null) return [];
  return [
    {
      rule_id: id,
      message: textOf(one['message']),
      data: textOf(one['data']),
      match: textOf(one['match']),
      severity: textOf(one['severity']),
      tags: listOf(one['tags']).slice(0, 30).map(textOf),
      file: textOf(one['file']),
      line: wholeOf(one['line']) ?? 0,
    },
  ];
}

function headerOf(value: unknown): string[][] {
  const [name, content] = listOf(value);
  if (typeof name !== 'string') return [];
  const shown = textOf(name);
  return typeof content === 'string' && !clientHeaders.has(name.toLowerCase()) ? [[shown, textOf(content)]] : [[shown]];
}

function opinionOf(value: unknown): Details['second_opinion'] {
  const features = listOf(fieldsOf(value)['features']).slice(0, 100).map(fieldsOf);
  if (features.length === 0) return null;
  return {
    features: features.flatMap((one) => {
      const id = wholeOf(one['rule_id']);
      const { points } = one as { points?: unknown };
      return id !== null && typeof points === 'number' && Number.isFinite(points)
        ? [{ rule_id: id, points, is_supported: one['is_supported'] === true }]
        : [];
    }),
  };
}

function chosen(given: unknown): Details {
  const details = fieldsOf(given);
  const stop = fieldsOf(details['interruption']);
  const stopId = wholeOf(stop['ruleId']);
  return {
    protocol: textOf(details['protocol']),
    truncated: details['truncated'] === true,
    error: textOf(details['error']) || null,
    phases: listOf(details['phases'])
      .slice(0, 10)
      .flatMap((one) => wholeOf(one) ?? []),
    interruption:
      stopId === null ? null : { ruleId: stopId, phase: wholeOf(stop['phase']), status: wholeOf(stop['status']) },
    headers: listOf(details['headers']).slice(0, headersMax).flatMap(headerOf),
    messages: listOf(details['messages']).slice(0, messagesMax).flatMap(messageOf),
    second_opinion: opinionOf(details['second_opinion']),
  };
}

/** Every string of it with the client's address replaced. */
function withoutAddress<T>(value: T, address: string, network: string): T {
  if (typeof value === 'string') return value.replaceAll(address, network) as T;
  if (Array.isArray(value)) return value.map((one: unknown) => withoutAddress(one, address, network)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, withoutAddress(one as unknown, address, network)]),
  ) as T;
}

/** The fields that readers outside may see; the sentence is derived from these. */
export function shareEvent(event: RecordedEvent, expiresAt: Date): SharedEventView {
  const picked = {
    uri: event.uri.slice(0, 8192),
    details: chosen(event.details) as unknown as Record<string, unknown>,
  };
  const [masked = picked] = maskRecords({ requests: [], samples: [], events: [picked] }, 'personal').events;
  const network = clientNetwork(event.client_ip) ?? '';
  const hidden =
    event.client_ip === '' ? masked : withoutAddress(masked, event.client_ip, network === '' ? '(client)' : network);
  const { summary } = viewEvent({ ...event, ...hidden, node: '', details: hidden.details });
  const { at, request_id, site, kind, verdict, method, status, rule_id, inbound_score } = event;
  return {
    ...{ at, request_id, site, kind, verdict, method, status, rule_id, inbound_score, summary },
    uri: hidden.uri,
    client_network: network,
    details: hidden.details as unknown as Details,
    expires_at: expiresAt.toISOString(),
  };
}
