// Projects: which applications trust each other.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call, type Item } from '../../../client/http.js';
import { createPagedList } from '../../../client/pages.js';
import { Button, Foreign, Notice } from '../../../kit/basics.js';
import { TextField } from '../../../kit/form.js';
import { tell } from '../../../kit/overlays.js';
import { createEditedRows, EditedRowDialogs } from '../../../kit/table/edited-rows.js';
import { ListCard } from '../../../kit/table/list-card.js';
import type { TableColumn } from '../../../kit/table/table.js';
import { assetsText as text } from '../../../texts/vm/assets.js';

type Project = Item<'GET /api/v1/projects'>;

function ProjectForm(props: { readonly of: Project | null; readonly onSaved: () => void }): JSX.Element {
  const before = props.of;
  const [name, setName] = createSignal(before?.name ?? '');
  const [owner, setOwner] = createSignal(before?.owner ?? '');
  const [description, setDescription] = createSignal(before?.description ?? '');
  const action = createAction();
  const save = async (): Promise<void> => {
    const body = { name: name().trim(), owner: owner().trim(), description: description().trim() };
    const isDone = await action.run(() =>
      before === null
        ? call('POST /api/v1/projects', { body })
        : call('PATCH /api/v1/projects/{id}', { params: { id: before.id }, body, ifMatch: `"${before.version}"` }),
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
      <TextField label={text.owner} value={owner()} onInput={setOwner} />
      <TextField label={text.description} value={description()} onInput={setDescription} />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button look="primary" type="submit" isBusy={action.isBusy()} disabled={name().trim() === ''}>
          {text.save}
        </Button>
      </div>
    </form>
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
