// Bills of material as documents: sent, compared, exported, and read as a graph.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, linkTo, type Item, type Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { Badge, Button, Card, Foreign, Notice } from '../../kit/basics.js';
import { FileField, SelectField, Switch, TextField } from '../../kit/form.js';
import { Overlay, tell } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { sbomsText as text } from '../../texts/vm/sources/sboms.js';
import type { Applications } from '../vulnerabilities/words.js';
import { Difference } from './difference.js';

type Bill = Item<'GET /api/v1/sca/sboms'>;
type Whole = Reply<'GET /api/v1/sca/sboms/{id}'>;
type Node = Whole['nodes'][number];

function SendForm(props: { readonly applications: Applications; readonly onKept: () => void }): JSX.Element {
  const [application, setApplication] = createSignal('');
  const [branch, setBranch] = createSignal('');
  const [isSync, setSync] = createSignal(true);
  const [file, setFile] = createSignal<File | null>(null);
  const action = createAction();
  const send = async (): Promise<void> => {
    const chosen = file();
    if (chosen === null) return;
    const form = new FormData();
    form.set('application_id', application());
    if (branch().trim() !== '') form.set('branch', branch().trim());
    if (isSync()) form.set('mode', 'sync');
    form.set('file', chosen);
    const isDone = await action.run(async () => {
      const { id } = await call('POST /api/v1/sca/sboms', { form });
      tell(text.kept(id));
    });
    if (isDone) props.onKept();
  };
  return (
    <Card title={text.add}>
      <div class="stack">
        <div class="grid grid-3">
          <SelectField
            label={text.application}
            value={application()}
            options={props.applications.options(text.choose)}
            onChange={setApplication}
          />
          <FileField label={text.file} help={text.fileHelp} onChosen={setFile} />
          <TextField label={text.branch} value={branch()} onInput={setBranch} />
        </div>
        <Switch label={text.sync} isOn={isSync()} onChange={setSync} />
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <div>
          <Button
            look="primary"
            isBusy={action.isBusy()}
            disabled={application() === '' || file() === null}
            onClick={() => void send()}
          >
            {text.add}
          </Button>
        </div>
      </div>
    </Card>
  );
}

const columnsOf = (applications: Applications): readonly TableColumn<Bill>[] => [
  { title: text.name, cell: ({ name }) => <Foreign text={name || '–'} max={120} /> },
  { title: text.application, cell: (one) => <Foreign text={applications.nameOf(one.application_id)} max={80} /> },
  { title: text.branch, cell: ({ branch }) => <Foreign text={branch || '–'} max={60} /> },
  {
    title: text.format,
    cell: ({ format, spec_version: version }) => <Foreign text={`${format} ${version}`} max={60} />,
  },
  { title: text.components, isNumber: true, cell: ({ components }) => showCount(components) },
  { title: text.edges, isNumber: true, cell: ({ edges }) => showCount(edges) },
  { title: text.when, class: 'nums', cell: ({ created_at: at }) => showMoment(at) },
];

const nodeColumnsOf = (whole: Whole): readonly TableColumn<Node>[] => [
  {
    title: text.name,
    cell: ({ n, name }) => (
      <span class="row wrap">
        <Foreign text={name} max={120} />
        <Show when={n === whole.root}>
          <Badge>{text.isRoot}</Badge>
        </Show>
      </span>
    ),
  },
  { title: text.version, class: 'mono', cell: ({ version }) => <Foreign text={version || '–'} max={60} /> },
  { title: text.licences, cell: ({ licences }) => <Foreign text={licences.join(', ') || '–'} max={80} /> },
  {
    title: text.needs,
    class: 'words',
    cell: ({ needs }) => <Foreign text={needs.map((n) => whole.nodes[n]?.name ?? '').join(', ') || '–'} max={300} />,
  },
];

function Opened(props: { readonly id: string; readonly others: readonly Bill[] }): JSX.Element {
  const one = createQuery('GET /api/v1/sca/sboms/{id}', () => ({ params: { id: props.id } }));
  const [other, setOther] = createSignal('');
  const options = (application: string): readonly (readonly [string, string])[] => [
    ['', text.noOther],
    ...props.others
      .filter((bill) => bill.id !== props.id && bill.application_id === application)
      .map((bill) => [bill.id, text.billNo(bill.id, bill.name || '–', showMoment(bill.created_at))] as const),
  ];
  const link = (format: 'cyclonedx' | 'spdx'): string =>
    linkTo('GET /api/v1/sca/sboms/{id}/export', { format }, { id: props.id });
  return (
    <Read of={one}>
      {(whole) => (
        <div class="stack">
          <div class="row wrap">
            <a class="button small" href={link('cyclonedx')} download={`sbom-${props.id}.cyclonedx.json`}>
              {text.asCyclonedx(props.id)}
            </a>
            <a class="button small" href={link('spdx')} download={`sbom-${props.id}.spdx.json`}>
              {text.asSpdx(props.id)}
            </a>
          </div>
          <SelectField
            label={text.compareWith}
            value={other()}
            options={options(whole().application_id)}
            onChange={setOther}
          />
          <Show when={other()} keyed>
            {(id) => <Difference a={id} b={props.id} />}
          </Show>
          <section class="stack tight">
            <h3>{text.graph}</h3>
            <Show when={whole().is_cut}>
              <p class="muted small">{text.cut}</p>
            </Show>
            <Table
              label={text.graph}
              columns={nodeColumnsOf(whole())}
              of={{ rows: whole().nodes }}
              keyOf={({ n }) => String(n)}
              empty={text.nothing}
            />
          </section>
        </div>
      )}
    </Read>
  );
}

export function Bills(props: { readonly applications: Applications; readonly maySend: boolean }): JSX.Element {
  const list = createPagedList('GET /api/v1/sca/sboms', () => ({}));
  const [chosen, choose] = createChosen('bill');
  return (
    <>
      <Show when={props.maySend}>
        <SendForm applications={props.applications} onKept={list.reload} />
      </Show>
      <ListCard
        label={text.view.bills}
        list={list}
        columns={columnsOf(props.applications)}
        keyOf={({ id }) => id}
        onOpen={({ id }) => choose(id)}
        chosen={chosen()}
        empty={text.none}
        emptyAbout={text.noneAbout}
      />
      <Overlay isOpen={chosen() !== null} look="wide" title={text.bill(chosen() ?? '')} onClose={() => choose(null)}>
        <Show when={chosen()} keyed>
          {(id) => <Opened id={id} others={list.items()} />}
        </Show>
      </Overlay>
    </>
  );
}
