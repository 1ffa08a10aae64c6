// A connector is added or changed, and tried before it is saved.
import { createSignal, Show, type JSX } from 'solid-js';
import { createStore } from 'solid-js/store';
import { call, type Reply } from '../../client/http.js';
import type { SettingsValues } from '../../client/settings-draft.js';
import { Button, Foreign, Notice } from '../../kit/basics.js';
import { AreaField, SelectField, Switch, TextField } from '../../kit/form.js';
import { connectorsText as text } from '../../texts/setup/connectors.js';
import { withEntry, type EntryChange } from '../setup/entries.js';
import { createEntrySave } from '../setup/entry-save.js';
import type { EntryProblems } from '../setup/field-problems.js';
import { Removal } from '../setup/removal.js';
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

/** `after` null: it is removed. */
const changeOf =
  (before: StoredConnector | null, after: StoredConnector | null) =>
  (stored: SettingsValues): EntryChange => {
    const made = withEntry((stored['siem_connectors'] ?? []) as readonly StoredConnector[], before, after);
    return { patch: { siem_connectors: made.list }, place: `/siem_connectors/${made.index}` };
  };

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

function Outcome(props: { readonly tried: Tried | null; readonly problem: string | null }): JSX.Element {
  return (
    <>
      <Show when={props.tried}>
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
      <Show when={props.problem}>
        {(found) => (
          <Notice tone="danger">
            <Foreign text={found()} max={1000} />
          </Notice>
        )}
      </Show>
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
  const entry = createEntrySave(fields, text.saved);
  const [tried, setTried] = createSignal<Tried | null>(null);
  const [isTesting, setTesting] = createSignal(false);
  const isBlank = (): boolean => form.target.trim() === '' || entry.isBusy();
  const test = async (): Promise<void> => {
    setTried(null);
    setTesting(true);
    await entry.attempt(async () => {
      setTried(await call('POST /api/siem/test', { body: connectorOf(form, before) }));
    });
    setTesting(false);
  };
  const save = async (): Promise<void> => {
    setTried(null);
    if (await entry.run(changeOf(before, connectorOf(form, before)), false)) props.onSaved();
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Fields form={form} set={set} problems={entry.problems()} before={before} />
      <p class="muted small">
        {text.testAbout} {text.saveAbout}
      </p>
      <Outcome tried={tried()} problem={entry.problems().rest} />
      <div class="form-foot row wrap">
        <Button type="submit" look="primary" isBusy={entry.isBusy() && !isTesting()} disabled={isBlank()}>
          {text.save}
        </Button>
        <Button isBusy={isTesting()} disabled={isBlank()} onClick={() => void test()}>
          {text.test}
        </Button>
        <Show when={before}>
          {(one) => (
            <Removal
              text={text}
              name={one().name}
              saved={text.saved}
              change={changeOf(one(), null)}
              onRemoved={props.onSaved}
            />
          )}
        </Show>
      </div>
    </form>
  );
}
