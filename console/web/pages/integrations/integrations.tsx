// Issue trackers: how each stands, its form, whether it answers, and the tickets in it.
import { createSignal, Show, type JSX } from 'solid-js';
import { call, type Body, type Item, type Reply } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Badge, Foreign, PageHead } from '../../kit/basics.js';
import { SelectField, TextField } from '../../kit/form.js';
import { Read } from '../../kit/page-state.js';
import { matchOf, ResourceList, type ResourceRow } from '../../kit/resource/resource-list.js';
import { ReceiverTest } from '../../kit/resource/receiver-test.js';
import { RowForm, type RowField } from '../../kit/resource/row-form.js';
import type { TableColumn } from '../../kit/table/table.js';
import { integrationsText as text } from '../../texts/resources/integrations.js';
import { ConfigFields } from './config-fields.js';
import { kept, type Config, type ConfigSchema } from './config-values.js';
import { Tickets } from './tickets.js';

type Integration = Item<'GET /api/v1/integrations'>;
type Types = Reply<'GET /api/v1/integrations/types'>;
type Type = Types['items'][number]['type'];
type Saved = Required<Body<'POST /api/v1/integrations'>>;

const tones = { untested: 'neutral', ok: 'good', failed: 'danger' } as const;

const State = (props: { readonly of: Integration }): JSX.Element => (
  <Show when={props.of.enabled !== false} fallback={<Badge>{text.isOff}</Badge>}>
    <Badge tone={tones[props.of.state ?? 'untested']}>{text.states[props.of.state ?? 'untested']}</Badge>
  </Show>
);
const titleOf = (types: Types | undefined, type: string | null): string =>
  types?.items.find((one) => one.type === type)?.title ?? type ?? '';
const configOf = (of: Integration | null): Config => (of?.config ?? {}) as Config;
const urlOf = (of: Integration): string => {
  const { url } = configOf(of);
  return typeof url === 'string' ? url : '';
};

function IntegrationForm(props: {
  readonly of: Integration | null;
  readonly types: Types;
  readonly onSaved: (saved: ResourceRow) => void;
}): JSX.Element {
  const { of, types } = props;
  const [type, setType] = createSignal<Type>(of?.type ?? types.items[0]?.type ?? 'github');
  const typeOf = () => types.items.find((one) => one.type === type());
  const schema = (): ConfigSchema => typeOf()?.config as ConfigSchema;
  const fields: readonly RowField<Saved>[] = [
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
            setType(() => chosen);
          }}
        />
      ),
    },
    {
      name: 'secret',
      kind: 'own',
      label: text.secret,
      isRequired: of === null,
      draw: (value, set) => (
        <TextField
          label={text.secret}
          type="password"
          autocomplete="new-password"
          help={[typeOf()?.secret, of === null ? undefined : text.secretKept].filter((one) => one).join('. ')}
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
          {(_) => (
            <ConfigFields
              of={schema()}
              start={kept(value() as Config, schema())}
              placeholders={types.placeholders}
              onChange={(config) => set(config as Saved['config'])}
            />
          )}
        </Show>
      ),
    },
    { name: 'enabled', kind: 'switch', label: text.enabled },
  ];
  const change = (row: Integration, { name, config, secret, enabled }: Saved) => {
    const body = { name, config, enabled, ...(secret === '' ? {} : { secret }) };
    return call('PATCH /api/v1/integrations/{id}', { params: { id: row.id }, body, ifMatch: matchOf(row) });
  };
  return (
    <RowForm
      fields={fields}
      start={{
        name: of?.name ?? '',
        type: type(),
        config: configOf(of) as Saved['config'],
        secret: '',
        enabled: of?.enabled ?? true,
      }}
      isNew={of === null}
      save={(body) =>
        of === null
          ? call('POST /api/v1/integrations', {
              body: { ...body, config: kept(body.config as Config, schema()) as Saved['config'] },
            })
          : change(of, body)
      }
      onSaved={props.onSaved}
    />
  );
}

const columnsOf = (types: () => Types | undefined): readonly TableColumn<Integration>[] => [
  { title: text.name, cell: ({ name }) => <Foreign text={name} max={120} /> },
  { title: text.type, cell: ({ type }) => titleOf(types(), type) },
  { title: text.address, cell: (row) => <Foreign text={urlOf(row)} max={120} /> },
  { title: text.state, cell: (row) => <State of={row} /> },
  {
    title: text.reason,
    cell: ({ reason }) => <Show when={reason}>{(words) => <Foreign text={words()} max={300} />}</Show>,
  },
];

export function Integrations(): JSX.Element {
  const access = createVmAccess();
  const types = createQuery('GET /api/v1/integrations/types');
  const list = createPagedList('GET /api/v1/integrations', () => ({}));
  const mayEdit = (): boolean => access.may('manage_integrations');
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <ResourceList
        text={text}
        param="integration"
        mayEdit={mayEdit()}
        list={list}
        columns={columnsOf(types.data)}
        nameOf={({ name }) => name}
        facts={(row) => [
          [text.name, <Foreign text={row.name} />],
          [text.type, titleOf(types.data(), row.type)],
          [text.address, <Foreign text={urlOf(row)} />],
          [text.state, <State of={row} />],
          [text.reason, <Foreign text={row.reason ?? '–'} max={500} />],
          [text.retry, row.retry_at === null ? '–' : showMoment(row.retry_at)],
          [text.by, <Foreign text={row.created_by} />],
          [text.changed, showMoment(row.updated_at)],
        ]}
        more={(row, keep) => (
          <>
            <Show when={mayEdit()}>
              <ReceiverTest
                label={text.test}
                send={() => call('POST /api/v1/integrations/{id}/test', { params: { id: row().id } })}
                titleOf={({ ok, latency_ms: ms }) => (ok ? text.works(ms) : text.worksNot)}
                keep={keep}
              />
            </Show>
            <Tickets integration={row().id} />
          </>
        )}
        form={(of, onSaved) => (
          <Read of={types}>{(data) => <IntegrationForm of={of} types={data()} onSaved={onSaved} />}</Read>
        )}
        read={(id) => createQuery('GET /api/v1/integrations/{id}', () => ({ params: { id } }))}
        remove={({ id }) => call('DELETE /api/v1/integrations/{id}', { params: { id } })}
      />
    </>
  );
}
