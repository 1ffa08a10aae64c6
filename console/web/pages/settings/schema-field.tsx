// A field for any setting, made from its schema: the form follows the settings, not the other way round.
import { createSignal, For, Index, Show, type JSX } from 'solid-js';
import type { FieldProblem } from '../../client/http.js';
import { Button } from '../../kit/basics.js';
import { AreaField, SelectField, Switch, TextField } from '../../kit/form.js';
import { Described, helpOf } from './setting-help.js';
import { blankOf, linesFrom, numberFrom, shapeOf, titleOf, type SettingSchema } from './schema.js';
import { unitOf, type Unit } from './units.js';
import { settingsText as words } from '../../texts/settings.js';

export interface SchemaFieldProps {
  readonly schema: SettingSchema;
  /** JSON pointer, by which problems are found. */
  readonly path: string;
  readonly label: string;
  readonly value: unknown;
  readonly problems: readonly FieldProblem[];
  readonly isDisabled: boolean;
  readonly onChange: (value: unknown) => void;
}

type Fields = Readonly<Record<string, unknown>>;

function problemAt({ problems, path }: SchemaFieldProps): string | null {
  const found = problems.filter((one) => one.path === path || one.path.startsWith(`${path}/`));
  return found.length === 0 ? null : found.map(({ reason, fix }) => `${reason}${fix ? `; ${fix}` : ''}`).join('. ');
}

function SecretField(props: SchemaFieldProps): JSX.Element {
  const isSet = (): boolean => typeof props.value === 'string' && props.value !== '';
  return (
    <TextField
      label={props.label}
      type="password"
      autocomplete="new-password"
      value={props.value === '********' ? '' : String((props.value as string | null) ?? '')}
      placeholder={isSet() ? words.setLeaveEmptyKeep : words.notSet}
      help={helpOf(props.schema)}
      problem={problemAt(props)}
      isDisabled={props.isDisabled}
      onInput={(text) => props.onChange(text === '' ? '********' : text)}
    />
  );
}

function JsonField(props: SchemaFieldProps): JSX.Element {
  const [problem, setProblem] = createSignal<string | null>(null);
  const change = (text: string): void => {
    try {
      props.onChange(JSON.parse(text));
      setProblem(null);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : words.notJson);
    }
  };
  return (
    <AreaField
      label={props.label}
      value={JSON.stringify(props.value, null, 2)}
      help={helpOf(props.schema)}
      problem={problem() ?? problemAt(props)}
      isDisabled={props.isDisabled}
      onInput={change}
    />
  );
}

/** By which a link names the member of a setting: `limits.uri_bytes_max`. */
const placeIn = (path: string, name: string): string => `${path}/${name}`.slice(1).replaceAll('/', '.');

function MembersField(props: SchemaFieldProps): JSX.Element {
  const fields = (): Fields => (props.value ?? {}) as Fields;
  return (
    <fieldset class="stack bare">
      <Show when={props.label !== ''}>
        <legend class="name">{props.label}</legend>
      </Show>
      <For each={Object.entries(shapeOf(props.schema).schema.properties ?? {})}>
        {([name, schema]) => (
          <div id={placeIn(props.path, name)}>
            <SchemaField
              schema={schema}
              path={`${props.path}/${name}`}
              label={titleOf(name)}
              value={fields()[name]}
              problems={props.problems}
              isDisabled={props.isDisabled}
              onChange={(value) => props.onChange({ ...fields(), [name]: value })}
            />
          </div>
        )}
      </For>
    </fieldset>
  );
}

function EntriesField(props: SchemaFieldProps): JSX.Element {
  const entries = (): readonly unknown[] => (props.value ?? []) as readonly unknown[];
  const itemSchema = (): SettingSchema => shapeOf(props.schema).schema.items ?? {};
  const replace = (index: number, value: unknown): void =>
    props.onChange(entries().map((one, at) => (at === index ? value : one)));
  const nameOf = (entry: unknown, index: number): string => {
    const { name, path, id } = (entry ?? {}) as {
      readonly name?: string;
      readonly path?: string;
      readonly id?: number;
    };
    return name || path || (id === undefined ? `${index + 1}` : String(id));
  };
  // by position; an entry that was just added has no name yet and is open, and stays so while its name is typed
  const [openEntries, setOpenEntries] = createSignal<readonly boolean[]>([]);
  const isOpen = (index: number): boolean => openEntries()[index] === true || problemUnder(props, index);
  const setOpen = (index: number, to: boolean): void => {
    setOpenEntries(entries().map((_, at) => (at === index ? to : openEntries()[at] === true)));
  };
  const add = (): void => {
    setOpenEntries([...entries().map((_, at) => openEntries()[at] === true), true]);
    props.onChange([...entries(), blankOf(itemSchema())]);
  };
  const remove = (index: number): void => {
    setOpenEntries(openEntries().filter((_, at) => at !== index));
    props.onChange(entries().filter((_, at) => at !== index));
  };
  return (
    <div class="stack">
      <strong>{props.label}</strong>
      <p class="muted small sentence">
        <Described text={props.schema.description ?? ''} />
      </p>
      <Index each={entries()}>
        {(entry, index) => (
          <details class="card" open={isOpen(index)} onToggle={(event) => setOpen(index, event.currentTarget.open)}>
            <summary class="summary row between">
              <strong>{nameOf(entry(), index)}</strong>
            </summary>
            <div class="body stack">
              <div>
                <Button isSmall disabled={props.isDisabled} onClick={() => remove(index)}>
                  {words.remove}
                </Button>
              </div>
              <MembersField
                {...props}
                label=""
                schema={itemSchema()}
                path={`${props.path}/${index}`}
                value={entry()}
                onChange={(value) => replace(index, value)}
              />
            </div>
          </details>
        )}
      </Index>
      <div>
        <Button icon="plus" disabled={props.isDisabled} onClick={add}>
          {words.add}
        </Button>
      </div>
    </div>
  );
}

const problemUnder = ({ problems, path }: SchemaFieldProps, index: number): boolean =>
  problems.some((one) => one.path === `${path}/${index}` || one.path.startsWith(`${path}/${index}/`));

function LinesField(props: SchemaFieldProps): JSX.Element {
  // blanks and line ends that are typed mean nothing yet, and must not vanish while a person goes on typing
  const [typed, setTyped] = createSignal('');
  const lines = (): readonly string[] => (props.value ?? []) as readonly string[];
  const shown = (): string => (isSame(linesFrom(typed()), lines()) ? typed() : lines().join('\n'));
  return (
    <AreaField
      label={props.label}
      rows={4}
      value={shown()}
      help={
        <>
          {helpOf(props.schema)}
          <span class="faint bounds">{words.oneALine}</span>
        </>
      }
      problem={problemAt(props)}
      isDisabled={props.isDisabled}
      onInput={(text) => {
        setTyped(text);
        props.onChange(linesFrom(text));
      }}
    />
  );
}

const isSame = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((line, at) => line === right[at]);

function PlainField(props: SchemaFieldProps): JSX.Element {
  const shape = (): ReturnType<typeof shapeOf> => shapeOf(props.schema);
  const text = (): string => String((props.value as string | number | null | undefined) ?? '');
  const read = (typed: string): unknown => {
    if (typed === '' && shape().isNullable) return null;
    return shape().kind === 'number' ? numberFrom(typed) : typed;
  };
  return (
    <TextField
      label={props.label}
      value={text()}
      unit={props.schema['x-unit']}
      help={helpOf(props.schema)}
      problem={problemAt(props)}
      isDisabled={props.isDisabled}
      onInput={(typed) => props.onChange(read(typed))}
    />
  );
}

/** A size or a time: with its unit, as people write it. */
function UnitField(props: SchemaFieldProps & { readonly unit: Unit }): JSX.Element {
  // as it was typed until the field is left: `1000 ms` does not become `1 s` under the hand
  const [typed, setTyped] = createSignal<string | null>(null);
  const read = (text: string): unknown => {
    if (text.trim() === '' && shapeOf(props.schema).isNullable) return null;
    return props.unit.parse(text) ?? text;
  };
  const shown = (): string => {
    const text = typed();
    return text !== null && read(text) === props.value ? text : props.unit.format(props.value);
  };
  const isUnread = (): boolean => typeof props.value === 'string' && props.unit.parse(props.value) === null;
  return (
    <TextField
      label={props.label}
      value={shown()}
      help={helpOf(props.schema)}
      problem={isUnread() ? props.unit.accepted : problemAt(props)}
      isDisabled={props.isDisabled}
      onInput={(text) => {
        setTyped(text);
        props.onChange(read(text));
      }}
      onLeave={() => setTyped(null)}
    />
  );
}

function NumberOrText(props: SchemaFieldProps): JSX.Element {
  return (
    <Show when={unitOf(props.schema)} fallback={<PlainField {...props} />}>
      {(unit) => <UnitField {...props} unit={unit()} />}
    </Show>
  );
}

function ChoiceField(props: SchemaFieldProps): JSX.Element {
  const shape = (): ReturnType<typeof shapeOf> => shapeOf(props.schema);
  const options = (): (readonly [string, string])[] => [
    ...(shape().isNullable ? [['', words.asForEverything] as const] : []),
    ...(shape().schema.enum ?? []).map((value) => [value, value] as const),
  ];
  return (
    <SelectField
      label={props.label}
      value={String((props.value as string | null) ?? '')}
      options={options()}
      help={helpOf(props.schema)}
      problem={problemAt(props)}
      isDisabled={props.isDisabled}
      onChange={(value) => props.onChange(value === '' && shape().isNullable ? null : value)}
    />
  );
}

function FlagField(props: SchemaFieldProps): JSX.Element {
  return (
    <div class="field">
      <Switch
        label={props.label}
        isOn={props.value === true}
        isDisabled={props.isDisabled}
        onChange={(isOn) => props.onChange(isOn)}
      />
      <span class="help">{helpOf(props.schema)}</span>
      <Show when={problemAt(props)}>
        <span class="problem">{problemAt(props)}</span>
      </Show>
    </div>
  );
}

const fieldOf = {
  flag: FlagField,
  choice: ChoiceField,
  number: NumberOrText,
  text: NumberOrText,
  secret: SecretField,
  lines: LinesField,
  entries: EntriesField,
  members: MembersField,
  json: JsonField,
} as const;

export function SchemaField(props: SchemaFieldProps): JSX.Element {
  const Chosen = fieldOf[shapeOf(props.schema).kind];
  return <Chosen {...props} />;
}
