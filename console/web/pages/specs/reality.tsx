// What traffic shows and a version of a specification does not say: a JSON Patch in words, and as files.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { fileName, saveFile } from '../../client/save-file.js';
import { Badge, Button, Card, Figure, Foreign, ForeignLines, Notice } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { realityText as text } from '../../texts/apis/reality.js';
import { toldOf, type AdditionTold, type Reality as Found } from './additions.js';
import type { StoredSpec } from './named.js';

type LeftOut = Found['left_out'][number];

const valueMax = 20_000;

const columns: readonly TableColumn<AdditionTold>[] = [
  {
    title: text.adds,
    cell: ({ kind }) => <Badge tone={kind === 'operation' ? 'info' : 'neutral'}>{text.kinds[kind]}</Badge>,
  },
  {
    title: text.operation,
    class: 'mono',
    cell: ({ method, path }) => <Foreign text={`${method} ${path}`.trim() || '–'} max={200} />,
  },
  { title: text.name, class: 'mono', cell: ({ name }) => <Foreign text={name || '–'} max={120} /> },
  { title: text.place, class: 'mono small', cell: ({ pointer }) => <Foreign text={pointer} max={200} /> },
];

const leftOutColumns: readonly TableColumn<LeftOut>[] = [
  {
    title: text.operation,
    class: 'mono',
    cell: ({ method, template }) => <Foreign text={`${method} ${template}`} max={200} />,
  },
  { title: text.why, cell: ({ reason }) => <Foreign text={reason} max={200} /> },
];

function Downloads(props: { readonly of: StoredSpec; readonly patch: Found['patch'] }): JSX.Element {
  const action = createAction();
  const nameOf = (what: string): string =>
    fileName([props.of.site, props.of.name, props.of.version, `${what}.json`].join('-'));
  const save = (what: string, value: unknown, type: string): void =>
    saveFile(nameOf(what), `${JSON.stringify(value, null, 2)}\n`, type);
  const saveWhole = (): Promise<boolean> =>
    action.run(async () => {
      const asked = { params: { id: props.of.id }, query: { document: true } };
      save('with-traffic', (await call('GET /api/spec/{id}/reality', asked)).document, 'application/json');
    });
  return (
    <>
      <div class="row wrap">
        <Button onClick={() => save('patch', props.patch, 'application/json-patch+json')}>{text.downloadPatch}</Button>
        <Button isBusy={action.isBusy()} onClick={() => void saveWhole()}>
          {text.downloadWhole}
        </Button>
      </div>
      <Show when={action.problem()}>{(problem) => <Notice tone="danger">{problem()}</Notice>}</Show>
    </>
  );
}

function Differences(props: { readonly of: StoredSpec; readonly found: Found }): JSX.Element {
  const rows = (): readonly AdditionTold[] => props.found.patch.flatMap(toldOf);
  return (
    <>
      <div class="grid-3">
        <Figure label={text.operations} value={showCount(props.found.operations)} />
        <Figure label={text.parameters} value={showCount(props.found.parameters)} />
        <Figure label={text.leftOut} value={showCount(props.found.left_out.length)} />
      </div>
      <Show when={props.found.applies_to === 'converted'}>
        <p class="small muted">{text.converted}</p>
      </Show>
      <Show when={props.found.patch.length > 0}>
        <Downloads of={props.of} patch={props.found.patch} />
      </Show>
      <Card isFlush title={text.additions}>
        <Table
          label={text.additions}
          columns={columns}
          of={ofRows(rows)}
          keyOf={({ kind, pointer, method, name }) => JSON.stringify([kind, pointer, method, name])}
          empty={text.nothingMissing}
          emptyAbout={text.nothingMissingAbout}
        />
      </Card>
      <Show when={props.found.left_out.length > 0}>
        <Card isFlush title={text.leftOut}>
          <Table
            label={text.leftOut}
            columns={leftOutColumns}
            of={ofRows(() => props.found.left_out)}
            keyOf={({ method, template }) => `${method} ${template}`}
            empty={text.nothingMissing}
          />
        </Card>
      </Show>
      <Show when={props.found.patch.length > 0}>
        <details class="fold">
          <summary>{text.patch}</summary>
          <pre class="code">
            <ForeignLines text={JSON.stringify(props.found.patch, null, 2)} max={valueMax} />
          </pre>
        </details>
      </Show>
    </>
  );
}

function Asked(props: { readonly of: StoredSpec }): JSX.Element {
  const found = createQuery('GET /api/spec/{id}/reality', () => ({ params: { id: props.of.id } }));
  return (
    <div class="stack">
      <p class="muted">{text.about}</p>
      <Read of={found}>{(data) => <Differences of={props.of} found={data()} />}</Read>
    </div>
  );
}

/** Nothing is asked until somebody wants to know: the whole inventory of a site is held against it. */
export function Reality(props: { readonly of: StoredSpec }): JSX.Element {
  const [isOpen, setOpen] = createSignal(false);
  return (
    <details class="fold" open={isOpen()} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{text.title}</summary>
      <Show when={isOpen()}>
        <Asked of={props.of} />
      </Show>
    </details>
  );
}
