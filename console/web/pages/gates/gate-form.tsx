// A gate is written: its conditions are numbers that the server knows, or counts of findings that a predicate chooses.
import { createSignal, Index, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { typedNumber } from '../../kit/fields/typed-number.js';
import { createQuery } from '../../client/query.js';
import { Button, Notice } from '../../kit/basics.js';
import { SelectField, Switch, TextField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { gatesText as text } from '../../texts/vm/gates.js';
import { PredicateFields } from '../governance/predicate-fields.js';
import { applicationFields, bodyOf, findingFields, type Predicate } from '../governance/predicate.js';
import type { Condition, Gate } from './definitions.js';

type Metric = NonNullable<Condition['metric']>;
type Operator = NonNullable<Condition['op']>;

const own = 'own';
const firstPredicate: Predicate = { field: 'severity', op: 'gte', value: 'high' };
const firstSelector: Predicate = { field: 'exposure', op: 'eq', value: 'internet' };
const usual: readonly Condition[] = [
  { metric: 'new_critical', op: 'lte', threshold: 0 },
  { metric: 'new_high', op: 'lte', threshold: 0 },
];
const operators = Object.entries(text.operators) as readonly (readonly [Operator, string])[];

interface ConditionProps {
  readonly of: Condition;
  readonly number: number;
  readonly metrics: readonly string[];
  readonly onChange: (condition: Condition) => void;
  readonly onRemove: () => void;
}

function ConditionRow(props: ConditionProps): JSX.Element {
  const { op = 'lte', threshold = 0 } = props.of;
  const [number, setNumber] = createSignal(String(threshold));
  const isOwn = (): boolean => props.of.predicate !== undefined;
  const choose = (metric: string): void => {
    const { name: _, metric: __, predicate: ___, of: ____, ...rest } = props.of;
    props.onChange(
      metric === own
        ? { ...rest, predicate: bodyOf(firstPredicate), of: 'new' }
        : { ...rest, metric: metric as Metric },
    );
  };
  return (
    <div class="stack tight">
      <div class="condition-row">
        <SelectField
          label={text.metric}
          value={props.of.metric ?? own}
          options={[
            ...props.metrics.map((name) => [name, name.replaceAll('_', ' ')] as const),
            [own, text.ownPredicate] as const,
          ]}
          onChange={choose}
        />
        <SelectField
          label={text.comparison}
          value={props.of.op ?? op}
          options={operators}
          onChange={(chosen) => props.onChange({ ...props.of, op: chosen })}
        />
        <TextField
          label={text.threshold}
          type="number"
          value={number()}
          isRequired
          onInput={(typed) => {
            setNumber(typed);
            props.onChange({ ...props.of, threshold: typedNumber(typed) });
          }}
        />
        <Button look="plain" icon="close" aria-label={text.removeCondition(props.number)} onClick={props.onRemove} />
      </div>
      <Show when={isOwn()}>
        <PredicateFields
          label={text.such}
          fields={findingFields}
          start={props.of.predicate as Predicate}
          onChange={(predicate) => props.onChange({ ...props.of, predicate: bodyOf(predicate) })}
        />
        <Switch
          label={text.countsNew}
          isOn={props.of.of === 'new'}
          onChange={(isOn) => props.onChange({ ...props.of, of: isOn ? 'new' : 'open' })}
        />
      </Show>
    </div>
  );
}

function Conditions(props: { readonly start: readonly Condition[]; readonly onChange: (all: Condition[]) => void }) {
  const metrics = createQuery('GET /api/v1/gate/metrics');
  const [all, setAll] = createSignal<Condition[]>([...props.start]);
  const change = (next: Condition[]): void => {
    setAll(next);
    props.onChange(next);
  };
  return (
    <Show when={metrics.data()}>
      {(known) => (
        <section class="stack">
          <h3>{text.conditions}</h3>
          <Index each={all()}>
            {(condition, at) => (
              <ConditionRow
                of={condition()}
                number={at + 1}
                metrics={known().items}
                onChange={(changed) => change(all().map((one, index) => (index === at ? changed : one)))}
                onRemove={() => change(all().filter((_, index) => index !== at))}
              />
            )}
          </Index>
          <div>
            <Button
              isSmall
              icon="plus"
              onClick={() => change([...all(), { metric: 'open_critical', op: 'lte', threshold: 0 }])}
            >
              {text.addCondition}
            </Button>
          </div>
        </section>
      )}
    </Show>
  );
}

/** What is typed, and the body that it makes. */
function createDraft(before: Gate | null) {
  const [name, setName] = createSignal(before?.name ?? '');
  const [position, setPosition] = createSignal(String(before?.position ?? 100));
  const [isSome, setSome] = createSignal(before?.selector != null);
  const [selector, setSelector] = createSignal((before?.selector ?? firstSelector) as Predicate);
  const [conditions, setConditions] = createSignal<Condition[]>([...(before?.conditions ?? usual)]);
  const [isWarning, setWarning] = createSignal(before?.mode === 'warn');
  const [branch, setBranch] = createSignal(before?.baseline_branch ?? 'main');
  const [isOn, setOn] = createSignal(before?.enabled !== false);
  const body = () => ({
    name: name().trim(),
    position: typedNumber(position()),
    selector: isSome() ? bodyOf(selector()) : null,
    conditions: conditions(),
    mode: isWarning() ? ('warn' as const) : ('enforce' as const),
    baseline_branch: branch().trim(),
    enabled: isOn(),
  });
  const shown = { name, position, isSome, selector, conditions, isWarning, branch, isOn };
  const set = { setName, setPosition, setSome, setSelector, setConditions, setWarning, setBranch, setOn };
  return { ...shown, ...set, body };
}

export function GateForm(props: { readonly of: Gate | null; readonly onSaved: () => void }): JSX.Element {
  const before = props.of;
  const draft = createDraft(before);
  const action = createAction();
  const save = async (): Promise<void> => {
    const body = draft.body();
    const isDone = await action.run(() =>
      before === null
        ? call('POST /api/v1/gate/definitions', { body })
        : call('PATCH /api/v1/gate/definitions/{id}', {
            params: { id: before.id },
            body,
            ifMatch: `"${before.version}"`,
          }),
    );
    if (!isDone) return;
    tell(text.saved);
    props.onSaved();
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <TextField label={text.name} value={draft.name()} onInput={draft.setName} isRequired />
      <div class="grid-2">
        <TextField
          label={text.position}
          type="number"
          help={text.positionHelp}
          value={draft.position()}
          isRequired
          onInput={draft.setPosition}
        />
        <TextField label={text.baselineBranch} value={draft.branch()} onInput={draft.setBranch} />
      </div>
      <Switch label={text.onlySome} isOn={draft.isSome()} onChange={draft.setSome} />
      <Show when={draft.isSome()}>
        <PredicateFields
          label={text.someApplications}
          fields={applicationFields}
          start={draft.selector()}
          onChange={draft.setSelector}
        />
      </Show>
      <Conditions start={draft.conditions()} onChange={draft.setConditions} />
      <div class="row wrap wide">
        <Switch label={text.warnOnly} isOn={draft.isWarning()} onChange={draft.setWarning} />
        <Switch label={text.isOn} isOn={draft.isOn()} onChange={draft.setOn} />
      </div>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button
          look="primary"
          type="submit"
          isBusy={action.isBusy()}
          disabled={draft.name().trim() === '' || draft.conditions().length === 0}
        >
          {text.save}
        </Button>
      </div>
    </form>
  );
}
