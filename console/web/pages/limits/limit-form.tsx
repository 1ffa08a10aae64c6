// A rate limit is added or changed; what it would have limited in the last hour stands beside it while it is written.
import { createSignal, Show, type JSX } from 'solid-js';
import { createStore } from 'solid-js/store';
import type { SettingsValues } from '../../client/settings-draft.js';
import { SelectField, Switch, TextField } from '../../kit/form.js';
import { limitsText as text } from '../../texts/setup/limits.js';
import { createEntrySave, SaveFoot, type EntrySave } from '../setup/entry-save.js';
import { Removal } from '../setup/removal.js';
import { EffectOf } from './effect.js';
import {
  blankLimit,
  changeFor,
  formOf,
  removalOf,
  windowUnits,
  type LimitForm,
  type StoredLimit,
} from './limit-values.js';

const methods = ['*', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const fields = ['path', 'match_path', 'method', 'key', 'events', 'window', 'name', 'rl_events', 'rl_window'];

interface PartProps {
  readonly form: LimitForm;
  readonly set: (part: Partial<LimitForm>) => void;
  readonly save: EntrySave;
  readonly isNew: boolean;
}

/** Of several fields of which one is shown. */
const problemOf = (save: EntrySave, ...names: string[]): string | null =>
  names.map((name) => save.problems().at(name)).find((found) => found !== null) ?? null;

function ZoneFields(props: PartProps): JSX.Element {
  return (
    <Show when={props.form.kind === 'zone'}>
      <div class="grid-2">
        <Show when={props.form.countedBy === 'header'}>
          <TextField
            label={text.header}
            help={text.headerHelp}
            value={props.form.header}
            problem={problemOf(props.save, 'key')}
            onInput={(header) => props.set({ header })}
          />
        </Show>
        <TextField
          label={text.name}
          help={text.nameHelp}
          value={props.form.name}
          problem={problemOf(props.save, 'name')}
          onInput={(name) => props.set({ name })}
        />
      </div>
    </Show>
  );
}

function Where(props: PartProps): JSX.Element {
  const at = (...names: string[]): string | null => problemOf(props.save, ...names);
  const methodsOffered = (): readonly string[] =>
    (methods as readonly string[]).includes(props.form.method) ? methods : [...methods, props.form.method];
  return (
    <>
      <TextField
        label={text.path}
        help={text.pathHelp}
        value={props.form.path}
        placeholder={text.pathExample}
        problem={at('path', 'match_path')}
        isRequired
        onInput={(path) => props.set({ path })}
      />
      <div class="grid-2">
        <Show when={props.isNew}>
          <SelectField
            label={text.covers}
            value={props.form.kind}
            options={[
              ['endpoint', text.coversEndpoint],
              ['zone', text.coversZone],
            ]}
            onChange={(kind) => props.set({ kind })}
          />
        </Show>
        <Show
          when={props.form.kind === 'zone'}
          fallback={
            <SelectField
              label={text.method}
              value={props.form.method}
              options={methodsOffered().map((one) => [one, one === '*' ? text.everyMethod : one] as const)}
              problem={at('method')}
              onChange={(method) => props.set({ method })}
            />
          }
        >
          <SelectField
            label={text.countedBy}
            value={props.form.countedBy}
            options={[
              ['ip', text.countClient],
              ['header', text.countHeader],
              ['global', text.countAll],
            ]}
            problem={props.form.countedBy === 'header' ? null : at('key')}
            onChange={(countedBy) => props.set({ countedBy })}
          />
        </Show>
      </div>
      <ZoneFields {...props} />
    </>
  );
}

function Numbers(props: PartProps): JSX.Element {
  const at = (name: string): string | null =>
    props.save.problems().at(props.form.kind === 'default' ? `rl_${name}` : name);
  return (
    <>
      <div class="grid-4">
        <TextField
          label={text.events}
          value={props.form.events}
          problem={at('events')}
          onInput={(events) => props.set({ events })}
        />
        <TextField
          label={text.window}
          value={props.form.count}
          problem={at('window')}
          onInput={(count) => props.set({ count })}
        />
        <SelectField
          label={text.unit}
          value={props.form.unit}
          options={windowUnits.map((unit) => [unit, text.units[unit]] as const)}
          onChange={(unit) => props.set({ unit })}
        />
      </div>
      <SelectField
        label={text.action}
        value={props.form.isDry ? 'record' : 'refuse'}
        options={[
          ['refuse', text.actionRefuse],
          ['record', text.actionRecord],
        ]}
        onChange={(action) => props.set({ isDry: action === 'record' })}
      />
      <Switch
        label={text.sendsHeaders}
        isOn={props.form.sendsHeaders}
        onChange={(sendsHeaders) => props.set({ sendsHeaders })}
      />
    </>
  );
}

export function LimitFormFields(props: {
  /** null: a new one. */
  readonly before: StoredLimit | null;
  readonly stored: SettingsValues;
  readonly onSaved: () => void;
}): JSX.Element {
  const before = props.before;
  const [form, set] = createStore<LimitForm>(before === null ? { ...blankLimit } : formOf(before, props.stored));
  const [switchesOn, setSwitchesOn] = createSignal(true);
  const isOff = (): boolean => props.stored['rl_enabled'] !== true;
  const save = createEntrySave(fields);
  const send = async (isApplied: boolean): Promise<void> => {
    const isDone = await save.run((stored) => {
      const { patch, place } = changeFor(form, before, stored);
      return { patch: { ...patch, ...(isOff() && switchesOn() ? { rl_enabled: true } : {}) }, place };
    }, isApplied);
    if (isDone) props.onSaved();
  };
  const parts = (): PartProps => ({ form, set, save, isNew: before === null });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void send(false);
      }}
    >
      <Show when={form.kind !== 'default'}>
        <Where {...parts()} />
      </Show>
      <Numbers {...parts()} />
      <Show when={isOff()}>
        <div class="field">
          <Switch label={text.switchOnWith} isOn={switchesOn()} onChange={setSwitchesOn} />
          <span class="help">
            {text.switchOnAbout(String(props.stored['rl_events']), String(props.stored['rl_window']))}
          </span>
        </div>
      </Show>
      <EffectOf form={form} />
      <Show when={before !== null && before.kind !== 'default' ? before : undefined}>
        {(limit) => (
          <Removal
            text={text}
            name={form.path}
            change={(stored) => removalOf(limit(), stored)}
            onRemoved={props.onSaved}
          />
        )}
      </Show>
      <SaveFoot
        of={save}
        isBlank={form.kind !== 'default' && form.path.trim() === ''}
        onSave={(isApplied) => void send(isApplied)}
      />
    </form>
  );
}
