// Routes of notices: which events lead to which channel, gathered or at once.
import { A } from '@solidjs/router';
import { createMemo, Show, type Accessor, type JSX } from 'solid-js';
import { call, type Body, type Item, type Reply } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { both, createQuery } from '../../client/query.js';
import { Badge, Foreign, Notice } from '../../kit/basics.js';
import { AreaField, SelectField, TextField } from '../../kit/form.js';
import { Read } from '../../kit/page-state.js';
import { matchOf, ResourceList, type ResourceRow } from '../../kit/resource/resource-list.js';
import { RowForm, type RowField } from '../../kit/resource/row-form.js';
import type { TableColumn } from '../../kit/table/table.js';
import { notificationsText as text } from '../../texts/resources/notifications.js';
import { fromLines } from '../integrations/config-values.js';
import { severities } from '../vulnerabilities/words.js';

type Route = Item<'GET /api/v1/notifications/routes'>;
type Types = Reply<'GET /api/v1/notifications/types'>;
type Channels = Reply<'GET /api/v1/notifications/channels'>;
type Saved = Required<Body<'POST /api/v1/notifications/routes'>>;
type Predicate = Saved['predicate'];

/** The severity that a predicate of this form asks for; null: it is of another form. */
function severityIn(predicate: unknown): string | null {
  if (predicate === null || predicate === undefined) return '';
  const { field, op, value } = predicate as { field?: unknown; op?: unknown; value?: unknown };
  return field === 'severity' && op === 'gte' && typeof value === 'string' ? value : null;
}
const fromSeverity = (value: string): Predicate =>
  value === '' ? null : ({ field: 'severity', op: 'gte', value } as Predicate);

const severityWords = (predicate: unknown): string => {
  const found = severityIn(predicate);
  return found === null ? text.ownPredicate : found === '' ? text.everySeverity : found;
};

const minutes = (label: string, help: string, name: 'digest_minutes' | 'cooldown_minutes'): RowField<Saved> => ({
  name,
  kind: 'own',
  label,
  draw: (value, set) => (
    <TextField
      label={label}
      help={help}
      type="number"
      value={String(value())}
      onInput={(typed) => set(Math.max(0, Math.round(Number(typed)) || 0))}
    />
  ),
});

function TemplateField(props: {
  readonly value: string | null;
  readonly onChoose: (id: string | null) => void;
}): JSX.Element {
  const found = createQuery('GET /api/v1/templates', () => ({ query: { kind: 'notice', limit: 500 } }));
  const own = () => (found.data()?.items ?? []).filter((one) => one.is_default !== true);
  return (
    <SelectField
      label={text.template}
      value={props.value ?? ''}
      options={[['', text.usualTemplate] as const, ...own().map((one) => [one.id, one.name ?? one.id] as const)]}
      onChange={(id) => props.onChoose(id === '' ? null : id)}
    />
  );
}

const fieldsOf = (types: Types, channels: Channels): readonly RowField<Saved>[] => [
  { name: 'name', kind: 'text', label: text.name, isRequired: true },
  {
    name: 'channel_id',
    kind: 'select',
    label: text.channel,
    options: () => channels.items.map((one) => [one.id, one.name ?? one.id] as const),
  },
  {
    name: 'events',
    kind: 'own',
    label: text.events,
    draw: (value, set) => (
      <AreaField
        label={text.events}
        help={text.eventsHelp(types.events.map(({ type }) => type).join(', '))}
        value={value().join('\n')}
        onInput={(typed) => set(fromLines(typed) as Saved['events'])}
        rows={4}
      />
    ),
  },
  {
    name: 'predicate',
    kind: 'own',
    label: text.severity,
    draw: (value, set) => (
      <SelectField
        label={text.severity}
        help={text.severityHelp}
        value={severityIn(value()) ?? 'own'}
        options={[
          ['', text.everySeverity],
          ...severities.map((one) => [one, one] as const),
          ...(severityIn(value()) === null ? [['own', text.ownPredicate] as const] : []),
        ]}
        onChange={(one) => (one === 'own' ? undefined : set(fromSeverity(one)))}
      />
    ),
  },
  minutes(text.digest, text.digestHelp, 'digest_minutes'),
  minutes(text.cooldown, text.cooldownHelp, 'cooldown_minutes'),
  {
    name: 'template_id',
    kind: 'own',
    label: text.template,
    draw: (value, set) => <TemplateField value={value() ?? null} onChoose={set} />,
  },
  { name: 'enabled', kind: 'switch', label: text.enabled },
];

function RouteForm(props: {
  readonly of: Route | null;
  readonly types: Types;
  readonly channels: Channels;
  readonly onSaved: (saved: ResourceRow) => void;
}): JSX.Element {
  const { of } = props;
  return (
    <RowForm
      fields={fieldsOf(props.types, props.channels)}
      start={{
        name: of?.name ?? '',
        channel_id: of?.channel_id ?? props.channels.items[0]?.id ?? '',
        events: [...(of?.events ?? [])],
        predicate: (of?.predicate ?? null) as Predicate,
        digest_minutes: of?.digest_minutes ?? 0,
        cooldown_minutes: of?.cooldown_minutes ?? 0,
        template_id: of?.template_id ?? null,
        enabled: of?.enabled ?? true,
      }}
      isNew={of === null}
      save={(body) =>
        of === null
          ? call('POST /api/v1/notifications/routes', { body })
          : call('PATCH /api/v1/notifications/routes/{id}', { params: { id: of.id }, body, ifMatch: matchOf(of) })
      }
      onSaved={props.onSaved}
    />
  );
}

const eventsOf = ({ events }: Route): string => (events ?? []).join(', ') || text.allEvents;

const columnsOf = (channelOf: (row: Route) => string): readonly TableColumn<Route>[] => [
  { title: text.name, cell: ({ name }) => <Foreign text={name} max={120} /> },
  { title: text.channel, cell: (row) => <Foreign text={channelOf(row)} max={120} /> },
  { title: text.events, cell: eventsOf },
  { title: text.severity, cell: ({ predicate }) => severityWords(predicate) },
  {
    title: text.enabled,
    cell: ({ enabled }) =>
      enabled === false ? <Badge>{text.isOff}</Badge> : <Badge tone="good">{text.enabled}</Badge>,
  },
];

export function NoticeRoutes(props: { readonly mayEdit: boolean }): JSX.Element {
  const types = createQuery('GET /api/v1/notifications/types');
  const channels = createQuery('GET /api/v1/notifications/channels', () => ({ query: { limit: 200 } }));
  const list = createPagedList('GET /api/v1/notifications/routes', () => ({}));
  const names: Accessor<ReadonlyMap<string, string>> = createMemo(
    () => new Map((channels.data()?.items ?? []).map(({ id, name }) => [id, name ?? id])),
  );
  const channelOf = ({ channel_id: id }: Route): string => names().get(id ?? '') ?? id ?? '–';
  return (
    <ResourceList
      text={text.routes}
      param="route"
      mayEdit={props.mayEdit}
      list={list}
      columns={columnsOf(channelOf)}
      nameOf={({ name }) => name}
      facts={(row) => [
        [text.name, <Foreign text={row.name} />],
        [text.channel, <Foreign text={channelOf(row)} />],
        [text.events, eventsOf(row)],
        [text.severity, severityWords(row.predicate)],
        [text.digest, String(row.digest_minutes)],
        [text.cooldown, String(row.cooldown_minutes)],
        [text.by, <Foreign text={row.created_by} />],
        [text.changed, showMoment(row.updated_at)],
      ]}
      form={(of, onSaved) => (
        <Read of={both(types, channels)}>
          {(data) => (
            <Show
              when={data()[1].items.length > 0}
              fallback={
                <Notice tone="warn" title={text.routes.needsChannel}>
                  <A href="/vulnerabilities/notifications?view=channels">{text.routes.toChannels}</A>
                </Notice>
              }
            >
              <RouteForm of={of} types={data()[0]} channels={data()[1]} onSaved={onSaved} />
            </Show>
          )}
        </Read>
      )}
      read={(id) => createQuery('GET /api/v1/notifications/routes/{id}', () => ({ params: { id } }))}
      remove={({ id }) => call('DELETE /api/v1/notifications/routes/{id}', { params: { id } })}
    />
  );
}
