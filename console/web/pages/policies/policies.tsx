// Policies: predicates over findings, and what follows where one holds. Beside each stand the findings it holds for.
import { Show, type JSX } from 'solid-js';
import { call, type Body, type Item, type Query } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Badge, Foreign, PageHead } from '../../kit/basics.js';
import { useFilters } from '../../kit/filter-bar.js';
import { matchOf, ResourceList, type ResourceRow } from '../../kit/resource/resource-list.js';
import { RowForm, type RowField } from '../../kit/resource/row-form.js';
import type { TableColumn } from '../../kit/table/table.js';
import { policiesText as text } from '../../texts/resources/policies.js';
import { bodyOf, findingFields, sentenceOf, type Predicate } from '../governance/predicate.js';
import { namesIn } from '../governance/named-values.js';
import { PredicateFields } from '../governance/predicate-fields.js';
import { createApplications, severities, severityTone, type Applications } from '../vulnerabilities/words.js';
import { Evaluation } from './evaluation.js';
import { Violations } from './violations.js';

type Policy = Item<'GET /api/v1/policies'>;
type NewPolicy = Required<Body<'POST /api/v1/policies'>>;
type Filter = Omit<Query<'GET /api/v1/policies'>, 'cursor' | 'limit'>;
type Action = NewPolicy['action'];

const start: Predicate = { field: 'kev', op: 'eq', value: true };
const actionOf = (action: Action | null): string => (action === null ? '–' : text.actions[action]);
const everyAction = (['gate', 'violation', 'notify'] as const).map((one) => [one, text.actions[one]] as const);

const State = (props: { readonly isOn: boolean }): JSX.Element => (
  <Badge tone={props.isOn ? 'good' : 'neutral'}>{props.isOn ? text.isOn : text.isOff}</Badge>
);
const Severity = (props: { readonly of: string | null }): JSX.Element => (
  <Badge tone={severityTone(props.of ?? '')}>{props.of ?? '–'}</Badge>
);

const columnsOf = (applications: Applications): readonly TableColumn<Policy>[] => [
  { title: text.name, sortBy: ({ name }) => name, cell: ({ name }) => <Foreign text={name} max={120} /> },
  {
    title: text.holdsFor,
    cell: ({ predicate }) => <Foreign text={sentenceOf(predicate, namesIn(applications))} max={300} />,
  },
  {
    title: text.action,
    cell: ({ action }) => <Badge tone={action === 'gate' ? 'danger' : 'neutral'}>{actionOf(action)}</Badge>,
  },
  { title: text.severity, cell: ({ severity }) => <Severity of={severity} /> },
  { title: text.enabled, cell: ({ enabled }) => <State isOn={enabled === true} /> },
];

const fields: readonly RowField<NewPolicy>[] = [
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
    name: 'action',
    kind: 'select',
    label: text.action,
    help: text.actionHelp,
    options: () => everyAction,
  },
  {
    name: 'severity',
    kind: 'select',
    label: text.severity,
    options: () => severities.map((name) => [name, name] as const),
  },
  { name: 'enabled', kind: 'switch', label: text.enabled },
];

function PolicyForm(props: {
  readonly of: Policy | null;
  readonly onSaved: (saved: ResourceRow) => void;
}): JSX.Element {
  const { of } = props;
  return (
    <RowForm
      fields={fields}
      start={{
        name: of?.name ?? '',
        predicate: of?.predicate ?? bodyOf(start),
        action: of?.action ?? 'gate',
        severity: of?.severity ?? 'high',
        enabled: of?.enabled ?? true,
      }}
      isNew={of === null}
      save={(body) =>
        of === null
          ? call('POST /api/v1/policies', { body })
          : call('PATCH /api/v1/policies/{id}', { params: { id: of.id }, body, ifMatch: matchOf(of) })
      }
      onSaved={props.onSaved}
    />
  );
}

export function Policies(): JSX.Element {
  const access = createVmAccess();
  const applications = createApplications();
  const filters = useFilters(['q', 'action', 'enabled']);
  const list = createPagedList('GET /api/v1/policies', () => ({ ...filters(), sort: 'name' }) as Filter);
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <ResourceList
        text={{
          list: text.policies,
          one: text.policy,
          add: text.newPolicy,
          none: text.noPolicies,
          noneAbout: text.noPoliciesAbout,
          deleteTitle: text.deletePolicy,
          deleteAbout: text.deletePolicyAbout,
        }}
        param="policy"
        mayEdit={access.may('manage_policies')}
        list={list}
        columns={columnsOf(applications)}
        filters={[
          { name: 'q', label: text.nameWords },
          { name: 'action', label: text.action, options: () => [['', text.anyAction], ...everyAction] },
          {
            name: 'enabled',
            label: text.enabled,
            options: () => [
              ['', text.anyState],
              ['true', text.isOn],
              ['false', text.isOff],
            ],
          },
        ]}
        nameOf={({ name }) => name}
        facts={(row) => [
          [text.name, <Foreign text={row.name} />],
          [text.holdsFor, <Foreign text={sentenceOf(row.predicate, namesIn(applications))} />],
          [text.action, actionOf(row.action)],
          [text.severity, <Severity of={row.severity} />],
          [text.enabled, <State isOn={row.enabled === true} />],
          [text.changed, showMoment(row.updated_at)],
        ]}
        more={(row) => (
          <>
            <Evaluation of={row()} applications={applications} />
            <Show when={row().action !== 'gate'}>
              <Violations policy={row().id} applications={applications} />
            </Show>
          </>
        )}
        form={(of, onSaved) => <PolicyForm of={of} onSaved={onSaved} />}
        read={(id) => createQuery('GET /api/v1/policies/{id}', () => ({ params: { id } }))}
        remove={({ id }) => call('DELETE /api/v1/policies/{id}', { params: { id } })}
      />
    </>
  );
}
