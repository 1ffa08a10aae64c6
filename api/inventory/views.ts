// An endpoint as the API and the CSV show it.
import { Type, type Static } from '@sinclair/typebox';
import { Nullable, OneOf, Time, toCsvLine } from '../http-kit/index.js';
import { accessTypes, authTruths, bands, classifications } from './judge.js';
import type { Endpoint } from './store.js';

const Counts = Type.Record(Type.String(), Type.Integer());
const NestedCounts = Type.Record(Type.String(), Counts);

const Evidence = Type.Object(
  {
    distinct: Type.Integer(),
    is_more: Type.Boolean({ description: 'there were more, which are no longer kept apart' }),
    kinds: Counts,
    entropy: Type.Number({ description: 'of the values by their requests, in bits' }),
    reason: Type.String(),
    place: Type.String({ description: 'for POST /api/inventory/split, to tell the values apart' }),
  },
  { description: 'why values were merged into a parameter' },
);

export const EndpointView = Type.Object({
  site: Type.String(),
  method: Type.String(),
  template: Type.String(),
  segments: Type.Array(Type.Object({ text: Type.String(), evidence: Nullable(Evidence) })),
  access: OneOf(accessTypes),
  auth: OneOf(
    authTruths,
    'what became of requests without credentials: refused, answered, both, or not tried (unknown)',
  ),
  auth_types: Type.Array(Type.String()),
  credentials: Type.Record(
    Type.String(),
    Type.Object({ ok: Type.Integer(), denied: Type.Integer(), other: Type.Integer() }),
  ),
  hits: Type.Integer(),
  first_seen: Time,
  last_seen: Time,
  shadow: Nullable(Type.Boolean({ description: 'seen, and not in the specification; null: the site has none' })),
  classification: OneOf(classifications),
  categories: Type.Array(Type.String()),
  regulations: Type.Array(Type.String()),
  risk: Type.Object({
    score: Type.Number({ minimum: 0, maximum: 5 }),
    band: OneOf(bands),
    parts: Type.Array(Type.Object({ factor: Type.String(), points: Type.Number(), why: Type.String() })),
  }),
  statuses: Counts,
  sources: Counts,
  parameters: NestedCounts,
  request_types: Counts,
  response_types: Counts,
  latency_us: Type.Object({ mean: Type.Integer(), max: Type.Integer() }),
  bytes: Type.Object({ request_mean: Type.Integer(), response_mean: Type.Integer() }),
});
export type EndpointView = Static<typeof EndpointView>;

export function viewEndpoint(endpoint: Endpoint): EndpointView {
  const { stats, parts, risk, band, authTypes, firstSeen, lastSeen } = endpoint;
  const mean = (sum: number): number => Math.round(sum / Math.max(1, stats.count));
  return {
    site: endpoint.site,
    method: endpoint.method,
    template: endpoint.template,
    segments: endpoint.segments.map(({ text, evidence }) => ({
      text,
      evidence: evidence === null ? null : viewEvidence(evidence),
    })),
    access: endpoint.access,
    auth: endpoint.auth,
    auth_types: [...authTypes],
    credentials: Object.fromEntries(
      Object.entries(stats.credentials).map(([kind, [ok, denied, other]]) => [kind, { ok, denied, other }]),
    ),
    hits: endpoint.hits,
    first_seen: firstSeen.toISOString(),
    last_seen: lastSeen.toISOString(),
    shadow: endpoint.shadow,
    classification: endpoint.classification,
    categories: [...endpoint.categories],
    regulations: [...endpoint.regulations],
    risk: { score: risk, band, parts: parts.map((part) => ({ ...part })) },
    statuses: stats.statuses,
    sources: stats.sources,
    parameters: stats.parameters,
    request_types: stats.request_types,
    response_types: stats.response_types,
    latency_us: { mean: mean(stats.latency_us), max: Math.round(stats.latency_us_max) },
    bytes: { request_mean: mean(stats.request_bytes), response_mean: mean(stats.response_bytes) },
  };
}

function viewEvidence(evidence: NonNullable<Endpoint['segments'][number]['evidence']>) {
  const { distinct, isMore, kinds, entropy, reason, place } = evidence;
  return { distinct, is_more: isMore, kinds: { ...kinds } as Record<string, number>, entropy, reason, place };
}

export const csvHead = toCsvLine([
  ...['site', 'method', 'template', 'access', 'auth', 'auth_types', 'hits', 'first_seen', 'last_seen'],
  ...['shadow', 'classification', 'categories', 'risk', 'band'],
]);

export function csvLine(one: Endpoint): string {
  return toCsvLine([
    ...[one.site, one.method, one.template, one.access, one.auth, one.authTypes.join(' '), one.hits],
    ...[one.firstSeen, one.lastSeen, one.shadow, one.classification, one.categories.join(' '), one.risk, one.band],
  ]);
}
