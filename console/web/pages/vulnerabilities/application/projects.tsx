// Projects: which applications trust each other.
import { Show, type JSX } from 'solid-js';
import { call, type Body, type Item } from '../../../client/http.js';
import { createPagedList } from '../../../client/pages.js';
import { Button, Foreign } from '../../../kit/basics.js';
import { matchOf } from '../../../kit/resource/resource-list.js';
import { RowForm, type RowField } from '../../../kit/resource/row-form.js';
import { createEditedRows, EditedRowDialogs } from '../../../kit/table/edited-rows.js';
import { ListCard } from '../../../kit/table/list-card.js';
import type { TableColumn } from '../../../kit/table/table.js';
import { assetsText as text } from '../../../texts/vm/assets.js';

type Project = Item<'GET /api/v1/projects'>;
type NewProject = Required<Omit<Body<'POST /api/v1/projects'>, 'demo'>>;

const fields: readonly RowField<NewProject>[] = [
  { name: 'name', kind: 'text', label: text.name, isRequired: true },
  { name: 'owner', kind: 'text', label: text.owner },
  { name: 'description', kind: 'area', label: text.description },
];

function ProjectForm(props: { readonly of: Project | null; readonly onSaved: () => void }): JSX.Element {
  const { of } = props;
  return (
    <RowForm
      fields={fields}
      start={{ name: of?.name ?? '', owner: of?.owner ?? '', description: of?.description ?? '' }}
      isNew={of === null}
      save={(body) =>
        of === null
          ? call('POST /api/v1/projects', { body })
          : call('PATCH /api/v1/projects/{id}', { params: { id: of.id }, body, ifMatch: matchOf(of) })
      }
      onSaved={props.onSaved}
    />
  );
}

const columnsOf = (
  mayEdit: () => boolean,
  onEdit: (project: Project) => void,
  onDelete: (project: Project) => void,
): readonly TableColumn<Project>[] => [
  { title: text.name, cell: ({ name }) => <Foreign text={name} max={120} /> },
  { title: text.owner, cell: ({ owner }) => <Foreign text={owner} max={80} /> },
  { title: text.description, cell: ({ description }) => <Foreign text={description} max={300} /> },
  {
    title: text.actions,
    isTitleHidden: true,
    cell: (project) => (
      <Show when={mayEdit()}>
        <div class="row">
          <Button isSmall onClick={() => onEdit(project)}>
            {text.edit}
          </Button>
          <Button isSmall onClick={() => onDelete(project)}>
            {text.delete}
          </Button>
        </div>
      </Show>
    ),
  },
];

export function Projects(props: { readonly mayEdit: boolean }): JSX.Element {
  const list = createPagedList('GET /api/v1/projects', () => ({ sort: 'name' as const }));
  const rows = createEditedRows<Project>();
  return (
    <>
      <p class="muted">{text.projectsAbout}</p>
      <ListCard
        label={text.projects}
        title={text.projects}
        actions={
          <Show when={props.mayEdit}>
            <Button isSmall look="primary" icon="plus" onClick={() => rows.edit('new')}>
              {text.newProject}
            </Button>
          </Show>
        }
        list={list}
        columns={columnsOf(() => props.mayEdit, rows.edit, rows.askToDelete)}
        keyOf={({ id }) => id}
        empty={text.noProjects}
        emptyAbout={text.noProjectsAbout}
      />
      <EditedRowDialogs
        of={rows}
        text={text}
        newTitle={text.newProject}
        form={(of, onSaved) => <ProjectForm of={of} onSaved={onSaved} />}
        deleteTitle={text.deleteProject}
        deleteAbout={text.deleteProjectAbout}
        remove={({ id }) => call('DELETE /api/v1/projects/{id}', { params: { id } })}
        onChanged={() => list.reload()}
      />
    </>
  );
}
