// Webhooks: which repositories say what was pushed, and what they have said.
import { A } from '@solidjs/router';
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Body, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { Badge, Button, Foreign, Notice } from '../../kit/basics.js';
import { SelectField, Switch, TextField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { createEditedRows, EditedRowDialogs } from '../../kit/table/edited-rows.js';
import { ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { hooksText as text } from '../../texts/vm/hooks.js';
import type { Applications } from '../vulnerabilities/words.js';

type Hook = Item<'GET /api/v1/scm/hooks'>;
type Delivery = Item<'GET /api/v1/scm/webhook/deliveries'>;
type Provider = Body<'POST /api/v1/scm/hooks'>['provider'];

const providers = Object.entries(text.providers) as (readonly [Provider, string])[];
const addressOf = (provider: Provider): string => `${window.location.origin}/api/v1/scm/webhook/${provider}`;
const secretBytes = 24;

/** 48 hexadecimal digits of the browser's own randomness. */
function randomSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(secretBytes));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

interface FormProps {
  readonly of: Hook | null;
  readonly applications: Applications;
  readonly onSaved: () => void;
}

/** What the host signs: a repository of it, for one application. It is set when a webhook is made, and stays. */
function createSource(before: Hook | null) {
  const [provider, setProvider] = createSignal<Provider>(before?.provider ?? 'github');
  const [repository, setRepository] = createSignal(before?.repository ?? '');
  const [application, setApplication] = createSignal(before?.application_id ?? '');
  return { provider, setProvider, repository, setRepository, application, setApplication };
}

function SourceFields(props: {
  readonly of: ReturnType<typeof createSource>;
  readonly applications: Applications;
  readonly isNew: boolean;
}): JSX.Element {
  return (
    <div class="narrow-grid">
      <SelectField
        label={text.provider}
        value={props.of.provider()}
        options={providers}
        onChange={props.of.setProvider}
        isDisabled={!props.isNew}
      />
      <TextField
        label={text.repository}
        value={props.of.repository()}
        onInput={props.of.setRepository}
        help={text.repositoryHelp}
        isDisabled={!props.isNew}
      />
      <SelectField
        label={text.application}
        value={props.of.application()}
        options={props.applications.options(text.choose)}
        onChange={props.of.setApplication}
        isDisabled={!props.isNew}
      />
    </div>
  );
}

function HookForm(props: FormProps): JSX.Element {
  const before = props.of;
  const source = createSource(before);
  const [name, setName] = createSignal(before?.name ?? '');
  const [secret, setSecret] = createSignal('');
  const [isOn, setOn] = createSignal(before?.enabled ?? true);
  const action = createAction();
  const save = async (): Promise<void> => {
    const [given, enabled] = [name().trim(), isOn()];
    const of = { provider: source.provider(), repository: source.repository().trim() };
    const isDone = await action.run(() =>
      before === null
        ? call('POST /api/v1/scm/hooks', {
            body: { ...of, name: given, enabled, application_id: source.application(), secret: secret() },
          })
        : call('PATCH /api/v1/scm/hooks/{id}', {
            params: { id: before.id },
            body: { name: given, enabled, ...(secret() === '' ? {} : { secret: secret() }) },
            ifMatch: `"${before.version}"`,
          }),
    );
    if (!isDone) return;
    tell(text.saved);
    props.onSaved();
  };
  const isWhole = (): boolean =>
    name().trim() !== '' &&
    (before !== null || (source.repository().trim() !== '' && source.application() !== '' && secret() !== ''));
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <TextField label={text.name} value={name()} onInput={setName} isRequired />
      <SourceFields of={source} applications={props.applications} isNew={before === null} />
      <TextField
        label={text.secret}
        value={secret()}
        onInput={setSecret}
        help={before === null ? text.secretHelp : text.secretKept}
      />
      <div>
        <Button isSmall icon="key" onClick={() => setSecret(randomSecret())}>
          {text.makeSecret}
        </Button>
      </div>
      <div class="stack tight">
        <span class="muted small">{text.address}</span>
        <code class="code">{addressOf(source.provider())}</code>
      </div>
      <Switch label={text.isOn} isOn={isOn()} onChange={setOn} />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button look="primary" type="submit" isBusy={action.isBusy()} disabled={!isWhole()}>
          {text.save}
        </Button>
      </div>
    </form>
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
