// One template: its texts, what is wrong with them and where, what becomes of them, and its versions.
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item, type Reply } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Button, Card, Foreign, ForeignLines, Notice } from '../../kit/basics.js';
import { AreaField, TextField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofQuery } from '../../kit/table/table-source.js';
import { templatesText as text } from '../../texts/resources/templates.js';

export type Template = Item<'GET /api/v1/templates'>;
export type Kind = Item<'GET /api/v1/templates/kinds'>;
type Version = Item<'GET /api/v1/templates/{id}/versions'>;
type Texts = Readonly<Record<string, string>>;
type Faults = Reply<'POST /api/v1/templates/check'>['faults'];

const textsOf = ({ parts }: Pick<Template, 'parts'>, kind: Kind): Texts =>
  Object.fromEntries(kind.parts.map(({ name, text: usual }) => [name, (parts as Texts | null)?.[name] ?? usual]));

function Parts(props: { readonly kind: Kind; readonly texts: Texts; readonly onInput: (texts: Texts) => void }) {
  const input = (name: string) => (value: string) => props.onInput({ ...props.texts, [name]: value });
  return (
    <For each={props.kind.parts}>
      {({ name, title, about, line }) => (
        <Show
          when={line}
          fallback={
            <AreaField label={title} help={about} value={props.texts[name] ?? ''} onInput={input(name)} rows={10} />
          }
        >
          <TextField label={title} help={about} value={props.texts[name] ?? ''} onInput={input(name)} />
        </Show>
      )}
    </For>
  );
}

function FaultList(props: { readonly of: Faults }): JSX.Element {
  return (
    <Notice tone="danger">
      <ul class="stack tight">
        <For each={props.of}>
          {({ part, line, column, reason, fix }) => (
            <li>
              {text.faultAt(part, line, column)}: <Foreign text={`${reason}. ${fix}`} max={400} />
            </li>
          )}
        </For>
      </ul>
    </Notice>
  );
}

function Preview(props: { readonly of: Template; readonly texts: Texts }): JSX.Element {
  const action = createAction();
  const [finding, setFinding] = createSignal('');
  const [shown, setShown] = createSignal<Reply<'POST /api/v1/templates/{id}/render'> | null>(null);
  const render = (): Promise<boolean> =>
    action.run(async () => {
      const id = finding().trim();
      const body = { parts: { ...props.texts }, ...(id === '' ? {} : { vulnerability_id: id }) };
      setShown(await call('POST /api/v1/templates/{id}/render', { params: { id: props.of.id }, body }));
    });
  return (
    <Card title={text.preview}>
      <div class="stack">
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <TextField label={text.previewOf} help={text.previewHelp} value={finding()} onInput={setFinding} />
        <div class="row">
          <Button isBusy={action.isBusy()} onClick={() => void render()}>
            {text.preview}
          </Button>
        </div>
        <For each={shown()?.parts ?? []}>
          {({ name, text: made }) => (
            <div>
              <h3>{name}</h3>
              <ForeignLines text={made} max={12_000} />
            </div>
          )}
        </For>
      </div>
    </Card>
  );
}

function Versions(props: { readonly of: Template; readonly mayEdit: boolean; readonly onRestored: () => void }) {
  const params = () => ({ id: props.of.id });
  const versions = createQuery('GET /api/v1/templates/{id}/versions', () => ({ params: params() }));
  const action = createAction();
  const restore = async (version: number | null): Promise<void> => {
    const body = { version };
    if (!(await action.run(() => call('POST /api/v1/templates/{id}/restore', { params: params(), body })))) return;
    tell(text.restored);
    props.onRestored();
  };
  const columns: readonly TableColumn<Version>[] = [
    { title: text.version, isNumber: true, cell: ({ version }) => String(version) },
    { title: text.by, cell: ({ saved_by: by }) => <Foreign text={by} max={80} /> },
    { title: text.when, class: 'nums', isMinor: true, cell: ({ saved_at: at }) => showMoment(at) },
    {
      title: text.restore,
      isTitleHidden: true,
      cell: ({ version }) => (
        <Show when={props.mayEdit && version !== props.of.version}>
          <Button isSmall onClick={() => void restore(version)}>
            {text.restore}
          </Button>
        </Show>
      ),
    },
  ];
  return (
    <Card isFlush title={text.versions}>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Table
        label={text.versions}
        columns={columns}
        of={ofQuery(versions, ({ items }) => items)}
        keyOf={({ version }) => String(version)}
        empty={text.none}
      />
      <Show when={props.mayEdit && props.of.parts !== null}>
        <Button onClick={() => void restore(null)}>{text.restoreRelease}</Button>
      </Show>
    </Card>
  );
}

export function Editor(props: {
  readonly of: Template;
  readonly kind: Kind;
  readonly mayEdit: boolean;
  readonly onChanged: () => void;
  readonly onRemoved: () => void;
}): JSX.Element {
  const action = createAction();
  const { of, kind } = props;
  const [texts, setTexts] = createSignal(textsOf(of, kind));
  const [faults, setFaults] = createSignal<Faults | null>(null);
  const params = { id: of.id };
  const check = (): Promise<boolean> =>
    action.run(async () => {
      const { faults: found, ok } = await call('POST /api/v1/templates/check', {
        body: { kind: kind.kind, parts: { ...texts() } },
      });
      setFaults(ok ? null : found);
      if (ok) tell(text.fine);
    });
  const save = async (): Promise<void> => {
    const body = { parts: { ...texts() } };
    if (!(await action.run(() => call('PATCH /api/v1/templates/{id}', { params, body, ifMatch: `"${of.version}"` }))))
      return;
    tell(text.saved);
    props.onChanged();
  };
  const remove = async (): Promise<void> => {
    if (!(await action.run(() => call('DELETE /api/v1/templates/{id}', { params })))) return;
    tell(text.removed);
    props.onRemoved();
  };
  return (
    <div class="stack">
      <p class="sentence">{kind.about}</p>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Show when={faults()}>{(found) => <FaultList of={found()} />}</Show>
      <Parts kind={kind} texts={texts()} onInput={setTexts} />
      <p class="help">
        {text.placeholders}: <span class="mono words">{kind.placeholders.map((name) => `{{${name}}}`).join(' ')}</span>
      </p>
      <div class="row wrap">
        <Show when={props.mayEdit}>
          <Button look="primary" isBusy={action.isBusy()} onClick={() => void save()}>
            {text.save}
          </Button>
        </Show>
        <Button onClick={() => void check()}>{text.check}</Button>
        <Show when={props.mayEdit && of.is_default !== true}>
          <Button look="plain" onClick={() => void remove()}>
            {text.remove}
          </Button>
        </Show>
      </div>
      <Preview of={of} texts={texts()} />
      <Versions of={of} mayEdit={props.mayEdit} onRestored={props.onChanged} />
    </div>
  );
}
