// Client measures over the API: everything that was decided about clients, in one list with filters and one way back.
import { Type, type Static } from '@sinclair/typebox';
import {
  closed,
  listOf,
  Nullable,
  OneOf,
  Page,
  PageQuery,
  refusals,
  requirePrincipal,
  SomeOf,
  Time,
  toPage,
  type App,
} from '../http-kit/index.js';
import { lift, subjectOf, type LiftParts } from './lift.js';
import { kindOfSubject, measureActions, measureSources, measureStates, stateOf, subjectKinds } from './model.js';
import type { ClientMeasure } from './model.js';
import { placeStates, type PlaceState } from './places.js';
import { keyOf, listMeasures, readKey } from './query.js';

const tags = ['measures'];

const Evidence = Type.Object({
  node: Type.String(),
  zone: Type.String({ description: 'the limit whose refusals led to it' }),
  request_id: Type.String({ description: 'the request that crossed the line; its event has the same id' }),
  offence: Type.Integer({ description: '1: its first; each is twice as long as the one before' }),
  threshold: Type.Integer({ description: 'limited requests that led to it' }),
  window_seconds: Type.Integer({ description: 'in which they came' }),
});

const View = Type.Object({
  subject: Type.String({
    description: 'an address, a network, a principal (kind and keyed hash), `country:DE` or `asn:64500`',
  }),
  kind: OneOf(subjectKinds),
  action: OneOf(measureActions),
  source: OneOf(
    measureSources,
    'who decided; tor, feed and managed are lists, location: networks of a country or autonomous system',
  ),
  state: OneOf(measureStates, 'lifted: taken back before its end'),
  reason: Type.String(),
  evidence: Nullable(Evidence),
  added_by: Type.String(),
  added_at: Time,
  expires_at: Nullable(Time),
  lifted_at: Nullable(Time),
  lifted_by: Nullable(Type.String()),
  networks: Nullable(
    Type.Integer({ description: 'of a country or autonomous system: so many networks are in force; null: none yet' }),
  ),
  problem: Nullable(Type.String({ description: 'why they are not, and what to do' })),
});

const listSchema = {
  tags,
  summary: 'Everything that was decided about clients, in the order of subjects',
  querystring: Type.Object(
    {
      ...PageQuery,
      source: Type.Optional(SomeOf(measureSources, 'location is left out unless it is named')),
      action: Type.Optional(SomeOf(measureActions)),
      kind: Type.Optional(SomeOf(subjectKinds)),
      state: Type.Optional(SomeOf([...measureStates, 'all'] as const, 'active where nothing is said')),
      q: Type.Optional(Type.String({ maxLength: 64, description: 'beginning of the subject' })),
    },
    closed,
  ),
  response: { 200: Page(View), ...refusals },
};
const liftSchema = {
  tags,
  summary:
    'End measures on a subject before their time, on all nodes; an entry of a list comes back with its next fetch',
  querystring: Type.Object(
    {
      subject: Type.String({ minLength: 1, maxLength: 64, description: 'as the list names it' }),
      source: Type.Optional(SomeOf(measureSources, 'left out: of every source')),
      action: Type.Optional(SomeOf(measureActions, 'left out: every action')),
    },
    closed,
  ),
  response: {
    200: Type.Object({ lifted: Type.Array(Type.Object({ action: OneOf(measureActions), source: Type.String() })) }),
    ...refusals,
  },
};

function view(row: ClientMeasure, nowMs: number, state: PlaceState | undefined): Static<typeof View> {
  const { subject, action, source, reason, evidence, added_by: by } = row;
  return {
    ...{ subject, kind: kindOfSubject(subject), action, source: source as Static<typeof View>['source'] },
    ...{ state: stateOf(row, nowMs), reason, evidence, added_by: by },
    added_at: row.added_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    lifted_at: row.lifted_at?.toISOString() ?? null,
    lifted_by: row.lifted_by,
    ...{ networks: state?.networks ?? null, problem: state?.problem ?? null },
  };
}

export function registerMeasureRoutes(app: App, parts: LiftParts): void {
  const { sql } = parts.database;
  app.get('/api/measures', { schema: listSchema }, async ({ query }) => {
    const { source, action, kind, state = 'active', q, cursor, limit = 50 } = query;
    const nowMs = parts.now();
    const words = listOf(state);
    const wanted = words.includes('all') ? undefined : words.filter((one) => one !== 'all');
    const filter = { sources: source, actions: action, kinds: kind, states: wanted, q };
    const after = cursor === undefined ? null : readKey(cursor);
    const rows = await listMeasures(sql, filter, after, new Date(nowMs), limit + 1);
    const states = await placeStates(parts, rows, nowMs);
    return toPage(rows, limit, keyOf, (row) => view(row, nowMs, states.get(`${row.subject} ${row.action}`)));
  });
  app.delete('/api/measures', { schema: liftSchema }, async (request) => {
    const { actor } = requirePrincipal(request);
    const { source, action } = request.query;
    const subject = subjectOf(request.query.subject, '/subject');
    const lifted = await lift(parts, {
      subject,
      actions: action === undefined ? measureActions : [action].flat(),
      sources: source === undefined ? undefined : [source].flat(),
      actor,
      audited: { action: 'measure.lift', summary: `lifted the measures on ${subject}` },
      absent: `There is no such measure on ${subject}; GET /api/measures names those in force.`,
    });
    return { lifted: lifted.map(({ action: what, source: by }) => ({ action: what, source: by })) };
  });
}
