// What was sent to whom, and when; what waits, and what a mail server did not take.
import { Show, type JSX } from 'solid-js';
import type { Item } from '../../../client/http.js';
import { showMoment } from '../../../client/moments.js';
import type { PagedList } from '../../../client/pages.js';
import { Badge, Foreign, type Tone } from '../../../kit/basics.js';
import { ListCard } from '../../../kit/table/list-card.js';
import type { TableColumn } from '../../../kit/table/table.js';
import { reportsText as text } from '../../../texts/vm/records/reports.js';

export type Delivery = Item<'GET /api/v1/reports/deliveries'>;

const tones: Readonly<Record<Delivery['state'], Tone>> = { queued: 'info', sent: 'good', failed: 'danger' };

function State(props: { readonly of: Delivery }): JSX.Element {
  return (
    <span class="stack tight">
      <span>
        <Badge tone={tones[props.of.state]}>{text.states[props.of.state]}</Badge>
      </span>
      <Show when={props.of.last_error}>{(said) => <Foreign text={said()} max={300} />}</Show>
    </span>
  );
}

const columns: readonly TableColumn<Delivery>[] = [
  { title: text.title, cell: ({ title }) => <Foreign text={title} max={200} /> },
  { title: text.to, cell: ({ recipient }) => <Foreign text={recipient} max={120} /> },
  { title: text.state, cell: (one) => <State of={one} /> },
  { title: text.attempts, isNumber: true, cell: ({ attempts }) => attempts },
  {
    title: text.when,
    class: 'nums',
    cell: ({ sent_at: sent, created_at: asked }) => showMoment(sent ?? asked),
  },
  {
    title: text.by,
    cell: ({ created_by: who, schedule_id: schedule }) => (
      <Foreign text={schedule === null ? who : text.bySchedule(who)} max={120} />
    ),
  },
];

export function Deliveries(props: { readonly list: PagedList<Delivery> }): JSX.Element {
  return (
    <ListCard
      label={text.sent}
      title={text.sent}
      columns={columns}
      list={props.list}
      keyOf={({ id }) => id}
      empty={text.none}
      emptyAbout={text.noneAbout}
    />
  );
}
