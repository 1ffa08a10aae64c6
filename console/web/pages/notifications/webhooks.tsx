// Webhooks: events as signed JSON for programs, the state of each, its secret once, and what became of deliveries.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Body, type Item, type Reply } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { Badge, Button, Foreign, Notice } from '../../kit/basics.js';
import { CopyButton } from '../../kit/copy.js';
import { AreaField, TextField } from '../../kit/form.js';
import { Read } from '../../kit/page-state.js';
import { ReceiverTest } from '../../kit/resource/receiver-test.js';
import { matchOf, ResourceList, type ResourceRow } from '../../kit/resource/resource-list.js';
import { RowForm, type RowField } from '../../kit/resource/row-form.js';
import { ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { notificationsText as text } from '../../texts/resources/notifications.js';
import { fromLines } from '../integrations/config-values.js';

type Hook = Item<'GET /api/v1/webhooks'>;
type Delivery = Item<'GET /api/v1/webhooks/{id}/deliveries'>;
type Types = Reply<'GET /api/v1/notifications/types'>;
type Stored = Reply<'POST /api/v1/webhooks'>;
type Events = Body<'POST /api/v1/webhooks'>['events'];
interface Saved {
  readonly name: string;
  readonly url: string;
  readonly events: Events;
  readonly secret: string;
  readonly new_secret: boolean;
  readonly enabled: boolean;
}

const tones = { untested: 'neutral', ok: 'good', failed: 'danger' } as const;
const deliveryTones = { queued: 'neutral', sent: 'good', failed: 'danger' } as const;

const State = (props: { readonly of: Hook }): JSX.Element => (
  <Show when={props.of.enabled !== false} fallback={<Badge>{text.isOff}</Badge>}>
    <Badge tone={tones[props.of.state ?? 'untested']}>{text.states[props.of.state ?? 'untested']}</Badge>
  </Show>
);

const eventsOf = ({ events }: Hook): string => (events ?? []).join(', ') || text.allEvents;

const fieldsOf = (types: Types, isNew: boolean): readonly RowField<Saved>[] => [
  { name: 'url', kind: 'url', label: text.address, help: text.addressHelp, isRequired: true },
  { name: 'name', kind: 'text', label: text.name },
  {
    name: 'events',
    kind: 'own',
    label: text.events,
    draw: (value, set) => (
      <AreaField
        label={text.events}
        help={text.eventsHelp(types.events.map(({ type }) => type).join(', '))}
        value={value().join('\n')}
        onInput={(typed) => set(fromLines(typed) as Events)}
        rows={4}
      />
    ),
  },
  {
    name: 'secret',
    kind: 'own',
    label: text.secret,
    draw: (value, set) => (
      <TextField
        label={text.secret}
        type="password"
        autocomplete="new-password"
        help={isNew ? text.ownSecretHelp : text.secretKept}
        value={value()}
        onInput={set}
      />
    ),
  },
  ...(isNew ? [] : [{ name: 'new_secret', kind: 'switch', label: text.newSecret } as const]),
  { name: 'enabled', kind: 'switch', label: text.enabled },
];

function HookForm(props: {
  readonly of: Hook | null;
  readonly types: Types;
  readonly onSaved: (saved: Stored) => void;
}): JSX.Element {
  const { of } = props;
  const bodyOf = ({ name, url, events, secret, enabled }: Saved) => ({
    url,
    events,
    enabled,
    ...(name === '' ? {} : { name }),
    ...(secret === '' ? {} : { secret }),
  });
  return (
    <RowForm
      fields={fieldsOf(props.types, of === null)}
      start={{
        name: of?.name ?? '',
        url: of?.url ?? '',
        events: [...(of?.events ?? [])] as Events,
        secret: '',
        new_secret: false,
        enabled: of?.enabled ?? true,
      }}
      isNew={of === null}
      save={(body) =>
        of === null
          ? call('POST /api/v1/webhooks', { body: bodyOf(body) })
          : call('PATCH /api/v1/webhooks/{id}', {
              params: { id: of.id },
              body: { ...bodyOf(body), ...(body.new_secret ? { new_secret: true } : {}) },
              ifMatch: matchOf(of),
            })
      }
      onSaved={props.onSaved}
    />
  );
}

function Deliveries(props: { readonly of: Hook; readonly mayEdit: boolean }): JSX.Element {
  const list = createPagedList('GET /api/v1/webhooks/{id}/deliveries', () => ({}), 50, {
    id: props.of.id,
  });
  const action = createAction();
  const again = async (id: string): Promise<void> => {
    await action.run(() => call('POST /api/v1/webhooks/deliveries/{id}/redeliver', { params: { id } }));
    list.reload();
  };
  const columns: readonly TableColumn<Delivery>[] = [
    { title: text.when, cell: ({ created_at: at }) => showMoment(at) },
    { title: text.what, cell: ({ type, title }) => <Foreign text={`${type} ${title ?? ''}`} max={120} /> },
    {
      title: text.state,
      cell: ({ state }) => <Badge tone={deliveryTones[state]}>{text.deliveryStates[state]}</Badge>,
    },
    {
      title: text.lastError,
      cell: (row) => (
        <span class="row wrap">
          <Foreign text={row.last_error ?? '–'} max={160} />
          <Show when={props.mayEdit && row.state !== 'queued'}>
            <Button isSmall onClick={() => void again(row.id)}>
              {text.again}
            </Button>
          </Show>
        </span>
      ),
    },
  ];
  return (
    <>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <ListCard
        label={text.deliveries}
        title={text.deliveries}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        empty={text.noneDelivered}
      />
    </>
  );
}

const columns: readonly TableColumn<Hook>[] = [
  { title: text.name, cell: ({ name }) => <Foreign text={name ?? ''} max={120} /> },
  { title: text.address, cell: ({ url }) => <Foreign text={url ?? ''} max={120} /> },
  { title: text.events, cell: eventsOf },
  { title: text.state, cell: (row) => <State of={row} /> },
];

const factsOf = (row: Hook): readonly (readonly [string, JSX.Element])[] => [
  [text.name, <Foreign text={row.name} />],
  [text.address, <Foreign text={row.url} />],
  [text.events, eventsOf(row)],
  [text.state, <State of={row} />],
  [text.reason, <Foreign text={row.reason ?? '–'} max={500} />],
  [text.retry, row.retry_at === null ? '–' : showMoment(row.retry_at)],
  [text.by, <Foreign text={row.created_by} />],
  [text.changed, showMoment(row.updated_at)],
];

export function Webhooks(props: { readonly mayEdit: boolean }): JSX.Element {
  const types = createQuery('GET /api/v1/notifications/types');
  const list = createPagedList('GET /api/v1/webhooks', () => ({}));
  const [shown, setShown] = createSignal<{ readonly id: string; readonly secret: string } | null>(null);
  const saved = (stored: Stored, onSaved: (row: ResourceRow) => void): void => {
    setShown(stored.secret === null ? null : { id: stored.id, secret: stored.secret });
    onSaved(stored);
  };
  const shownOf = (row: Hook): string | undefined => (shown()?.id === row.id ? shown()?.secret : undefined);
  return (
    <ResourceList
      text={text.webhooks}
      param="webhook"
      mayEdit={props.mayEdit}
      list={list}
      columns={columns}
      nameOf={({ name }) => name}
      facts={factsOf}
      more={(row, keep) => (
        <>
          <Show when={shownOf(row())}>
            {(secret) => (
              <Notice tone="warn" title={text.shownOnce}>
                <code class="mono">{secret()}</code>
                <div>
                  <CopyButton of={secret()} kind="key" />
                </div>
              </Notice>
            )}
          </Show>
          <Show when={props.mayEdit}>
            <ReceiverTest
              label={text.test}
              send={() => call('POST /api/v1/webhooks/{id}/test', { params: { id: row().id } })}
              titleOf={({ ok }) => (ok ? text.works : text.worksNot)}
              keep={keep}
            />
          </Show>
          <Deliveries of={row()} mayEdit={props.mayEdit} />
        </>
      )}
      form={(of, onSaved) => (
        <Read of={types}>
          {(data) => <HookForm of={of} types={data()} onSaved={(stored) => saved(stored, onSaved)} />}
        </Read>
      )}
      read={(id) => createQuery('GET /api/v1/webhooks/{id}', () => ({ params: { id } }))}
      remove={({ id }) => call('DELETE /api/v1/webhooks/{id}', { params: { id } })}
    />
  );
}
