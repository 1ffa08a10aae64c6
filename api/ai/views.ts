// How verdicts are shown.
import { Type, type Static } from '@sinclair/typebox';
import { principalKinds } from '#proxy/contract';
import { Nullable, OneOf, Time } from '../http-kit/index.js';
import { collateralOf } from './enforce.js';
import { rungs } from './engine/fusion.js';
import { explain } from './engine/explain.js';
import type { Scored } from './engine/score.js';
import { layers, type FeatureVector, type Weights } from './engine/vector.js';
import { enforcements, heldBackReasons, marks, type VerdictRow } from './store.js';

export const RungName = OneOf(rungs);
const Points = Type.Integer({ minimum: 0, maximum: 100 });
export const LayersView = Type.Record(Type.String({ enum: [...layers] }), Points, {
  description: 'points of each layer',
});
export const SignalView = Type.Object({
  code: Type.String({ description: 'stable' }),
  layer: OneOf(layers),
  name: Type.String(),
  points: Points,
  evidence: Type.Record(Type.String(), Type.Unknown()),
  attack: Type.Array(Type.String(), { description: 'MITRE ATT&CK techniques' }),
  owasp: Type.Array(Type.String(), { description: 'OWASP Top 10 and API Security Top 10' }),
});
export const SubjectView = Type.Object(
  {
    kind: OneOf(['client', 'principal'] as const),
    address: Nullable(Type.String({ description: 'of a client' })),
    credential: Nullable(OneOf(principalKinds)),
    id: Nullable(Type.String({ description: 'of a principal: the keyed hash of what names it' })),
    addresses: Type.Integer({ minimum: 0, description: 'that it was seen at' }),
    networks: Type.Array(Type.String(), { description: 'those with most of its requests, at most five' }),
  },
  { description: 'whom it is about: an address, or one principal at whatever address; nulls: of the other kind' },
);
export const Collateral = Type.Object(
  {
    sessions: Type.Integer(),
    user_agents: Type.Integer(),
    note: Type.String({ description: 'in words, and whether a principal is judged instead; empty: no one is known' }),
    apart: Type.Array(Type.String(), { description: 'principals behind the address with a verdict of their own' }),
  },
  { description: 'whom a decision over this address reaches besides: sessions that the application accepted' },
);

const brief = {
  id: Type.Integer(),
  at: Time,
  last_at: Time,
  rounds: Type.Integer({ description: 'rounds of the engine that this row stands for' }),
  subject: SubjectView,
  address: Type.String({
    description: 'an IPv4 address, or the /64 of an IPv6 address; of a principal kind and id, `jwt:0123456789abcdef`',
  }),
  verdict: RungName,
  risk: Points,
  confidence: Points,
  layers: LayersView,
  action: OneOf(['monitor', 'block'] as const),
  enforced: Nullable(OneOf(enforcements)),
  enforced_until: Nullable(Time),
  held_back: Nullable(OneOf(heldBackReasons)),
  collateral: Collateral,
  marked: Nullable(OneOf(marks)),
};
export const BriefView = Type.Object({ ...brief, signals: Type.Array(Type.String(), { description: 'codes' }) });
export const VerdictView = Type.Object({
  ...brief,
  in_force: Type.Boolean({ description: 'what it put in force still holds: not ended, and not lifted before its end' }),
  version: Type.String({ description: 'of the code that scored' }),
  threshold: Type.Integer(),
  weights: Type.Record(Type.String(), Type.Number()),
  vector: Type.Record(Type.String(), Type.Unknown(), { description: 'everything that the verdict is made of' }),
  why: Type.Array(Type.Intersect([SignalView, Type.Object({ contribution: Type.Integer() })])),
  why_not: Type.Object({
    signals: Type.Array(Type.String(), { description: 'the smallest set without which the verdict is a rung lower' }),
    risk: Points,
    verdict: RungName,
    skips: Type.Boolean({ description: 'no set leads to the very next rung' }),
  }),
  distance: Type.Object({ up: Nullable(Type.Integer()), down: Nullable(Type.Integer()) }),
  marked_by: Nullable(Type.String()),
});

/** Whom a vector is about. */
export function subjectOf({ address, principal }: FeatureVector): Static<typeof SubjectView> {
  if (principal === undefined)
    return { kind: 'client', address, credential: null, id: null, addresses: 1, networks: [address] };
  const { kind: credential, id, addresses, networks } = principal;
  return { kind: 'principal', address: null, credential, id, addresses, networks: [...networks] };
}

export const reachOf = (vector: FeatureVector): Static<typeof Collateral> => ({
  sessions: vector.sessions,
  user_agents: vector.user_agents,
  note: collateralOf(vector),
  apart: [...(vector.apart ?? [])],
});

function common(row: VerdictRow, scored: Scored, vector: FeatureVector) {
  return {
    id: row.id,
    at: row.at.toISOString(),
    last_at: row.last_at.toISOString(),
    rounds: row.rounds,
    subject: subjectOf(vector),
    address: row.address,
    verdict: row.verdict,
    risk: row.risk,
    confidence: row.confidence,
    layers: scored.layers,
    action: row.action,
    enforced: row.enforced,
    enforced_until: row.enforced_until?.toISOString() ?? null,
    held_back: row.held_back,
    collateral: reachOf(vector),
    marked: row.marked,
  };
}

export function toBrief(row: VerdictRow): Static<typeof BriefView> {
  const scored = JSON.parse(row.result) as Scored;
  const vector = JSON.parse(row.vector) as FeatureVector;
  return { ...common(row, scored, vector), signals: scored.signals.map(({ code }) => code) };
}

export function toVerdict(row: VerdictRow, inForce: boolean): Static<typeof VerdictView> {
  const scored = JSON.parse(row.result) as Scored;
  const vector = JSON.parse(row.vector) as FeatureVector;
  const weights = JSON.parse(row.weights) as Weights;
  const { why, why_not: whyNot, distance } = explain(scored, weights, row.threshold);
  return {
    ...common(row, scored, vector),
    in_force: inForce,
    version: row.version,
    threshold: row.threshold,
    weights: { ...weights },
    vector: { ...vector },
    why: why.map((signal) => ({ ...signal, attack: [...signal.attack], owasp: [...signal.owasp] })),
    why_not: { ...whyNot, signals: [...whyNot.signals] },
    distance,
    marked_by: row.marked_by,
  };
}
