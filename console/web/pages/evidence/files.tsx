// Files that people add to packs, each for the controls that it names.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, linkTo, type Item } from '../../client/http.js';
import { showBytes, showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { Button, Card, Foreign, Notice } from '../../kit/basics.js';
import { FileField, TextField } from '../../kit/form.js';
import { tell, tellProblem } from '../../kit/overlays.js';
import { ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { evidenceText } from '../../texts/resources/evidence.js';

const text = evidenceText.files;
type Added = Item<'GET /api/v1/evidence/files'>;

function AddForm(props: { readonly onAdded: () => void }): JSX.Element {
  const [file, setFile] = createSignal<File | null>(null);
  const [description, setDescription] = createSignal('');
  const [controls, setControls] = createSignal('');
  const action = createAction();
  const add = async (): Promise<void> => {
    const chosen = file();
    if (chosen === null) return;
    const form = new FormData();
    form.set('name', chosen.name);
    if (description().trim() !== '') form.set('description', description().trim());
    if (controls().trim() !== '') form.set('controls', controls().trim());
    form.set('file', chosen);
    if (!(await action.run(() => call('POST /api/v1/evidence/files', { form })))) return;
    tell(text.saved);
    setDescription('');
    setControls('');
    props.onAdded();
  };
  return (
    <Card title={text.add}>
      <div class="stack">
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <div class="grid-3">
          <FileField label={text.file} help={text.fileHelp} onChosen={setFile} />
          <TextField label={text.description} value={description()} onInput={setDescription} />
          <TextField label={text.controls} value={controls()} onInput={setControls} help={text.controlsHelp} />
        </div>
        <div class="row">
          <Button look="primary" disabled={file() === null} isBusy={action.isBusy()} onClick={() => void add()}>
            {text.add}
          </Button>
        </div>
      </div>
    </Card>
  );
}

function Actions(props: {
  readonly of: Added;
  readonly mayBuild: boolean;
  readonly onChanged: () => void;
}): JSX.Element {
  const action = createAction();
  const params = () => ({ id: props.of.id });
  const after = async (work: Promise<boolean>): Promise<void> => {
    if (await work) props.onChanged();
    else tellProblem(action.problem());
  };
  const hold = () =>
    action.run(() => call('PATCH /api/v1/evidence/files/{id}', { params: params(), body: { hold: !props.of.hold } }));
  const verify = async (): Promise<void> => {
    const isAsked = await action.run(async () => {
      const { ok, recorded } = await call('POST /api/v1/evidence/files/{id}/verify', { params: params() });
      if (!ok) tellProblem(text.changed);
      else tell(recorded === null ? text.unrecorded : text.intact);
    });
    if (!isAsked) tellProblem(action.problem());
  };
  const remove = () => action.run(() => call('DELETE /api/v1/evidence/files/{id}', { params: params() }));
  return (
    <span class="row wrap">
      <a
        class="button small"
        href={linkTo('GET /api/v1/evidence/files/{id}/download', undefined, params())}
        download={props.of.name}
        aria-label={text.downloadOf(props.of.name)}
      >
        {evidenceText.download}
      </a>
      <Button isSmall onClick={() => void verify()}>
        {evidenceText.verify}
      </Button>
      <Show when={props.mayBuild}>
        <Button isSmall onClick={() => void after(hold())}>
          {props.of.hold ? evidenceText.endHold : evidenceText.hold}
        </Button>
        <Show when={!props.of.hold && Date.parse(props.of.keep_until) <= Date.now()}>
          <Button isSmall onClick={() => void after(remove())}>
            {evidenceText.remove}
          </Button>
        </Show>
      </Show>
    </span>
  );
}

const columnsOf = (mayBuild: () => boolean, onChanged: () => void): readonly TableColumn<Added>[] => [
  { title: text.name, cell: ({ name }) => <Foreign text={name} max={120} /> },
  { title: text.description, class: 'words', cell: ({ description }) => <Foreign text={description} max={200} /> },
  { title: text.controls, class: 'words', cell: ({ controls }) => controls.join(', ') },
  { title: evidenceText.size, isNumber: true, isMinor: true, cell: ({ bytes }) => showBytes(bytes) },
  { title: text.added, class: 'nums', isMinor: true, cell: ({ created_at: at }) => showMoment(at) },
  {
    title: evidenceText.download,
    isTitleHidden: true,
    cell: (of) => <Actions of={of} mayBuild={mayBuild()} onChanged={onChanged} />,
  },
];

export function Files(props: { readonly mayBuild: boolean }): JSX.Element {
  const list = createPagedList('GET /api/v1/evidence/files', () => ({}));
  return (
    <>
      <Show when={props.mayBuild}>
        <AddForm onAdded={() => list.reload()} />
      </Show>
      <ListCard
        label={evidenceText.view.files}
        list={list}
        columns={columnsOf(
          () => props.mayBuild,
          () => list.reload(),
        )}
        keyOf={({ id }) => id}
        empty={text.none}
        emptyAbout={text.noneAbout}
      />
    </>
  );
}
