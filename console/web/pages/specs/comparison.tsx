// What changed between two versions, for clients of the older one.
import { Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Figure, Foreign } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { specsText as text } from '../../texts/apis/specs.js';
import type { StoredSpec } from './named.js';

type Change = Reply<'GET /api/spec/compare'>['changes'][number];

const columns: readonly TableColumn<Change>[] = [
  {
    title: text.kind,
    cell: ({ kind }) => <Badge tone={kind === 'breaking' ? 'danger' : 'good'}>{text.kinds[kind]}</Badge>,
  },
  { title: text.operation, class: 'mono', cell: ({ operation }) => <Foreign text={operation} max={200} /> },
  { title: text.change, cell: ({ message }) => <Foreign text={message} max={400} /> },
  { title: text.place, class: 'mono small', cell: ({ pointer }) => <Foreign text={pointer} max={200} /> },
];

export function ChangeList(props: { readonly changes: readonly Change[] }): JSX.Element {
  return (
    <Table
      label={text.comparison}
      columns={columns}
      of={ofRows(() => props.changes)}
      keyOf={({ code, operation, pointer }) => JSON.stringify([code, operation, pointer])}
      empty={text.noChanges}
    />
  );
}

/** The older of the two is what clients know, whichever was opened. */
export function Comparison(props: { readonly one: StoredSpec; readonly other: StoredSpec }): JSX.Element {
  const order = (): readonly [StoredSpec, StoredSpec] =>
    props.one.version <= props.other.version ? [props.one, props.other] : [props.other, props.one];
  const changes = createQuery('GET /api/spec/compare', () => ({ query: { from: order()[0].id, to: order()[1].id } }));
  return (
    <Read of={changes}>
      {(data) => (
        <div class="stack">
          <p class="muted">{text.comparing(data().from.version, data().to.version)}</p>
          <div class="grid-2">
            <Figure label={text.breaking} value={showCount(data().breaking)} />
            <Figure label={text.compatible} value={showCount(data().compatible)} />
          </div>
          <Show when={data().changes} keyed>
            {(found) => <ChangeList changes={found} />}
          </Show>
        </div>
      )}
    </Read>
  );
}
