// A Dockerfile beside the rules, before it is built.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Reply } from '../../client/http.js';
import { Badge, Button, Card, Foreign, Notice } from '../../kit/basics.js';
import { AreaField } from '../../kit/form.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { imagesText as text } from '../../texts/vm/sources/images.js';
import { severityTone } from '../vulnerabilities/words.js';

type Answer = Reply<'POST /api/v1/containers/dockerfile'>;
type Found = Answer['items'][number];

const columns: readonly TableColumn<Found>[] = [
  { title: text.line, isNumber: true, cell: ({ line }) => line },
  {
    title: text.severity,
    cell: ({ severity }) => <Badge tone={severityTone(severity)}>{severity}</Badge>,
  },
  { title: text.message, class: 'words', cell: ({ message }) => <Foreign text={message} max={300} /> },
  { title: text.fix, class: 'words', cell: ({ remediation }) => remediation },
];

export function Dockerfile(): JSX.Element {
  const [source, setSource] = createSignal('');
  const [answer, setAnswer] = createSignal<Answer | null>(null);
  const action = createAction();
  const check = (): Promise<boolean> =>
    action.run(async () => {
      setAnswer(await call('POST /api/v1/containers/dockerfile', { body: { dockerfile: source() } }));
    });
  return (
    <>
      <Card title={text.dockerfile}>
        <div class="stack">
          <p>{text.dockerfileAbout}</p>
          <AreaField label={text.dockerfile} value={source()} onInput={setSource} rows={12} />
          <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
          <div>
            <Button
              look="primary"
              isBusy={action.isBusy()}
              disabled={source().trim() === ''}
              onClick={() => void check()}
            >
              {text.check}
            </Button>
          </div>
        </div>
      </Card>
      <Show when={answer()}>
        {(found) => (
          <>
            <Show when={!found().complete}>
              <Notice tone="warn">{text.notRead(found().problems.join('; '))}</Notice>
            </Show>
            <Table
              label={text.dockerfile}
              columns={columns}
              of={{ rows: found().items }}
              keyOf={({ rule, line, message }) => `${line} ${rule} ${message}`}
              empty={text.nothingFound}
              emptyAbout={found().complete ? text.nothingFoundAbout : ''}
            />
          </>
        )}
      </Show>
    </>
  );
}
