// Webhooks: which repositories say what was pushed, and what they have said.
import { A } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import { call, type Body, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { Badge, Button, Foreign } from '../../kit/basics.js';
import { CopyButton } from '../../kit/copy.js';
import { SelectField, TextField } from '../../kit/form.js';
import { matchOf } from '../../kit/resource/resource-list.js';
import { RowForm, type RowField } from '../../kit/resource/row-form.js';
import { createEditedRows, EditedRowDialogs } from '../../kit/table/edited-rows.js';
import { ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { hooksText as text } from '../../texts/vm/hooks.js';
import type { Applications } from '../vulnerabilities/words.js';

type Hook = Item<'GET /api/v1/scm/hooks'>;
type Delivery = Item<'GET /api/v1/scm/webhook/deliveries'>;
type NewHook = Required<Body<'POST /api/v1/scm/hooks'>>;
type Provider = NewHook['provider'];

const providers = Object.entries(text.providers) as (readonly [Provider, string])[];
const addressOf = (provider: Provider): string => `${window.location.origin}/api/v1/scm/webhook/${provider}`;
const secretBytes = 24;

/** 48 hexadecimal digits of the browser's own randomness. */
function randomSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(secretBytes));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Of whoever signs, and the address that it is told. */
function ProviderField(props: {
  readonly value: Provider;
  readonly onChange: (provider: Provider) => void;
  readonly isNew: boolean;
}): JSX.Element {
  return (
    <>
      <SelectField
        label={text.provider}
        value={props.value}
        options={providers}
        onChange={props.onChange}
        isDisabled={!props.isNew}
      />
      <div class="stack tight">
        <span class="muted small">{text.address}</span>
        <code class="code">{addressOf(props.value)}</code>
        <div>
          <CopyButton of={addressOf(props.value)} kind="address" />
        </div>
      </div>
    </>
  );
}

function SecretField(props: {
  readonly value: string;
  readonly onInput: (secret: string) => void;
  readonly isNew: boolean;
}): JSX.Element {
  return (
    <>
      <TextField
        label={text.secret}
        value={props.value}
        onInput={props.onInput}
        help={props.isNew ? text.secretHelp : text.secretKept}
      />
      <div>
        <Button isSmall icon="key" onClick={() => props.onInput(randomSecret())}>
          {text.makeSecret}
        </Button>
      </div>
    </>
  );
}

/** A repository of a host, for one application, is given with a webhook and stays. */
const fieldsOf = (applications: Applications, isNew: boolean): readonly RowField<NewHook>[] => [
  { name: 'name', kind: 'text', label: text.name, isRequired: true },
  {
    name: 'provider',
    kind: 'own',
    label: text.provider,
    draw: (value, set) => <ProviderField value={value()} onChange={set} isNew={isNew} />,
  },
  {
    name: 'repository',
    kind: 'text',
    label: text.repository,
    help: text.repositoryHelp,
    isRequired: true,
    isOnce: true,
  },
  {
    name: 'application_id',
    kind: 'select',
    label: text.application,
    isRequired: true,
    isOnce: true,
    options: () => applications.options(text.choose),
  },
  {
    name: 'secret',
    kind: 'own',
    label: text.secret,
    isRequired: isNew,
    draw: (value, set) => <SecretField value={value()} onInput={set} isNew={isNew} />,
  },
  { name: 'enabled', kind: 'switch', label: text.isOn },
];

function HookForm(props: {
  readonly of: Hook | null;
  readonly applications: Applications;
  readonly onSaved: () => void;
}): JSX.Element {
  const { of } = props;
  const change = (hook: Hook, { name, enabled, secret }: NewHook): Promise<unknown> => {
    const body = { name, enabled, ...(secret === '' ? {} : { secret }) };
    return call('PATCH /api/v1/scm/hooks/{id}', { params: { id: hook.id }, body, ifMatch: matchOf(hook) });
  };
  return (
    <RowForm
      fields={fieldsOf(props.applications, of === null)}
      start={{
        name: of?.name ?? '',
        provider: of?.provider ?? 'github',
        repository: of?.repository ?? '',
        application_id: of?.application_id ?? '',
        secret: '',
        enabled: of?.enabled ?? true,
      }}
      isNew={of === null}
      save={(body): Promise<unknown> => (of === null ? call('POST /api/v1/scm/hooks', { body }) : change(of, body))}
      onSaved={props.onSaved}
    />
  );
}

const columnsOf = (
  applications: Applications,
  mayManage: () => boolean,
  onEdit: (hook: Hook) => void,
  onDelete: (hook: Hook) => void,
): readonly TableColumn<Hook>[] => [
  { title: text.name, cell: ({ name }) => <Foreign text={name} max={120} /> },
  { title: text.provider, cell: ({ provider }) => (provider === null ? '–' : text.providers[provider]) },
  { title: text.repository, class: 'mono', cell: ({ repository }) => <Foreign text={repository} max={120} /> },
  { title: text.application, cell: ({ application_id: id }) => <Foreign text={applications.nameOf(id)} max={80} /> },
  {
    title: text.state,
    cell: ({ enabled }) => (
      <Badge tone={enabled === false ? 'neutral' : 'good'}>{enabled === false ? text.off : text.on}</Badge>
    ),
  },
  {
    title: text.actions,
    isTitleHidden: true,
    cell: (hook) => (
      <Show when={mayManage()}>
        <div class="row">
          <Button isSmall onClick={() => onEdit(hook)}>
            {text.edit}
          </Button>
          <Button isSmall onClick={() => onDelete(hook)}>
            {text.delete}
          </Button>
        </div>
      </Show>
    ),
  },
];

const deliveryColumns = (nameOf: (id: string) => string): readonly TableColumn<Delivery>[] => [
  { title: text.when, class: 'nums', cell: ({ at }) => showMoment(at) },
  { title: text.hooks, cell: ({ hook_id: id }) => <Foreign text={nameOf(id)} max={80} /> },
  { title: text.event, cell: ({ event }) => <Foreign text={event} max={60} /> },
  { title: text.commit, class: 'mono', cell: ({ commit }) => <Foreign text={commit ?? '–'} max={64} /> },
  { title: text.branch, cell: ({ branch }) => <Foreign text={branch ?? '–'} max={80} /> },
  {
    title: text.run,
    cell: ({ run_id: id }) => (
      <Show when={id} fallback="–">
        {(run) => <A href={`/vulnerabilities/gates?view=runs&run=${run()}`}>{text.runNo(run())}</A>}
      </Show>
    ),
  },
];

export function Hooks(props: { readonly applications: Applications; readonly mayManage: boolean }): JSX.Element {
  const list = createPagedList('GET /api/v1/scm/hooks', () => ({}));
  const deliveries = createPagedList('GET /api/v1/scm/webhook/deliveries', () => ({}));
  const rows = createEditedRows<Hook>();
  const nameOf = (id: string): string => list.items().find((hook) => hook.id === id)?.name ?? id;
  return (
    <>
      <p class="muted">{text.about}</p>
      <ListCard
        label={text.hooks}
        title={text.hooks}
        actions={
          <Show when={props.mayManage}>
            <Button isSmall look="primary" icon="plus" onClick={() => rows.edit('new')}>
              {text.newHook}
            </Button>
          </Show>
        }
        list={list}
        columns={columnsOf(props.applications, () => props.mayManage, rows.edit, rows.askToDelete)}
        keyOf={({ id }) => id}
        empty={text.noHooks}
        emptyAbout={text.noHooksAbout}
      />
      <ListCard
        label={text.deliveries}
        title={text.deliveries}
        list={deliveries}
        columns={deliveryColumns(nameOf)}
        keyOf={({ id }) => id}
        empty={text.noDeliveries}
        emptyAbout={text.noDeliveriesAbout}
      />
      <EditedRowDialogs
        of={rows}
        text={text}
        newTitle={text.newHook}
        form={(of, onSaved) => <HookForm of={of} applications={props.applications} onSaved={onSaved} />}
        deleteTitle={text.deleteHook}
        deleteAbout={text.deleteHookAbout}
        remove={({ id }) => call('DELETE /api/v1/scm/hooks/{id}', { params: { id } })}
        onChanged={() => list.reload()}
      />
    </>
  );
}
