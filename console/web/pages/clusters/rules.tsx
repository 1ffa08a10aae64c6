// Rules over events of clusters: the list, and the form of one.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Body, type Item } from '../../client/http.js';
import { createPagedList } from '../../client/pages.js';
import { Badge, Button, Foreign, Notice } from '../../kit/basics.js';
import { AreaField, SelectField, Switch, TextField } from '../../kit/form.js';
import { Confirm, Overlay } from '../../kit/overlays.js';
import { matchOf } from '../../kit/resource/resource-list.js';
import { ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { kitText } from '../../texts/kit.js';
import { clustersText as text } from '../../texts/vm/models/clusters.js';

type Rule = Item<'GET /api/v1/k8s-runtime/rules'>;
type NewRule = Body<'POST /api/v1/k8s-runtime/rules'>;
type Effect = NewRule['effect'];
type Severity = NonNullable<NewRule['severity']>;
const effects = Object.entries(text.effects) as readonly (readonly [Effect, string])[];
const severities = (['critical', 'high', 'medium', 'low'] as const).map((one) => [one, one] as const);
const start = { field: 'rule', op: 'contains', value: '' };

const columns: readonly TableColumn<Rule>[] = [
  { title: text.name, sortBy: ({ name }) => name, cell: ({ name }) => <Foreign text={name ?? ''} max={120} /> },
  { title: text.holdsFor, class: 'mono', cell: (one) => <Foreign text={JSON.stringify(one.predicate)} max={300} /> },
  { title: text.effect, cell: ({ effect }) => (effect === null ? '–' : text.effects[effect]) },
  {
    title: text.enabled,
    cell: ({ enabled }) => (
      <Badge tone={enabled === true ? 'good' : 'neutral'}>{enabled === true ? text.isOn : text.isOff}</Badge>
    ),
  },
  { title: text.madeBy, isMinor: true, cell: ({ created_by: who }) => <Foreign text={who ?? ''} max={80} /> },
];

function parsed(typed: string): NewRule['predicate'] | null {
  try {
    return JSON.parse(typed) as NewRule['predicate'];
  } catch {
    return null;
  }
}

function Removal(props: { readonly of: Rule; readonly onDone: () => void }): JSX.Element {
  const [isAsking, setAsking] = createSignal(false);
  const action = createAction();
  const remove = async (): Promise<void> => {
    const options = { params: { id: props.of.id }, ifMatch: matchOf(props.of) };
    if (await action.run(() => call('DELETE /api/v1/k8s-runtime/rules/{id}', options))) props.onDone();
  };
  return (
    <>
      <Button onClick={() => setAsking(true)}>{kitText.delete}</Button>
      <Confirm
        isOpen={isAsking()}
        title={text.deleteRule}
        action={kitText.delete}
        isBusy={action.isBusy()}
        onConfirm={() => void remove()}
        onClose={() => setAsking(false)}
      >
        <p>{text.deleteRuleAbout}</p>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      </Confirm>
    </>
  );
}

function RuleForm(props: { readonly of: Rule | null; readonly onDone: () => void }): JSX.Element {
  const { of } = props;
  const [name, setName] = createSignal(of?.name ?? '');
  const [typed, setTyped] = createSignal(JSON.stringify(of?.predicate ?? start, null, 2));
  const [effect, setEffect] = createSignal<Effect>(of?.effect ?? 'note');
  const [severity, setSeverity] = createSignal<Severity>(of?.severity ?? 'high');
  const [cwe, setCwe] = createSignal(of?.cwe == null ? '' : String(of.cwe));
  const [isEnabled, setEnabled] = createSignal(of?.enabled ?? true);
  const action = createAction();
  const save = async (): Promise<void> => {
    const predicate = parsed(typed());
    if (predicate === null) return;
    const weakness = cwe().trim() === '' ? null : Number(cwe());
    const body: NewRule = {
      ...{ name: name(), predicate, effect: effect(), severity: severity(), cwe: weakness, enabled: isEnabled() },
    };
    const isDone = await action.run(() =>
      of === null
        ? call('POST /api/v1/k8s-runtime/rules', { body })
        : call('PATCH /api/v1/k8s-runtime/rules/{id}', { params: { id: of.id }, body, ifMatch: matchOf(of) }),
    );
    if (isDone) props.onDone();
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <TextField label={text.name} value={name()} onInput={setName} isRequired />
      <AreaField
        label={text.holdsFor}
        help={text.holdsForHelp}
        problem={parsed(typed()) === null ? text.noJson : null}
        value={typed()}
        onInput={setTyped}
      />
      <SelectField label={text.effect} value={effect()} options={effects} onChange={setEffect} />
      <SelectField label={text.severity} value={severity()} options={severities} onChange={setSeverity} />
      <TextField label={text.weakness} value={cwe()} onInput={setCwe} />
      <Switch label={text.enabled} isOn={isEnabled()} onChange={setEnabled} />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div class="row wrap">
        <Button type="submit" look="primary" isBusy={action.isBusy()} disabled={parsed(typed()) === null}>
          {kitText.save}
        </Button>
        <Show when={of}>{(rule) => <Removal of={rule()} onDone={props.onDone} />}</Show>
      </div>
    </form>
  );
}

export function ClusterRules(props: { readonly mayEdit: boolean }): JSX.Element {
  const list = createPagedList('GET /api/v1/k8s-runtime/rules', () => ({ sort: 'name' as const }));
  const [opened, setOpened] = createSignal<Rule | 'new' | null>(null);
  const done = (): void => {
    setOpened(null);
    list.reload();
  };
  const onOpen = (): { onOpen?: (rule: Rule) => void } => (props.mayEdit ? { onOpen: setOpened } : {});
  return (
    <>
      <ListCard
        title={text.rules}
        label={text.rules}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        {...onOpen()}
        empty={text.noRules}
        emptyAbout={text.noRulesAbout}
        actions={
          <Show when={props.mayEdit}>
            <Button isSmall look="primary" icon="plus" onClick={() => setOpened('new')}>
              {text.newRule}
            </Button>
          </Show>
        }
      />
      <Overlay
        isOpen={opened() !== null}
        look="wide"
        title={opened() === 'new' ? text.newRule : text.rule}
        onClose={() => setOpened(null)}
      >
        <Show when={opened()} keyed>
          {(of) => <RuleForm of={of === 'new' ? null : of} onDone={done} />}
        </Show>
      </Overlay>
    </>
  );
}
