// Fields of forms: label, help, unit and problem belong together, for eyes and for screen readers.
import { createUniqueId, For, Show, type JSX } from 'solid-js';
import { kitText as text } from '../texts/kit.js';
import type { QueryState } from '../client/query.js';
import { Button } from './basics.js';
import { Chooser } from './fields/chooser.js';
import { isSearched, type Choices } from './fields/choices.js';
import { createRetry } from './page-state.js';
import { visibleText } from './visible-text.js';

interface FieldProps {
  readonly label: string;
  readonly help?: JSX.Element;
  readonly problem?: string | null;
  readonly children: (ids: { readonly id: string; readonly describedBy: string }) => JSX.Element;
}

export function Field(props: FieldProps): JSX.Element {
  const id = createUniqueId();
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      {props.children({ id, describedBy: text.helpProblem(id, id) })}
      <Show when={props.help}>
        <span class="help" id={`${id}-help`}>
          {props.help}
        </span>
      </Show>
      <Show when={props.problem}>
        <span class="problem" id={`${id}-problem`} role="alert">
          {props.problem}
        </span>
      </Show>
    </div>
  );
}

/** `accept`: endings, as of the attribute. null: the choice was taken back. */
export function FileField(props: {
  readonly label: string;
  readonly help?: JSX.Element;
  readonly problem?: string | null;
  readonly accept?: string;
  readonly onChosen: (file: File | null) => void;
}): JSX.Element {
  return (
    <Field label={props.label} help={props.help} problem={props.problem ?? null}>
      {({ id, describedBy }) => (
        <input
          id={id}
          class="input"
          type="file"
          accept={props.accept}
          aria-describedby={describedBy}
          onChange={(event) => props.onChosen(event.currentTarget.files?.[0] ?? null)}
        />
      )}
    </Field>
  );
}

interface InputProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** The focus goes elsewhere. */
  readonly onLeave?: () => void;
  readonly help?: JSX.Element;
  readonly problem?: string | null;
  readonly type?: string;
  readonly unit?: string | undefined;
  readonly placeholder?: string;
  readonly autocomplete?: string;
  readonly isDisabled?: boolean;
  readonly isRequired?: boolean;
}

export function TextField(props: InputProps): JSX.Element {
  return (
    <Field label={props.label} help={props.help} problem={props.problem ?? null}>
      {({ id, describedBy }) => (
        <span class="with-unit">
          <input
            id={id}
            class="input"
            type={props.type ?? 'text'}
            value={props.value}
            placeholder={props.placeholder ?? ''}
            autocomplete={props.autocomplete ?? 'off'}
            aria-describedby={describedBy}
            aria-invalid={props.problem != null}
            disabled={props.isDisabled ?? false}
            required={props.isRequired ?? false}
            step={props.type === 'number' ? 'any' : undefined}
            spellcheck={false}
            onInput={(event) => props.onInput(event.currentTarget.value)}
            onBlur={() => props.onLeave?.()}
          />
          <Show when={props.unit}>
            <span class="faint small">{props.unit}</span>
          </Show>
        </span>
      )}
    </Field>
  );
}

export function AreaField(props: InputProps & { readonly rows?: number }): JSX.Element {
  return (
    <Field label={props.label} help={props.help} problem={props.problem ?? null}>
      {({ id, describedBy }) => (
        <textarea
          id={id}
          class="textarea"
          rows={props.rows ?? 6}
          value={props.value}
          placeholder={props.placeholder ?? ''}
          aria-describedby={describedBy}
          aria-invalid={props.problem != null}
          disabled={props.isDisabled ?? false}
          spellcheck={false}
          onInput={(event) => props.onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** Of a menu of the browser. */
export function Options(props: { readonly of: Choices; readonly value: string }): JSX.Element {
  return (
    <For each={props.of}>
      {([value, title]) => (
        <option value={value} selected={value === props.value}>
          {visibleText(title)}
        </option>
      )}
    </For>
  );
}

type ReadFrom = Pick<QueryState<unknown>, 'data' | 'problem' | 'reload'>;

/** Below a menu that is empty because what it offers could not be read. */
function UnreadOptions(props: { readonly of: ReadFrom }): JSX.Element {
  const retry = createRetry(() => void props.of.reload());
  return (
    <div>
      <Button isSmall onClick={retry}>
        {text.tryAgain}
      </Button>
    </div>
  );
}

export function SelectField<Value extends string>(props: {
  readonly label: string;
  readonly value: Value;
  /** A few are a menu of the browser; many are found by typing. */
  readonly options: Choices<Value>;
  readonly onChange: (value: Value) => void;
  /** What the options are read from: nothing is chosen before it is there, and where it is refused that is said. */
  readonly from?: ReadFrom;
  readonly help?: JSX.Element;
  readonly problem?: string | null;
  readonly isDisabled?: boolean;
}): JSX.Element {
  const isUnread = (): boolean => props.from !== undefined && props.from.data() === undefined;
  const refused = (): string | null => (isUnread() ? (props.from?.problem()?.message ?? null) : null);
  const isDisabled = (): boolean => isUnread() || (props.isDisabled ?? false);
  const field = (
    <Field label={props.label} help={props.help} problem={refused() ?? props.problem ?? null}>
      {({ id, describedBy }) => (
        <Show
          when={!isSearched(props.options)}
          fallback={
            <Chooser
              id={id}
              describedBy={describedBy}
              label={props.label}
              value={props.value}
              choices={props.options}
              isDisabled={isDisabled()}
              onChange={(value) => props.onChange(value as Value)}
            />
          }
        >
          <select
            id={id}
            class="select"
            value={props.value}
            aria-describedby={describedBy}
            disabled={isDisabled()}
            onChange={(event) => props.onChange(event.currentTarget.value as Value)}
          >
            <Options of={props.options} value={props.value} />
          </select>
        </Show>
      )}
    </Field>
  );
  return (
    <Show when={props.from} fallback={field}>
      {(from) => (
        <div class="stack tight">
          {field}
          <Show when={refused() !== null}>
            <UnreadOptions of={from()} />
          </Show>
        </div>
      )}
    </Show>
  );
}

export function Switch(props: {
  readonly label: JSX.Element;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly isDisabled?: boolean;
  readonly isLabelHidden?: boolean;
}): JSX.Element {
  return (
    <label class="switch">
      <input
        type="checkbox"
        role="switch"
        checked={props.isOn}
        disabled={props.isDisabled ?? false}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      <span class={props.isLabelHidden === true ? 'visually-hidden' : ''}>{props.label}</span>
    </label>
  );
}
