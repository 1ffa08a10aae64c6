// Assessments: what people look at by hand, by whom, and how far they are.
import type { JSX } from 'solid-js';
import { call, type Body, type Item, type Query } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createPeople, type People } from '../../client/people.js';
import { createQuery } from '../../client/query.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Badge, Foreign, ForeignLines, PageHead, type Tone } from '../../kit/basics.js';
import { useFilters } from '../../kit/filter-bar.js';
import { AreaField } from '../../kit/form.js';
import { matchOf, ResourceList, type ResourceRow } from '../../kit/resource/resource-list.js';
import { RowForm, type RowField } from '../../kit/resource/row-form.js';
import type { TableColumn } from '../../kit/table/table.js';
import { assessmentsText as text } from '../../texts/resources/assessments.js';
import { NeedsApplication } from '../vulnerabilities/application/needed.js';
import { createApplications, type Applications } from '../vulnerabilities/words.js';
import { Checklist, ProgressBadges } from './checklist-card.js';
import { withLines } from './checklist.js';
import { LeadField } from './lead-field.js';
import { nextStates } from './next-states.js';

export type Assessment = Item<'GET /api/v1/assessments'>;
type NewAssessment = Required<Body<'POST /api/v1/assessments'>>;
type Filter = Omit<Query<'GET /api/v1/assessments'>, 'cursor' | 'limit'>;
/** Of the form: the checklist of a new one is typed, one item a line. */
type Typed = Omit<NewAssessment, 'checklist'> & { readonly lines: string };

const kinds = Object.entries(text.kinds) as readonly (readonly [NewAssessment['kind'], string])[];
const states = Object.entries(text.states) as readonly (readonly [NewAssessment['status'], string])[];
/** What the server takes: the state it has, and those that one leads to; a new one is planned or active. */
const statesFrom = (of: Assessment | null): typeof states => {
  const from = of?.status ?? 'planned';
  return states.filter(([state]) => state === from || nextStates[from].includes(state));
};
const tones: Readonly<Record<string, Tone>> = { active: 'info', review: 'warn', closed: 'good' };

const kindOf = ({ kind }: Assessment): string => (kind === null ? '–' : text.kinds[kind]);
const State = (props: { readonly of: Assessment['status'] }): JSX.Element => (
  <Badge tone={tones[props.of ?? ''] ?? 'neutral'}>{props.of === null ? '–' : text.states[props.of]}</Badge>
);
const leadOf = (people: People, lead: string | null): string => {
  const isAddress = lead?.includes('@') === true; // else it is the name of somebody without an account
  return (isAddress ? people.nameOf('email', lead) : null) ?? lead ?? '';
};

const columnsOf = (applications: Applications, people: People): readonly TableColumn<Assessment>[] => [
  { title: text.name, sortBy: ({ name }) => name, cell: ({ name }) => <Foreign text={name} max={120} /> },
  { title: text.application, cell: (one) => <Foreign text={applications.nameOf(one.application_id)} max={80} /> },
  { title: text.kind, cell: kindOf },
  { title: text.lead, cell: ({ lead }) => <Foreign text={leadOf(people, lead)} max={80} /> },
  { title: text.status, sortBy: ({ status }) => status, cell: ({ status }) => <State of={status} /> },
  { title: text.progress, cell: ({ checklist }) => <ProgressBadges of={checklist ?? []} /> },
  { title: text.changed, class: 'nums', cell: ({ updated_at: at }) => showMoment(at, true) },
];

const fieldsOf = (applications: Applications, people: People, of: Assessment | null): readonly RowField<Typed>[] => [
  { name: 'name', kind: 'text', label: text.name, isRequired: true },
  {
    name: 'application_id',
    kind: 'select',
    label: text.application,
    help: text.applicationHelp,
    options: () => applications.options(text.choose),
    isRequired: true,
    isOnce: true,
  },
  { name: 'kind', kind: 'select', label: text.kind, options: () => kinds },
  { name: 'status', kind: 'select', label: text.status, help: text.statusHelp, options: () => statesFrom(of) },
  {
    name: 'lead',
    kind: 'own',
    label: text.lead,
    draw: (value, set) => <LeadField people={people} value={value()} onChange={set} />,
  },
  { name: 'scope', kind: 'area', label: text.scope },
  {
    name: 'lines',
    kind: 'own',
    label: text.checklist,
    isOnce: true,
    draw: (value, set) => (
      <AreaField label={text.checklist} help={text.checklistHelp} value={value()} onInput={set} rows={5} />
    ),
  },
];

function AssessmentForm(props: {
  readonly of: Assessment | null;
  readonly applications: Applications;
  readonly people: People;
  readonly application: string;
  readonly onSaved: (saved: ResourceRow) => void;
}): JSX.Element {
  const { of } = props;
  const start: Typed = {
    name: of?.name ?? '',
    application_id: props.application,
    kind: of?.kind ?? 'pentest',
    status: of?.status ?? 'planned',
    lead: of?.lead ?? '',
    scope: of?.scope ?? '',
    lines: '',
  };
  const save = ({ lines, ...body }: Typed): Promise<ResourceRow> =>
    of === null
      ? call('POST /api/v1/assessments', { body: { ...body, checklist: [...withLines([], lines)] } })
      : call('PATCH /api/v1/assessments/{id}', { params: { id: of.id }, body, ifMatch: matchOf(of) });
  return (
    <RowForm
      fields={fieldsOf(props.applications, props.people, of)}
      start={start}
      isNew={of === null}
      save={save}
      onSaved={props.onSaved}
    />
  );
}

export function Assessments(): JSX.Element {
  const access = createVmAccess();
  const applications = createApplications();
  const people = createPeople();
  const filters = useFilters(['q', 'status', 'kind', 'application_id']);
  const list = createPagedList('GET /api/v1/assessments', () => ({ ...filters(), sort: '-created_at' }) as Filter);
  const mayEdit = (): boolean => access.may('edit_findings');
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <ResourceList
        text={{
          list: text.assessments,
          one: text.assessment,
          add: text.newAssessment,
          none: text.noAssessments,
          noneAbout: text.noAssessmentsAbout,
          deleteTitle: text.deleteAssessment,
          deleteAbout: text.deleteAssessmentAbout,
        }}
        param="assessment"
        mayEdit={mayEdit()}
        list={list}
        columns={columnsOf(applications, people)}
        filters={[
          { name: 'q', label: text.nameWords },
          { name: 'status', label: text.status, options: () => [['', text.anyStatus], ...states] },
          { name: 'kind', label: text.kind, options: () => [['', text.anyKind], ...kinds] },
          {
            name: 'application_id',
            label: text.application,
            options: () => applications.options(text.anyApplication),
          },
        ]}
        nameOf={({ name }) => name}
        facts={(row) => [
          [text.name, <Foreign text={row.name} />],
          [text.application, <Foreign text={applications.nameOf(row.application_id)} />],
          [text.kind, kindOf(row)],
          [text.status, <State of={row.status} />],
          [text.lead, <Foreign text={leadOf(people, row.lead) || text.nobody} />],
          [text.scope, <ForeignLines text={row.scope === '' ? '–' : row.scope} max={5000} />],
          [text.begun, showMoment(row.created_at)],
        ]}
        more={(row, keep) => <Checklist of={row()} mayEdit={mayEdit()} keep={keep} />}
        form={(of, onSaved) => (
          <>
            <NeedsApplication applications={applications} text={text.firstApplication} />
            <AssessmentForm
              of={of}
              applications={applications}
              people={people}
              application={of?.application_id ?? filters()['application_id'] ?? ''}
              onSaved={onSaved}
            />
          </>
        )}
        read={(id) => createQuery('GET /api/v1/assessments/{id}', () => ({ params: { id } }))}
        remove={({ id }) => call('DELETE /api/v1/assessments/{id}', { params: { id } })}
      />
    </>
  );
}
