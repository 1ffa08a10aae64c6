// Longer work of every kind, newest first; what still runs can be asked to stop.
import { Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call, type Item } from '../../../client/http.js';
import { showMoment } from '../../../client/moments.js';
import { createPagedList } from '../../../client/pages.js';
import { Badge, Button, Foreign, Notice, type Tone } from '../../../kit/basics.js';
import { tell } from '../../../kit/overlays.js';
import { ListCard } from '../../../kit/table/list-card.js';
import type { TableColumn } from '../../../kit/table/table.js';
import { tokensText as text } from '../../../texts/vm/tokens.js';
import { plain, type Applications } from '../words.js';

type Job = Item<'GET /api/v1/runs'>;

const tones: Readonly<Record<string, Tone>> = { succeeded: 'good', failed: 'danger', running: 'info', queued: 'info' };
const runs = ({ status }: Job): boolean => status === 'running' || status === 'queued';

const columnsOf = (applications: Applications, onStop: (job: Job) => void): readonly TableColumn<Job>[] => [
  { title: text.when, class: 'nums', cell: ({ created_at: at }) => showMoment(at) },
  { title: text.kind, cell: ({ kind }) => plain(kind) },
  { title: text.application, cell: ({ application_id: id }) => <Foreign text={applications.nameOf(id)} max={80} /> },
  { title: text.state, cell: ({ status }) => <Badge tone={tones[status] ?? 'neutral'}>{plain(status)}</Badge> },
  { title: text.progress, isNumber: true, cell: ({ progress }) => text.percent(progress) },
  { title: text.who, cell: ({ created_by: who }) => <Foreign text={who} max={80} /> },
  { title: text.result, cell: ({ error }) => <Foreign text={error ?? '–'} max={300} /> },
  {
    title: text.actions,
    isTitleHidden: true,
    cell: (job) => (
      <Show when={runs(job)}>
        <Button isSmall onClick={() => onStop(job)}>
          {text.cancel}
        </Button>
      </Show>
    ),
  },
];

export function Jobs(props: { readonly applications: Applications }): JSX.Element {
  const list = createPagedList('GET /api/v1/runs', () => ({}));
  const action = createAction();
  const stop = async ({ id }: Job): Promise<void> => {
    if (!(await action.run(() => call('POST /api/v1/runs/{id}/cancel', { params: { id } })))) return;
    tell(text.cancelled);
    list.reload();
  };
  return (
    <>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <ListCard
        label={text.jobs}
        title={text.jobs}
        list={list}
        columns={columnsOf(props.applications, (job) => void stop(job))}
        keyOf={({ id }) => id}
        empty={text.noJobs}
        emptyAbout={text.noJobsAbout}
      />
    </>
  );
}
