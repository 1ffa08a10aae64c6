// /health_monitor: how each part of the installation stands, since when, and what to do; queues; what has changed.
import { Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { allOf, type Sql } from '../database.js';
import { endpoint, notFound, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage } from '../kit/list.js';
import { byGravity, healthStates, healthUnits, worstOf, type HealthComponent, type HealthState } from './component.js';
import { lookAround, type StateRow } from './look.js';
import { lagOf, queueState } from './queues.js';

const closed = { additionalProperties: false } as const;
const ofOrganisation = 'Components';
/** As many parts as one component names; the gravest are among them. */
const partsMax = 50;

const State = OneOf(healthStates, 'off: nothing of it is in use; unknown: it could not be found out');
const ComponentView = Type.Object({
  id: Type.String({ description: 'a word that keeps its meaning' }),
  state: State,
  since: Nullable(Type.String({ format: 'date-time', description: 'null: it changed since the last look' })),
  summary: Type.String(),
  measure: Nullable(Type.Object({ name: Type.String(), value: Type.Number(), unit: OneOf(healthUnits) })),
  action: Nullable(Type.String({ description: 'what to do' })),
  parts: Type.Array(Type.Object({ name: Type.String(), state: State, text: Type.String() }), {
    description: `the gravest first, ${partsMax} at most`,
  }),
  parts_total: Type.Integer(),
});

const viewComponent = (of: HealthComponent, known: ReadonlyMap<string, StateRow>) => {
  const { parts = [], ...component } = of;
  const row = known.get(of.id);
  return {
    ...component,
    since: row?.state === of.state ? row.since.toISOString() : null,
    parts: byGravity(parts).slice(0, partsMax),
    parts_total: parts.length,
  };
};

const knownStates = async (sql: Sql): Promise<Map<string, StateRow>> =>
  new Map((await sql<StateRow[]>`select * from vm_health_states`).map((row) => [row.component, row]));

const countOf = (states: readonly HealthState[]): Record<HealthState, number> =>
  Object.fromEntries(healthStates.map((state) => [state, states.filter((one) => one === state).length])) as Record<
    HealthState,
    number
  >;

const overview = endpoint({
  method: 'GET',
  path: '/health_monitor',
  permission: 'view_health',
  ofOrganisation,
  kind: 'A',
  summary: 'Every component of the installation: its state, a measure, since when, and what to do; looked at now',
  answer: Type.Object({
    at: Time,
    state: State,
    looked_at: Nullable(
      Type.String({ format: 'date-time', description: 'when the job that notes changes last looked; null: never' }),
    ),
    counts: Type.Object(Object.fromEntries(healthStates.map((state) => [state, Type.Integer()]))),
    components: Type.Array(ComponentView),
  }),
  handle: async ({ host, sql, now }) => {
    const { components } = await lookAround(host, now);
    const known = await knownStates(sql);
    const states = components.map(({ state }) => state);
    const looked = [...known.values()].map(({ looked_at: at }) => at.getTime());
    return {
      at: now.toISOString(),
      state: worstOf(states),
      looked_at: looked.length === 0 ? null : new Date(Math.max(...looked)).toISOString(),
      counts: countOf(states),
      components: components.map((one) => viewComponent(one, known)),
    };
  },
});

const queues = endpoint({
  method: 'GET',
  path: '/health_monitor/queues',
  permission: 'view_health',
  ofOrganisation,
  kind: 'A',
  summary: 'Work that waits: how much, for how long, and what failed within a day',
  answer: Type.Object({
    items: Type.Array(
      Type.Object({
        id: Type.String(),
        about: Type.String(),
        state: State,
        depth: Type.Integer(),
        oldest_at: Nullable(Time),
        lag_seconds: Type.Integer({ description: 'the wait of the oldest' }),
        lag_seconds_max: Type.Integer({ description: 'more is a warning, four times as much is failing' }),
        failures: Type.Integer({ description: 'within a day' }),
        action: Nullable(Type.String({ description: 'what to do' })),
      }),
    ),
  }),
  handle: async ({ host, now }) => ({
    items: (await lookAround(host, now)).queues.map((queue) => {
      const { id, about, depth, oldestAt, lagSecondsMax, failures, action } = queue;
      const state = queueState(queue, now);
      return {
        ...{ id, about, state, depth, failures },
        oldest_at: oldestAt?.toISOString() ?? null,
        lag_seconds: Math.round(lagOf(queue, now)),
        lag_seconds_max: lagSecondsMax,
        action: state === 'ok' && failures === 0 ? null : action,
      };
    }),
  }),
});

interface ChangeRow {
  readonly id: number;
  readonly component: string;
  readonly before: HealthState | null;
  readonly state: HealthState;
  readonly summary: string;
  readonly action: string | null;
  readonly at: Date;
}

const changes = endpoint({
  method: 'GET',
  path: '/health_monitor/changes',
  permission: 'view_health',
  ofOrganisation,
  kind: 'A',
  summary: 'What changed, the newest first; a thousand changes are kept',
  query: Type.Object(
    {
      ...ListQuery,
      component: Type.Optional(Type.String({ maxLength: 60 })),
      state: Type.Optional(OneOf(healthStates)),
    },
    closed,
  ),
  answer: List(
    Type.Object({
      id: Type.String(),
      component: Type.String(),
      before: Nullable(State),
      state: State,
      summary: Type.String(),
      action: Nullable(Type.String()),
      at: Time,
    }),
  ),
  handle: async ({ sql, query }) => {
    const { component, state, ...wanted } = query;
    const where = allOf(sql, [
      ...(component === undefined ? [] : [sql`component = ${component}`]),
      ...(state === undefined ? [] : [sql`state = ${state}`]),
    ]);
    const sorts = { id: { column: 'id', type: 'number' } } as const;
    const page = await readPage<ChangeRow>(sql, { table: 'vm_health_changes', where, sorts, sort: '-id' }, wanted);
    return {
      ...page,
      items: page.items.map(({ id, component: of, before, state: after, summary, action, at }) => ({
        ...{ id: String(id), component: of, before, state: after, summary, action },
        at: at.toISOString(),
      })),
    };
  },
});

const one = endpoint({
  method: 'GET',
  path: '/health_monitor/components/:id',
  permission: 'view_health',
  ofOrganisation,
  kind: 'A',
  summary: 'One component, looked at now',
  answer: ComponentView,
  handle: async ({ host, sql, now, params }: Call) => {
    const id = params['id'] ?? '';
    const found = (await lookAround(host, now)).components.find((component) => component.id === id);
    if (found === undefined) throw notFound('component', id.slice(0, 60));
    return viewComponent(found, await knownStates(sql));
  },
});

export const healthEndpoints: readonly Endpoint[] = [overview, queues, changes, one];
