// Channels of notices: the state of each, its form, and a test.
import { createSignal, Show, type JSX } from 'solid-js';
import { call, type Body, type Item, type Reply } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { Badge, Foreign } from '../../kit/basics.js';
import { SelectField, TextField } from '../../kit/form.js';
import { Read } from '../../kit/page-state.js';
import { matchOf, ResourceList, type ResourceRow } from '../../kit/resource/resource-list.js';
import { ReceiverTest } from '../../kit/resource/receiver-test.js';
import { RowForm, type RowField } from '../../kit/resource/row-form.js';
import type { TableColumn } from '../../kit/table/table.js';
import { notificationsText as text } from '../../texts/resources/notifications.js';
import { ConfigFields } from '../integrations/config-fields.js';
import { kept, type Config, type ConfigSchema } from '../integrations/config-values.js';
import { severities } from '../vulnerabilities/words.js';

type Channel = Item<'GET /api/v1/notifications/channels'>;
type Types = Reply<'GET /api/v1/notifications/types'>;
type Type = Types['items'][number]['type'];
type Saved = Required<Body<'POST /api/v1/notifications/channels'>>;
type Quiet = NonNullable<Saved['quiet']>;

const tones = { untested: 'neutral', ok: 'good', failed: 'danger' } as const;

const State = (props: { readonly of: Channel }): JSX.Element => (
  <Show when={props.of.enabled !== false} fallback={<Badge>{text.isOff}</Badge>}>
    <Badge tone={tones[props.of.state ?? 'untested']}>{text.states[props.of.state ?? 'untested']}</Badge>
  </Show>
);

const titleOf = (types: Types | undefined, type: string | null): string =>
  types?.items.find((one) => one.type === type)?.title ?? type ?? '';

/** Numbers are typed as texts, and sent as numbers. */
const typed = (config: Config): Config =>
  Object.fromEntries(Object.entries(config).map(([name, of]) => [name, typeof of === 'number' ? String(of) : of]));
const sent = (config: Config, schema: ConfigSchema): Saved['config'] =>
  Object.fromEntries(
    Object.entries(kept(config, schema)).map(([name, of]) => [
      name,
      schema.properties[name]?.type === 'integer' && typeof of === 'string' && /^\d+$/.test(of) ? Number(of) : of,
    ]),
  ) as Saved['config'];

const noQuiet: Quiet = { from: '', to: '', zone: 'UTC' };

function QuietFields(props: { readonly of: Quiet; readonly set: (value: Quiet) => void }): JSX.Element {
  const set = (change: Partial<Quiet>): void => props.set({ ...props.of, ...change });
  const without = ({ urgent: _, ...others }: Quiet): Quiet => others;
  return (
    <fieldset class="stack">
      <legend>{text.quiet}</legend>
      <TextField label={text.quietFrom} help={text.quietHelp} value={props.of.from} onInput={(from) => set({ from })} />
      <TextField label={text.quietTo} value={props.of.to} onInput={(to) => set({ to })} />
      <TextField label={text.zone} value={props.of.zone} onInput={(zone) => set({ zone })} />
      <SelectField
        label={text.urgent}
        value={props.of.urgent ?? ''}
        options={[['', text.never], ...severities.map((one) => [one, one] as const)]}
        onChange={(one) =>
          props.set(one === '' ? without(props.of) : { ...props.of, urgent: one as NonNullable<Quiet['urgent']> })
        }
      />
    </fieldset>
  );
}

const fieldsOf = (
  of: Channel | null,
  types: Types,
  type: () => Type,
  setType: (type: Type) => void,
): readonly RowField<Saved>[] => [
  { name: 'name', kind: 'text', label: text.name, isRequired: true },
  {
    name: 'type',
    kind: 'own',
    label: text.type,
    isOnce: true,
    draw: (value, set) => (
      <SelectField
        label={text.type}
        value={value()}
        options={types.items.map((one) => [one.type, one.title] as const)}
        onChange={(chosen) => {
          set(chosen);
          setType(chosen);
        }}
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
        help={[types.items.find((one) => one.type === type())?.secret, of === null ? undefined : text.secretKept]
          .filter((one) => one)
          .join('. ')}
        value={value()}
        onInput={set}
      />
    ),
  },
  {
    name: 'config',
    kind: 'own',
    label: text.settings,
    draw: (value, set) => (
      <Show when={type()} keyed>
        {(chosen) => {
          const schema = types.items.find((one) => one.type === chosen)?.config as ConfigSchema;
          return (
            <ConfigFields
              of={schema}
              start={typed(kept(value() as Config, schema))}
              placeholders={[]}
              onChange={(config) => set(config as Saved['config'])}
            />
          );
        }}
      </Show>
    ),
  },
  {
    name: 'quiet',
    kind: 'own',
    label: text.quiet,
    draw: (value, set) => <QuietFields of={value() ?? noQuiet} set={set} />,
  },
  { name: 'enabled', kind: 'switch', label: text.enabled },
];

function ChannelForm(props: {
  readonly of: Channel | null;
  readonly types: Types;
  readonly onSaved: (saved: ResourceRow) => void;
}): JSX.Element {
  const { of, types } = props;
  const [type, setType] = createSignal<Type>(of?.type ?? 'email');
  const bodyOf = ({ name, config, secret, enabled, quiet }: Saved) => ({
    name,
    enabled,
    config: sent(config as Config, types.items.find((one) => one.type === type())?.config as ConfigSchema),
    quiet: quiet === null || quiet.from === '' || quiet.to === '' ? null : quiet,
    ...(secret === '' ? {} : { secret }),
  });
  return (
    <RowForm
      fields={fieldsOf(of, types, type, (chosen) => setType(() => chosen))}
      start={{
        name: of?.name ?? '',
        type: type(),
        config: (of?.config ?? {}) as Saved['config'],
        secret: '',
        quiet: of?.quiet ?? noQuiet,
        enabled: of?.enabled ?? true,
      }}
      isNew={of === null}
      save={(body) =>
        of === null
          ? call('POST /api/v1/notifications/channels', { body: { ...bodyOf(body), type: type() } })
          : call('PATCH /api/v1/notifications/channels/{id}', {
              params: { id: of.id },
              body: bodyOf(body),
              ifMatch: matchOf(of),
            })
      }
      onSaved={props.onSaved}
    />
  );
}

const quietOf = ({ quiet }: Channel): string =>
  quiet === null ? text.quietNone : text.quietOf(quiet.from, quiet.to, quiet.zone);

export function Channels(props: { readonly mayEdit: boolean }): JSX.Element {
  const types = createQuery('GET /api/v1/notifications/types');
  const list = createPagedList('GET /api/v1/notifications/channels', () => ({}));
  const columns: readonly TableColumn<Channel>[] = [
    { title: text.name, cell: ({ name }) => <Foreign text={name} max={120} /> },
    { title: text.type, cell: ({ type }) => titleOf(types.data(), type) },
    { title: text.quiet, cell: quietOf },
    { title: text.state, cell: (row) => <State of={row} /> },
    {
      title: text.reason,
      cell: ({ reason }) => <Show when={reason}>{(words) => <Foreign text={words()} max={300} />}</Show>,
    },
  ];
  return (
    <ResourceList
      text={text.channels}
      param="channel"
      mayEdit={props.mayEdit}
      list={list}
      columns={columns}
      nameOf={({ name }) => name}
      facts={(row) => [
        [text.name, <Foreign text={row.name} />],
        [text.type, titleOf(types.data(), row.type)],
        [text.quiet, quietOf(row)],
        [text.state, <State of={row} />],
        [text.reason, <Foreign text={row.reason ?? '–'} max={500} />],
        [text.retry, row.retry_at === null ? '–' : showMoment(row.retry_at)],
        [text.by, <Foreign text={row.created_by} />],
        [text.changed, showMoment(row.updated_at)],
      ]}
      more={(row, keep) => (
        <Show when={props.mayEdit}>
          <ReceiverTest
            label={text.test}
            send={() => call('POST /api/v1/notifications/channels/{id}/test', { params: { id: row().id } })}
            titleOf={({ ok }) => (ok ? text.works : text.worksNot)}
            keep={keep}
          />
        </Show>
      )}
      form={(of, onSaved) => (
        <Read of={types}>{(data) => <ChannelForm of={of} types={data()} onSaved={onSaved} />}</Read>
      )}
      read={(id) => createQuery('GET /api/v1/notifications/channels/{id}', () => ({ params: { id } }))}
      remove={({ id }) => call('DELETE /api/v1/notifications/channels/{id}', { params: { id } })}
    />
  );
}
