// A pack that comes back from others is verified here, and the keys that packs are signed by are shown.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item, type Reply } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Button, Card, Notice } from '../../kit/basics.js';
import { FileField } from '../../kit/form.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofQuery } from '../../kit/table/table-source.js';
import { evidenceText as text } from '../../texts/resources/evidence.js';
import { Checks } from './checks.js';

type Key = Item<'GET /api/v1/evidence/keys'>;
type Verified = Reply<'POST /api/v1/evidence/verify'>;

const columns: readonly TableColumn<Key>[] = [
  { title: text.key, class: 'mono words', cell: ({ id }) => id },
  { title: text.since, class: 'nums', cell: ({ created_at: at }) => showMoment(at) },
  {
    title: text.publicKey,
    class: 'mono words',
    isMinor: true,
    cell: ({ public_key: pem }) => pem.split('\n')[1] ?? '',
  },
];

export function Verification(): JSX.Element {
  const keys = createQuery('GET /api/v1/evidence/keys');
  const [file, setFile] = createSignal<File | null>(null);
  const [verified, setVerified] = createSignal<Verified | null>(null);
  const action = createAction();
  const verify = async (): Promise<void> => {
    const form = new FormData();
    form.set('file', file() ?? '');
    setVerified(null);
    await action.run(async () => void setVerified(await call('POST /api/v1/evidence/verify', { form })));
  };
  return (
    <>
      <Card title={text.verifyFile}>
        <div class="stack">
          <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
          <FileField label={text.pack} help={text.packHelp} accept=".zip" onChosen={setFile} />
          <div class="row">
            <Button look="primary" disabled={file() === null} isBusy={action.isBusy()} onClick={() => void verify()}>
              {text.verify}
            </Button>
          </div>
          <Show when={verified()}>{(found) => <Checks of={found()} />}</Show>
        </div>
      </Card>
      <Card isFlush title={text.keys}>
        <Table
          label={text.keys}
          columns={columns}
          of={ofQuery(keys, ({ items }) => items)}
          keyOf={({ id }) => id}
          empty={text.noItems}
        />
      </Card>
    </>
  );
}
