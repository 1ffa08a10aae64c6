// The form of a row, made of its fields as data: the same for what is made and for what is changed.
import { createSignal, For, Match, Show, Switch, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { kitText as text } from '../../texts/kit.js';
import { Button, Notice } from '../basics.js';
import type { Choices } from '../fields/choices.js';
import { AreaField, SelectField, Switch as Toggle, TextField } from '../form.js';
import { tell } from '../overlays.js';
import { isWhole, shownFields, toBody, type NamedField } from './row-values.js';

interface FieldOf<V, N extends keyof V & string> extends NamedField {
  readonly name: N;
  readonly label: string;
  readonly help?: string;
  /** text: one line; area: several; password: one line that is not shown; own: drawn by `draw`. */
  readonly kind: 'text' | 'password' | 'url' | 'area' | 'select' | 'switch' | 'own';
  readonly placeholder?: string;
  readonly options?: () => Choices;
  /** `value` is read again whenever it changes. */
  readonly draw?: (value: () => V[N], set: (value: V[N]) => void) => JSX.Element;
}

/** A field of a form that holds V. */
export type RowField<V> = { readonly [N in keyof V & string]: FieldOf<V, N> }[keyof V & string];

interface FieldProps<V> {
  readonly of: RowField<V>;
  readonly value: () => unknown;
  readonly set: (value: unknown) => void;
}

function OneField<V>(props: FieldProps<V>): JSX.Element {
  const { kind, label, help, isRequired, placeholder, options, draw } = props.of;
  const words = (): string => (typeof props.value() === 'string' ? (props.value() as string) : '');
  const common = { label, help, onInput: props.set, placeholder: placeholder ?? '' };
  return (
    <Switch fallback={<TextField {...common} type={kind} value={words()} isRequired={isRequired ?? false} />}>
      <Match when={kind === 'area'}>
        <AreaField {...common} value={words()} rows={3} />
      </Match>
      <Match when={kind === 'select'}>
        <SelectField label={label} help={help} value={words()} options={options?.() ?? []} onChange={props.set} />
      </Match>
      <Match when={kind === 'switch'}>
        <Toggle label={label} isOn={props.value() === true} onChange={props.set} />
      </Match>
      <Match when={kind === 'own'}>{(draw as Draw | undefined)?.(props.value, props.set)}</Match>
    </Switch>
  );
}
type Draw = (value: () => unknown, set: (value: unknown) => void) => JSX.Element;

/** `start` is read once. `save` throws Refused, which is shown above the button. */
export function RowForm<V extends object, Saved>(props: {
  readonly fields: readonly RowField<V>[];
  readonly start: V;
  readonly isNew: boolean;
  readonly save: (body: V) => Promise<Saved>;
  readonly onSaved: (saved: Saved) => void;
}): JSX.Element {
  const [values, setValues] = createSignal<V>(props.start);
  const action = createAction();
  const save = async (): Promise<void> => {
    let saved: Saved | undefined;
    const isDone = await action.run(async () => {
      saved = await props.save(toBody(props.fields, values(), props.isNew));
    });
    if (!isDone) return;
    tell(text.saved);
    props.onSaved(saved as Saved);
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <For each={shownFields(props.fields, props.isNew)}>
        {(field) => (
          <OneField
            of={field}
            value={() => values()[field.name]}
            set={(value) => setValues((all) => ({ ...all, [field.name]: value }))}
          />
        )}
      </For>
      <div class="form-foot stack tight">
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <div>
          <Button
            look="primary"
            type="submit"
            isBusy={action.isBusy()}
            disabled={!isWhole(props.fields, values(), props.isNew)}
          >
            {text.save}
          </Button>
        </div>
      </div>
    </form>
  );
}
