// Applications of a register: the file is tried or taken, and what was refused is said row by row.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call, type Reply } from '../../../client/http.js';
import { Button, Foreign, Notice } from '../../../kit/basics.js';
import { Table, type TableColumn } from '../../../kit/table/table.js';
import { ofRows } from '../../../kit/table/table-source.js';
import { importText as text } from '../../../texts/vm/records/deduplications.js';

type Answer = Reply<'POST /api/v1/applications/import'>;
type Row = Answer['items'][number];

const columns: readonly TableColumn<Row>[] = [
  { title: text.row, isNumber: true, cell: ({ row }) => String(row) },
  { title: text.name, cell: (one) => <Foreign text={one.name ?? one.external_id ?? '–'} max={120} /> },
  { title: text.why, cell: ({ reason }) => <Foreign text={reason ?? ''} max={300} /> },
];

export function ImportApplications(props: { readonly onDone: () => void }): JSX.Element {
  const [file, setFile] = createSignal<File | null>(null);
  const [answer, setAnswer] = createSignal<Answer | null>(null);
  const action = createAction();
  const send = async (isTried: boolean): Promise<void> => {
    const chosen = file();
    if (chosen === null) return;
    const isDone = await action.run(async () => {
      const form = new FormData();
      form.set('dry_run', String(isTried));
      form.set('file', chosen);
      setAnswer(await call('POST /api/v1/applications/import', { form }));
    });
    if (isDone && !isTried) props.onDone();
  };
  const refused = (): readonly Row[] => (answer()?.items ?? []).filter(({ outcome }) => outcome === 'refused');
  const told = ({ dry_run: isTried, created, updated, unchanged, refused: not }: Answer): string =>
    (isTried ? text.would : text.did)(created, updated, unchanged, not);
  return (
    <div class="stack">
      <p class="muted">{text.about}</p>
      <input
        type="file"
        class="input"
        aria-label={text.file}
        accept=".csv,.json,text/csv,application/json"
        onChange={(event) => setFile(event.currentTarget.files?.[0] ?? null)}
      />
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Show when={answer()}>
        {(found) => (
          <Notice tone={found().refused > 0 ? 'warn' : 'good'}>
            {told(found())}{' '}
            <Show when={found().ignored_columns.length > 0}>
              <Foreign text={text.ignored(found().ignored_columns.join(', '))} max={500} />
            </Show>
          </Notice>
        )}
      </Show>
      <Show when={refused().length > 0}>
        <Table label={text.why} columns={columns} of={ofRows(refused)} keyOf={({ row }) => String(row)} empty="" />
      </Show>
      <div class="row wrap">
        <Button isBusy={action.isBusy()} disabled={file() === null} onClick={() => void send(true)}>
          {text.tryIt}
        </Button>
        <Button look="primary" isBusy={action.isBusy()} disabled={file() === null} onClick={() => void send(false)}>
          {text.run}
        </Button>
      </div>
    </div>
  );
}
