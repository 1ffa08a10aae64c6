// Datasets for reports of others: what each holds, and the files of it.
import { For, Show, type JSX } from 'solid-js';
import { linkTo, type Item } from '../../client/http.js';
import { createQuery } from '../../client/query.js';
import { Card, PageHead, Pairs } from '../../kit/basics.js';
import { Overlay } from '../../kit/overlays.js';
import { createChosen } from '../../kit/table/list-card.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofQuery, ofRows } from '../../kit/table/table-source.js';
import { biText as text } from '../../texts/resources/bi.js';

type Dataset = Item<'GET /api/v1/bi/datasets'>;
const formats = ['csv', 'jsonl', 'parquet'] as const;

function Downloads(props: { readonly of: Dataset }): JSX.Element {
  return (
    <span class="row wrap">
      <For each={formats}>
        {(format) => (
          <a
            class="button small"
            href={linkTo('GET /api/v1/bi/datasets/{id}/export', { format }, { id: props.of.id })}
            download=""
            aria-label={text.downloadAs(props.of.id, text.formats[format])}
          >
            {text.formats[format]}
          </a>
        )}
      </For>
    </span>
  );
}

const columns: readonly TableColumn<Dataset>[] = [
  { title: text.dataset, class: 'mono', cell: ({ id }) => id },
  { title: text.rowIs, class: 'words', cell: ({ grain }) => grain },
  { title: text.view, class: 'mono', isMinor: true, cell: ({ view }) => view },
  { title: text.download, cell: (one) => <Downloads of={one} /> },
];

const columnsOfColumns: readonly TableColumn<Dataset['columns'][number]>[] = [
  { title: text.column, class: 'mono', cell: ({ name }) => name },
  { title: text.type, cell: ({ type }) => type },
  { title: text.meaning, class: 'words', cell: ({ about }) => about },
];

function Opened(props: { readonly of: Dataset }): JSX.Element {
  return (
    <>
      <p>{props.of.about}</p>
      <Pairs
        of={[
          [text.rowIs, props.of.grain],
          [text.version, String(props.of.version)],
          [text.view, props.of.view],
          [text.download, <Downloads of={props.of} />],
        ]}
      />
      <Card isFlush title={text.columns}>
        <Table
          label={text.columns}
          columns={columnsOfColumns}
          of={ofRows(() => props.of.columns)}
          keyOf={({ name }) => name}
          empty={text.none}
        />
      </Card>
    </>
  );
}

export function DataExports(): JSX.Element {
  const datasets = createQuery('GET /api/v1/bi/datasets');
  const [chosen, choose] = createChosen('dataset');
  const opened = (): Dataset | undefined => datasets.data()?.items.find(({ id }) => id === chosen());
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <Card isFlush title={text.datasets}>
        <Table
          label={text.datasets}
          columns={columns}
          of={ofQuery(datasets, ({ items }) => items)}
          keyOf={({ id }) => id}
          chosen={chosen()}
          onOpen={({ id }) => choose(id)}
          empty={text.none}
        />
      </Card>
      <Overlay isOpen={opened() !== undefined} look="drawer" title={chosen() ?? ''} onClose={() => choose(null)}>
        <Show when={opened()}>{(one) => <Opened of={one()} />}</Show>
      </Overlay>
    </>
  );
}
