// The open findings that a policy holds for, as it stands.
import { A } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Button, Foreign, Notice } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { policiesText as text } from '../../texts/resources/policies.js';
import { plain, severityTone, type Applications } from '../vulnerabilities/words.js';

type Found = Reply<'POST /api/v1/policies/{id}/evaluate'>['sample'][number];

const columnsOf = (applications: Applications): readonly TableColumn<Found>[] => [
  { title: text.findingSeverity, cell: ({ severity }) => <Badge tone={severityTone(severity)}>{severity}</Badge> },
  {
    title: text.finding,
    cell: ({ id, title }) => (
      <A href={`/vulnerabilities?status=all&finding=${id}`}>
        <Foreign text={title} max={120} />
      </A>
    ),
  },
  { title: text.application, cell: (one) => <Foreign text={applications.nameOf(one.application_id)} max={60} /> },
  { title: text.state, cell: ({ status }) => <Badge>{plain(status)}</Badge> },
];

export function Evaluation(props: {
  readonly of: { readonly id: string; readonly version: number; readonly enabled: boolean | null };
  readonly applications: Applications;
}): JSX.Element {
  const found = createQuery('POST /api/v1/policies/{id}/evaluate', () =>
    // another version may hold for others
    props.of.version < 0 ? null : { params: { id: props.of.id } },
  );
  return (
    <section class="stack">
      <div class="row wrap between">
        <h3>{text.found}</h3>
        <Button isSmall isBusy={found.isLoading()} onClick={() => void found.reload()}>
          {text.evaluate}
        </Button>
      </div>
      <Show when={props.of.enabled !== true}>
        <Notice tone="neutral">{text.notInForce}</Notice>
      </Show>
      <Read of={found}>
        {(data) => (
          <Show when={data().count > 0} fallback={<Notice tone="good">{text.foundNone}</Notice>}>
            <p>
              {text.foundSome(showCount(data().count))}{' '}
              <Show when={data().sample.length < data().count}>
                <span class="muted">{text.firstOf(data().sample.length, showCount(data().count))}</span>
              </Show>
            </p>
            <Table
              label={text.found}
              columns={columnsOf(props.applications)}
              of={ofRows(() => data().sample)}
              keyOf={({ id }) => id}
              empty={text.foundNone}
            />
          </Show>
        )}
      </Read>
    </section>
  );
}
