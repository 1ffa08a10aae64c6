// A predicate is written in rows: field, comparison, value; all of them have to hold. What rows cannot say is JSON.
import { createSignal, createUniqueId, Index, Match, Show, Switch, type JSX } from 'solid-js';
import { Button, Notice } from '../../kit/basics.js';
import { AreaField } from '../../kit/form.js';
import { governanceText as text } from '../../texts/vm/governance.js';
import { isNamed, NamedValue } from './named-values.js';
import { allOfRows, operatorsOf, rowsOf, textOf, type FieldKinds, type Leaf, type Predicate } from './predicate.js';

const severities = ['critical', 'high', 'medium', 'low', 'info'];

function ValueInput(props: { readonly fields: FieldKinds; readonly row: Leaf; readonly onInput: (v: string) => void }) {
  const kind = (): string => props.fields[props.row.field] ?? 'text';
  const choices = (): readonly string[] =>
    kind() === 'boolean' ? ['true', 'false'] : kind() === 'severity' && props.row.op !== 'in' ? severities : [];
  const words: Readonly<Record<string, string>> = { true: text.yes, false: text.no };
  const isByName = (): boolean => isNamed(props.row.field) && props.row.op !== 'in' && props.row.op !== 'contains';
  return (
    <Switch
      fallback={
        <input
          class="input"
          aria-label={text.value}
          placeholder={props.row.op === 'in' ? text.severalByComma : ''}
          inputmode={kind() === 'number' || props.row.op === 'older_than_days' ? 'decimal' : 'text'}
          value={textOf(props.row.value)}
          onInput={(event) => props.onInput(event.currentTarget.value)}
        />
      }
    >
      <Match when={isByName() ? props.row.field : null} keyed>
        {(field) => <NamedValue field={field} value={textOf(props.row.value)} onInput={props.onInput} />}
      </Match>
      <Match when={choices().length > 0}>
        <select class="select" aria-label={text.value} onChange={(event) => props.onInput(event.currentTarget.value)}>
          <Index each={choices()}>
            {(one) => (
              <option value={one()} selected={one() === props.row.value}>
                {words[one()] ?? one()}
              </option>
            )}
          </Index>
        </select>
      </Match>
    </Switch>
  );
}

/** The row with what fits its field: a comparison that there is, and a value to choose where there are few. */
function fitted(fields: FieldKinds, row: Leaf): Leaf {
  const ops = operatorsOf(fields, row.field);
  const op = ops.includes(row.op) ? row.op : (ops[0] ?? 'eq');
  const kind = fields[row.field];
  const given = textOf(row.value);
  if (kind === 'boolean') return { ...row, op, value: given === 'false' ? 'false' : 'true' };
  if (kind === 'severity' && op !== 'in') return { ...row, op, value: severities.includes(given) ? given : 'high' };
  return { ...row, op };
}

interface RowProps {
  readonly fields: FieldKinds;
  readonly row: Leaf;
  readonly number: number;
  readonly mayRemove: boolean;
  readonly onChange: (row: Leaf) => void;
  readonly onRemove: () => void;
}

function PredicateRow(props: RowProps): JSX.Element {
  const change = (part: Partial<Leaf>): void => props.onChange(fitted(props.fields, { ...props.row, ...part }));
  return (
    <div class="predicate-row">
      <select
        class="select"
        aria-label={text.field}
        onChange={(event) => change({ field: event.currentTarget.value, value: '' })}
      >
        <Index each={Object.keys(props.fields)}>
          {(name) => (
            <option value={name()} selected={name() === props.row.field}>
              {name().replaceAll('_', ' ')}
            </option>
          )}
        </Index>
      </select>
      <select
        class="select"
        aria-label={text.comparison}
        onChange={(event) => change({ op: event.currentTarget.value })}
      >
        <Index each={operatorsOf(props.fields, props.row.field)}>
          {(op) => (
            <option value={op()} selected={op() === props.row.op}>
              {text.operators[op() as keyof typeof text.operators]}
            </option>
          )}
        </Index>
      </select>
      <ValueInput fields={props.fields} row={props.row} onInput={(value) => change({ value })} />
      <Button
        look="plain"
        icon="close"
        aria-label={text.removeRow(props.number)}
        disabled={!props.mayRemove}
        onClick={props.onRemove}
      />
    </div>
  );
}

function Json(props: { readonly start: Predicate; readonly label: string; readonly onChange: (p: Predicate) => void }) {
  const [typed, setTyped] = createSignal(JSON.stringify(props.start, null, 2));
  const [problem, setProblem] = createSignal<string | null>(null);
  const type = (value: string): void => {
    setTyped(value);
    try {
      props.onChange(JSON.parse(value) as Predicate);
      setProblem(null);
    } catch (error) {
      setProblem(text.noJson(error instanceof Error ? error.message : String(error)));
    }
  };
  return <AreaField label={props.label} value={typed()} onInput={type} problem={problem()} rows={8} />;
}

/** `start` is read once; each change is told as a whole predicate. */
export function PredicateFields(props: {
  readonly label: string;
  readonly fields: FieldKinds;
  readonly start: Predicate;
  readonly onChange: (predicate: Predicate) => void;
}): JSX.Element {
  const id = createUniqueId();
  const [current, setCurrent] = createSignal(props.start);
  const [rows, setRows] = createSignal<readonly Leaf[]>(rowsOf(props.start) ?? []);
  const [isJson, setJson] = createSignal(rowsOf(props.start) === null);
  const tell = (predicate: Predicate): void => {
    setCurrent(() => predicate);
    props.onChange(predicate);
  };
  const change = (next: readonly Leaf[]): void => {
    setRows(next);
    tell(allOfRows(props.fields, next));
  };
  const first = Object.keys(props.fields)[0] ?? '';
  const toggle = (): void => {
    if (!isJson()) return void setJson(true);
    const found = rowsOf(current());
    if (found === null) return;
    setRows(found);
    setJson(false);
  };
  return (
    <fieldset class="stack plain-set" aria-labelledby={id}>
      <div class="row wrap between">
        <span class="label" id={id}>
          {props.label}
        </span>
        <Button look="plain" isSmall onClick={toggle} disabled={isJson() && rowsOf(current()) === null}>
          {isJson() ? text.asRows : text.asJson}
        </Button>
      </div>
      <Show when={!isJson()} fallback={<Json start={current()} label={text.asJson} onChange={tell} />}>
        <Index each={rows()}>
          {(row, at) => (
            <PredicateRow
              fields={props.fields}
              row={row()}
              number={at + 1}
              mayRemove={rows().length > 1}
              onChange={(changed) => change(rows().map((one, index) => (index === at ? changed : one)))}
              onRemove={() => change(rows().filter((_, index) => index !== at))}
            />
          )}
        </Index>
        <div>
          <Button
            isSmall
            icon="plus"
            onClick={() => change([...rows(), fitted(props.fields, { field: first, op: '', value: '' })])}
          >
            {text.addRow}
          </Button>
        </div>
      </Show>
      <Show when={isJson() && rowsOf(current()) === null}>
        <Notice tone="neutral">{text.tooDeepForRows}</Notice>
      </Show>
    </fieldset>
  );
}
