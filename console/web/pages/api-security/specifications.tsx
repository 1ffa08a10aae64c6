// Specifications of applications: added, and what each says of security.
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item, type Reply } from '../../client/http.js';
import { createPagedList } from '../../client/pages.js';
import { Button, Card, Foreign, Notice } from '../../kit/basics.js';
import { AreaField, TextField } from '../../kit/form.js';
import { Overlay, tell } from '../../kit/overlays.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { placeOf } from './place.js';
import { apiSecurityText as text } from '../../texts/vm/sources/api-security.js';

type Spec = Item<'GET /api/v1/api-security/specs'>;
type Lint = Reply<'POST /api/v1/api-security/specs/{id}/lint'>;

const columns: readonly TableColumn<Spec>[] = [
  { title: text.specTitle, cell: ({ title, name }) => <Foreign text={`${title} (${name})`} max={120} /> },
  { title: text.site, cell: (one) => <Foreign text={placeOf(one)} max={60} /> },
  { title: text.version, isNumber: true, cell: ({ version }) => version },
  { title: text.operations, isNumber: true, cell: ({ operations }) => operations },
  { title: text.inForce, cell: ({ in_force: is }) => (is ? text.yes : text.no) },
];

/** What a specification says of security, the gravest first. */
function Looked(props: { readonly of: Lint | null; readonly isOpen: boolean; readonly onClose: () => void }) {
  return (
    <Overlay isOpen={props.isOpen} look="wide" title={text.lint} onClose={() => props.onClose()}>
      <Show when={props.of}>
        {(found) => (
          <div class="stack tight">
            <p>{text.gaps(found().high, found().medium, found().low)}</p>
            <For each={found().gaps.slice(0, 200)}>
              {(gap) => (
                <Foreign text={`${gap.severity} ${gap.rule} ${gap.method} ${gap.template}: ${gap.message}`} max={300} />
              )}
            </For>
          </div>
        )}
      </Show>
    </Overlay>
  );
}

export function Specifications(props: { readonly application: string; readonly mayEdit: boolean }): JSX.Element {
  const list = createPagedList('GET /api/v1/api-security/specs', () =>
    props.application === '' ? {} : { application_id: props.application },
  );
  const [chosen, choose] = createChosen('spec');
  const [name, setName] = createSignal('default');
  const [document, setDocument] = createSignal('');
  const [lint, setLint] = createSignal<Lint | null>(null);
  const action = createAction();
  const add = () =>
    action.run(async () => {
      const body = { application_id: props.application, name: name(), text: document() };
      const { version } = await call('POST /api/v1/api-security/specs', { body });
      tell(text.added(version));
      setDocument('');
      list.reload();
    });
  const open = (id: string) => {
    setLint(null);
    choose(id);
    void action.run(async () => {
      setLint(await call('POST /api/v1/api-security/specs/{id}/lint', { params: { id }, body: {} }));
    });
  };
  return (
    <>
      <ListCard
        label={text.specs}
        title={text.specs}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        onOpen={({ id }) => open(id)}
        chosen={chosen()}
        empty={text.noSpecs}
        emptyAbout={text.noSpecsAbout}
      />
      <Show when={props.mayEdit && props.application !== ''}>
        <Card title={text.add}>
          <div class="stack">
            <TextField label={text.name} value={name()} onInput={setName} />
            <AreaField label={text.document} rows={5} value={document()} onInput={setDocument} />
            <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
            <div>
              <Button isBusy={action.isBusy()} disabled={document() === ''} onClick={() => void add()}>
                {text.add}
              </Button>
            </div>
          </div>
        </Card>
      </Show>
      <Looked of={lint()} isOpen={chosen() !== null} onClose={() => choose(null)} />
    </>
  );
}
