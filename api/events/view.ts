// Events as they are answered: the stored record, and the sentence that says what it is.
import { Type, type Static } from '@sinclair/typebox';
import { Nullable, Time } from '../http-kit/index.js';
import { eventKinds } from './kinds.js';
import { categoryNames, type EventCategory } from './summary/categories.js';
import { summarise, summarySeverities, type SummarySeverity } from './summary/summarise.js';

const kindList = Object.entries(eventKinds).map(([kind, meaning]) => `${kind}: ${meaning}`);

export const SummaryView = Type.Object(
  {
    text: Type.String({
      description: 'the whole sentence on one line, such as: SQL injection in query parameter `q`: `1`',
    }),
    category: Type.Unsafe<EventCategory>({ type: 'string', enum: [...categoryNames] }),
    category_name: Type.String(),
    severity: Type.Unsafe<SummarySeverity>({ type: 'string', enum: [...summarySeverities] }),
    what: Type.String({ description: 'without place and value' }),
    place: Nullable(Type.String({ description: 'where the value was, such as: query parameter' })),
    name: Nullable(Type.String({ description: 'of the parameter, header, cookie or field' })),
    value: Nullable(Type.String({ description: 'decoded, at most 160 characters around what matched; untrusted' })),
    hits: Type.Array(Type.Array(Type.Integer(), { minItems: 2, maxItems: 2 }), {
      description: 'stretches of `value` that matched: first character, and the one behind the last',
    }),
  },
  { description: 'what the event is, in one sentence' },
);

export const EventView = Type.Object({
  id: Type.Integer(),
  at: Time,
  request_id: Type.String(),
  node: Type.String(),
  site: Type.String(),
  client_ip: Type.String(),
  kind: Type.String({ description: kindList.join('; ') }),
  verdict: Type.String(),
  method: Type.String(),
  uri: Type.String(),
  status: Type.Integer(),
  rule_id: Nullable(Type.Integer()),
  inbound_score: Type.Integer(),
  details: Type.Unknown(),
  path_template: Nullable(Type.String({ description: 'the path with its variable parts named' })),
  country: Nullable(Type.String({ description: 'of the client, where a database of locations is set' })),
  asn: Nullable(Type.Integer({ description: 'its autonomous system' })),
  summary: SummaryView,
});
export type EventView = Static<typeof EventView>;

/** An event without its sentence, as lists of records read it. */
export type RecordedEvent = Omit<EventView, 'summary'>;

export const viewEvent = (event: RecordedEvent): EventView => {
  const { hits, ...summary } = summarise(event);
  return { ...event, summary: { ...summary, hits: hits.map((one) => [...one]) } };
};
