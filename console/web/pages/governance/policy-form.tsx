// Terms: for which findings they hold, and in how many days each severity is to be fixed.
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { typedNumber } from '../../kit/fields/typed-number.js';
import { Button, Notice } from '../../kit/basics.js';
import { Switch, TextField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { governanceText as text } from '../../texts/vm/governance.js';
import { severities } from '../vulnerabilities/words.js';
import type { Policy } from './deadlines.js';
import { bodyOf, findingFields, type Predicate } from './predicate.js';
import { PredicateFields } from './predicate-fields.js';

type Severity = (typeof severities)[number];
type Terms = Readonly<Record<Severity, string>>;

const usual: Terms = { critical: '7', high: '30', medium: '90', low: '180', info: '' };
const start: Predicate = { field: 'severity', op: 'gte', value: 'info' };

const termsOf = (policy: Policy | null): Terms =>
  policy === null
    ? usual
    : (Object.fromEntries(severities.map((name) => [name, String(policy.matrix?.[name] ?? '')])) as Terms);

export function PolicyForm(props: { readonly of: Policy | null; readonly onSaved: () => void }): JSX.Element {
  const before = props.of;
  const first = (before?.selector ?? start) as Predicate;
  const [name, setName] = createSignal(before?.name ?? '');
  const [position, setPosition] = createSignal(String(before?.position ?? 100));
  const [selector, setSelector] = createSignal<Predicate>(first);
  const [terms, setTerms] = createSignal(termsOf(before));
  const [isWorking, setWorking] = createSignal(before?.business_days ?? false);
  const action = createAction();
  const save = async (): Promise<void> => {
    const body = {
      name: name().trim(),
      position: typedNumber(position()),
      selector: bodyOf(selector()),
      matrix: Object.fromEntries(
        severities.map((one) => [one, terms()[one].trim() === '' ? null : Number(terms()[one])]),
      ),
      business_days: isWorking(),
    };
    const isDone = await action.run(() =>
      before === null
        ? call('POST /api/v1/sla/policies', { body })
        : call('PATCH /api/v1/sla/policies/{id}', { params: { id: before.id }, body, ifMatch: `"${before.version}"` }),
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
      <TextField label={text.name} value={name()} onInput={setName} isRequired />
      <TextField
        label={text.position}
        type="number"
        help={text.positionHelp}
        value={position()}
        onInput={setPosition}
        isRequired
      />
      <PredicateFields label={text.conditions} fields={findingFields} start={first} onChange={setSelector} />
      <div class="grid-4">
        <For each={severities}>
          {(severity) => (
            <TextField
              label={text.daysOf(severity)}
              type="number"
              unit={text.days}
              value={terms()[severity]}
              onInput={(days) => setTerms((all) => ({ ...all, [severity]: days }))}
            />
          )}
        </For>
      </div>
      <span class="help">{text.daysHelp}</span>
      <Switch label={text.businessDays} isOn={isWorking()} onChange={setWorking} />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button look="primary" type="submit" isBusy={action.isBusy()} disabled={name().trim() === ''}>
          {text.save}
        </Button>
      </div>
    </form>
  );
}
