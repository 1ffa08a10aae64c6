// The form of a tracker's settings, made of the JSON schema that the server gives for its type.
import { createSignal, For, Match, Show, Switch, type JSX } from 'solid-js';
import { AreaField, Switch as Toggle, TextField } from '../../kit/form.js';
import { integrationsText as text } from '../../texts/resources/integrations.js';
import {
  fromLines,
  fromRecord,
  kindOf,
  toLines,
  toRecord,
  withMember,
  type Config,
  type ConfigSchema,
  type Member,
} from './config-values.js';

interface MemberProps {
  readonly of: Member;
  readonly label: string;
  readonly isRequired: boolean;
  readonly value: unknown;
  readonly set: (value: unknown) => void;
}

const worded = (value: unknown): string => (typeof value === 'string' ? value : '');

function Table(props: MemberProps): JSX.Element {
  const values = (): Config => (props.value ?? {}) as Config;
  return (
    <fieldset class="stack">
      <legend>{props.label}</legend>
      <p class="small muted">{props.of.description}</p>
      <div class="row wrap">
        <For each={Object.keys(props.of.properties ?? {}).reverse()}>
          {(name) => (
            <TextField
              label={text.prioritiesOf(name)}
              value={worded(values()[name])}
              onInput={(value) => props.set({ ...values(), [name]: value })}
            />
          )}
        </For>
      </div>
    </fieldset>
  );
}

function OneMember(props: MemberProps): JSX.Element {
  const kind = kindOf(props.of);
  const help = (): string => props.of.description ?? '';
  return (
    <Switch
      fallback={
        <TextField
          label={props.label}
          help={help()}
          value={worded(props.value)}
          onInput={props.set}
          isRequired={props.isRequired}
        />
      }
    >
      <Match when={kind === 'switch'}>
        <Toggle label={props.label} isOn={props.value === true} onChange={props.set} />
        <p class="small muted">{props.of.description}</p>
      </Match>
      <Match when={kind === 'area'}>
        <AreaField label={props.label} help={help()} value={worded(props.value)} onInput={props.set} rows={5} />
      </Match>
      <Match when={kind === 'table'}>
        <Table {...props} />
      </Match>
    </Switch>
  );
}

/** Texts stay as they are typed: blanks at the end of a line are somebody who is about to go on. */
function Live(props: {
  readonly of: Member;
  readonly name: string;
  readonly isRequired: boolean;
  readonly start: unknown;
  readonly onChange: (value: unknown) => void;
}): JSX.Element {
  const [value, setValue] = createSignal<unknown>(props.start);
  const kind = kindOf(props.of);
  const label = (): string => props.of.title ?? props.name;
  const set = (given: unknown): void => {
    setValue(() => given);
    props.onChange(given);
  };
  const [typed, setTyped] = createSignal(kind === 'lines' ? toLines(props.start) : toRecord(props.start));
  const type = (text: string): void => {
    setTyped(text);
    props.onChange(kind === 'lines' ? fromLines(text) : fromRecord(text));
  };
  return (
    <Switch
      fallback={<OneMember of={props.of} label={label()} isRequired={props.isRequired} value={value()} set={set} />}
    >
      <Match when={kind === 'lines' || kind === 'record'}>
        <AreaField
          label={label()}
          help={[props.of.description, kind === 'lines' ? text.linesHelp : text.fieldsHelp]
            .filter((one) => one)
            .join('; ')}
          value={typed()}
          onInput={type}
          rows={2}
        />
      </Match>
    </Switch>
  );
}

/** What has to be given comes first. `start` is read once: what is typed is kept here while it is typed. */
export function ConfigFields(props: {
  readonly of: ConfigSchema;
  readonly start: Config;
  readonly placeholders: readonly string[];
  readonly onChange: (config: Config) => void;
}): JSX.Element {
  const required = props.of.required ?? [];
  const names = Object.keys(props.of.properties);
  const ordered = [
    ...names.filter((name) => required.includes(name)),
    ...names.filter((name) => !required.includes(name)),
  ];
  let config = props.start;
  const set = (name: string, value: unknown): void => {
    config = withMember(config, name, value);
    props.onChange(config);
  };
  return (
    <fieldset class="stack">
      <legend>{text.settings}</legend>
      <For each={ordered}>
        {(name) => (
          <Live
            of={props.of.properties[name] ?? {}}
            name={name}
            isRequired={required.includes(name)}
            start={props.start[name]}
            onChange={(value) => set(name, value)}
          />
        )}
      </For>
      <Show when={props.placeholders.length > 0}>
        <p class="small muted">{text.placeholders(props.placeholders.map((name) => `{{${name}}}`).join(' '))}</p>
      </Show>
    </fieldset>
  );
}
