// Threat models: the list, and the form of a new one.
import { A, useNavigate, useSearchParams } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import { useDeparture } from '../../kit/unsaved.js';
import { call, type Item, type Query, type Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Badge, Button, Foreign, PageHead } from '../../kit/basics.js';
import { AddressFilters } from '../../kit/fields/address-filters.js';
import { useFilters } from '../../kit/filter-bar.js';
import { AreaField } from '../../kit/form.js';
import { Overlay } from '../../kit/overlays.js';
import { matchOf } from '../../kit/resource/resource-list.js';
import { RowForm, type RowField } from '../../kit/resource/row-form.js';
import { ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { threatModelsText as text } from '../../texts/vm/models/threat-models.js';
import { NeedsApplication } from '../vulnerabilities/application/needed.js';
import { createApplications, severityTone, type Applications } from '../vulnerabilities/words.js';

type Model = Item<'GET /api/v1/threat-models'>;
type Whole = Reply<'GET /api/v1/threat-models/{id}'>;
type Filter = Omit<Query<'GET /api/v1/threat-models'>, 'cursor' | 'limit'>;
interface Typed {
  readonly name: string;
  readonly application_id: string;
  readonly description: string;
  readonly document: string;
}

export const modelAt = (id: string): string => `/vulnerabilities/threat-models/${id}`;

const columnsOf = (applications: Applications): readonly TableColumn<Model>[] => [
  {
    title: text.name,
    cell: ({ id, name }) => (
      <A href={modelAt(id)}>
        <Foreign text={name} max={120} />
      </A>
    ),
  },
  { title: text.application, cell: (one) => <Foreign text={applications.nameOf(one.application_id)} max={80} /> },
  { title: text.size, class: 'nums', cell: (one) => text.sizeOf(one.elements, one.flows) },
  { title: text.openThreats, isNumber: true, cell: ({ threats }) => showCount(threats['open'] ?? 0) },
  {
    title: text.worst,
    cell: ({ worst_open: worst }) => (
      <Show when={worst} fallback="–">
        {(found) => <Badge tone={severityTone(found())}>{found()}</Badge>}
      </Show>
    ),
  },
  {
    title: text.derivedAt,
    class: 'nums',
    cell: ({ generated_at: at }) => (at === null ? text.never : showMoment(at, true)),
  },
  { title: text.changed, class: 'nums', isMinor: true, cell: ({ updated_at: at }) => showMoment(at, true) },
];

const fieldsOf = (applications: Applications, isNew: boolean): readonly RowField<Typed>[] => [
  { name: 'name', kind: 'text', label: text.name, isRequired: true },
  {
    name: 'application_id',
    kind: 'select',
    label: text.application,
    options: () => applications.options(text.choose),
    isRequired: true,
    isOnce: true,
  },
  { name: 'description', kind: 'area', label: text.description },
  {
    name: 'document',
    kind: 'own',
    label: text.document,
    draw: (value, set) => (
      <AreaField
        label={text.document}
        help={isNew ? text.documentHelp : `${text.documentHelp} ${text.documentChange}`}
        value={value()}
        onInput={set}
        rows={10}
      />
    ),
  },
];

export function ModelForm(props: {
  readonly of: Whole | null;
  readonly applications: Applications;
  readonly application: string;
  readonly onSaved: (id: string) => void;
}): JSX.Element {
  const { of } = props;
  const save = async ({ document, ...body }: Typed): Promise<{ readonly id: string }> => {
    const whole = document.trim() === '' ? body : { ...body, document };
    if (of !== null)
      return call('PATCH /api/v1/threat-models/{id}', { params: { id: of.id }, body: whole, ifMatch: matchOf(of) });
    const made = await call('POST /api/v1/threat-models', { body: whole });
    // what is written needs no derivation to begin with; what is not begins with what is known
    await call('POST /api/v1/threat-models/{id}/generate', {
      params: { id: made.id },
      body: { derive: document.trim() === '' },
    });
    return made;
  };
  return (
    <RowForm
      fields={fieldsOf(props.applications, of === null)}
      start={{
        name: of?.name ?? '',
        application_id: of?.application_id ?? props.application,
        description: of?.description ?? '',
        document: '',
      }}
      isNew={of === null}
      save={save}
      onSaved={({ id }) => props.onSaved(id)}
    />
  );
}

export function ThreatModels(): JSX.Element {
  const access = createVmAccess();
  const applications = createApplications();
  const [search, setSearch] = useSearchParams();
  const navigate = useNavigate();
  const depart = useDeparture();
  const filters = useFilters(['q', 'application_id']);
  const list = createPagedList('GET /api/v1/threat-models', () => filters() as Filter);
  const mayEdit = (): boolean => access.may('edit_threat_models');
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <AddressFilters
        of={[
          { name: 'q', label: text.nameWords },
          {
            name: 'application_id',
            label: text.application,
            options: () => applications.options(text.anyApplication),
          },
        ]}
      />
      <ListCard
        title={text.models}
        label={text.models}
        list={list}
        columns={columnsOf(applications)}
        keyOf={({ id }) => id}
        onOpen={({ id }) => navigate(modelAt(id))}
        empty={text.none}
        emptyAbout={text.noneAbout}
        actions={
          <Show when={mayEdit()}>
            <Button isSmall look="primary" icon="plus" onClick={() => setSearch({ add: '1' })}>
              {text.newModel}
            </Button>
          </Show>
        }
      />
      <Overlay
        isOpen={search['add'] === '1' && mayEdit()}
        look="wide"
        title={text.newModel}
        onClose={() => setSearch({ add: '' })}
      >
        <NeedsApplication applications={applications} text={text.firstApplication} />
        <ModelForm
          of={null}
          applications={applications}
          application={filters()['application_id'] ?? ''}
          onSaved={(id) => depart(modelAt(id))}
        />
      </Overlay>
    </>
  );
}
