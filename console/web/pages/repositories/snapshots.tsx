// What is kept of a repository's code: snapshots, the scans of each, and the upload of another one.
import { createEffect, createSignal, For, onCleanup, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item } from '../../client/http.js';
import { showBytes, showCount, showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { Badge, Button, Card, Foreign, Notice } from '../../kit/basics.js';
import { FileField, Switch, TextField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { repositoriesText as text } from '../../texts/vm/sources/repositories.js';
import { scansText } from '../../texts/vm/sources/scans.js';
import { kinds, type Kind } from '../scans/kinds.js';

type Snapshot = Item<'GET /api/v1/repositories/{id}/snapshots'>;
type ScanOf = Snapshot['scans'][number];
const refreshMs = 3000;

const isOpen = ({ status }: ScanOf): boolean => status === 'queued' || status === 'running';
const nameOf = (kind: string): string => scansText.kinds[kind as Kind] ?? kind;

function ScanBadge(props: { readonly of: ScanOf }): JSX.Element {
  const { kind, status, findings, complete } = props.of;
  const label = findings === null ? text.state(nameOf(kind), status) : text.found(nameOf(kind), showCount(findings));
  return (
    <Badge tone={isOpen(props.of) ? 'info' : complete === true ? 'good' : 'warn'}>
      {complete === false ? `${label}, ${text.incomplete}` : label}
    </Badge>
  );
}

function KeepForm(props: { readonly id: string; readonly onKept: () => void }): JSX.Element {
  const [file, setFile] = createSignal<File | null>(null);
  const [branch, setBranch] = createSignal('');
  const [commit, setCommit] = createSignal('');
  const action = createAction();
  const keep = async (): Promise<void> => {
    const chosen = file();
    if (chosen === null) return;
    const form = new FormData();
    if (branch().trim() !== '') form.set('branch', branch().trim());
    if (commit().trim() !== '') form.set('commit', commit().trim());
    form.set('file', chosen);
    const params = { id: props.id };
    const isDone = await action.run(async () => {
      const { id } = await call('POST /api/v1/repositories/{id}/archives', { params, form });
      tell(text.kept(id));
    });
    if (isDone) props.onKept();
  };
  const fetching = createAction();
  const fetchIt = async (): Promise<void> => {
    const body = branch().trim() === '' ? {} : { branch: branch().trim() };
    const isDone = await fetching.run(async () => {
      const { id } = await call('POST /api/v1/repositories/{id}/fetch', { params: { id: props.id }, body });
      tell(text.kept(id));
    });
    if (isDone) props.onKept();
  };
  return (
    <Card title={text.keep}>
      <div class="stack">
        <FileField label={text.file} help={text.fileHelp} onChosen={setFile} />
        <div class="grid grid-2">
          <TextField label={text.branch} value={branch()} onInput={setBranch} />
          <TextField label={text.commit} value={commit()} onInput={setCommit} />
        </div>
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <Show when={fetching.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <div class="row wrap">
          <Button look="primary" isBusy={action.isBusy()} disabled={file() === null} onClick={() => void keep()}>
            {text.keep}
          </Button>
          <Button isBusy={fetching.isBusy()} onClick={() => void fetchIt()}>
            {text.fetch}
          </Button>
        </div>
      </div>
    </Card>
  );
}

const codeKinds = kinds.filter((kind) => kind !== 'k8s');

/** Which scanners are to run; the newest snapshot, or one of the rows. */
function createScanning(id: () => string, onBegun: () => void) {
  const [chosen, setChosen] = createSignal<readonly Kind[]>(codeKinds);
  const action = createAction();
  const begin = async (snapshot?: string): Promise<void> => {
    const body = { engines: [...chosen()], ...(snapshot === undefined ? {} : { snapshot_id: snapshot }) };
    const isDone = await action.run(async () => {
      const { items } = await call('POST /api/v1/repositories/{id}/scan', { params: { id: id() }, body });
      tell(text.begun(items.length));
    });
    if (isDone) onBegun();
  };
  return { chosen, setChosen, action, begin };
}
type Scanning = ReturnType<typeof createScanning>;

function Engines(props: { readonly of: Scanning; readonly offered: readonly Kind[]; readonly hasAny: boolean }) {
  const toggle = (kind: Kind, isOn: boolean): void =>
    void props.of.setChosen(isOn ? [...props.of.chosen(), kind] : props.of.chosen().filter((one) => one !== kind));
  return (
    <Card title={text.engines}>
      <div class="stack">
        <div class="row wrap">
          <For each={props.offered}>
            {(kind) => (
              <Switch
                label={nameOf(kind)}
                isOn={props.of.chosen().includes(kind)}
                onChange={(isOn) => toggle(kind, isOn)}
              />
            )}
          </For>
        </div>
        <Show when={props.of.action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <div>
          <Button
            isBusy={props.of.action.isBusy()}
            disabled={!props.hasAny || props.of.chosen().length === 0}
            onClick={() => void props.of.begin()}
          >
            {text.scanNewest}
          </Button>
        </div>
      </div>
    </Card>
  );
}

const columnsOf = (scanning: Scanning, mayRun: () => boolean): readonly TableColumn<Snapshot>[] => [
  { title: text.when, class: 'nums', cell: ({ created_at: at }) => showMoment(at) },
  { title: text.branch, cell: ({ branch }) => <Foreign text={branch} max={80} /> },
  { title: text.commit, class: 'mono', cell: ({ commit }) => <Foreign text={commit || '–'} max={12} /> },
  { title: text.files, isNumber: true, cell: ({ files }) => showCount(files) },
  { title: text.size, isNumber: true, cell: ({ bytes }) => showBytes(bytes) },
  {
    title: text.scans,
    class: 'words',
    cell: ({ scans, state }) => (
      <span class="row wrap">
        <For each={scans}>{(one) => <ScanBadge of={one} />}</For>
        <Show when={state === 'dropped'}>
          <Badge>{text.dropped}</Badge>
        </Show>
      </span>
    ),
  },
  {
    title: text.scan,
    isTitleHidden: true,
    cell: ({ id, state }) => (
      <Show when={mayRun() && state === 'ready'}>
        <Button isSmall aria-label={text.scanOf(id)} onClick={() => void scanning.begin(id)}>
          {text.scan}
        </Button>
      </Show>
    ),
  },
];

export function Snapshots(props: {
  readonly id: string;
  readonly mayRun: boolean;
  readonly mayRunKubernetes: boolean;
}) {
  const list = createPagedList('GET /api/v1/repositories/{id}/snapshots', () => ({}), 100, { id: props.id });
  const scanning = createScanning(
    () => props.id,
    () => list.reload(),
  );
  createEffect(() => {
    if (!list.items().some(({ scans }) => scans.some(isOpen))) return;
    const timer = setTimeout(list.reload, refreshMs);
    onCleanup(() => clearTimeout(timer));
  });
  return (
    <>
      <Show when={props.mayRun}>
        <KeepForm id={props.id} onKept={list.reload} />
        <Engines
          of={scanning}
          offered={props.mayRunKubernetes ? kinds : codeKinds}
          hasAny={list.items().some(({ state }) => state === 'ready')}
        />
      </Show>
      <ListCard
        label={text.snapshots}
        title={text.snapshots}
        list={list}
        columns={columnsOf(scanning, () => props.mayRun)}
        keyOf={({ id }) => id}
        empty={text.noSnapshots}
        emptyAbout={text.noSnapshotsAbout}
      />
    </>
  );
}
