// A connector is added or changed, and tried before it is saved.
import { createSignal, Show, type JSX } from 'solid-js';
import { createStore } from 'solid-js/store';
import { call, Refused, type Reply } from '../../client/http.js';
import { saveChange } from '../../client/settings-draft.js';
import { Button, Foreign, Notice } from '../../kit/basics.js';
import { AreaField, SelectField, Switch, TextField } from '../../kit/form.js';
import { Confirm, tell } from '../../kit/overlays.js';
import { connectorsText as text } from '../../texts/setup/connectors.js';
import { formsText } from '../../texts/setup/forms.js';
import { ChangedMeanwhile, withEntry } from '../setup/entries.js';
import { noProblems, problemsOfEntry, type EntryProblems } from '../setup/field-problems.js';
import {
  blankConnector,
  connectorKinds,
  connectorOf,
  formOf,
  hasIndex,
  hasToken,
  neededOptions,
  type ConnectorForm,
  type StoredConnector,
} from './connector-values.js';

type Tried = Reply<'POST /api/siem/test'>;
const fields = ['name', 'kind', 'target', 'token', 'index', 'options'];

/** What may be done with the form; `problems` stand at its fields. */
function createConnectorActions(before: StoredConnector | null, onSaved: () => void) {
  const [problems, setProblems] = createSignal<EntryProblems>(noProblems);
  const [tried, setTried] = createSignal<Tried | null>(null);
  const [busy, setBusy] = createSignal<'test' | 'save' | null>(null);
  const run = async (kind: 'test' | 'save', place: () => string, work: () => Promise<void>): Promise<void> => {
    if (busy() !== null) return;
    setBusy(kind);
    setProblems(noProblems);
    setTried(null);
    try {
      await work();
    } catch (error) {
      if (error instanceof Refused) setProblems(problemsOfEntry(error, place(), fields));
      else if (error instanceof ChangedMeanwhile) setProblems({ ...noProblems, rest: formsText.changedMeanwhile });
      else throw error;
    } finally {
      setBusy(null);
    }
  };
  const test = (form: ConnectorForm): Promise<void> =>
    run(
      'test',
      () => '',
      async () => void setTried(await call('POST /api/siem/test', { body: connectorOf(form, before) })),
    );
  const put = (after: StoredConnector | null): Promise<void> => {
    let place = '';
    return run(
      'save',
      () => place,
      async () => {
        await saveChange((stored) => {
          const made = withEntry((stored['siem_connectors'] ?? []) as readonly StoredConnector[], before, after);
          place = `/siem_connectors/${made.index}`;
          return { siem_connectors: made.list };
        });
        tell(text.saved);
        onSaved();
      },
    );
  };
  return { problems, tried, busy, test, put };
}

type Actions = ReturnType<typeof createConnectorActions>;

function Fields(props: {
  readonly form: ConnectorForm;
  readonly set: (part: Partial<ConnectorForm>) => void;
  readonly problems: EntryProblems;
  readonly before: StoredConnector | null;
}): JSX.Element {
  const isKept = (): boolean => props.before?.token != null;
  return (
    <>
      <div class="grid-2">
        <SelectField
          label={text.kind}
          value={props.form.kind}
          options={connectorKinds.map((kind) => [kind, text.kinds[kind]] as const)}
          onChange={(kind) => props.set({ kind })}
        />
        <TextField
          label={text.name}
          help={text.nameHelp}
          value={props.form.name}
          problem={props.problems.at('name')}
          onInput={(name) => props.set({ name })}
        />
      </div>
      <TextField
        label={text.target}
        help={text.targetHelp}
        value={props.form.target}
        placeholder={text.targetExamples[props.form.kind]}
        problem={props.problems.at('target')}
        isRequired
        onInput={(target) => props.set({ target })}
      />
      <div class="grid-2">
        <Show when={hasToken(props.form.kind)}>
          <TextField
            label={text.tokens[props.form.kind]}
            type="password"
            autocomplete="new-password"
            value={props.form.token}
            placeholder={isKept() ? text.tokenKept : ''}
            problem={props.problems.at('token')}
            onInput={(token) => props.set({ token })}
          />
        </Show>
        <Show when={hasIndex(props.form.kind)}>
          <TextField
            label={text.index}
            value={props.form.index}
            problem={props.problems.at('index')}
            onInput={(index) => props.set({ index })}
          />
        </Show>
      </div>
      <AreaField
        label={text.options}
        help={
          <>
            {text.optionsHelp}{' '}
            {neededOptions[props.form.kind].length > 0 ? text.needed(neededOptions[props.form.kind].join(', ')) : ''}
          </>
        }
        rows={3}
        value={props.form.options}
        placeholder={text.optionsExample}
        problem={props.problems.at('options')}
        onInput={(options) => props.set({ options })}
      />
      <Switch label={text.isOn} isOn={props.form.isOn} onChange={(isOn) => props.set({ isOn })} />
    </>
  );
}

function Outcome(props: { readonly of: Actions }): JSX.Element {
  return (
    <>
      <Show when={props.of.tried()}>
        {(tried) => (
          <Notice
            tone={tried().delivered ? 'good' : 'danger'}
            {...(tried().delivered ? {} : { title: text.testFailed })}
          >
            <Show when={!tried().delivered} fallback={text.testOk(tried().event_id)}>
              <Foreign text={tried().reason ?? ''} max={1000} />
            </Show>
          </Notice>
        )}
      </Show>
      <Show when={props.of.problems().rest}>
        {(found) => (
          <Notice tone="danger">
            <Foreign text={found()} max={1000} />
          </Notice>
        )}
      </Show>
    </>
  );
}

function Removal(props: { readonly of: Actions; readonly name: string }): JSX.Element {
  const [isAsking, setAsking] = createSignal(false);
  return (
    <>
      <Button onClick={() => setAsking(true)}>{text.remove}</Button>
      <Confirm
        isOpen={isAsking()}
        title={text.removeAsk}
        action={text.remove}
        isBusy={props.of.busy() !== null}
        onConfirm={() => void props.of.put(null)}
        onClose={() => setAsking(false)}
      >
        <p>
          <Foreign text={props.name} max={80} />
        </p>
        <p>{text.removeAbout}</p>
      </Confirm>
    </>
  );
}

export function ConnectorFormFields(props: {
  /** null: a new one. */
  readonly before: StoredConnector | null;
  readonly onSaved: () => void;
}): JSX.Element {
  const before = props.before;
  const [form, set] = createStore<ConnectorForm>(before === null ? { ...blankConnector } : formOf(before));
  const actions = createConnectorActions(before, () => props.onSaved());
  const isBlank = (): boolean => form.target.trim() === '' || actions.busy() !== null;
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void actions.put(connectorOf(form, before));
      }}
    >
      <Fields form={form} set={set} problems={actions.problems()} before={before} />
      <p class="muted small">
        {text.testAbout} {text.saveAbout}
      </p>
      <Outcome of={actions} />
      <div class="form-foot row wrap">
        <Button type="submit" look="primary" isBusy={actions.busy() === 'save'} disabled={isBlank()}>
          {text.save}
        </Button>
        <Button isBusy={actions.busy() === 'test'} disabled={isBlank()} onClick={() => void actions.test(form)}>
          {text.test}
        </Button>
        <Show when={before}>{(one) => <Removal of={actions} name={one().name} />}</Show>
      </div>
    </form>
  );
}
