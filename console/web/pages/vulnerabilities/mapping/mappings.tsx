// Mapping profiles: what reports of other formats name the fields of a finding.
import { A } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import { call } from '../../../client/http.js';
import { showMoment } from '../../../client/moments.js';
import { createPagedList } from '../../../client/pages.js';
import { createQuery } from '../../../client/query.js';
import { Button, Foreign } from '../../../kit/basics.js';
import { Overlay } from '../../../kit/overlays.js';
import { Read } from '../../../kit/page-state.js';
import { createEditedRows, EditedRowDialogs } from '../../../kit/table/edited-rows.js';
import { createChosen, ListCard } from '../../../kit/table/list-card.js';
import type { TableColumn } from '../../../kit/table/table.js';
import { mappingsText as text } from '../../../texts/vm/sources/mappings.js';
import { MappingFacts } from './mapping-facts.js';
import { fieldNames, MappingForm, type Mapping } from './mapping-form.js';

/** How an import names it. */
export const formatOf = ({ name }: Pick<Mapping, 'name'>): string => `mapping:${name ?? ''}`;
const tryAt = (mapping: Mapping): string => `/vulnerabilities/imports?format=${encodeURIComponent(formatOf(mapping))}`;

const fieldsOf = ({ fields }: Mapping): string =>
  fieldNames.flatMap((name) => (fields?.[name] === undefined ? [] : [text.ours[name]])).join(', ');

const columnsOf = (
  mayEdit: () => boolean,
  onEdit: (mapping: Mapping) => void,
  onDelete: (mapping: Mapping) => void,
): readonly TableColumn<Mapping>[] => [
  { title: text.name, class: 'mono', cell: ({ name }) => <Foreign text={name} max={100} /> },
  { title: text.format, cell: ({ format }) => (format === null ? '–' : text.formats[format]) },
  { title: text.rowsPath, class: 'mono', cell: ({ rows_path: path }) => <Foreign text={path || '–'} max={100} /> },
  { title: text.fields, cell: (mapping) => fieldsOf(mapping) },
  { title: text.changed, class: 'nums', cell: ({ updated_at: at }) => showMoment(at) },
  {
    title: text.actions,
    isTitleHidden: true,
    cell: (mapping) => (
      <Show when={mayEdit()}>
        <div class="row">
          <A class="button small" href={tryAt(mapping)}>
            {text.tryIt}
          </A>
          <Button isSmall onClick={() => onEdit(mapping)}>
            {text.edit}
          </Button>
          <Button isSmall onClick={() => onDelete(mapping)}>
            {text.delete}
          </Button>
        </div>
      </Show>
    ),
  },
];

function Opened(props: { readonly id: string }): JSX.Element {
  const one = createQuery('GET /api/v1/imports/mappings/{id}', () => ({ params: { id: props.id } }));
  return <Read of={one}>{(data) => <MappingFacts of={data()} />}</Read>;
}

export function Mappings(props: { readonly mayEdit: boolean }): JSX.Element {
  const list = createPagedList('GET /api/v1/imports/mappings', () => ({ sort: 'name' as const }));
  const rows = createEditedRows<Mapping>();
  const [chosen, choose] = createChosen('mapping');
  return (
    <>
      <p class="muted">{text.about}</p>
      <ListCard
        label={text.mappings}
        title={text.mappings}
        actions={
          <Show when={props.mayEdit}>
            <Button isSmall look="primary" icon="plus" onClick={() => rows.edit('new')}>
              {text.newMapping}
            </Button>
          </Show>
        }
        list={list}
        columns={columnsOf(() => props.mayEdit, rows.edit, rows.askToDelete)}
        keyOf={({ id }) => id}
        onOpen={({ id }) => choose(id)}
        chosen={chosen()}
        empty={text.none}
        emptyAbout={text.noneAbout}
      />
      <Overlay isOpen={chosen() !== null} look="drawer" title={text.named(chosen() ?? '')} onClose={() => choose(null)}>
        <Show when={chosen()} keyed>
          {(id) => <Opened id={id} />}
        </Show>
      </Overlay>
      <EditedRowDialogs
        of={rows}
        text={text}
        newTitle={text.newMapping}
        form={(of, onSaved) => <MappingForm of={of} onSaved={onSaved} />}
        deleteTitle={text.deleteMapping}
        deleteAbout={text.deleteAbout}
        remove={({ id }) => call('DELETE /api/v1/imports/mappings/{id}', { params: { id } })}
        onChanged={() => list.reload()}
      />
    </>
  );
}
