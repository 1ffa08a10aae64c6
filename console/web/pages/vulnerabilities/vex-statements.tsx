// VEX of suppliers: a document is tried or applied, and the statements that were are listed with what they met.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item, type Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { Badge, Button, Card, Foreign, Notice } from '../../kit/basics.js';
import { FileField, SelectField } from '../../kit/form.js';
import { ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { vexText as text } from '../../texts/vm/records/vex.js';
import { plain, type Applications } from './words.js';

type Statement = Item<'GET /api/v1/vex/statements'>;
type Outcome = Reply<'POST /api/v1/vex/import'>;

const columns: readonly TableColumn<Statement>[] = [
  { title: text.vulnerability, cell: ({ vulnerability: id }) => <Foreign text={id} max={60} /> },
  { title: text.product, cell: ({ product }) => <Foreign text={product || '–'} max={120} /> },
  { title: text.status, cell: ({ status }) => <Badge>{plain(status)}</Badge> },
  { title: text.met, class: 'nums', cell: ({ matched }) => showCount(matched) },
  { title: text.changed, class: 'nums', cell: ({ changed }) => showCount(changed) },
  { title: text.author, cell: (one) => <Foreign text={one.author || one.created_by} max={80} /> },
  { title: text.when, cell: ({ created_at: at }) => showMoment(at) },
];

export function VexStatements(props: {
  readonly applications: Applications;
  readonly mayTriage: boolean;
}): JSX.Element {
  const list = createPagedList('GET /api/v1/vex/statements', () => ({}));
  const [file, setFile] = createSignal<File | null>(null);
  const [application, setApplication] = createSignal('');
  const [outcome, setOutcome] = createSignal<Outcome | null>(null);
  const action = createAction();
  const send = async (isTrial: boolean): Promise<void> => {
    const chosen = file();
    if (chosen === null) return;
    const form = new FormData();
    if (application() !== '') form.set('application_id', application());
    form.set('dry_run', String(isTrial));
    form.set('file', chosen);
    await action.run(async () => {
      const answer = await call('POST /api/v1/vex/import', { form });
      setOutcome(() => answer);
    });
    list.reload();
  };
  return (
    <>
      <Show when={props.mayTriage}>
        <Card title={text.title}>
          <div class="stack">
            <p class="muted">{text.about}</p>
            <div class="narrow-grid">
              <SelectField
                label={text.application}
                value={application()}
                options={props.applications.options(text.every)}
                onChange={setApplication}
              />
              <FileField label={text.file} accept=".json" onChosen={setFile} />
            </div>
            <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
            <Show when={outcome()}>
              {(made) => (
                <Notice tone="good" title={made().dry_run ? text.wouldBe : text.done}>
                  {text.outcome(made().matched_total, made().statements, made().changed, made().conflicts_total)}
                </Notice>
              )}
            </Show>
            <div class="row wrap">
              <Button disabled={file() === null} isBusy={action.isBusy()} onClick={() => void send(true)}>
                {text.try}
              </Button>
              <Button
                look="primary"
                disabled={file() === null}
                isBusy={action.isBusy()}
                onClick={() => void send(false)}
              >
                {text.apply}
              </Button>
            </div>
          </div>
        </Card>
      </Show>
      <ListCard
        label={text.list}
        title={text.list}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        empty={text.none}
      />
    </>
  );
}
