// What a client measure is: something that was decided about a client, by a person, a list or a part of this program,
// and holds on every node until it ends or is lifted. Everything that denies, challenges or slows down a client by its
// name is a row of one table (store.ts) and an entry of one list on the nodes (push.ts).
import { readPrincipalKey, type MeasureAction } from '#proxy/contract';

/** `deny`: answered 403; `challenge`: has to solve a challenge on all paths; `throttle`: 15 requests in 10 seconds. */
export { measureActions, type MeasureAction } from '#proxy/contract';

/**
 * Who can decide: people, exit nodes of Tor, the feed of the settings, the managed feed, bans of nodes, the detection
 * engine, findings of API abuse. `location`: networks of a country or autonomous system that people decided about.
 */
export const measureSources = ['manual', 'tor', 'feed', 'managed', 'auto-ban', 'ai', 'api-abuse', 'location'] as const;
export type MeasureSource = (typeof measureSources)[number];

/**
 * Sources that deliver whole lists: what they no longer name is gone, without a history. An entry that is lifted comes
 * back with the next list that names it. Views of single decisions leave them out unless they are asked for by name.
 */
export const listSources: readonly MeasureSource[] = ['tor', 'feed', 'managed', 'location'];

export const subjectKinds = ['address', 'network', 'principal', 'country', 'asn'] as const;
export type SubjectKind = (typeof subjectKinds)[number];

/** A country (`country:DE`) or an autonomous system (`asn:64500`): nodes get its networks (places.ts), not itself. */
export interface Place {
  readonly kind: 'country' | 'asn';
  readonly value: string;
}

const asnMax = 4_294_967_295;

/** As people write it (`country:de`, `ASN:AS64500`); null: it is about something else, or about nothing. */
export function readPlace(text: string): Place | null {
  const [, country] = /^country:([a-z]{2})$/i.exec(text) ?? [];
  if (country !== undefined) return { kind: 'country', value: country.toUpperCase() };
  const [, asn] = /^asn?:(?:as)?(\d{1,10})$/i.exec(text) ?? [];
  return asn === undefined || Number(asn) > asnMax ? null : { kind: 'asn', value: String(Number(asn)) };
}

export const subjectOfPlace = ({ kind, value }: Place): string => `${kind}:${value}`;

/** `active`: in force; `ended`: its time is over; `lifted`: taken back before its end. */
export const measureStates = ['active', 'ended', 'lifted'] as const;
export type MeasureState = (typeof measureStates)[number];

/** What led to an automatic ban. */
export interface BanEvidence {
  readonly node: string;
  /** The limit whose refusals led to it. */
  readonly zone: string;
  /** The request that crossed the line. */
  readonly request_id: string;
  /** 1: its first. */
  readonly offence: number;
  /** Limited requests that led to it, and in how many seconds they came. */
  readonly threshold: number;
  readonly window_seconds: number;
}

export interface ClientMeasure {
  /** In the order in which they were made; null: an entry of a list from before there were numbers. */
  readonly id: number | null;
  /** A canonical address or network, a principal (`jwt:0123456789abcdef`), or a place (`country:DE`). */
  readonly subject: string;
  readonly action: MeasureAction;
  /** One of `measureSources`. */
  readonly source: string;
  /** Tells measures of one source and action on one subject apart; '' where there is one at most. */
  readonly instance: string;
  readonly reason: string;
  /** Of automatic bans; null: the reason says everything. */
  readonly evidence: BanEvidence | null;
  readonly added_by: string;
  readonly added_at: Date;
  /** null: it does not end by itself. */
  readonly expires_at: Date | null;
  readonly lifted_at: Date | null;
  readonly lifted_by: string | null;
}

export function kindOfSubject(subject: string): SubjectKind {
  if (readPrincipalKey(subject) !== null) return 'principal';
  const place = readPlace(subject);
  if (place !== null) return place.kind;
  return subject.includes('/') ? 'network' : 'address';
}

export function stateOf({ lifted_at: lifted, expires_at: end }: ClientMeasure, nowMs: number): MeasureState {
  if (lifted !== null) return 'lifted';
  return end !== null && end.getTime() <= nowMs ? 'ended' : 'active';
}
