// Triage rules: what is done with findings by itself; their order, what each would do, and what they did.
import { Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Body, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList, type PagedList } from '../../client/pages.js';
import { createPeople, type People } from '../../client/people.js';
import { createQuery } from '../../client/query.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Badge, Button, Foreign, Notice, PageHead } from '../../kit/basics.js';
import { matchOf, ResourceList, type ResourceRow } from '../../kit/resource/resource-list.js';
import { RowForm, type RowField } from '../../kit/resource/row-form.js';
import type { TableColumn } from '../../kit/table/table.js';
import { triageText as text } from '../../texts/resources/triage.js';
import { namesIn } from '../governance/named-values.js';
import { bodyOf, findingFields, sentenceOf, type Predicate } from '../governance/predicate.js';
import { PredicateFields } from '../governance/predicate-fields.js';
import { createApplications, type Applications } from '../vulnerabilities/words.js';
import { EffectFields } from './effect-fields.js';
import { sentenceOfEffect, type Effect } from './effects.js';
import { RuleRuns } from './runs.js';
import { TrialRun } from './trial.js';

type Rule = Item<'GET /api/v1/rules'>;
type NewRule = Required<Body<'POST /api/v1/rules'>>;

const start: Predicate = { field: 'location', op: 'contains', value: '' };

const State = (props: { readonly isOn: boolean }): JSX.Element => (
  <Badge tone={props.isOn ? 'good' : 'neutral'}>{props.isOn ? text.isOn : text.isOff}</Badge>
);
const effectsOf = (rule: Pick<Rule, 'effects'>): readonly Effect[] => (rule.effects ?? []) as readonly Effect[];
const saidOf = (rule: Rule, people: People): string =>
  effectsOf(rule)
    .map((effect) => sentenceOfEffect(effect, (id) => people.nameOf('id', id) ?? id))
    .join('; ');

const columnsOf = (applications: Applications, people: People): readonly TableColumn<Rule>[] => [
  { title: text.place, cell: ({ position }) => (position ?? 0) + 1 },
  { title: text.name, cell: ({ name }) => <Foreign text={name} max={120} /> },
  {
    title: text.holdsFor,
    cell: ({ predicate }) => <Foreign text={sentenceOf(predicate, namesIn(applications))} max={300} />,
  },
  { title: text.effects, cell: (rule) => <Foreign text={saidOf(rule, people)} max={300} /> },
  { title: text.after, cell: ({ stop }) => (stop === true ? text.stops : text.goesOn) },
  { title: text.enabled, cell: ({ enabled }) => <State isOn={enabled === true} /> },
];

const fieldsOf = (people: People): readonly RowField<NewRule>[] => [
  { name: 'name', kind: 'text', label: text.name, isRequired: true },
  {
    name: 'predicate',
    kind: 'own',
    label: text.conditions,
    draw: (value, set) => (
      <PredicateFields
        label={text.conditions}
        fields={findingFields}
        start={value() as unknown as Predicate}
        onChange={(predicate) => set(bodyOf(predicate))}
      />
    ),
  },
  {
    name: 'effects',
    kind: 'own',
    label: text.effects,
    isRequired: true,
    draw: (value, set) => (
      <EffectFields
        start={value() as readonly Effect[]}
        people={people}
        onChange={(effects) => set(effects as NewRule['effects'])}
      />
    ),
  },
  { name: 'stop', kind: 'switch', label: text.stop },
  { name: 'enabled', kind: 'switch', label: text.enabled },
];

function RuleForm(props: {
  readonly of: Rule | null;
  readonly people: People;
  readonly onSaved: (saved: ResourceRow) => void;
}): JSX.Element {
  const { of } = props;
  return (
    <RowForm
      fields={fieldsOf(props.people)}
      start={{
        name: of?.name ?? '',
        predicate: of?.predicate ?? bodyOf(start),
        effects: of?.effects ?? [{ set: 'tag', value: '' }],
        stop: of?.stop ?? false,
        enabled: of?.enabled ?? true,
      }}
      isNew={of === null}
      save={(body) =>
        of === null
          ? call('POST /api/v1/rules', { body })
          : call('PATCH /api/v1/rules/{id}', { params: { id: of.id }, body, ifMatch: matchOf(of) })
      }
      onSaved={props.onSaved}
    />
  );
}

/** Where a rule stands among all of them, and one place earlier or later. */
function Place(props: {
  readonly of: Rule;
  readonly list: PagedList<Rule>;
  readonly keep: (kept: Promise<boolean>) => void;
}) {
  const action = createAction();
  const ids = (): string[] => props.list.items().map(({ id }) => id);
  const at = (): number => ids().indexOf(props.of.id);
  const move = (by: -1 | 1): void => {
    const order = ids();
    const from = at();
    [order[from], order[from + by]] = [order[from + by] ?? '', order[from] ?? ''];
    props.keep(action.run(() => call('PUT /api/v1/rules/order', { body: { ids: order } })));
  };
  const name = (): string => props.of.name ?? '';
  return (
    <div class="row wrap">
      <Button
        isSmall
        isBusy={action.isBusy()}
        disabled={at() <= 0}
        aria-label={text.moveEarlier(name())}
        onClick={() => move(-1)}
      >
        {text.earlier}
      </Button>
      <Button
        isSmall
        isBusy={action.isBusy()}
        disabled={at() < 0 || at() === ids().length - 1}
        aria-label={text.moveLater(name())}
        onClick={() => move(1)}
      >
        {text.later}
      </Button>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
    </div>
  );
}

export function TriageRules(): JSX.Element {
  const access = createVmAccess();
  const applications = createApplications();
  const people = createPeople(access);
  const mayEdit = (): boolean => access.may('manage_rules');
  // there are 200 rules at most: the order needs all of them
  const list = createPagedList('GET /api/v1/rules', () => ({ sort: 'position' as const }), 200);
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <ResourceList
        text={{
          list: text.rules,
          one: text.rule,
          add: text.newRule,
          none: text.noRules,
          noneAbout: text.noRulesAbout,
          deleteTitle: text.deleteRule,
          deleteAbout: text.deleteRuleAbout,
        }}
        param="rule"
        mayEdit={mayEdit()}
        list={list}
        columns={columnsOf(applications, people)}
        nameOf={({ name }) => name}
        facts={(row) => [
          [text.name, <Foreign text={row.name} />],
          [text.holdsFor, <Foreign text={sentenceOf(row.predicate, namesIn(applications))} />],
          [text.effects, <Foreign text={saidOf(row, people)} />],
          [text.after, row.stop === true ? text.stops : text.goesOn],
          [text.enabled, <State isOn={row.enabled === true} />],
          [text.by, <Foreign text={row.created_by} />],
          [text.changed, showMoment(row.updated_at)],
        ]}
        more={(row, keep) => (
          <>
            <Show when={mayEdit()}>
              <Place of={row()} list={list} keep={keep} />
            </Show>
            <TrialRun of={row()} applications={applications} />
          </>
        )}
        form={(of, onSaved) => <RuleForm of={of} people={people} onSaved={onSaved} />}
        read={(id) => createQuery('GET /api/v1/rules/{id}', () => ({ params: { id } }))}
        remove={({ id }) => call('DELETE /api/v1/rules/{id}', { params: { id } })}
      />
      <RuleRuns mayEdit={mayEdit()} />
    </>
  );
}
