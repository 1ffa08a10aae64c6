// Rules over events of clusters: the list, and the form of one.
import { createSignal, type JSX } from 'solid-js';
import { call, type Body, type Item } from '../../client/http.js';
import { createPagedList } from '../../client/pages.js';
import { Badge, Foreign } from '../../kit/basics.js';
import { AreaField, SelectField, Switch, TextField } from '../../kit/form.js';
import { EntryForm } from '../../kit/resource/entry-form.js';
import { ListWithForm, type FormProps } from '../../kit/resource/list-with-form.js';
import { matchOf } from '../../kit/resource/resource-list.js';
import type { TableColumn } from '../../kit/table/table.js';
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

function RuleForm(props: FormProps<Rule>): JSX.Element {
  const { of } = props;
  const [name, setName] = createSignal(of?.name ?? '');
  const [typed, setTyped] = createSignal(JSON.stringify(of?.predicate ?? start, null, 2));
  const [effect, setEffect] = createSignal<Effect>(of?.effect ?? 'note');
  const [severity, setSeverity] = createSignal<Severity>(of?.severity ?? 'high');
  const [cwe, setCwe] = createSignal(of?.cwe == null ? '' : String(of.cwe));
  const [isEnabled, setEnabled] = createSignal(of?.enabled ?? true);
  const save = async (): Promise<void> => {
    const predicate = parsed(typed());
    if (predicate === null) return;
    const weakness = cwe().trim() === '' ? null : Number(cwe());
    const body: NewRule = {
      ...{ name: name(), predicate, effect: effect(), severity: severity(), cwe: weakness, enabled: isEnabled() },
    };
    if (of === null) await call('POST /api/v1/k8s-runtime/rules', { body });
    else await call('PATCH /api/v1/k8s-runtime/rules/{id}', { params: { id: of.id }, body, ifMatch: matchOf(of) });
  };
  return (
    <EntryForm isWhole={parsed(typed()) !== null} send={save} onDone={props.onDone} beside={props.removal}>
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
    </EntryForm>
  );
}

export function ClusterRules(props: { readonly mayEdit: boolean }): JSX.Element {
  const list = createPagedList('GET /api/v1/k8s-runtime/rules', () => ({ sort: 'name' as const }));
  return (
    <ListWithForm
      text={{
        list: text.rules,
        one: text.rule,
        add: text.newRule,
        none: text.noRules,
        noneAbout: text.noRulesAbout,
        deleteTitle: text.deleteRule,
        deleteAbout: text.deleteRuleAbout,
      }}
      mayEdit={props.mayEdit}
      list={list}
      columns={columns}
      form={(of) => <RuleForm {...of} />}
      remove={(of) => call('DELETE /api/v1/k8s-runtime/rules/{id}', { params: { id: of.id }, ifMatch: matchOf(of) })}
    />
  );
}
