// Templates: the list by kind, and the editor of the one that is open.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Badge, Button, Card, Foreign, Notice, PageHead } from '../../kit/basics.js';
import { SelectField, TextField } from '../../kit/form.js';
import { Overlay } from '../../kit/overlays.js';
import { createChosen } from '../../kit/table/list-card.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofQuery } from '../../kit/table/table-source.js';
import { templatesText as text } from '../../texts/resources/templates.js';
import { Editor, type Kind, type Template } from './editor.js';

type KindName = Item<'GET /api/v1/templates/kinds'>['kind'];

function AddForm(props: { readonly kinds: readonly Kind[]; readonly onMade: (id: string) => void }): JSX.Element {
  const [kind, setKind] = createSignal<KindName>('ticket');
  const [name, setName] = createSignal('');
  const action = createAction();
  const create = async (): Promise<void> => {
    const body = { kind: kind(), name: name().trim() };
    let made = '';
    if (!(await action.run(async () => void (made = (await call('POST /api/v1/templates', { body })).id)))) return;
    setName('');
    props.onMade(made);
  };
  return (
    <Card title={text.add}>
      <div class="stack">
        <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
        <div class="grid-3">
          <SelectField
            label={text.kind}
            value={kind()}
            options={props.kinds.map((one) => [one.kind, one.title] as const)}
            onChange={setKind}
          />
          <TextField label={text.name} value={name()} onInput={setName} isRequired />
        </div>
        <div class="row">
          <Button disabled={name().trim() === ''} isBusy={action.isBusy()} onClick={() => void create()}>
            {text.create}
          </Button>
        </div>
      </div>
    </Card>
  );
}

const columnsOf = (kindOf: (name: string | null) => Kind | undefined): readonly TableColumn<Template>[] => [
  { title: text.kind, cell: ({ kind }) => kindOf(kind)?.title ?? kind ?? '' },
  { title: text.name, cell: ({ name }) => <Foreign text={name ?? ''} max={120} /> },
  {
    title: text.isDefault,
    isTitleHidden: true,
    cell: ({ is_default: isDefault, parts }) => (
      <span class="row wrap">
        <Show when={isDefault === true}>
          <Badge tone="info">{text.isDefault}</Badge>
        </Show>
        <Show when={parts === null}>
          <Badge>{text.isRelease}</Badge>
        </Show>
      </span>
    ),
  },
  { title: text.changed, class: 'nums', isMinor: true, cell: ({ updated_at: at }) => showMoment(at) },
];

export function Templates(): JSX.Element {
  const access = createVmAccess();
  const mayEdit = (): boolean => access.may('manage_templates');
  const kinds = createQuery('GET /api/v1/templates/kinds');
  const list = createQuery('GET /api/v1/templates', () => ({ query: { limit: 500, sort: 'name' as const } }));
  const [chosen, choose] = createChosen('template');
  const opened = (): Template | undefined => list.data()?.items.find(({ id }) => id === chosen());
  const kindOf = (name: string | null): Kind | undefined => kinds.data()?.items.find(({ kind }) => kind === name);
  const columns = columnsOf(kindOf);
  const reload = (): void => void list.reload();
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <Card isFlush title={text.title}>
        <Table
          label={text.title}
          columns={columns}
          of={ofQuery(list, ({ items }) => items)}
          keyOf={({ id }) => id}
          chosen={chosen()}
          onOpen={({ id }) => choose(id)}
          empty={text.none}
        />
      </Card>
      <Show when={mayEdit()}>
        <AddForm
          kinds={kinds.data()?.items ?? []}
          onMade={(id) => {
            reload();
            choose(id);
          }}
        />
      </Show>
      <Overlay isOpen={opened() !== undefined} look="drawer" title={opened()?.name ?? ''} onClose={() => choose(null)}>
        <Show when={opened()} keyed>
          {(one) => (
            <Show when={kindOf(one.kind)}>
              {(kind) => (
                <Editor
                  of={one}
                  kind={kind()}
                  mayEdit={mayEdit()}
                  onChanged={reload}
                  onRemoved={() => {
                    choose(null);
                    reload();
                  }}
                />
              )}
            </Show>
          )}
        </Show>
      </Overlay>
    </>
  );
}
