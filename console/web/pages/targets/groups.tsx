import { Show, type JSX } from 'solid-js';
import { call, type Body, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { Foreign } from '../../kit/basics.js';
import { useFilters } from '../../kit/filter-bar.js';
import { matchOf, ResourceList, type ResourceRow } from '../../kit/resource/resource-list.js';
import { RowForm, type RowField } from '../../kit/resource/row-form.js';
import type { TableColumn } from '../../kit/table/table.js';
import { targetsText as text } from '../../texts/resources/targets.js';
import type { Applications } from '../vulnerabilities/words.js';
import { GroupScan } from './group-scan.js';
import { Members } from './members.js';

type Group = Item<'GET /api/v1/target-groups'>;
type NewGroup = Required<Body<'POST /api/v1/target-groups'>>;

const columns: readonly TableColumn<Group>[] = [
  { title: text.name, sortBy: ({ name }) => name, cell: ({ name }) => <Foreign text={name} max={120} /> },
  { title: text.description, cell: ({ description }) => <Foreign text={description} max={300} /> },
  { title: text.added, class: 'nums', cell: ({ created_at: at }) => showMoment(at, true) },
];

const fields: readonly RowField<NewGroup>[] = [
  { name: 'name', kind: 'text', label: text.name, isRequired: true },
  { name: 'description', kind: 'area', label: text.description },
];

function GroupForm(props: { readonly of: Group | null; readonly onSaved: (saved: ResourceRow) => void }): JSX.Element {
  const { of } = props;
  return (
    <RowForm
      fields={fields}
      start={{ name: of?.name ?? '', description: of?.description ?? '' }}
      isNew={of === null}
      save={(body) =>
        of === null
          ? call('POST /api/v1/target-groups', { body })
          : call('PATCH /api/v1/target-groups/{id}', { params: { id: of.id }, body, ifMatch: matchOf(of) })
      }
      onSaved={props.onSaved}
    />
  );
}

export function Groups(props: {
  readonly applications: Applications;
  readonly mayEdit: boolean;
  readonly mayRun: boolean;
}): JSX.Element {
  const filters = useFilters(['q']);
  const list = createPagedList('GET /api/v1/target-groups', () => ({ ...filters(), sort: 'name' as const }));
  return (
    <ResourceList
      text={{
        list: text.groups,
        one: text.group,
        add: text.newGroup,
        none: text.noGroups,
        noneAbout: text.noGroupsAbout,
        deleteTitle: text.deleteGroup,
        deleteAbout: text.deleteGroupAbout,
      }}
      param="group"
      mayEdit={props.mayEdit}
      list={list}
      columns={columns}
      filters={[{ name: 'q', label: text.nameWords }]}
      nameOf={({ name }) => name}
      facts={(row) => [
        [text.name, <Foreign text={row.name} />],
        [text.description, <Foreign text={row.description ?? '–'} />],
        [text.added, showMoment(row.created_at)],
      ]}
      more={(row) => (
        <>
          <Members id={row().id} applications={props.applications} mayEdit={props.mayEdit} />
          <Show when={props.mayRun}>
            <GroupScan id={row().id} />
          </Show>
        </>
      )}
      form={(of, onSaved) => <GroupForm of={of} onSaved={onSaved} />}
      read={(id) => createQuery('GET /api/v1/target-groups/{id}', () => ({ params: { id } }))}
      remove={({ id }) => call('DELETE /api/v1/target-groups/{id}', { params: { id } })}
    />
  );
}
